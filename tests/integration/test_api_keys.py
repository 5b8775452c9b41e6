"""Keys over REST and MCP: who gets in, what each role may, and what the audit keeps of it."""

import logging
import time
from typing import Any

import psycopg
import pytest
from api_client import LOCAL, problem, serving
from api_corpus import indexed
from mcp_service import Service, eventually, mcp_service
from psycopg.rows import dict_row
from test_mcp_service import said

from pgrag.ground.callers import Caller, calling
from pgrag.ground.errors import TimeExceeded
from pgrag.ground.settings import Settings
from pgrag.mcp.tools import offered
from pgrag.service.access import NEEDS, Policy, needs_of
from pgrag.service.app import App

KEYED = Policy(needs_key=True)
PAGE = "https://docs.example"
SEARCH = "/v1/search?q=spring+tides&library=harbour"
SENT = "/v1/libraries/harbour/versions/2.0"


class Site:
    """A database with libraries and keys, and the secrets of the keys."""

    def __init__(self, url: str) -> None:
        self.url = url

    def run(self, statement: str, *arguments: Any) -> list[dict[str, Any]]:
        """Run a statement as the owner of the database."""
        with psycopg.connect(self.url, autocommit=True, row_factory=dict_row) as connection:
            cursor = connection.execute(statement.encode(), arguments)
            return cursor.fetchall() if cursor.description else []

    def key(self, name: str, role: str = "search", **options: Any) -> dict[str, str]:
        """Make a key anew; returns the header of its requests."""
        self.run("delete from pgrag.keys where name = %s", name)
        given: dict[str, Any] = {"libraries": ["*"], **options}
        stated = ", ".join(f"{option} => %s" for option in given)
        [row] = self.run(
            f"select pgrag.create_key(%s, %s, {stated}) as secret", name, role, *given.values()
        )
        return {"Authorization": f"Bearer {row['secret']}"}

    def audit(self, **wanted: Any) -> list[dict[str, Any]]:
        """The entries with these values, the oldest first."""
        rows = self.run("select * from pgrag.audit_log(top_k => null) order by audit_id")
        return [row for row in rows if wanted.items() <= row.items()]


@pytest.fixture(scope="module")
def site(clone, tmp_path_factory):
    folder = tmp_path_factory.mktemp("keyed")
    with clone() as url:
        yield Site(indexed(url, folder))


@pytest.fixture(autouse=True)
def without_audit(site):
    site.run("delete from pgrag.audit")


@pytest.fixture(scope="module")
def keyed(site):
    """A service that needs keys."""
    with serving(site.url, policy=KEYED, cors_origins=(PAGE,)) as client:
        yield client


@pytest.fixture(scope="module")
def agents(site):
    """The same for agents, with tools that write."""
    with mcp_service(site.url, policy=KEYED, mcp_writes=True) as service:
        yield service


class TestWithoutKey:
    def test_a_service_that_needs_keys_refuses_everything_but_probes_and_docs(self, keyed):
        for method, address in [
            ("GET", SEARCH), ("POST", "/v1/search"), ("GET", "/v1/libraries"),
            ("PATCH", "/v1/configuration"), ("POST", "/v1/feedback"), ("POST", "/mcp"),
            ("GET", "/mcp/"),
        ]:  # fmt: skip
            refused = keyed.request(method, address)
            document = problem(refused, 401, "key-required")
            assert "Authorization: Bearer" in document["hint"]
            assert refused.headers["www-authenticate"] == 'Bearer realm="pgrag"'
        for address in ("/healthz", "/readyz", "/docs", "/openapi.json"):
            assert keyed.get(address).status_code == 200
        assert keyed.get("/v1/nothing").status_code == 404

    def test_a_local_service_reads_and_changes_nothing(self, site):
        with serving(site.url, policy=Policy()) as client:
            found = client.ok(SEARCH)
            assert found["hits"]
            rating = {"search_id": found["search_id"], "rating": 4}
            assert client.post("/v1/feedback", rating).status_code == 200
            assert client.get("/v1/searches").status_code == 200
            for method, address in [
                ("PATCH", "/v1/configuration"), ("PATCH", "/v1/libraries/harbour/synonyms"),
                ("PUT", "/v1/evaluations/a"), ("DELETE", "/v1/evaluations/a"),
                ("POST", "/v1/libraries/harbour/tuning"), ("POST", "/v1/evaluations/a/runs"),
                ("PUT", "/v1/evaluations/a/judgements"),
                ("PUT", f"{SENT}/pages/a.md"), ("DELETE", f"{SENT}/pages/a.md"),
                ("POST", f"{SENT}/pages"), ("POST", f"{SENT}/upload"),
                ("POST", "/v1/jobs"), ("POST", "/v1/jobs/1/cancel"),
            ]:  # fmt: skip
                refused = client.request(method, address, json={"entries": {}})
                assert "--allow-writes" in problem(refused, 403, "forbidden")["hint"]
            assert len(site.audit(reason="read-only", caller=None)) == 13
            assert client.ok("/v1/jobs")["jobs"] == []
            writer = site.key("writer", "write")
            changed = client.request(
                "PATCH", "/v1/libraries/harbour/synonyms", headers=writer,
                json={"synonyms": {"quay": ["pier"]}},
            )  # fmt: skip
            assert changed.status_code == 200

    def test_changes_without_a_key_are_audited_and_searches_are_not(self, site):
        with serving(site.url, policy=LOCAL) as client:
            client.ok(SEARCH)
            body = {"synonyms": {"jetty": ["pier"]}}
            changed = client.request("PATCH", "/v1/libraries/harbour/synonyms", json=body)
            assert changed.status_code == 200
        [entry] = site.audit()
        kept = (entry["caller"], entry["action"], entry["library"], entry["allowed"])
        assert kept == (None, "set_synonyms", "harbour", True)

    def test_a_presented_key_always_counts(self, site):
        with serving(site.url, policy=LOCAL) as client:
            searcher = site.key("searcher")
            assert client.request("GET", SEARCH, headers=searcher).status_code == 200
            problem(client.request("GET", "/v1/searches", headers=searcher), 403, "forbidden")
            wrong = {"Authorization": "Bearer pgrag_sk_no"}
            problem(client.request("GET", SEARCH, headers=wrong), 401, "invalid-key")


