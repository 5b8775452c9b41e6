"""Links over REST: listed, followed, searched, and counted in searches."""

import psycopg
import pytest
from api_client import serving
from psycopg.types.json import Jsonb

#: tides → moorings → fees, and back from fees to tides.
VAULT = [
    {"key": "tides.md", "title": "Tides", "body": "x", "tags": ["water"], "edges": [
        {"target": "moorings.md", "line": 3, "sentence": "Then go to the moorings."},
        {"target": "fees.md", "line": 5, "kind": "depends_on", "rule": "inline:rel",
         "confidence": 0.95, "sentence": "The times depend on the fees."},
        {"target": "nowhere.md", "line": 6},
    ]},
    {"key": "moorings.md", "title": "Moorings", "body": "x", "tags": ["water"], "edges": [
        {"target": "fees.md", "line": 4, "sentence": "What it costs is listed there."},
    ]},
    {"key": "fees.md", "title": "Fees", "body": "x", "edges": [
        {"target": "tides.md", "line": 9, "sentence": "Come at high water."},
    ]},
]  # fmt: skip
GARDEN = [
    {"key": "can.md", "title": "Can", "body": "watering seedlings, watering seedlings", "edges": [
        {"target": "trays.md", "line": 3, "text": "trays", "sentence": "Fill the trays."},
    ]},
    {"key": "trays.md", "title": "Trays", "body": "watering of seedlings in rows"},
    {"key": "frost.md", "title": "Frost", "body": "no watering of seedlings in winter"},
]  # fmt: skip
TEAM = [
    {"key": "b.md", "body": "x"},
    {"key": "c.md", "body": "x"},
    {"key": "a.md", "body": "x", "edges": [
        {"target": "b.md", "fragment": "gone", "line": 3, "text": "words"},
        {"target": "nowhere", "line": 4, "kind": "needs", "rule": "inline:rel", "confidence": 0.95},
        {"target": "https://example.org", "line": 5},
    ]},
]  # fmt: skip
ASKED = {"q": "watering seedlings", "library": "garden", "mode": "keyword", "top_k": 3}
LINKS = "/v1/libraries/team/vault/links"


@pytest.fixture(scope="module")
def client(clone):
    with clone() as url:
        with psycopg.connect(url) as connection:
            for library, pages, version, resolve in [
                ("vault", VAULT, "", True), ("garden", GARDEN, "", True),
                ("team/vault", TEAM, "1.0", True), ("team/vault", TEAM, "0.9", False),
            ]:  # fmt: skip
                connection.execute(
                    "select pgrag.ingest_pages(%s, %s, %s, resolve => %s)",
                    [library, Jsonb(pages), version, resolve],
                )
                if resolve:
                    connection.execute("select pgrag.finish_version(%s, %s)", [library, version])
        with serving(url) as client:
            yield client


@pytest.fixture(scope="module")
def ids(client):
    """The ids of the pages of the vault."""
    rows = client.app.database.call("pages", library="vault")
    return {row["key"].removesuffix(".md"): row["page_id"] for row in rows}


def test_around_a_page(client, ids):
    tides = f"/v1/pages/{ids['tides']}"
    fees = f"/v1/pages/{ids['fees']}"
    [moorings, strong] = client.ok(f"{fees}/backlinks")["backlinks"]
    assert (moorings["key"], moorings["line"]) == ("moorings.md", 4)
    assert (strong["kind"], strong["sentence"]) == ("depends_on", "The times depend on the fees.")
    only = client.ok(f"{fees}/backlinks", kinds="depends_on, similar_to", top_k=5)["backlinks"]
    assert [row["key"] for row in only] == ["tides.md"]

    related = client.ok(f"{tides}/related", top_k=1)["related"]
    assert len(related) == 1
    assert related[0]["reason"]

    around = client.ok(f"{tides}/neighbourhood", depth=2, direction="out", kinds="references")
    assert [(row["key"], row["depth"]) for row in around["neighbourhood"]] == [
        ("moorings.md", 1),
        ("fees.md", 2),
    ]
    assert around["neighbourhood"][1]["path"] == [ids["tides"], ids["moorings"], ids["fees"]]

    edges = client.ok(f"{tides}/edges", direction="out", top_k=2)
    assert [row["line"] for row in edges["edges"]] == [3, 5]
    rest = client.ok(f"{tides}/edges", direction="out", top_k=2, after=edges["next"])
    assert ([row["state"] for row in rest["edges"]], rest["next"]) == (["unresolved"], None)


