"""After fusion: thresholds, the levels of a page, and how much of one page is shown."""

from collections import Counter
from typing import ClassVar

import pytest
from library import contents, document, explained, ingest, page, search


class TestThreshold:
    def test_it_is_applied_before_the_limit_and_may_leave_nothing(self, connection, manual):
        everything = explained(connection, "restart the server", top_k=200)
        scores = [hit["score"] for hit in everything]
        limit = scores[14]
        hits = explained(connection, "restart the server", min_score=limit, top_k=10)
        assert [hit["score"] for hit in hits] == scores[:10]
        hits = explained(connection, "restart the server", min_score=limit, top_k=50)
        assert [hit["score"] for hit in hits] == [s for s in scores if s >= limit]
        assert search(connection, "restart", library="manual", min_score=1.01) == []


class TestLevels:
    """A summary, its two paragraphs, and a paragraph that also represents its section."""

    @pytest.fixture
    def guide(self, connection):
        ingest(connection, "guide", [
            page(
                "a.md",
                document("Nodes and their kernels.", level=0, covers=1, is_summary=True),
                document("Drain nodes. Upgrade kernels.", level=1, covers=2, parent=0),
                document("Drain the node before anything else.", parent=1),
                document("Upgrade the kernel of the node.", parent=1),
                document("Fill the node again.", covers=6, parent=0),
                document("A row that another one stands for.", level=1, covers=0, parent=0),
            )
        ])  # fmt: skip
        return "guide"

    @pytest.mark.parametrize(
        ("levels", "expected"),
        [
            ([0], {"Nodes and their kernels."}),
            ([1], {"Drain nodes. Upgrade kernels.", "Fill the node again."}),
            (
                [2],
                {
                    "Drain the node before anything else.", "Upgrade the kernel of the node.",
                    "Fill the node again.",
                },
            ),
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("alpha", [0, 0.5, 1])
    def test_each_level_is_searched_alone(self, connection, guide, levels, expected, alpha):
        hits = search(connection, "nodes", library=guide, levels=levels, alpha=alpha)
        assert set(contents(hits)) == expected

    def test_a_summary_gives_way_to_its_paragraphs_and_lends_its_score(self, connection, guide):
        hits = search(connection, "nodes", library=guide)
        assert set(contents(hits)) == {
            "Drain the node before anything else.", "Upgrade the kernel of the node.",
            "Fill the node again.",
        }  # fmt: skip
        query = "drain nodes upgrade kernels"
        apart = search(connection, query, library=guide, levels=[1, 2], alpha=0, explain=True)
        score = {hit["content"]: hit["hybrid_score"] for hit in apart}
        summary = score.pop("Drain nodes. Upgrade kernels.")
        assert summary > max(score.values())
        hits = search(connection, query, library=guide, alpha=0, explain=True)
        assert hits[0]["score"] == summary
        assert hits[0]["explanation"]["section_score"] == summary
        assert all(hit["hybrid_score"] == score[hit["content"]] for hit in hits[1:]), (
            "the others keep their own"
        )
        assert all(hit["explanation"]["section_score"] is None for hit in hits[1:])
        hits = search(connection, "nodes", library=guide, levels=[0, 1, 2])
        assert len(hits) == 5
        hits = search(connection, "row stands", library=guide, levels=[0, 1, 2])
        assert "A row that another one stands for." not in contents(hits)

    def test_a_summary_leads_to_the_passage_that_it_repeats_wherever_that_is(self, connection):
        """At any depth, of any level that an intent searches; its own paragraphs come first."""
        ferry = page(
            "ferry.md",
            document("Board early. Cars wait. Pack light.", level=0, covers=1, is_summary=True),
            document("- Foot: Board twenty minutes early.\n- Cars: Wait.", level=1, covers=2,
                     parent=0, heading="Boarding", path=["Boarding"]),
            document("Board twenty minutes early.", covers=6, parent=1, anchor="foot",
                     path=["Boarding", "Foot"]),
            document("Cars wait for an hour.", level=1, covers=2, parent=1, anchor="cars",
                     path=["Boarding", "Cars"]),
            document("Cars wait for an hour at the ramp.", parent=3, anchor="cars",
                     path=["Boarding", "Cars"]),
            document("Lorries wait behind them.", parent=3, anchor="cars",
                     path=["Boarding", "Cars"]),
            document("Pack one bag.", covers=6, parent=0, anchor="luggage", path=["Luggage"]),
        )  # fmt: skip
        ingest(connection, "ferry", [ferry])
        for query, anchor in [
            ("board twenty minutes early", "foot"), ("cars wait an hour", "cars"),
            ("pack one bag", "luggage"),
        ]:  # fmt: skip
            for given in ({}, {"intent": "aggregative", "hierarchy": "none"}):
                hits = search(connection, query, library="ferry", **given)
                assert hits[0]["anchor"] == anchor, (query, given)
                assert {hit["level"] for hit in hits} == {2}
        [boarding] = search(connection, "board", library="ferry", top_k=1, explain=True)
        assert boarding["explanation"]["section_score"] is not None
        # A row without passages below it among the candidates stays.
        hits = search(connection, "cars", library="ferry", filters={"level": 1})
        assert "Cars wait for an hour." in contents(hits)

    def test_the_same_text_of_two_pages_is_one_hit_but_two_pages(self, connection):
        note = "You always need a running valve, and the pump **closed**."
        ingest(connection, "notes", [
            page("a.md", note, "The valve of a."),
            page("b.md", note.replace("*", ""), "The valve of b."),
            page("c.md", note),
        ])  # fmt: skip
        ask = {"query": "a running valve and the pump closed", "library": "notes"}
        hits = search(connection, **ask)
        assert len([hit for hit in hits if "running" in hit["content"]]) == 1
        assert {hit["key"] for hit in hits} == {"a.md", "b.md"}
        assert len(search(connection, **ask, levels=[2])) == 5
        assert {hit["key"] for hit in search(connection, **ask, unit="page")} == {
            "a.md", "b.md", "c.md"
        }  # fmt: skip
        ingest(connection, "notes", [page("a.md", note)], version="2")
        assert len(search(connection, **ask, version="*")) == 4, "each version has its own"


class TestDecay:
    """Each hit counts less for every better hit of its page."""

    ASK: ClassVar = {"query": "drain a node", "library": "yard"}

    def test_a_steep_decay_ends_at_nothing(self, connection):
        ingest(connection, "long", [page("a.md", *(f"Drain node {n}." for n in range(200)))])
        ask = {"query": "drain node", "library": "long", "candidate_count": 400, "top_k": 300}
        assert len(search(connection, **ask, page_decay=1e-90)) > 100
        assert len(search(connection, **ask, page_decay=0)) > 100

    @pytest.fixture
    def yard(self, connection):
        ingest(connection, "yard", [
            page("a.md", *(f"Drain node {n}." for n in range(12))),
            *(page(f"{n}.md", f"Drain a node in yard {n}, among other things.") for n in range(5)),
        ])  # fmt: skip

    def test_it_lowers_further_hits_and_is_explained(self, connection, yard):
        plain = search(connection, **self.ASK, page_decay=1, top_k=50)
        assert all(hit["score"] == hit["hybrid_score"] for hit in plain)
        ordered = {hit["document_id"]: nth for nth, hit in enumerate(plain)}
        for given, factor in (({}, 0.97), ({"page_decay": 0.5}, 0.5), ({"fusion": "rrf"}, 0.97)):
            hits = search(connection, **self.ASK, **given, top_k=50, explain=True)
            assert len(hits) == len(plain)
            better = Counter()
            for hit in hits:
                nth = better[hit["page_id"]]
                assert hit["score"] == pytest.approx(hit["hybrid_score"] * factor**nth)
                explanation = hit["explanation"]
                assert (explanation["page_decay"], explanation["better_on_page"]) == (factor, nth)
                told = any("Better hits of its page" in each for each in explanation["reasons"])
                assert told == (nth > 0)
                better[hit["page_id"]] += 1
            assert [hit["score"] for hit in hits] == sorted(
                (h["score"] for h in hits), reverse=True
            )
            if "fusion" not in given:
                of_a = [ordered[hit["document_id"]] for hit in hits if hit["key"] == "a.md"]
                assert of_a == sorted(of_a), "the order within a page stays"
        pages = [len({hit["key"] for hit in rows[:10]}) for rows in (plain, hits)]
        assert pages[1] > pages[0]

    def test_lists_with_rules_of_their_own_have_none(self, connection, yard):
        for given in ({"unit": "page", "aggregate": "mean"}, {"hierarchy": "depth"}):
            hits = search(connection, **self.ASK, **given)
            assert hits == search(connection, **self.ASK, **given, page_decay=1)
        given = {"graph": True, "top_k": 50, "explain": True}
        for hit in search(connection, **self.ASK, **given):
            explanation = hit["explanation"]
            nth = explanation["better_on_page"]
            assert hit["score"] == pytest.approx(explanation["graph"]["score"] * 0.97**nth)
        scores = {str(hit["document_id"]): 0.5 for hit in search(connection, **self.ASK, top_k=50)}
        hits = search(connection, **self.ASK, reranked=scores)
        assert {hit["score"] for hit in hits} == {0.5}


class TestMaxPerPage:
    def test_the_best_of_each_page_from_deeper_down(self, connection, manual):
        for count in [1, 2, 3]:
            everything = explained(connection, "the server", top_k=1000)
            hits = explained(connection, "the server", top_k=12, max_per_page=count)
            expected, seen = [], {}
            for hit in everything:
                seen[hit["page_id"]] = seen.get(hit["page_id"], 0) + 1
                if seen[hit["page_id"]] <= count:
                    expected.append(hit["document_id"])
            assert [hit["document_id"] for hit in hits] == expected[:12]
        # One page with all the best candidates does not fill the list.
        ingest(
            connection, "nodes",
            [page("long.md", *(f"Drain node {n}." for n in range(150)))]
            + [page(f"{n}.md", f"Somewhere a node {n} is in a longer text.") for n in range(8)],
        )  # fmt: skip
        hits = search(connection, "drain node", library="nodes", max_per_page=1)
        assert len(hits) == 9
        assert hits[0]["key"] == "long.md"


class TestSectionsAround:
    """The sections around a hit, against those of the whole page."""

    @pytest.fixture
    def sections(self, connection):
        """More chapters than are listed on each side, two of them with sections."""
        rows = [document("Valves.", level=0, covers=1, is_summary=True)]
        for chapter in range(26):
            rows.append(document(f"Valve {chapter}.", level=1, covers=2, parent=0))
            above = len(rows) - 1
            rows.append(document(f"A paragraph about valve {chapter}.", parent=above))
            if chapter in (3, 14):
                for part in range(3):
                    rows.append(
                        document(f"Valve {chapter}.{part}.", level=1, covers=2, parent=above)
                    )
                    rows.append(document(f"The valve of {chapter}.{part}.", parent=len(rows) - 1))
        ingest(connection, "valves", [page("a.md", *rows), page("b.md", "One valve, no section.")])
        found = connection.execute(
            "select document_id, parent_id, page_id, level, sort_order from pgrag.documents"
            " order by sort_order"
        )
        return {row["document_id"]: row for row in found}

    def test_every_hit_says_what_is_around(self, connection, sections):
        hits = search(connection, "valve", library="valves", top_k=200, levels=[0, 1, 2])
        assert len(hits) == 2 + 26 * 2 + 2 * 3 * 2
        for hit in hits:
            own = sections[hit["document_id"]]
            if own["level"] == 2:
                own = sections.get(own["parent_id"], {})
            page_id = own.get("page_id")
            chapters = [r for r in sections.values() if (r["level"], r["page_id"]) == (1, page_id)]
            before = [r for r in chapters if r["sort_order"] < own["sort_order"]]
            after = [r for r in chapters if r["sort_order"] > own["sort_order"]]
            left, right = (
                [r["document_id"] for r in side if r["parent_id"] == own["parent_id"]]
                for side in (before, after)
            )
            expected = {
                "previous_section": before[-1]["document_id"] if before else None,
                "next_section": after[0]["document_id"] if after else None,
                "sibling_sections": left[-10:] + right[:10] if own.get("level") == 1 else [],
                "has_children": any(r["parent_id"] == own["document_id"] for r in chapters),
            }
            assert {name: hit[name] for name in expected} == expected, hit["content"]