class TestSecrets:
    @pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER  "])
    def test_a_key_opens(self, site, keyed, scheme):
        secret = site.key("docs")["Authorization"].split()[1]
        response = keyed.request("GET", SEARCH, headers={"Authorization": f"{scheme} {secret}"})
        assert response.status_code == 200

    @pytest.mark.parametrize("header", ["", "Bearer", "Basic dXNlcjpwYXNz", "Bearer x y", "ü"])
    def test_what_is_no_key_is_refused(self, keyed, header):
        refused = keyed.request("GET", SEARCH, headers={"Authorization": header.encode()})
        problem(refused, 401, "invalid-key")
        assert refused.headers["www-authenticate"] == 'Bearer realm="pgrag", error="invalid_token"'

    def test_expired_revoked_rotated_and_unknown_secrets_are_refused(self, site, keyed):
        header = site.key("docs")
        site.run("update pgrag.keys set expires_at = now() - interval '1 s'")
        refused = keyed.request("GET", SEARCH, headers=header)
        assert "expired" in problem(refused, 401, "invalid-key")["detail"]
        site.run("update pgrag.keys set expires_at = null")
        site.run("select pgrag.rotate_key('docs', '0')")
        refused = keyed.request("GET", SEARCH, headers=header)
        assert "old secret" in problem(refused, 401, "invalid-key")["detail"]
        site.run("select pgrag.revoke_key('docs')")
        refused = keyed.request("GET", SEARCH, headers=header)
        assert "revoked" in problem(refused, 401, "invalid-key")["detail"]
        site.run("delete from pgrag.keys where name = 'docs'")
        problem(keyed.request("GET", SEARCH, headers=header), 401, "invalid-key")

    def test_the_jobs_of_a_key_end_with_it(self, site, keyed):
        other, docs = site.key("other", "write"), site.key("docs", "write")
        body = {"library": "harbour", "source": "https://docs.example/", "every": "1d"}
        numbers = []
        for number, header in enumerate((docs, docs, other)):
            made = keyed.request(
                "POST", "/v1/jobs", headers=header, json=body | {"version": str(number)}
            )
            numbers.append(made.json()["job_id"])
        [claimed] = site.run("select * from _pgrag.claim_job('w', wanted_id => %s)", numbers[1])
        site.run("select pgrag.revoke_key('docs')")
        states = site.run("select state, is_cancelling from pgrag.jobs order by job_id")
        assert [(row["state"], row["is_cancelling"]) for row in states] == [
            ("cancelled", False), ("running", True), ("queued", False),
        ]  # fmt: skip
        assert claimed["job_id"] == numbers[1]
        site.run("delete from pgrag.jobs")

    def test_secrets_are_in_no_answer_log_or_entry(self, site, keyed, caplog):
        caplog.set_level(logging.DEBUG)
        requests: list[tuple[str, str, Any]] = [
            ("GET", SEARCH, None),
            ("GET", "/v1/searches", None),
            ("POST", "/mcp", {}),
            ("POST", "/v1/search", {"query": 1}),
        ]
        for header in (site.key("docs"), site.key("page", kind="publishable", origins=[PAGE])):
            answers = [
                keyed.request(method, address, headers=header, json=body)
                for method, address, body in requests
            ]
            secret = header["Authorization"].split()[1]
            shown = "".join(answer.text + repr(answer.headers) for answer in answers)
            assert secret[9:] not in shown + caplog.text + repr(site.audit())


