"""What links add to a search: scores that add up by hand, pages that only links lead to."""

import math
from collections import defaultdict
from typing import Any, ClassVar

import pytest
import vault
from library import Row, ingest, keys, page, run, search, value, walk
from psycopg.types.json import Jsonb
from vault import Link

QUERY = "watering seedlings"
#: How often the note says the words of the query, so that each has a score of its own.
SAYS = {"can": 6, "hose": 5, "rain": 4, "trays": 3, "beds": 2, "soil": 1, "frost": 1}
LINKS = [
    Link("can", "trays", sentence="Fill the [[trays]] with it."),
    Link("hose", "trays", "depends_on", 0.9, "[[rel:depends_on trays]] in spring."),
    Link("hose", "trays", "depends_on", 0.5),
    Link("rain", "trays"),
    Link("trays", "can", confidence=0.7),
    Link("beds", "hose"),
    Link("soil", "soil"),
    Link("soil", "nowhere"),
    Link("can", "pump"),
    Link("rain", "pump"),
    Link("pump", "well"),
    Link("frost", "rain"),
]
#: A page that says a word of the query, but so little that no retriever finds it among few.
PUMP = "A pump lifts water for seedlings, and for much else that grows in a garden all year long."


def note(name: str, count: int) -> Row:
    return page(f"{name}.md", f"{name} " + "watering seedlings " * count + "and so on " * 9)


@pytest.fixture(scope="module")
def ids(module_connection) -> dict[str, int]:
    notes = [note(name, count) for name, count in SAYS.items()]
    notes += [page("pump.md", PUMP, type="tool"), page("well.md", "Deep seedlings below.")]
    made = vault.write(module_connection, "garden", notes, LINKS)
    module_connection.execute(
        "insert into pgrag.edge_kinds (name, weight) values ('depends_on', 1.5)"
        " on conflict (name) do update set weight = 1.5"
    )
    run(module_connection, "refresh_page_ranks", library="garden")
    return made


def graph_search(connection, **arguments: Any) -> list[Row]:
    given = {"library": "garden", "graph": True, "explain": True, "top_k": 50}
    return search(connection, QUERY, **(given | arguments))


def configure(connection, **settings: Any) -> dict[str, Any]:
    [row] = run(
        connection, "configure_library", library="garden", settings=Jsonb({"graph": settings})
    )
    return row["configure_library"]["graph"]


def by_hand(connection, ids, *, seeds: int = 10, **weights: float) -> dict[str, float]:
    """The score of every note, by the formula, from its fused score and the links above."""
    hits = search(connection, QUERY, library="garden", top_k=50)
    fused = {hit["key"].removesuffix(".md"): hit["score"] for hit in hits}
    best = sorted(fused, key=lambda name: (-fused[name], ids[name]))[:seeds]
    strength: dict[tuple[str, str, str], float] = defaultdict(float)
    for link in LINKS:
        if link.source != link.target and link.target in ids:
            known = 1.5 if link.kind == "depends_on" else 1.0
            edge = (link.source, link.target, link.kind)
            strength[edge] = max(strength[edge], link.confidence * known)
    votes: dict[str, float] = defaultdict(float)
    linking: dict[str, set[str]] = defaultdict(set)
    for (source, target, _), weight in strength.items():
        linking[target].add(source)
        if source in best:
            votes[target] += fused[source] / fused[best[0]] * weight
        if target in best:
            votes[source] += 0.3 * fused[target] / fused[best[0]] * weight
    ranks = {
        row["page_id"]: row["rank"]
        for row in connection.execute("select page_id, rank from pgrag.page_ranks").fetchall()
    }
    most = math.log(1 + max(map(len, linking.values())))
    lowest, highest = (f(ranks[ids[name]] for name in fused) for f in (min, max))
    scores = {}
    for name, score in fused.items():
        base = weights.get("semantic", 1) * score
        room = base * (1 - base)
        rank = (ranks[ids[name]] - lowest) / (highest - lowest)
        central = (math.log(1 + len(linking[name])) / most + rank) / 2
        scores[name] = (
            base
            + weights.get("edge", 0.7) * room * votes[name] / (votes[name] + 2)
            + weights.get("centrality", 0.5) * room * central
        )
    return scores


@pytest.fixture
def typed(connection, ids):
    connection.execute(
        "insert into pgrag.page_types (name, retriever_weight) values ('tool', 0.5)"
        " on conflict (name) do update set retriever_weight = excluded.retriever_weight"
    )


