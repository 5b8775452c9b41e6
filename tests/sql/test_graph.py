"""Edges, backlinks, paths and related pages of a small vault."""

from itertools import pairwise

import pytest
import vault
from library import document, ingest, keys, page, refused, run
from vault import Link

LINKS = [
    Link("index", "beds", sentence="Start with the [[beds]]."),
    Link("index", "compost", confidence=0.7, sentence="Then look at the [[compost]]."),
    Link("beds", "compost", "depends_on", 0.95, "Beds want [[rel:depends_on compost]]."),
    Link("compost", "worms", sentence="[[worms]] do the work."),
    Link("worms", "worms"),
    Link("worms", "ducks"),
    Link("tools", "compost"),
    Link("tools", "worms"),
    Link("guide/sowing", "beds"),
    Link("guide/mulching", "beds"),
]


@pytest.fixture(scope="module")
def ids(module_connection):
    notes = [
        page("index.md", "Start with the beds. Then look at the compost."),
        page("beds.md", "Raised beds of oak.", tags=["wood", "soil"]),
        page(
            "compost.md",
            document("Heaps turn kitchen waste into soil.", path=["Compost", "Heaps"]),
            document("Worms do the work.", path=["Compost", "Worms"]),
            tags=["soil"],
        ),
        page("worms.md", "They eat what rots.", tags=["animals"]),
        page("tools.md", "A fork and a spade."),
        page("bins.md", "Compost heaps turn waste into soil; worms do the work."),
        page("guide/index.md", "Month by month."),
        page("guide/sowing.md", "In March.", tags=["soil", "wood"]),
        page("guide/mulching.md", "In May."),
        page("lonely.md", "Nobody knows."),
    ]
    ids = vault.write(module_connection, "garden", notes, LINKS)
    run(module_connection, "embed_pending", library="garden")
    return ids


def edges(connection, **arguments):
    return run(connection, "edges", **{"library": "garden", **arguments})


def ends(rows):
    return [(row["source_page"], row["target_page"]) for row in rows]


class TestEdges:
    def test_of_a_version_and_of_a_page(self, connection, ids):
        rows = edges(connection)
        assert len(rows) == len(LINKS)
        assert (rows[0]["source_title"], rows[0]["target_title"]) == ("Index", "Beds")
        assert rows[0]["sentence"] == "Start with the [[beds]]."
        assert [r["target"] for r in edges(connection, states=["unresolved"])] == ["ducks"]
        assert len(edges(connection, rules=["explicit:wikilink"])) == len(LINKS)
        assert edges(connection, rules=["inline:rel"]) == []
        assert edges(connection, kinds=["no_such_kind"]) == []
        out = edges(connection, page_id=ids["compost"], direction="out")
        assert ends(out) == [("compost.md", "worms.md")]
        assert out[0]["section"] == "Compost / Worms"
        into = edges(connection, page_id=ids["compost"], direction="in")
        assert [source for source, _ in ends(into)] == ["index.md", "beds.md", "tools.md"]
        assert len(edges(connection, page_id=ids["compost"])) == 4
        [strong] = edges(connection, page_id=ids["compost"], kinds=["depends_on"])
        assert (strong["kind"], strong["confidence"]) == ("depends_on", pytest.approx(0.95))
        first = edges(connection, top_k=6)
        assert first + edges(connection, top_k=6, after=first[-1]["edge_id"]) == edges(connection)
        asked = {"structure": True, "kinds": ["belongs_to"], "direction": "in"}
        rows = edges(connection, page_id=ids["guide/index"], **asked)
        below = {row["source_page"] for row in rows} - {"guide/index.md"}
        assert below == {"guide/sowing.md", "guide/mulching.md"}

    def test_structure_is_derived(self, connection, ids):
        rows = edges(connection, page_id=ids["compost"], structure=True)
        derived = [row for row in rows if row["edge_id"] is None]
        assert {row["rule"] for row in derived} == {"structure"}
        documents = {
            row["document_id"]: row
            for row in connection.execute(
                "select document_id, parent_id, level, sort_order from pgrag.documents"
                " where page_id = %s",
                [ids["compost"]],
            )
        }
        paragraphs = sorted(
            (d for d in documents.values() if d["level"] == 2), key=lambda d: d["sort_order"]
        )
        expected = {
            ("belongs_to", d["document_id"], d["parent_id"])
            for d in documents.values()
            if d["parent_id"]
        }
        for one, other in pairwise(p["document_id"] for p in paragraphs):
            expected |= {("next", one, other), ("prev", other, one)}
        found = {
            (row["kind"], row["source_document_id"], row["target_document_id"]) for row in derived
        }
        # A page belongs to the page above it; above this one is the index of the folder.
        assert found - {row for row in found if row[2] not in documents} == expected
        assert [row["target_page"] for row in derived if row["target_page"] != "compost.md"] == [
            "index.md"
        ]

    def test_bad_arguments(self, connection, ids):
        [other] = ingest(connection, "other", [page("a.md", "Alone.")], embed=False)
        for code, message, arguments in (
            ("PGR01", "structure needs a page_id", {"structure": True}),
            ("PGR01", "direction must be in, out or both", {"direction": "up"}),
            ("PGR01", "top_k", {"top_k": 0}),
            ("PGR02", "", {"library": "nothing"}),
            ("PGR04", "is not of library 'garden'", {"page_id": other["page_id"]}),
        ):
            with refused(connection, code, message):
                edges(connection, **arguments)