class TestRoles:
    @pytest.mark.parametrize(
        ("role", "statuses"),
        [
            ("search", [200, 403, 403, 403]),
            ("write", [200, 200, 403, 403]),
            ("admin", [200, 200, 200, 200]),
        ],
    )
    def test_a_role_may_what_it_says(self, site, keyed, role, statuses):
        header = site.key(role, role)
        requests: list[tuple[str, str, Any]] = [
            ("GET", SEARCH, None),
            ("PATCH", "/v1/libraries/harbour/synonyms", {"synonyms": {"quay": ["pier"]}}),
            ("GET", "/v1/searches", None),
            ("PATCH", "/v1/configuration", {"entries": {}}),
        ]
        answers = [
            keyed.request(method, address, headers=header, json=body)
            for method, address, body in requests
        ]
        assert [answer.status_code for answer in answers] == statuses
        for answer in answers:
            if answer.status_code == 403:
                assert role in problem(answer, 403, "forbidden")["detail"]

    def test_every_operation_says_what_it_needs(self, keyed):
        document = keyed.ok("/openapi.json")
        operations = {
            operation["operationId"]
            for address, methods in document["paths"].items()
            if address.startswith("/v1/")
            for operation in methods.values()
        }
        tools = {tool.name for tool in offered(writes=True, read_only=False)}
        assert operations | tools | {"mcp"} == NEEDS.keys()
        for address, methods in document["paths"].items():
            for method, operation in methods.items():
                needs = needs_of(operation["operationId"])
                if method in {"put", "patch", "delete"}:
                    assert needs.is_change, address
                if address.startswith("/v1/"):
                    assert {"401", "403", "429"} <= operation["responses"].keys()
        for tool in offered(writes=True, read_only=False):
            assert needs_of(tool.name).is_change == tool.needs_permission

    def test_an_admin_does_everything_in_the_role_of_an_admin(self, site, keyed):
        header = site.key("admin", "admin")
        others = site.key("docs")
        done = set()

        def ask(operation: str, method: str, address: str, body: Any = None) -> Any:
            response = keyed.request(method, f"/v1/{address}", headers=header, json=body)
            assert response.status_code == 200, (operation, response.text)
            done.add(operation)
            return response.json()

        found = keyed.request("GET", SEARCH, headers=others).json()["search_id"]
        keyed.request("GET", "/v1/search?q=zzzz&library=harbour", headers=others)
        assert ask("configuration", "GET", "configuration")
        entries = {"page_types": {"leaflet": {"description": "A sheet."}}}
        ask("apply_configuration", "PATCH", "configuration", {"entries": entries})
        assert ask("configuration_versions", "GET", "configuration/versions")["versions"]
        listed = ask("past_searches", "GET", "searches")["searches"]
        assert found in [each["search_id"] for each in listed]
        assert ask("search_record", "GET", f"searches/{found}")["hits"]
        ask("search_metrics", "GET", "metrics/searches")
        ask("answer_metrics", "GET", "metrics/answers")
        for name in ("popular_queries", "empty_queries", "gaps", "slow_searches"):
            ask(name, "GET", f"metrics/{name.replace('_', '-')}")
        queries = [
            {"id": str(number), "text": text, "judgements": {key: 1}}
            for number, (text, key) in enumerate(
                [("tide table", "navigation/tides.md"), ("mooring fees", "index.md")] * 3
            )
        ]
        body = {"library": "harbour", "queries": queries}
        ask("import_evaluation_set", "PUT", "evaluations/questions", body)
        assert ask("evaluation_sets", "GET", "evaluations")["sets"]
        grade = {"library": "harbour", "query": "tide table", "target": "index.md", "grade": 0}
        graded = "evaluations/questions/judgements"
        ask("judge", "PUT", graded, grade)
        assert ask("judgements", "GET", f"{graded}?query=tide+table")["judgements"]
        made = ask("run_evaluation", "POST", "evaluations/questions/runs", {"name": "keyword"})
        run = f"evaluation-runs/{made['run_id']}"
        assert ask("evaluation_runs", "GET", "evaluations/questions/runs")["runs"] == [made]
        assert ask("evaluation_run", "GET", run) == made
        assert ask("evaluated_query", "GET", f"{run}/queries/0")["results"]
        again = ask("repeat_evaluation", "POST", f"{run}/repeat", {})
        ask("comparison", "GET", f"{run}/comparison?other={again['run_id']}&metric=mrr@10")
        tuning = "libraries/harbour/tuning"
        tuned = ask("tune", "POST", tuning, {"seed": 1})
        assert ask("tuning_history", "GET", tuning)["tunings"] == [tuned]
        site.run("update pgrag.tuning_runs set outcome = 'accepted', settings_after = '{}'")
        assert ask("undo_tuning", "DELETE", tuning)["undone_at"]
        assert ask("audit", "GET", "audit?caller=admin")["entries"]
        ask("remove_evaluation_run", "DELETE", run)
        ask("remove_evaluation_set", "DELETE", "evaluations/questions")
        assert done == {name for name, needs in NEEDS.items() if needs.role == "admin"}

    def test_what_is_not_listed_needs_an_admin(self):
        assert (needs_of("new").role, needs_of("new").is_change) == ("admin", True)

    def test_a_writer_sends_pages_and_makes_jobs_of_its_own_libraries(self, site, keyed):
        writer = site.key("writer", "write", libraries=["harbour"])
        address = "/v1/libraries/{}/versions/9.2/pages/new.md"
        headers = {**writer, "Content-Type": "text/markdown"}
        body = {"content": "# Locks\n\nThe lock opens."}
        for library, status in (("harbour", 200), ("elsewhere", 404)):
            sent = keyed.request("PUT", address.format(library), headers=headers, **body)
            assert sent.status_code == status, sent.text
        upload = "/v1/libraries/{}/versions/9.2/upload?name=a.md"
        for library, status in (("harbour", 202), ("elsewhere", 404)):
            sent = keyed.request("POST", upload.format(library), headers=headers, **body)
            assert sent.status_code == status, sent.text
        source = {"source": "https://docs.example/"}
        for library, status in (("harbour", 202), ("elsewhere", 404)):
            made = keyed.request(
                "POST", "/v1/jobs", headers=writer, json=source | {"library": library}
            )
            assert made.status_code == status, made.text
        mine = keyed.request("GET", "/v1/jobs", headers=writer).json()["jobs"]
        assert {(job["library"], job["asked_by"]) for job in mine} == {("harbour", "writer")}
        site.run("select pgrag.create_job('elsewhere', '{\"source\": \"/a\"}')")
        [other] = site.run("select max(job_id) as id from pgrag.jobs()")
        for method, path in (("GET", ""), ("GET", "/events"), ("POST", "/cancel")):
            asked = keyed.request(method, f"/v1/jobs/{other['id']}{path}", headers=writer)
            assert asked.status_code == 404
        assert keyed.request("GET", "/v1/jobs", headers=writer).json()["jobs"] == mine
        reader = site.key("reader")
        for method, path in (("GET", ""), ("GET", f"/{other['id']}"), ("POST", "")):
            asked = keyed.request(method, f"/v1/jobs{path}", headers=reader)
            assert asked.status_code == 403
        site.run("delete from pgrag.jobs")
        gone = keyed.request("DELETE", address.format("harbour"), headers=writer)
        assert gone.json()["removed"] == 1

    def test_only_an_admin_sets_the_priority_of_a_job(self, site, keyed):
        body = {"library": "harbour", "source": "https://docs.example/", "priority": 9}
        writer, admin = site.key("pushing", "write"), site.key("leading", "admin")
        asked = keyed.request("POST", "/v1/jobs", headers=writer, json=body)
        problem(asked, 422, "invalid-input")
        assert "priority" in asked.json()["detail"]
        assert "administrators" in asked.json()["hint"]
        asked = keyed.request("POST", "/v1/jobs", headers=admin, json=body)
        assert asked.json()["priority"] == 9
        site.run("delete from pgrag.jobs")

    def test_uploads_of_keys_that_see_nothing_of_each_other_share_their_allowance(self, site):
        limits = {"max_waiting_upload_bytes": 2_000_000, "max_waiting_jobs": 2}
        upload = "/v1/libraries/{}/versions/9.2/upload?name=a.md"
        site.run("select pgrag.open_version('hidden')")
        with serving(site.url, policy=KEYED, **limits) as service:

            def send(key, library, size):
                return service.request(
                    "POST", upload.format(library), headers=key, content=b"x" * size
                )

            one, two, three = (
                site.key(f"sender{number}", "write", libraries=[library])
                for number, library in enumerate(("harbour", "hidden", "harbour"))
            )
            assert send(one, "harbour", 900_000).status_code == 202
            problem(send(one, "harbour", 100_001), 429, "limit-reached")
            assert send(two, "hidden", 900_000).status_code == 202
            refused = send(three, "harbour", 200_001)
            problem(refused, 429, "limit-reached")
            assert "together" in refused.json()["detail"]
            assert "hidden" not in refused.text
            assert send(three, "harbour", 200_000).status_code == 202
        site.run("delete from pgrag.jobs")
        site.run("select pgrag.remove_library('hidden')")
        site.run("select pgrag.remove_version('harbour', '9.2')")

    def test_a_searcher_rates_what_it_found(self, site, keyed):
        header = site.key("docs")
        found = keyed.request("GET", SEARCH, headers=header).json()
        body = {"search_id": found["search_id"], "rating": 5}
        assert keyed.request("POST", "/v1/feedback", headers=header, json=body).status_code == 200
        actions = [(e["action"], str(e["search_id"])) for e in site.audit(caller="docs")]
        assert actions == [("search", found["search_id"]), ("feedback", found["search_id"])]