@pytest.mark.parametrize("seeds", [10, 3])
def test_scores_are_those_of_the_formula(connection, ids, typed, seeds):
    configure(connection, seeds=seeds)
    hits = graph_search(connection)
    expected = by_hand(connection, ids, seeds=seeds)
    assert len(hits) == len(expected) == len(SAYS) + 2
    for hit in hits:
        assert hit["score"] == pytest.approx(expected[hit["key"].removesuffix(".md")], abs=1e-6)
    assert [h["score"] for h in hits] == sorted((h["score"] for h in hits), reverse=True)


def test_the_weight_of_a_type_is_in_the_fused_score(connection, ids, typed):
    weighed = {hit["key"]: hit for hit in graph_search(connection)}
    run(connection, "configure_library", library="garden", settings=Jsonb({"type_weights": False}))
    plain = {hit["key"]: hit for hit in graph_search(connection)}
    assert weighed["pump.md"]["explanation"]["type_weight"] == 0.5
    assert weighed["pump.md"]["hybrid_score"] == plain["pump.md"]["hybrid_score"] / 2
    assert weighed["pump.md"]["score"] < plain["pump.md"]["score"]
    assert plain["pump.md"]["explanation"]["type_weight"] == 1


def test_links_lift_no_page_whose_type_weighs_nothing(connection, ids):
    connection.execute("insert into pgrag.page_types (name, retriever_weight) values ('tool', 0)")
    assert {hit["key"]: hit for hit in graph_search(connection)}["pump.md"]["score"] == 0


def test_weights_are_settings_and_scores_stay_below_one(connection, ids, typed):
    configure(connection, semantic_weight=0.8, edge_weight=0.2, centrality_weight=0.1)
    expected = by_hand(connection, ids, semantic=0.8, edge=0.2, centrality=0.1)
    for hit in graph_search(connection):
        assert hit["score"] == pytest.approx(expected[hit["key"].removesuffix(".md")], abs=1e-6)
    configure(connection, semantic_weight=10, edge_weight=10, centrality_weight=10)
    assert all(0 <= hit["score"] <= 1 for hit in graph_search(connection))


def test_the_explanation_adds_up_and_says_why(connection, ids, typed):
    hits = {hit["key"]: hit for hit in graph_search(connection)}
    for hit in hits.values():
        parts = hit["explanation"]["graph"]
        total = parts["semantic"] + parts["edge"] + parts["centrality"]
        assert hit["score"] == parts["score"] == pytest.approx(total)
        assert parts["semantic"] == hit["hybrid_score"]
    trays = hits["trays.md"]["explanation"]
    incoming = trays["graph"]["edges_in"]
    assert [edge["title"] for edge in incoming] == ["Hose", "Can", "Rain"]
    assert (incoming[0]["kind"], incoming[0]["weight"]) == ("depends_on", 1.5)
    assert incoming[0]["confidence"] == pytest.approx(0.9)
    assert incoming[0]["sentence"] == "[[rel:depends_on trays]] in spring."
    assert [edge["title"] for edge in trays["graph"]["edges_out"]] == ["Can"]
    assert "Linked by 3 of the 9 best pages: Hose, Can, Rain." in trays["reasons"]
    assert "Links to 1 of the 9 best pages: Can." in trays["reasons"]
    assert "Pages of type tool weigh 0.5." in hits["pump.md"]["explanation"]["reasons"]
    [row, *_] = run(connection, "explain_search", query="watering can", library="garden")
    assert row["explanation"]["graph"] is None
    assert row["reasons"].split("\n") == row["explanation"]["reasons"]
    assert "Its text has water." in row["reasons"]
    assert "Its page as a whole is about the words" in row["reasons"]
    assert "best pages" not in row["reasons"]
    connection.execute(
        "insert into pgrag.page_types (name, retriever_weight) values ('default', 0.8)"
        " on conflict (name) do update set retriever_weight = excluded.retriever_weight"
    )
    reasons = [line for hit in graph_search(connection) for line in hit["explanation"]["reasons"]]
    assert "Pages without a type weigh 0.8." in reasons


