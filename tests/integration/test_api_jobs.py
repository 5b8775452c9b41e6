"""Pages, uploads and jobs over REST."""

import io
import json
import tarfile
import zipfile
from typing import Any

import pytest
from api_client import ApiClient, problem, serving
from website import Website, page

from pgrag.service.worker import Worker, complete

PAGES = "/v1/libraries/manual/versions/2.0/pages"
UPLOAD = "/v1/libraries/manual/versions/2.0/upload"
TIDES = "# Tides\n\nThe sill dries at half tide.\n"


@pytest.fixture
def api(database_url, tmp_path):
    with serving(database_url, mcp_roots=(tmp_path,), max_page_bytes=100_000) as api:
        yield api


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(3):
        (folder / f"page{number}.md").write_text(f"# Page {number}\n\nThe pump of {number}.\n")
    return folder


def send(api: ApiClient, method: str, url: str, content: str | bytes, media_type: str) -> Any:
    headers = {"Content-Type": media_type}
    return api.request(method, url, content=content, headers=headers)


def found(api: ApiClient, query: str) -> list[str]:
    return [hit["key"] for hit in api.ok("/v1/search", q=query, library="manual")["hits"]]


def worked(api: ApiClient, response: Any) -> dict[str, Any]:
    assert response.status_code == 202, response.text
    number = response.json()["job_id"]
    return complete(api.app, number, lambda row: None)


def test_a_page_is_found_when_the_answer_comes(api):
    sent = send(api, "PUT", f"{PAGES}/guide/pages/tides.md", TIDES, "text/markdown")
    assert sent.status_code == 200, sent.text
    assert sent.json() | {"embedded": 0, "documents": 0} == {
        "library": "manual", "version": "2.0", "key": "guide/pages/tides.md", "status": "written",
        "documents": 0, "embedded": 0, "warnings": [],
    }  # fmt: skip
    assert found(api, "sill dries") == ["guide/pages/tides.md"]
    again = send(api, "PUT", f"{PAGES}/guide/pages/tides.md", TIDES, "text/markdown")
    assert again.json()["status"] == "unchanged"


def test_pages_are_sent_as_json_or_as_they_are_and_replace_only_themselves(api):
    page = {"key": "a.md", "content": "# Valve\n\nClose it.", "properties": {"type": "guide"}}
    assert api.post(PAGES, page).json()["key"] == "a.md"
    sent = send(api, "POST", f"{PAGES}?key=b.md", "# Tank\n\nFill it.\n", "text/markdown")
    assert sent.json()["status"] == "written"
    page["content"] = "# Valve\n\nOpen the gasket."
    assert api.post(PAGES, page).json()["status"] == "written"
    assert found(api, "gasket")[0] == "a.md"
    listed = api.ok(PAGES)["pages"]
    assert [(row["key"], row["type"]) for row in listed] == [("a.md", "guide"), ("b.md", None)]


def test_a_page_is_removed(api):
    send(api, "PUT", f"{PAGES}/a.md", TIDES, "text/markdown")
    send(api, "PUT", f"{PAGES}/b.md", "# Tank\n\nFill it.\n", "text/markdown")
    assert api.request("DELETE", f"{PAGES}/a.md").json()["removed"] == 1
    assert found(api, "sill dries") == ["b.md"] or found(api, "sill dries") == []
    problem(api.request("DELETE", f"{PAGES}/a.md"), 404, "unknown-page")


def test_pages_sent_at_the_same_time_are_all_stored(api):
    sending = [
        api.start(
            "PUT", f"{PAGES}/{number}.md", content=f"# Page {number}\n\nText.\n",
            headers={"Content-Type": "text/markdown"},
        )
        for number in range(4)
    ]  # fmt: skip
    assert {each.result(60).status_code for each in sending} <= {200, 503}
    stored = {row["key"] for row in api.ok(PAGES)["pages"]}
    assert stored == {f"{n}.md" for n, each in enumerate(sending) if each.result().is_success}


