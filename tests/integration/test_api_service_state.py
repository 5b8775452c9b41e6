"""`/v1/service` and `/v1/audit`: what a service offers to whom, and what callers did."""

import pytest
from api_client import LOCAL, problem, serving
from api_corpus import indexed
from promised_shapes import assert_promised
from test_api_keys import KEYED, PAGE, SEARCH, Site

from pgrag.service.access import ABILITIES, Policy


@pytest.fixture(scope="module")
def site(clone, tmp_path_factory):
    with clone() as url:
        yield Site(indexed(url, tmp_path_factory.mktemp("service")))


@pytest.fixture(scope="module")
def keyed(site):
    with serving(site.url, policy=KEYED, cors_origins=(PAGE,)) as client:
        yield client


def state(client, **options):
    response = client.request("GET", "/v1/service", **options)
    assert response.status_code == 200, response.text
    assert_promised("/v1/service", response.json())
    return response.json()


def abilities(found):
    return {word for word, may in found["may"].items() if may}


READING = {"search", "read", "answer", "rate", "observe", "administer"}


@pytest.mark.parametrize(
    ("policy", "expected"),
    [(LOCAL, set(ABILITIES)), (Policy(), READING), (KEYED, set())],
)
def test_without_a_key_it_says_what_the_policy_allows(site, policy, expected):
    with serving(site.url, policy=policy) as client:
        found = state(client)
        assert (found["caller"], abilities(found)) == (None, expected)
        assert found["needs_key"] == policy.needs_key
        assert found["allows_writes"] == policy.allow_writes
        for word, method, address in [
            ("search", "GET", SEARCH), ("observe", "GET", "/v1/searches"),
            ("administer", "GET", "/v1/audit"), ("read", "GET", "/v1/libraries"),
        ]:  # fmt: skip
            assert (client.request(method, address).status_code == 200) == found["may"][word]


@pytest.mark.parametrize(
    ("role", "options", "expected"),
    [
        ("search", {}, {"search", "read", "answer", "rate"}),
        ("search", {"kind": "publishable", "origins": [PAGE]}, {"search", "rate"}),
        ("write", {"libraries": ["harbour"]}, {"search", "read", "answer", "rate", "index"}),
        ("admin", {}, set(ABILITIES)),
    ],
)
def test_a_key_learns_its_name_its_rights_and_its_libraries(site, keyed, role, options, expected):
    headers = site.key("caller", role, **options)
    if "origins" in options:
        headers |= {"Origin": PAGE}
    found = state(keyed, headers=headers)
    assert found["caller"] == {
        "name": "caller", "kind": options.get("kind", "secret"), "role": role,
        "libraries": options.get("libraries", ["*"]), "expires_at": None,
    }  # fmt: skip
    assert abilities(found) == expected


def test_a_wrong_key_is_refused_and_strangers_learn_nothing(site, keyed):
    for secret in ("pgrag_sk_no", "pgrag_sk_" + 72 * "0"):
        refused = keyed.request("GET", "/v1/service", headers={"Authorization": f"Bearer {secret}"})
        problem(refused, 401, "invalid-key")
    headers = site.key("ended")
    site.run("update pgrag.keys set expires_at = now() - interval '1 s' where name = 'ended'")
    refused = keyed.request("GET", "/v1/service", headers=headers)
    assert "expired" in problem(refused, 401, "invalid-key")["detail"]
    options = {"llm_url": "http://127.0.0.1:9/v1", "llm_model": "secret-model"}
    with serving(site.url, policy=KEYED, **options) as client:
        shown = client.get("/v1/service").text
        assert "harbour" not in shown
        assert "secret-model" not in shown
        assert state(client, headers=site.key("reader"))["answers"] == {
            "configured": True, "model": "secret-model", "remedy": None,
        }  # fmt: skip


def test_it_says_which_models_are_missing_and_whether_searches_are_kept(site):
    with serving(site.url, record_searches=False) as client:
        found = state(client)
        assert found["records_searches"] is False
        assert found["works_on_jobs"] is False
        assert found["answers"]["configured"] is found["reranker"]["configured"] is False
        assert "PGRAG_LLM_URL" in found["answers"]["remedy"]
        assert "PGRAG_RERANKER_URL" in found["reranker"]["remedy"]
    with serving(site.url, reranker_url="http://127.0.0.1:9/rerank") as client:
        found = state(client)
        assert found["reranker"] == {"configured": True, "model": None, "remedy": None}
        assert found["records_searches"] is True


def test_strangers_get_an_answer_while_the_database_is_away():
    with serving("postgresql://nobody:secret@127.0.0.1:9/nothing", policy=KEYED) as client:
        assert state(client)["needs_key"] is True


class TestAudit:
    @pytest.fixture(autouse=True)
    def without_audit(self, site):
        site.run("delete from pgrag.audit")

    def test_administrators_read_it(self, site, keyed):
        reader, admin = site.key("reader"), site.key("admin", "admin")
        keyed.request("GET", SEARCH, headers=reader)
        problem(keyed.request("GET", "/v1/audit", headers=reader), 403, "forbidden")
        site.run("update pgrag.audit set at = '2026-01-31T12:00Z' where action = 'search'")

        def entries(**parameters):
            found = keyed.request("GET", "/v1/audit", headers=admin, params=parameters)
            assert found.status_code == 200, found.text
            assert_promised("/v1/audit", found.json())
            return [(row["caller"], row["action"]) for row in found.json()["entries"]]

        assert entries(caller="reader") == [("reader", "audit"), ("reader", "search")]
        assert entries(caller="reader", refused=True) == [("reader", "audit")]
        assert entries(library="harbour") == [("reader", "search")]
        assert entries(caller="reader", top_k=1) == [("reader", "audit")]
        assert entries(until="2026-02-01") == [("reader", "search")]
        assert entries(since="2026-01-31T12:00:00", until="2026-01-31T12:00:01Z") == [
            ("reader", "search")
        ]
        assert entries(since="2026-01-31T12:00:00-01:00", until="2026-02-01T00:00:00Z") == []
        for wrong in (
            "since=x",
            "until=0.5",
            "since=1767225600",
            "top_k=0",
            "refused=perhaps",
            "from=2026-01-01",
        ):
            found = keyed.request("GET", f"/v1/audit?{wrong}", headers=admin)
            problem(found, 422, "invalid-request")