class TestLibraries:
    """A key sees nothing of libraries that it does not open, on any way."""

    @pytest.fixture
    def limited(self, site):
        return site.key("limited", libraries=["harbour"])

    @pytest.fixture
    def others(self, site):
        """The pages of all other libraries, each with one of its passages."""
        rows = site.run(
            "select l.name, p.page_id, p.key, min(d.document_id) as document_id"
            " from pgrag.libraries as l join pgrag.pages as p on p.library_id = l.library_id"
            " join pgrag.documents as d on d.library_id = p.library_id and d.page_id = p.page_id"
            " where l.name <> 'harbour' group by 1, 2, 3"
        )
        assert rows
        return rows

    def test_it_finds_and_lists_its_own(self, site, keyed, limited):
        listed = keyed.request("GET", "/v1/libraries", headers=limited).json()["libraries"]
        assert [library["library"] for library in listed] == ["harbour"]
        found = keyed.request("GET", "/v1/search/libraries?q=harbour+port+Hafen", headers=limited)
        assert [row["library"] for row in found.json()["libraries"]] == ["harbour"]
        for address in ("/v1/search?q=harbour&top_k=100", "/v1/search?q=Hafen&top_k=100"):
            hits = keyed.request("GET", address, headers=limited).json()["hits"]
            assert {hit["library"] for hit in hits} <= {"harbour"}
        found = keyed.request("GET", SEARCH, headers=limited).json()
        assert found["search_id"]
        every = keyed.request("GET", SEARCH, headers=site.key("docs")).json()
        for of, hits in ((found, found["hits"]), (every, every["hits"])):
            assert {hit.pop("search_id") for hit in hits} == {of["search_id"]}
        assert found["hits"] == every["hits"]

    def test_what_it_does_not_open_does_not_exist(self, keyed, limited, others):
        for row in others:
            for address in (
                f"/v1/search?q=a&library={row['name']}", f"/v1/libraries/{row['name']}",
                f"/v1/libraries/{row['name']}/links", f"/v1/libraries/{row['name']}/text?pattern=a",
                f"/v1/pages/{row['page_id']}", f"/v1/pages/{row['page_id']}/outline",
                f"/v1/pages/{row['page_id']}/related", f"/v1/documents/{row['document_id']}",
                f"/v1/documents/{row['document_id']}/siblings",
            ):  # fmt: skip
                refused = keyed.request("GET", address, headers=limited)
                assert refused.status_code == 404, (address, refused.text)

    def test_agents_see_as_little(self, agents, limited, others):
        call = {"name": "find_library", "arguments": {}}
        told = agents.post("tools/call", headers=limited, **call).text
        for row in others:
            asked = {"name": "find_library", "arguments": {"query": row["name"]}}
            told += agents.post("tools/call", headers=limited, **asked).text
        resources = agents.post("resources/list", headers=limited).text
        named = said(agents.post("tools/list", headers=limited))["result"]["tools"][0]
        assert named["inputSchema"]["properties"]["library"]["enum"] == ["harbour"]
        for row in others:
            assert row["name"] not in told + resources + str(named)
            read = {"name": "read_docs", "arguments": {"page": row["page_id"]}}
            said(agents.post("tools/call", headers=limited, **read))
            assert '"isError":true' in agents.post("tools/call", headers=limited, **read).text

    def test_no_request_inherits_the_rights_of_an_earlier_one(self, limited, agents):
        # With a body over 64 KB uvicorn stops reading, and goes on in the context of the request.
        long = agents.http.post("/v1/search", headers=limited, json={"query": "a" * 500_000})
        assert long.status_code in {200, 422}, long.text
        for address in ("/v1/libraries", "/readyz"):
            answer = agents.http.get(address, headers=limited)
            assert answer.status_code == 200, answer.text

    def test_a_writer_changes_its_own_only(self, site, keyed, others):
        header = site.key("writer", "write", libraries=["harbour"])
        body = {"synonyms": {"mole": ["breakwater"]}}
        own, other = (
            keyed.request("PATCH", f"/v1/libraries/{name}/synonyms", headers=header, json=body)
            for name in ("harbour", others[0]["name"])
        )
        assert own.status_code == 200, own.text
        assert other.status_code == 404, other.text

    def test_the_role_ends_with_the_request(self, site, limited):
        with serving(site.url, pool_size=1, policy=LOCAL) as client:
            every = client.ok("/v1/libraries")
            for _ in range(3):
                one = client.request("GET", "/v1/libraries", headers=limited).json()
                assert len(one["libraries"]) == 1
                assert client.ok("/v1/libraries") == every
                assert client.request("GET", "/v1/nothing", headers=limited).status_code == 404

    def test_searches_with_and_without_a_key_take_turns(self, site, limited, others):
        """Plans of those who see everything must not serve those who do not, and vice versa."""
        address = "/v1/search?q=harbour&top_k=100"
        with serving(site.url, pool_size=1, policy=LOCAL) as client:
            for _ in range(8):
                own = client.request("GET", address, headers=limited).json()["hits"]
                assert {hit["library"] for hit in own} == {"harbour"}
                every = {hit["library"] for hit in client.ok(address)["hits"]}
                assert every > {"harbour"}

    def test_a_search_that_fails_is_refused_nothing_and_recorded_once(self, site, keyed, limited):
        site.run("delete from pgrag.audit")
        refused = keyed.request("GET", f"{SEARCH}&after=nowhere", headers=limited)
        assert refused.status_code == 422, refused.text
        [entry] = site.audit(caller="limited")
        assert (entry["action"], entry["search_id"]) == ("search", None)
        assert keyed.request("GET", SEARCH, headers=limited).status_code == 200
        assert len(site.audit(caller="limited")) == 2

    def test_only_own_searches_are_rated(self, site, keyed, limited):
        other = keyed.request("GET", SEARCH, headers=site.key("docs")).json()["search_id"]
        own = keyed.request("GET", SEARCH, headers=limited).json()["search_id"]
        statuses = [
            keyed.request(
                "POST", "/v1/feedback", headers=limited, json={"search_id": made, "rating": 1}
            ).status_code
            for made in (own, other)
        ]
        assert statuses == [200, 404]
        callers = site.run("select caller from pgrag.searches where search_id = %s", own)
        assert callers == [{"caller": "limited"}]

    @pytest.mark.parametrize("role", ["write", "admin"])
    def test_indexing_for_a_key_ends_with_the_upkeep_of_the_owner(
        self, site, tmp_path, monkeypatch, role
    ):
        monkeypatch.setattr("pgrag.ingest.writer.NEWS", 0)
        (tmp_path / "new.md").write_text("# Locks\n\nThe lock opens at half tide.\n")
        counted = "select pg_stat_get_analyze_count('pgrag.pages'::regclass) as n"
        [before] = site.run(counted)
        call = {"library": "harbour", "source": str(tmp_path), "version": "9.1"}
        with mcp_service(site.url, policy=KEYED, mcp_writes=True, mcp_roots=(tmp_path,)) as service:
            for name in ("index_docs", "remove_docs"):
                told = service.post(
                    "tools/call", headers=site.key(role, role), name=name, arguments=call
                ).text
                assert '"isError":true' not in told, told
                call.pop("source", None)
        assert site.run(counted)[0]["n"] > before["n"]

    def test_agents_index_into_their_own(self, site, tmp_path):
        (tmp_path / "new.md").write_text("# Locks\n\nThe lock opens at half tide.\n")
        header = site.key("writer", "write", libraries=["harbour"])
        call = {"library": "harbour", "source": str(tmp_path), "version": "9.0"}
        with mcp_service(site.url, policy=KEYED, mcp_writes=True, mcp_roots=(tmp_path,)) as service:
            for name, is_refused in (("harbour", False), ("elsewhere", True)):
                asked = {"name": "index_docs", "arguments": call | {"library": name}}
                told = service.post("tools/call", headers=header, **asked).text
                assert ('"isError":true' in told) == is_refused, told
            gone = {"name": "remove_docs", "arguments": {"library": "harbour", "version": "9.0"}}
            told = service.post("tools/call", headers=header, **gone).text
            assert '"isError":true' not in told, told
        assert site.run("select name from pgrag.libraries where name = 'elsewhere'") == []