@pytest.mark.parametrize(
    ("method", "url", "content", "media_type", "status", "slug"),
    [
        ("POST", PAGES, "# A", "text/markdown", 422, "invalid-input"),
        ("POST", f"{PAGES}?key=../a.md", "# A", "text/markdown", 422, "invalid-input"),
        ("POST", PAGES, "{", "application/json", 422, "invalid-input"),
        ("POST", PAGES, "[]", "application/json", 422, "invalid-input"),
        ("POST", PAGES, '{"key": "a.md"}', "application/json", 422, "invalid-input"),
        ("POST", PAGES, '{"key": "a.md", "content": "", "x": 1}', "application/json", 422,
         "invalid-input"),
        ("PUT", f"{PAGES}/a.md", "x" * 150_000, "text/markdown", 413, "too-large"),
        ("PUT", f"{PAGES}/a.md", "x" * 3_000_000, "text/markdown", 413, "too-large"),
        ("PUT", f"{PAGES}/a.png", b"\x89PNG\r\n\x1a\n", "image/png", 415, "unsupported-media-type"),
        ("PUT", f"{PAGES}/a.md?x=1", "# A", "text/markdown", 422, "invalid-request"),
        ("POST", UPLOAD, "# A", "application/octet-stream", 422, "invalid-input"),
        ("POST", f"{UPLOAD}?name=a.exe", b"MZ", "application/octet-stream", 415,
         "unsupported-media-type"),
        ("POST", f"{UPLOAD}?name=/etc/a.md", "# A", "text/markdown", 422, "invalid-input"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_page_is_refused(api, method, url, content, media_type, status, slug):
    problem(send(api, method, url, content, media_type), status, slug)
    assert api.ok("/v1/libraries")["libraries"] == []
    assert [row["state"] for row in api.ok("/v1/jobs")["jobs"]] == []


def test_lines_of_json_become_a_job(api):
    lines = "".join(
        json.dumps({"key": f"{number}.md", "content": f"# Page {number}\n\nValve {number}."}) + "\n"
        for number in range(5)
    )
    row = worked(api, send(api, "POST", PAGES, lines, "application/x-ndjson"))
    assert (row["state"], row["report"]["written"]) == ("succeeded", 5)
    assert len(api.ok(PAGES)["pages"]) == 5


def test_an_archive_is_uploaded_and_replaces_only_if_asked(api):
    send(api, "PUT", f"{PAGES}/old.md", TIDES, "text/markdown")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("docs/guide/a.md", "# Valve\n\nClose it.\n")
        archive.writestr("docs/b.md", "# Tank\n\nFill it.\n")
    content = packed.getvalue()
    url = f"{UPLOAD}?name=docs.zip"
    row = worked(api, send(api, "POST", url, content, "application/zip"))
    assert (row["state"], row["report"]["written"], row["report"]["removed"]) == ("succeeded", 2, 0)
    assert "old.md" in {page["key"] for page in api.ok(PAGES)["pages"]}
    row = worked(api, send(api, "POST", f"{url}&replace=true", content, "application/zip"))
    assert (row["report"]["unchanged"], row["report"]["removed"]) == (2, 1)
    row = worked(api, send(api, "POST", UPLOAD, content, "application/octet-stream"))
    assert (row["state"], row["report"]["unchanged"]) == ("succeeded", 2), "it needs no name"


def test_a_form_of_files_and_a_large_archive_are_stored_in_pieces(api, monkeypatch):
    files = [("file", ("guide/a.md", b"# Valve\n\nClose it.\n")), ("file", ("b.md", b"# Tank\n"))]
    row = worked(api, api.request("POST", UPLOAD, files=files))
    assert row["report"]["written"] == 2
    assert row["progress"] == {"done": 2, "total": 2, "documents": row["report"]["documents"]}
    assert row["report"]["warnings"] == []
    assert {page["key"] for page in api.ok(PAGES)["pages"]} == {"guide/a.md", "b.md"}
    # As programs send them: curl -F file=@a.md -F user_id=bank_001.
    fields = {"user_id": "bank_001", "kind": "guide"}
    row = worked(api, api.request("POST", UPLOAD, files=files[:1], data=fields))
    assert row["report"]["pages"] == 1
    assert row["report"]["warnings"] == ["The form has fields that nothing reads: user_id, kind."]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for number in range(40):
            data = f"# Page {number}\n\n{'word ' * 18_000}".encode()
            member = tarfile.TarInfo(f"{number}.md")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    content = packed.getvalue()
    sent = send(api, "POST", f"{UPLOAD}?name=docs.tar", content, "application/x-tar")
    assert sent.json()["uploaded_bytes"] == len(content) > 3_000_000
    [pieces] = api.app.database.query("select count(*) as n from pgrag.uploads")
    assert pieces["n"] == -(-len(content) // (1 << 20))
    api.request("POST", f"/v1/jobs/{sent.json()['job_id']}/cancel")
    assert api.app.database.query("select from pgrag.uploads") == []


def test_an_empty_file_is_told(api):
    row = worked(api, send(api, "POST", f"{UPLOAD}?name=a.md", b"", "text/markdown"))
    assert (row["state"], row["report"]["pages"]) == ("succeeded", 1)


def test_an_upload_over_the_limit_leaves_nothing(database_url):
    with serving(database_url, max_upload_bytes=1_000_000) as api:

        async def body():
            for _ in range(3):
                yield b"x" * 600_000

        sent = send(api, "POST", f"{UPLOAD}?name=a.zip", body(), "application/zip")
        problem(sent, 413, "too-large")
        assert api.ok("/v1/jobs")["jobs"] == []
        assert api.app.database.query("select from pgrag.uploads") == []


def test_a_job_is_made_watched_and_done(api, docs):
    body = {"library": "manual", "version": "2.0", "source": str(docs), "every": "1d"}
    made = api.post("/v1/jobs", body)
    assert made.status_code == 202
    number = made.json()["job_id"]
    assert made.json()["state"] == "queued"
    assert made.json()["every"] == "P1D"
    stream = api.start("GET", f"/v1/jobs/{number}/events")
    assert Worker(api.app).work()
    row = api.ok(f"/v1/jobs/{number}")
    assert (row["state"], row["report"]["written"]) == ("queued", 3)
    assert api.post(f"/v1/jobs/{number}/cancel", None).json() == {
        "job_id": number, "state": "cancelled",
    }  # fmt: skip
    events = stream.result(60).text
    assert events.startswith("event: progress\ndata: {")
    name, data = events.strip().rpartition("\n\n")[2].split("\n")
    assert name == "event: end"
    assert json.loads(data.removeprefix("data: "))["state"] == "cancelled"
    assert api.post(f"/v1/jobs/{number}/retry", None).json()["state"] == "queued"
    listed = api.ok("/v1/jobs", state="queued", library="manual", top_k=1)
    assert [row["job_id"] for row in listed["jobs"]] == [number]
    assert api.ok("/v1/jobs", before=number) == {"jobs": [], "next": None}


def test_a_website_is_followed_as_far_as_the_job_says(database_url):
    pages = {"/": page("Start", "", *(f"/{n}.html" for n in range(5)))}
    pages |= {f"/{n}.html": page(f"Page {n}") for n in range(5)}
    body = {"library": "manual", "version": "2.0", "max_pages": 3, "exclude": ["4.html"]}
    allowed = {"outgoing_allow": ("127.0.0.0/8",)}
    with serving(database_url, **allowed) as api, Website(pages) as site:
        row = worked(api, api.post("/v1/jobs", body | {"source": site.url, "max_depth": 1}))
        assert row["arguments"] == {
            "source": site.url, "max_pages": 3, "max_depth": 1, "exclude": ["4.html"],
        }  # fmt: skip
        assert (row["state"], row["report"]["written"]) == ("succeeded", 3)
        assert "/4.html" not in site.asked


def test_how_pages_are_read_is_stated_by_jobs_and_uploads(api, docs):
    options = {"slugs": "mkdocs", "profile": "short", "chunk_sizes": [20, 200, 400]}
    body = {"library": "manual", "version": "2.0", "source": str(docs)}
    assert worked(api, api.post("/v1/jobs", body | options))["report"]["slugs"] == "mkdocs"
    [row] = api.app.database.call("version_source", library="manual", version="2.0")
    remembered = row["version_source"]
    assert (remembered["slugs"], remembered["chunk_profile"]["maximum"]) == ("mkdocs", 400)
    url = f"{UPLOAD}?name=a.md&slugs=hugo&chunk_sizes=30,300,500"
    worked(api, send(api, "POST", url, TIDES, "text/markdown"))
    [row] = api.app.database.call("version_source", library="manual", version="2.0")
    remembered = row["version_source"]
    assert (remembered["slugs"], remembered["chunk_profile"]["maximum"]) == ("hugo", 500)


@pytest.mark.parametrize(
    ("changes", "slug"),
    [
        ({"source": None}, "invalid-request"),
        ({"source": "/etc"}, "invalid-input"),
        ({"source": "file:///etc"}, "invalid-input"),
        ({"source": "https://ada:hunter2@docs.example/x.git"}, "invalid-input"),
        ({"source": "https://docs.example/x.git", "version": "1", "tags": "v*"}, "invalid-input"),
        ({"allow_private": True}, "invalid-request"),
        ({"max_pages": 0}, "invalid-request"),
        ({"chunk_sizes": [3, 2, 1]}, "invalid-input"),
        ({"subfolder": "x"}, "invalid-input"),
        ({"library": "a b"}, "invalid-input"),
        ({"every": "1s"}, "invalid-request"),
    ],
)
def test_what_cannot_be_a_job_is_refused(api, changes, slug):
    body = {"library": "manual", "source": "https://docs.example/"} | changes
    assert "hunter2" not in str(problem(api.post("/v1/jobs", body), 422, slug))
    assert api.ok("/v1/jobs")["jobs"] == []


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["x.md", "x.md"], "2 files of the upload are called 'x.md'"),
        (["x.md", "docs.zip"], "docs.zip is an archive or lines of JSON, beside other files"),
    ],
)
def test_files_that_cannot_be_one_upload_are_refused_at_once(api, names, said):
    files = [("file", (name, TIDES.encode())) for name in names]
    assert said in problem(api.request("POST", UPLOAD, files=files), 422, "invalid-input")["detail"]
    assert api.ok("/v1/jobs")["jobs"] == []


@pytest.mark.parametrize("body", ["--B\r\n--B--", "", "nonsense"])
def test_a_form_that_cannot_be_read_is_bad_input(api, body):
    sent = send(api, "POST", UPLOAD, body, "multipart/form-data; boundary=B")
    problem(sent, 422, "invalid-input")
    unbounded = send(api, "POST", UPLOAD, body, "multipart/form-data")
    problem(unbounded, 422, "invalid-input")
    assert api.ok("/v1/jobs")["jobs"] == []


@pytest.mark.parametrize("path", ["/v1/jobs/7", "/v1/jobs/7/events"])
def test_an_unknown_job_is_told(api, path):
    problem(api.get(path), 404, "unknown-job")


def beyond(response: Any, *said: str) -> None:
    problem(response, 429, "limit-reached")
    assert int(response.headers["retry-after"]) > 0
    for each in said:
        assert each in f"{response.json()['detail']} {response.json()['hint']}"


def test_more_jobs_than_one_may_have_are_refused(database_url, docs):
    with serving(database_url, mcp_roots=(docs.parent,), max_waiting_jobs=2) as api:
        for number in range(2):
            body = {"library": f"manual{number}", "source": str(docs)}
            assert api.post("/v1/jobs", body).status_code == 202
            assert api.post("/v1/jobs", body).status_code == 202, "it waits already"
        body = {"library": "another", "source": str(docs)}
        beyond(api.post("/v1/jobs", body), "2 jobs", "cancel some", "PGRAG_MAX_WAITING_JOBS")
        beyond(send(api, "POST", f"{UPLOAD}?name=a.md", TIDES, "text/markdown"), "2 jobs")
        line = '{"key": "a.md", "content": "# A"}'
        beyond(send(api, "POST", PAGES, line, "application/x-ndjson"), "2 jobs")
        first = api.ok("/v1/jobs")["jobs"][-1]
        assert (first["place"], first["waits_for"]) == (1, None)
        api.post(f"/v1/jobs/{first['job_id']}/cancel", None)
        assert api.post("/v1/jobs", body).status_code == 202
        beyond(api.post(f"/v1/jobs/{first['job_id']}/retry", None), "2 jobs")


def test_uploads_beyond_the_allowance_are_refused_before_they_are_read(database_url):
    with serving(database_url, max_waiting_upload_bytes=2_000_000) as api:
        url = f"{UPLOAD}?name=a.md"
        assert send(api, "POST", url, b"x" * 700_000, "text/markdown").status_code == 202
        read = []

        async def body():
            for _ in range(40):
                read.append(1)
                yield b"x" * 100_000

        said = "may take 1000000 bytes together", "700000 are taken", "UPLOAD_BYTES"
        announced = {"Content-Type": "text/markdown", "Content-Length": "4000000"}
        beyond(api.request("POST", url, content=body(), headers=announced), *said)
        assert read == []
        beyond(send(api, "POST", url, body(), "text/markdown"), *said)
        form = {"Content-Type": "multipart/form-data; boundary=B"}
        read.clear()
        beyond(api.request("POST", UPLOAD, content=body(), headers=form), *said)
        assert read == [], "nothing of a form is on the disk"
        assert [row["uploaded_bytes"] for row in api.app.database.query("table pgrag.jobs")] == [
            700_000
        ]
        assert send(api, "POST", url, b"x" * 300_000, "text/markdown").status_code == 202