def test_backlinks_tell_where_and_in_which_words(connection, ids):
    rows = run(connection, "backlinks", page_id=ids["compost"])
    assert keys(rows) == ["tools.md", "beds.md", "index.md"]
    beds = rows[1]
    assert (beds["title"], beds["sentence"]) == ("Beds", "Beds want [[rel:depends_on compost]].")
    assert (beds["line"], beds["kind"], beds["rule"]) == (5, "depends_on", "explicit:wikilink")
    assert keys(run(connection, "backlinks", page_id=ids["compost"], top_k=1)) == ["tools.md"]
    kinds = {"kinds": ["depends_on"]}
    assert keys(run(connection, "backlinks", page_id=ids["compost"], **kinds)) == ["beds.md"]
    assert keys(run(connection, "backlinks", page_id=ids["worms"])) == ["compost.md", "tools.md"]
    assert run(connection, "backlinks", page_id=ids["lonely"]) == []
    [section] = [
        row["section"]
        for row in run(connection, "backlinks", page_id=ids["worms"])
        if row["key"] == "compost.md"
    ]
    assert section == "Compost / Worms"
    with refused(connection, "PGR04", "no page 999999999"):
        run(connection, "backlinks", page_id=999999999)


class TestShortestPath:
    def path(self, connection, one, other, **arguments):
        return run(connection, "shortest_path", from_page=one, to_page=other, **arguments)

    def test_steps_tell_their_edges_in_each_direction(self, connection, ids):
        rows = self.path(connection, ids["index"], ids["worms"])
        assert keys(rows) == ["index.md", "compost.md", "worms.md"]
        assert [row["step"] for row in rows] == [0, 1, 2]
        assert rows[0]["edge_id"] is None
        assert [row["sentence"] for row in rows[1:]] == [
            "Then look at the [[compost]].",
            "[[worms]] do the work.",
        ]
        assert all(row["forward"] for row in rows[1:])
        assert self.path(connection, ids["worms"], ids["index"]) == []
        back = self.path(connection, ids["worms"], ids["index"], direction="in")
        assert keys(back) == ["worms.md", "compost.md", "index.md"]
        assert [row["forward"] for row in back[1:]] == [False, False]
        both = self.path(connection, ids["guide/sowing"], ids["tools"], direction="both")
        assert keys(both) == ["guide/sowing.md", "beds.md", "compost.md", "tools.md"]
        assert [row["forward"] for row in both[1:]] == [True, True, False]
        assert self.path(connection, ids["guide/sowing"], ids["worms"], max_depth=2) == []
        assert len(self.path(connection, ids["guide/sowing"], ids["worms"], max_depth=3)) == 4
        assert self.path(connection, ids["index"], ids["compost"], kinds=["depends_on"]) == []
        assert self.path(connection, ids["index"], ids["lonely"], direction="both") == []
        [row] = self.path(connection, ids["worms"], ids["worms"])
        assert (row["step"], row["key"], row["edge_id"]) == (0, "worms.md", None)

    def test_bad_arguments(self, connection, ids):
        [other] = ingest(connection, "other", [page("a.md", "Alone.")], embed=False)
        for code, message, goal, arguments in (
            ("PGR01", "different versions or libraries", other["page_id"], {}),
            (
                "PGR01",
                "max_depth must be between 1 and 100, got 0.",
                ids["worms"],
                {"max_depth": 0},
            ),
            ("PGR01", "direction must be in, out or both", ids["worms"], {"direction": "up"}),
            ("PGR04", "no page 999999999", 999999999, {}),
        ):
            with refused(connection, code, message):
                self.path(connection, ids["index"], goal, **arguments)

    @pytest.mark.parametrize("direction", ["out", "both"])
    def test_length_is_that_of_a_breadth_first_search(self, connection, direction):
        links = vault.random_links(60, 90)
        found = vault.write(connection, "random", vault.random_notes(60), links)
        seen = set()
        for start in ("n1", "n8", "n21"):
            steps = vault.distances(links, start, both=direction == "both")
            for goal in found:
                rows = self.path(connection, found[start], found[goal], direction=direction)
                length = steps.get(goal, 99)
                assert len(rows) == (length + 1 if length <= 8 else 0), (start, goal)
                seen.add(length)
                assert rows == self.path(connection, found[start], found[goal], direction=direction)
        assert len(seen) > 4

    def test_each_step_is_an_edge(self, connection):
        links = vault.random_links(60, 90)
        found = vault.write(connection, "random", vault.random_notes(60), links)
        stored = {row["edge_id"]: row for row in run(connection, "edges", library="random")}
        rows = self.path(connection, found["n1"], found["n50"], direction="both")
        assert len(rows) > 2
        for one, other in pairwise(rows):
            edge = stored[other["edge_id"]]
            ends = [edge["source_page_id"], edge["target_page_id"]]
            if not other["forward"]:
                ends.reverse()
            assert ends == [one["page_id"], other["page_id"]]