class TestPagesThatOnlyLinksLeadTo:
    #: So few candidates that no retriever brings the pump.
    FEW: ClassVar[dict[str, Any]] = {"candidate_count": 3, "top_k": 3, "alpha": 0}

    def reached(self, connection, **arguments) -> list[str]:
        """The keys of the whole first list."""
        request = connection.execute(
            "select h.page_id, h.graph from _pgrag.make_request(%(query)s, %(options)s) as r"
            " cross join lateral _pgrag.rank(r, '{}', 3) as k"
            " cross join lateral unnest(_pgrag.with_graph(k.hits, r)) as h",
            {
                "query": arguments.pop("query", QUERY),
                "options": Jsonb(
                    {"library": "garden", "graph": True, "explain": True} | self.FEW | arguments
                ),
            },
        ).fetchall()
        return [
            value(connection, "select key from pgrag.pages where page_id = %s", row["page_id"])
            for row in request
            if row["graph"]["reached_by"] is not None
        ]

    def test_come_in_with_their_exact_score_as_far_and_as_many_as_set(self, connection, ids):
        assert "pump.md" in self.reached(connection)
        plain = {h["key"]: h["score"] for h in search(connection, QUERY, top_k=50, alpha=0)}
        hits = graph_search(connection, **(self.FEW | {"top_k": 9, "candidate_count": 9}))
        assert {hit["key"]: hit["hybrid_score"] for hit in hits} == pytest.approx(plain)
        assert "well.md" not in self.reached(connection)
        configure(connection, depth=2)
        assert "well.md" in self.reached(connection)
        assert len(self.reached(connection)) > 1
        configure(connection, admitted=1)
        assert len(self.reached(connection)) == 1
        configure(connection, admitted=0)
        assert self.reached(connection) == []

    def test_obey_filters_and_the_least_score(self, connection, ids):
        assert self.reached(connection, filters={"type": "note"}) == []
        connection.execute("update pgrag.pages set type = 'note' where key <> 'pump.md'")
        assert "pump.md" not in self.reached(connection, filters={"type": "note"})
        assert "pump.md" not in self.reached(connection, query=f"{QUERY} -pump")
        plain = {h["key"]: h["score"] for h in search(connection, QUERY, top_k=50, alpha=0)}
        assert plain["trays.md"] > plain["pump.md"]
        above = self.reached(connection, min_score=plain["pump.md"] + 0.001)
        assert "trays.md" in above
        assert "pump.md" not in above

    def test_are_of_the_version_that_was_asked_for(self, connection, ids):
        run(connection, "open_version", library="garden", version="2")
        connection.execute(
            "update pgrag.pages set version_id = (select max(version_id) from pgrag.versions)"
            " where key = 'pump.md'"
        )
        assert "pump.md" not in self.reached(connection)


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("arguments", [{}, {"unit": "page"}, {"max_per_page": 1}], ids=str)
def test_pages_of_results_are_the_list(connection, ids, size, arguments):
    ask = {"query": QUERY, "library": "garden", "graph": True, "candidate_count": 4, **arguments}
    walked = walk(connection, "search", size, **ask)
    assert sorted(keys(walked)) == sorted({*keys(walked)})
    assert len(walked) == len(SAYS) + 2
    assert keys(run(connection, "search", top_k=size, **ask)) == keys(walked)[:size]


def test_a_library_can_have_it_on(connection, ids):
    plain = search(connection, QUERY, library="garden", explain=True)
    assert search(connection, QUERY, library="garden", explain=True, graph=False) == plain
    assert all(hit["score"] == hit["hybrid_score"] for hit in plain)
    ingest(connection, "bare", [note("one", 1), note("two", 3), page("three.md", "Watering.")])
    plain = search(connection, QUERY, library="bare")
    hits = search(connection, QUERY, library="bare", graph=True)
    assert [(h["document_id"], h["score"]) for h in hits] == [
        (h["document_id"], h["score"]) for h in plain
    ]
    asked = graph_search(connection)
    settings = configure(connection, search=True)
    assert settings["search"] is True
    assert settings["edge_weight"] == 0.7
    assert search(connection, QUERY, library="garden", explain=True, top_k=50) == asked
    off = search(connection, QUERY, library="garden", graph=False, explain=True)
    assert all(hit["explanation"]["graph"] is None for hit in off)
    retriever = run(connection, "keyword_search", query=QUERY, library="garden")
    assert all(hit["score"] == hit["hybrid_score"] for hit in retriever)


def test_every_way_to_search_takes_it(connection, ids):
    scores = {hit["key"]: hit["score"] for hit in graph_search(connection)}
    pages = run(connection, "search_pages", query=QUERY, library="garden", graph=True)
    assert {p["key"]: p["score"] for p in pages} == scores
    many = run(
        connection,
        "search_many",
        queries=[QUERY],
        library="garden",
        top_k=50,
        options={"graph": True},
    )
    assert {row["key"]: row["score"] for row in many} == scores
    recorded = run(
        connection, "recorded_search", query=QUERY, library="garden", top_k=50, graph=True
    )
    assert {row["key"]: row["score"] for row in recorded} == scores
    retriever = run(connection, "keyword_search", query=QUERY, library="garden", graph=True)
    assert any(row["score"] != row["hybrid_score"] for row in retriever)
    assert run(connection, "context", query=QUERY, library="garden", graph=True, expand=False)