class TestBrowsers:
    def test_a_publishable_key_searches_from_its_pages_only(self, site, keyed):
        header = site.key("page", kind="publishable", origins=["https://Docs.example/"])
        own = keyed.request("GET", SEARCH, headers={**header, "Origin": PAGE})
        assert own.status_code == 200
        assert own.headers["access-control-allow-origin"] == PAGE
        for origin in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {}):
            refused = keyed.request("GET", SEARCH, headers={**header, **origin})
            assert "pages" in problem(refused, 403, "forbidden")["detail"]
        for address in (
            "/v1/libraries", "/v1/search/libraries?q=tide", "/v1/searches", "/v1/documents/1",
        ):  # fmt: skip
            refused = keyed.request("GET", address, headers={**header, "Origin": PAGE})
            assert "only search" in problem(refused, 403, "forbidden")["detail"]

    def test_a_secret_key_is_refused_from_a_page(self, site, keyed):
        header = site.key("docs", "admin")
        refused = keyed.request("GET", SEARCH, headers={**header, "Origin": PAGE})
        assert "secret key" in problem(refused, 403, "forbidden")["detail"]
        own = {**header, "Origin": "http://api.example"}
        assert keyed.request("GET", SEARCH, headers=own).status_code == 200

    def test_browsers_may_send_the_header(self, keyed):
        preflight = {
            "Origin": PAGE, "Access-Control-Request-Method": "GET",
            "Access-Control-Request-Headers": "authorization",
        }  # fmt: skip
        assert keyed.request("OPTIONS", "/v1/search", headers=preflight).status_code == 200