class TestRelatedPages:
    def related(self, connection, page_id, **arguments):
        rows = run(connection, "related_pages", page_id=page_id, **arguments)
        return {row["key"]: row for row in rows}

    def test_parts_score_and_reasons(self, connection, ids):
        rows = self.related(connection, ids["beds"])
        compost = rows["compost.md"]
        assert compost["linked"] == pytest.approx(1 - 1 / 1.95)
        assert compost["tagged"] == pytest.approx(1 / 2)
        assert compost["reason"].startswith(
            "is linked from here; 1 page links to both; shares #soil"
        )
        # index links to both and to nothing else; beds has three citing pages, compost three.
        assert compost["cocited"] == pytest.approx((1 / 1.5849625007) / 3)
        mulching = rows["guide/mulching.md"]
        assert mulching["linked"] == pytest.approx(0.5)
        assert mulching["reason"].startswith("links here")
        assert rows["guide/sowing.md"]["tagged"] == 1
        assert next(iter(rows)) == "compost.md"
        sowing = self.related(connection, ids["guide/sowing"])
        assert sowing["guide/mulching.md"]["reason"].startswith("both link to 1 page")
        assert sowing["guide/mulching.md"]["coupled"] == pytest.approx(0.5)
        for row in self.related(connection, ids["beds"], top_k=100).values():
            weights = {"linked": 3, "cocited": 2, "coupled": 1, "tagged": 1, "meaning": 3}
            total = sum(row[part] * weight / 10 for part, weight in weights.items())
            assert row["score"] == pytest.approx(total)
            assert row["reason"]
        rows = self.related(connection, ids["compost"])
        assert rows["bins.md"]["meaning"] > 0.5
        assert rows["bins.md"]["reason"].startswith("reads alike")
        assert "compost.md" not in rows

    def test_without_vectors_the_links_remain(self, connection, ids):
        connection.execute("delete from pgrag.embeddings")
        rows = self.related(connection, ids["beds"])
        assert rows["compost.md"]["meaning"] is None
        assert "lonely.md" not in rows
        assert self.related(connection, ids["lonely"]) == {}

    def test_limits_and_errors(self, connection, ids):
        assert len(self.related(connection, ids["beds"], top_k=2)) == 2
        with refused(connection, "PGR01", "top_k"):
            self.related(connection, ids["beds"], top_k=0)
        with refused(connection, "PGR04"):
            self.related(connection, 999999999)