def test_ways_and_searches(client, ids):
    ends = {"from": ids["moorings"], "to": ids["tides"]}
    steps = client.ok("/v1/path", **ends)["path"]
    assert [row["key"] for row in steps] == ["moorings.md", "fees.md", "tides.md"]
    assert steps[2]["sentence"] == "Come at high water."
    assert client.ok("/v1/path", **ends, kinds="depends_on")["path"] == []

    with psycopg.connect(client.app.url) as connection:
        connection.execute("select pgrag.embed_pending('vault', 'edge')")
    found = client.ok("/v1/edges/search", q="what does it cost", library="vault", top_k=2)
    assert (found["edges"][0]["source_page"], found["notices"]) == ("moorings.md", [])
    assert found["edges"][0]["matched_by"] == "meaning"


def test_links_count_where_they_are_asked_for(client):
    plain = client.ok("/v1/search", **ASKED, explain=True)
    linked = client.ok("/v1/search", **ASKED, explain=True, graph=True)
    before, after = (
        {hit["key"]: hit for hit in answer["hits"]} for answer in (plain, linked)
    )  # fmt: skip
    trays = after["trays.md"]
    assert trays["score"] > before["trays.md"]["score"] == trays["hybrid_score"]
    parts = trays["explanation"]["graph"]
    assert parts["semantic"] + parts["edge"] + parts["centrality"] == pytest.approx(trays["score"])
    [edge] = parts["edges_in"]
    assert (edge["title"], edge["sentence"], edge["line"]) == ("Can", "Fill the trays.", 3)
    assert "Linked by 1 of the 3 best pages: Can." in trays["explanation"]["reasons"]
    assert before["trays.md"]["explanation"]["graph"] is None
    assert before["trays.md"]["explanation"]["reasons"]


def test_every_address_takes_it(client):
    asked = {"query": "watering seedlings", "library": "garden", "alpha": 0, "graph": True}
    hits = client.post("/v1/search", asked).json()["hits"]
    scores = {hit["key"]: hit["score"] for hit in hits}
    pages = client.post("/v1/search/pages", asked).json()["pages"]
    assert {page["key"]: page["score"] for page in pages} == scores
    [answer] = client.post("/v1/search/batch", {"queries": [asked]}).json()["answers"]
    assert {hit["key"]: hit["score"] for hit in answer["hits"]} == scores
    assert client.ok("/v1/context", q="watering seedlings", library="garden", graph=True)["blocks"]


def test_links(client):
    answer = client.ok(LINKS)
    assert (answer["library"], answer["version"], answer["next"]) == ("team/vault", "1.0", None)
    first, second, third = answer["links"]
    assert {key: first[key] for key in first if not key.endswith("_id")} == {
        "source_page": "a.md", "line": 3, "target": "b.md", "fragment": "gone",
        "fragment_found": False, "target_page": "b.md", "rule": "explicit:link",
        "kind": "references", "confidence": 1.0, "state": "resolved", "how": "path",
        "link_text": "words", "candidates": None,
    }  # fmt: skip
    assert (second["state"], second["target_page"], second["kind"]) == ("unresolved", None, "needs")
    assert third["state"] == "external"


def test_a_version_whose_links_are_not_all_known_says_so(client):
    finished = client.ok(LINKS, version="1.0")
    begun = client.ok(LINKS, version="0.9")
    assert (finished["is_finished"], finished["unread_pages"]) == (True, 0)
    assert (begun["is_finished"], begun["unread_pages"]) == (False, 0)


def test_some_links(client):
    def lines(**parameters: object) -> list[int]:
        answer = client.ok(LINKS, **parameters)
        return [row["line"] for row in answer["links"]]

    assert lines(state="broken", version="^1.0") == [3, 4]
    assert lines(kind="needs") == [4]
    assert lines(page="b") == []
    orphans = client.ok(LINKS, state="orphan", top_k=1)
    assert [row["target_page"] for row in orphans["links"]] == ["a.md"]
    rest = client.ok(LINKS, state="orphan", after=orphans["next"])
    assert [row["target_page"] for row in rest["links"]] == ["c.md"]


def test_links_part_by_part(client):
    first = client.ok(LINKS, top_k=2)
    rest = client.ok(LINKS, top_k=2, after=first["next"])
    assert [row["line"] for row in first["links"] + rest["links"]] == [3, 4, 5]
    assert rest["next"] is None