class TestLimits:
    def test_a_key_that_asks_too_often_is_told_when_to_come_again(self, site, keyed):
        header = site.key("docs", rate=0.1, burst=2)
        answers = [keyed.request("GET", SEARCH, headers=header) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert [answer.headers["ratelimit"].split(";")[1] for answer in answers] == [
            "r=1", "r=0", "r=0",
        ]  # fmt: skip
        assert answers[2].headers["ratelimit-policy"] == '"key";q=2;w=20'
        assert "0.1 requests a second" in problem(answers[2], 429, "too-many-requests")["detail"]
        assert 1 <= int(answers[2].headers["retry-after"]) <= 10

    def test_running_requests_of_a_key_are_limited(self, site, keyed):
        header = site.key("docs", concurrency=2)
        running = (
            "select cardinality(u.running) as n from pgrag.key_usage as u"
            " join pgrag.keys as k on k.key_id = u.key_id where k.name = 'docs'"
        )
        with psycopg.connect(site.url) as other:
            other.execute("lock table pgrag.versions in access exclusive mode")
            waiting = [keyed.start("GET", "/v1/libraries", headers=header) for _ in range(2)]
            eventually(lambda: site.run(running) == [{"n": 2}])
            refused = keyed.request("GET", SEARCH, headers=header)
        assert "are running" in problem(refused, 429, "too-many-requests")["detail"]
        assert refused.headers["retry-after"] == "1"
        assert [each.result(timeout=60).status_code for each in waiting] == [200, 200]
        for _ in range(3):
            assert keyed.request("GET", SEARCH, headers=header).status_code == 200
        assert keyed.request("GET", "/v1/documents/999999", headers=header).status_code == 404
        assert site.run(running) == [{"n": 0}]

    def test_a_statement_of_a_key_takes_no_longer_than_the_key_says(self, site, keyed):
        short, long = site.key("short", timeout_ms=100), site.key("long", timeout_ms=60_000)
        with psycopg.connect(site.url) as other:
            other.execute("lock table pgrag.documents in access exclusive mode")
            problem(keyed.request("GET", SEARCH, headers=short), 422, "took-too-long")
            waiting = keyed.start("GET", SEARCH, headers=long)
            time.sleep(0.3)
            assert not waiting.done()
        assert waiting.result(timeout=60).status_code == 200

    def test_the_limits_of_a_key_end_with_its_request(self, site):
        with App(Settings(database_url=site.url, pool_size=1)) as app:
            with calling(Caller("short", timeout_ms=100)), pytest.raises(TimeExceeded):
                app.database.query("select pg_sleep(5)")
            app.database.query("select pg_sleep(0.2)")

    def test_an_address_is_limited_by_its_keys_instead(self, site):
        header = site.key("docs")
        with serving(site.url, policy=LOCAL, rate_limit=1, rate_limit_burst=1) as client:
            for _ in range(3):
                assert client.request("GET", SEARCH, headers=header).status_code == 200
            site.run("delete from pgrag.keys where name = 'docs'")
            answers = [client.request("GET", SEARCH, headers=header) for _ in range(2)]
            assert [answer.status_code for answer in answers] == [401, 429]


class TestAudit:
    def test_who_searched_what_is_kept(self, site, keyed):
        header = site.key("docs")
        site.run("delete from pgrag.audit")
        found = keyed.request("GET", SEARCH, headers=header).json()
        body = {"query": "tides", "library": "Harbour"}
        keyed.request("POST", "/v1/search", headers=header, json=body)
        keyed.request("GET", "/v1/libraries/harbour/versions", headers=header)
        first, second, third = site.audit()
        assert str(first["search_id"]) == found["search_id"]
        assert (first["caller"], first["role"], first["allowed"]) == ("docs", "search", True)
        assert [each["action"] for each in (first, second, third)] == [
            "search", "search_with_body", "versions",
        ]  # fmt: skip
        assert {each["library"] for each in (first, second, third)} == {"harbour"}

    def test_a_search_that_cannot_be_recorded_is_answered_and_audited(self, site, keyed):
        header = site.key("docs", concurrency=1)
        site.run(
            "alter table pgrag.searches"
            " add constraint unwanted check (query <> 'tides unrecorded') not valid"
        )
        try:
            for _ in range(2):
                address = "/v1/search?library=harbour&q=tides+unrecorded"
                found = keyed.request("GET", address, headers=header).json()
                assert found["hits"]
                assert found["search_id"] is None
        finally:
            site.run("alter table pgrag.searches drop constraint unwanted")
        kept = [(each["action"], each["search_id"]) for each in site.audit(caller="docs")]
        assert kept == 2 * [("search", None)]

    def test_a_request_ends_once(self, site, keyed):
        """With the record of its search, or else after its answer."""
        header = site.key("docs", concurrency=1)
        for address in (SEARCH, "/v1/context?library=harbour&q=tides", "/v1/facets", SEARCH):
            assert keyed.request("GET", address, headers=header).status_code == 200
        assert len(site.audit(caller="docs")) == 4
        records = site.run("select query from pgrag.searches where caller = 'docs'")
        assert len(records) >= 3

    def test_a_search_and_its_request_end_in_one_transaction(self, site, keyed):
        header = site.key("docs", concurrency=1)
        found = keyed.request("GET", SEARCH, headers=header).json()
        [entry] = site.audit(caller="docs")
        [record] = site.run(
            "select at from pgrag.searches where search_id = %s", found["search_id"]
        )
        assert entry["at"] == record["at"]
        unrecorded = keyed.request("GET", f"{SEARCH}&record=false", headers=header).json()
        assert unrecorded["search_id"] is None
        failed = keyed.request("GET", "/v1/search?q=tides&library=nowhere", headers=header)
        assert failed.status_code == 404
        assert keyed.request("GET", SEARCH, headers=header).status_code == 200
        assert [each["search_id"] is None for each in site.audit(caller="docs")] == [
            False, True, True, False,
        ]  # fmt: skip

    def test_what_ends_a_refused_search_is_not_taken_for_prepared(self, site, keyed):
        header = site.key("docs", concurrency=1)
        refused = "/v1/search?q=tides&library=nowhere"
        # psycopg prepares a statement from its fifth use on.
        for _ in range(8):
            assert keyed.request("GET", SEARCH, headers=header).status_code == 200
            assert keyed.request("GET", refused, headers=header).status_code == 404

    def test_hits_are_not_lost_where_the_end_fails(self, site, keyed, caplog):
        header = site.key("docs", concurrency=1)
        site.run("alter table pgrag.audit add constraint unwanted check (caller <> 'docs')")
        try:
            answer = keyed.request("GET", SEARCH, headers=header)
        finally:
            site.run("alter table pgrag.audit drop constraint unwanted")
        assert answer.json()["hits"]
        assert "search is not in the audit" in caplog.text
        assert keyed.request("GET", SEARCH, headers=header).status_code == 200

    def test_refused_reads_are_kept_once_a_minute(self, site, keyed):
        header = site.key("docs")
        site.run("delete from pgrag.audit")
        for _ in range(3):
            keyed.request("GET", "/v1/metrics/searches?library=harbour", headers=header)
            keyed.get("/v1/resolve?library=harbour")
        reasons = [(e["caller"], e["action"], e["library"], e["reason"]) for e in site.audit()]
        assert reasons == [
            ("docs", "search_metrics", "harbour", "role"),
            (None, "resolve", "harbour", "missing"),
        ]


class TestAgents:
    LIST = "tools/list"

    def tools(self, service: Service, header: dict[str, str]) -> set[str]:
        answer = service.post(self.LIST, headers=header)
        assert answer.status_code == 200, answer.text
        return {tool["name"] for tool in said(answer)["result"]["tools"]}

    def test_a_key_is_needed(self, agents):
        problem(agents.post(self.LIST), 401, "key-required")

    def test_tools_that_a_key_may_not_use_are_not_there(self, site, agents):
        searcher, writer = site.key("searcher"), site.key("writer", "write")
        assert "search_docs" in self.tools(agents, searcher)
        assert self.tools(agents, writer) - self.tools(agents, searcher) == {
            "index_docs", "remove_docs",
        }  # fmt: skip
        call = {"name": "remove_docs", "arguments": {"library": "harbour", "version": "*"}}
        refused = agents.post("tools/call", headers=searcher, **call)
        assert "There is no tool 'remove_docs'" in refused.text
        assert "index_docs" not in refused.text
        [entry] = site.audit(action="remove_docs")
        assert (entry["caller"], entry["allowed"], entry["reason"]) == ("searcher", False, "role")
        assert site.run("select name from pgrag.libraries where name = 'harbour'")

    def test_calls_are_audited_by_tool(self, site, agents):
        header = site.key("searcher")
        call = {"name": "search_docs", "arguments": {"library": "harbour", "query": "tides"}}
        assert "Spring tides" in agents.post("tools/call", headers=header, **call).text
        [entry] = site.audit(action="search_docs")
        assert (entry["caller"], entry["library"]) == ("searcher", "harbour")
        assert entry["search_id"] is not None

    @pytest.mark.parametrize("writes", [False, True], ids=["json", "stream"])
    def test_no_caller_inherits_from_an_earlier_one(self, site, writes):
        """The endpoint lives in a task that the first request starts."""
        limited = site.key("limited", libraries=["harbour"])
        call = {"name": "find_library", "arguments": {}}
        with mcp_service(site.url, policy=LOCAL, mcp_writes=writes) as service:
            for _ in range(2):
                few = said(service.post("tools/call", headers=limited, **call))
                every = said(service.post("tools/call", **call))
                assert len(few["result"]["structuredContent"]["libraries"]) == 1
                assert len(every["result"]["structuredContent"]["libraries"]) > 1
                names = {tool["name"] for tool in said(service.post(self.LIST))["result"]["tools"]}
                assert ("remove_docs" in names) == writes
                assert "remove_docs" not in self.tools(service, limited)

    def test_a_publishable_key_is_for_no_agent(self, site, agents):
        header = site.key("page", kind="publishable", origins=["http://localhost:1"])
        refused = agents.post(self.LIST, headers={**header, "Origin": "http://localhost:1"})
        assert "only search" in problem(refused, 403, "forbidden")["detail"]
