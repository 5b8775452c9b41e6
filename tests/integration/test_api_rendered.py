"""Pages as HTML and histories with diffs, over REST and in Python."""

from api_client import problem, serving
from promised_shapes import assert_promised

import pgrag


def hit_of(client, query="half tide sill", library="harbour"):
    return client.ok("/v1/search", q=query, library=library)["hits"][0]


def test_a_hit_is_marked_on_its_page(harbour):
    hit = hit_of(harbour)
    address = f"/v1/pages/{hit['page_id']}/rendered?document_id={hit['document_id']}&q=tides"
    page = harbour.ok(address)
    assert_promised(address, page)
    assert page["passage"] == {
        "document_id": hit["document_id"], "line_start": hit["line_start"],
        "line_end": hit["line_end"], "marked": "lines",
    }  # fmt: skip
    before, _, after = page["html"].partition('<div class="passage" id="passage">')
    marked = after.partition("</div>")[0]
    assert "predicted height minus 1.8 metres" in marked
    assert "Spring tides" not in marked
    assert "half <mark>tide</mark>" in marked
    assert '<h1 id="reading-the-tide-table" data-lines="10-10">' in before
    assert page["words"] == ["tide", "tides"]
    assert (page["first_line"], page["line_start"], page["next_line"]) == (10, 10, None)
    assert (page["path"][-1], page["language"]) == (page["title"], "en")
    assert page["link"] == "https://intranet.example/tides"
    assert page["previous"]["key"] == "navigation/index.md"
    assert page["next"]["key"] == "services/moorings.md"
    by_key = f"/v1/pages/tides/rendered?document_id=harbour:{hit['chunk_key'].replace('#', '%23')}"
    assert harbour.ok(by_key)["passage"] == page["passage"]
    begun = harbour.ok(f"/v1/pages/{hit['page_id']}/rendered?q=tid&prefix=true")
    assert "<mark>tides</mark>" in begun["html"]
    assert begun["passage"] is None
    onwards = harbour.ok(f"/v1/pages/{hit['page_id']}/rendered?line=16")
    assert (onwards["line_start"], "sill" in onwards["html"]) == (16, True)
    assert "Reading" not in onwards["html"]


def test_what_is_not_there_or_not_on_the_page_is_a_problem(harbour):
    hit, other = hit_of(harbour), hit_of(harbour, "mooring card")
    assert hit["page_id"] != other["page_id"]
    address = f"/v1/pages/{hit['page_id']}/rendered"
    told = problem(
        harbour.get(f"{address}?document_id={other['document_id']}"), 404, "unknown-document"
    )
    assert str(other["page_id"]) in told["hint"]
    problem(harbour.get(f"{address}?document_id=999999999"), 404, "unknown-document")
    problem(harbour.get("/v1/pages/999999999/rendered"), 404, "unknown-page")
    problem(harbour.get("/v1/pages/999999999/versions"), 404, "unknown-page")
    for wrong in ("line=0", "line=x", "prefix=maybe", "query=tide"):
        problem(harbour.get(f"{address}?{wrong}"), 422, "invalid-request")


def test_a_page_of_html_is_rendered_from_what_was_made_of_it(database_url, tmp_path):
    (tmp_path / "a.html").write_text(
        "<html><head><title>Gauge</title></head><body><h1 id=g>Gauge</h1><p onclick='x()'>Read it"
        " <b>daily</b> &lt;script&gt;.</p><script>steal()</script><table><tr><th>h</th></tr>"
        "<tr><td>1.8</td></tr></table></body></html>"
    )
    with pgrag.connect(database_url) as db:
        db.index("gauge", tmp_path)
        hit = db.search("read daily", library="gauge").hits[0]
        page = db.rendered_page(hit.page_id, document_id=hit.document_id, query="daily")
        assert "Read it <strong><mark>daily</mark></strong> &lt;script&gt;." in page.html
        assert "steal" not in page.html
        assert '<h1 id="g"' in page.html
        assert "<td>1.8</td>" in page.html
        assert page.passage.marked in {"lines", "page"}
        assert (page.previous, page.next) == (None, None)
        [version] = db.page_versions(hit.page_id)
        assert (version.page_id, version.text_changed) == (hit.page_id, False)


def test_the_history_of_a_section_with_its_diffs(database_url, tmp_path):
    for version, text in (
        ("1.0", None), ("1.1", "Wait for half tide."), ("1.2", "Wait for half tide."),
        ("2.0", "Wait for high tide."), ("3.0", None),
    ):  # fmt: skip
        folder = tmp_path / version
        folder.mkdir()
        sill = f"\n## Sill\n\n{text}\n" if text else ""
        (folder / "tides.md").write_text(f"# Tides\n\nRead the table.\n{sill}")
        with pgrag.connect(database_url) as db:
            db.index("sills", folder, version=version)
    with pgrag.connect(database_url) as db:
        hit = db.search("wait for high tide", library="sills", version="2.0").hits[0]
        told = db.section_history(hit.document_id, diff=True)
        assert db.section_history(hit.document_id)[1].diff is None
    assert [each.change for each in told] == ["added", "unchanged", "changed", "removed"]
    assert told[0].diff.splitlines()[:2] == ["--- /dev/null", "+++ tides.md@1.1"]
    assert told[1].diff == ""
    changed = told[2].diff.splitlines()
    assert changed[:2] == ["--- tides.md@1.2", "+++ tides.md@2.0"]
    assert {"-Wait for half tide.", "+Wait for high tide."} <= {*changed}
    assert told[3].diff.splitlines()[1] == "+++ /dev/null"
    assert told[2].text.strip() == "Wait for high tide."
    with serving(database_url) as client:
        address = f"/v1/documents/{hit.document_id}/history"
        answer = client.ok(f"{address}?diff=true")
        assert_promised(address, answer)
        assert [each["diff"] for each in answer["history"]] == [each.diff for each in told]
        assert {each["diff"] for each in client.ok(address)["history"]} == {None}


def test_the_first_version_has_no_diff(harbour):
    hit = hit_of(harbour, "mooring card")
    first, second = harbour.ok(f"/v1/documents/{hit['document_id']}/history?diff=true")["history"]
    assert (first["change"], first["diff"]) == ("first", None)
    assert second["diff"] is not None


def test_a_long_page_comes_in_parts(database_url, tmp_path):
    chapters = "\n\n".join(f"## Chapter {n}\n\n{'Words of it. ' * 60}" for n in range(400))
    (tmp_path / "long.md").write_text(f"# Long\n\n{chapters}\n")
    with pgrag.connect(database_url) as db:
        db.index("long", tmp_path)
        hit = db.search("chapter 390", library="long").hits[0]
        around = db.rendered_page(hit.page_id, document_id=hit.document_id)
        assert around.line_start > 1
        assert around.passage.marked == "lines"
        line, seen = 1, []
        while line:
            part = db.rendered_page(hit.page_id, line=line)
            seen += [n for n in range(400) if f">Chapter {n}<" in part.html]
            assert len(part.html) < 130_000
            line = part.next_line
    assert seen == [*range(400)]
