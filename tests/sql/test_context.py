"""What stands around the hits, in reading order, within a budget."""

import pytest
from library import contents, document, ingest, page, processor_seconds, refused, run, search

ZEBRA = "The zebra has 100 metres of [clear](sight.md) sight on **both** sides."
PELICAN = "The pelican has lights that people call by a button."


def crossings():
    """A section with two sections of one paragraph each, as indexing writes them."""
    lead = "People meet trams."
    bare = "The zebra has 100 metres of clear sight on both sides."
    summary = {"level": 1, "covers": 2}
    text = {"covers": 4}
    return page(
        "crossings.md",
        document(f"{lead} {bare}\n\n- Crossings\n  - Zebra\n  - Pelican", level=0, covers=1),
        document(f"{lead}\n\n- Zebra: {bare}\n- Pelican: {PELICAN}", parent=0,
                 heading="Crossings", **summary),
        document(lead, parent=1, heading="Crossings", **text),
        document(bare, parent=1, heading="Zebra", **summary),
        document(ZEBRA, parent=3, heading="Zebra", **text),
        document(PELICAN, parent=1, heading="Pelican", **summary),
        document(PELICAN, parent=5, heading="Pelican", **text),
    )  # fmt: skip


def long_page(key, topic, count):
    """A page whose every fifth paragraph names the topic."""
    rows = [
        document("Start.", level=1, covers=2, heading="Start", root_section="Start"),
        *(
            document(
                f"{topic} {n}." if n % 5 == 0 else f"Sentence {n} of {key}.",
                parent=0, heading="Start", root_section="Start", path=[key, "Start"],
                overlap=f"the end of {n - 1}" if n else "",
            )
            for n in range(count)
        ),
    ]  # fmt: skip
    return page(key, *rows, title=key.removesuffix(".md").title(), path=[key])


@pytest.fixture(scope="module")
def tool(module_connection):
    ingest(module_connection, "tool", [
        long_page("kernel.md", "Kernel upgrade", 12),
        long_page("vault.md", "Vault keys", 40),
        page("short.md", "Only a kernel here."),
    ])  # fmt: skip
    return "tool"


@pytest.fixture(scope="module")
def town(module_connection):
    ingest(module_connection, "town", [crossings()])
    return "town"


@pytest.fixture
def ids(connection, tool):
    rows = connection.execute("select content, document_id from pgrag.documents").fetchall()
    return {row["content"]: row["document_id"] for row in rows}


def test_many_pages_are_read_whole_in_time_that_grows_as_they_do(connection):
    """Also with a generic plan, which nested functions get."""
    words = [f"Paragraph number {n} about boilers." for n in range(8)]
    ingest(connection, "many", [page(f"{n}.md", *words) for n in range(300)], embed=False)
    connection.execute("set local plan_cache_mode = force_generic_plan")
    count = "select count(*) as n from pgrag.expand_documents({}, 0, 300, 20) as e"
    ids = "(select array_agg(d.document_id) from pgrag.documents as d where d.level = 2 {})"
    some = ids.format("and d.document_id % 2 = 0")
    hits = f"{some}, (select array_agg(1::float8) from unnest({some}))"
    with processor_seconds(connection) as seconds:
        [row] = connection.execute(count.format(hits)).fetchall()
    assert row["n"] == 2400
    assert max(seconds) < 4


class TestExpansion:
    def expand(self, connection, hits, **arguments):
        return run(connection, "expand_documents", document_ids=[i for i, _ in hits],
                   scores=[s for _, s in hits], **arguments)  # fmt: skip

    def test_page_of_a_hit_is_read_whole_and_every_passage_comes_once(self, connection, ids):
        hit = ids["Kernel upgrade 5."]
        rows = self.expand(connection, [(hit, 0.8)])
        assert [row["content"] for row in rows] == [
            "Kernel upgrade 0.", *(f"Sentence {n} of kernel.md." for n in (1, 2, 3, 4)),
            "Kernel upgrade 5.", *(f"Sentence {n} of kernel.md." for n in (6, 7, 8, 9)),
            "Kernel upgrade 10.", "Sentence 11 of kernel.md.",
        ]  # fmt: skip
        for row in rows:
            is_hit = row["document_id"] == hit
            assert row["relation"] == ("hit" if is_hit else "expansion")
            assert row["score"] == (0.8 if is_hit else 0.1)
        rows = self.expand(connection, [(hit, 0.4), (hit, 0.9), (ids["Kernel upgrade 0."], 0.5)])
        assert len(rows) == len({row["document_id"] for row in rows}) == 12
        assert [row["score"] for row in rows if row["document_id"] == hit] == [0.9]

    def test_the_best_pages_are_expanded_next_to_their_hits(self, connection, ids, tool):
        rows = self.expand(connection, [(ids["Vault keys 20."], 0.9)])
        assert len(rows) == 20
        assert contents(rows)[0] == "Vault keys 10."
        rows = self.expand(connection, [(ids["Vault keys 20."], 0.9)], max_chunks_per_document=3)
        assert contents(rows) == [
            "Sentence 19 of vault.md.", "Vault keys 20.", "Sentence 21 of vault.md.",
        ]  # fmt: skip
        hits = [(ids["Kernel upgrade 5."], 0.29), (ids["Vault keys 0."], 0.3)]
        rows = self.expand(connection, hits)
        assert sum(row["key"] == "kernel.md" for row in rows) == 1
        assert sum(row["key"] == "vault.md" for row in rows) == 20
        assert [row["relation"] for row in rows if row["key"] == "kernel.md"] == ["hit"]
        rows = self.expand(connection, hits, expansion_threshold=0.2)
        assert sum(row["key"] == "kernel.md" for row in rows) == 12
        hits = [(ids["Vault keys 0."], 0.5), (ids["Kernel upgrade 0."], 0.9)]
        rows = self.expand(connection, hits, max_documents_to_expand=1)
        assert [row["key"] for row in rows] == ["kernel.md"] * 12 + ["vault.md"]
        assert self.expand(connection, []) == []

    def test_pages_of_several_libraries_share_the_limit(self, connection, ids):
        ingest(connection, "other", [page("a.md", "One.", "Two.")])
        [row] = run(connection, "keyword_search", query="one", library="other")
        rows = self.expand(
            connection, [(ids["Only a kernel here."], 0.4), (row["document_id"], 0.9)]
        )
        assert contents(rows) == ["One.", "Two.", "Only a kernel here."]
        hits = [(ids["Kernel upgrade 0."], 0.5), (row["document_id"], 0.9)]
        rows = self.expand(connection, hits, max_documents_to_expand=1)
        assert contents(rows) == ["One.", "Two.", "Kernel upgrade 0."]

    def test_arguments_that_make_no_sense(self, connection, tool):
        for arguments, sqlstate in [
            ({"document_ids": [1, 2], "scores": [0.5]}, "PGR01"),
            ({"document_ids": [1], "scores": None}, "PGR01"),
            ({"document_ids": [0], "scores": [0.5]}, "PGR05"),
            ({"document_ids": [], "scores": [], "max_documents_to_expand": -1}, "PGR01"),
            ({"document_ids": [], "scores": [], "max_chunks_per_document": -1}, "PGR01"),
            ({"document_ids": [], "scores": [], "max_chunks_per_document": None}, "PGR01"),
            ({"document_ids": [], "scores": [], "expansion_threshold": None}, "PGR01"),
        ]:
            with refused(connection, sqlstate):
                run(connection, "expand_documents", **arguments)


class TestContext:
    def context(self, connection, query="kernel upgrade", **arguments):
        return run(connection, "context", query=query, **{"library": "tool", **arguments})

    def test_hits_are_those_of_search_and_no_hit_is_no_context(self, connection, tool):
        arguments = {"top_k": 4, "alpha": 0, "min_score": 0.05}
        hits = search(connection, "kernel upgrade", library="tool", **arguments)
        blocks = self.context(connection, expand=False, **arguments)
        assert {(b["document_id"], b["score"]) for b in blocks} == {
            (h["document_id"], h["hybrid_score"]) for h in hits
        }
        assert {b["relation"] for b in blocks} == {"hit"}
        assert self.context(connection, "zzyzx", alpha=0) == []

    def test_best_page_is_read_in_order_with_headings_or_breadcrumbs(self, connection, tool):
        blocks = self.context(connection, top_k=2, alpha=0)
        assert blocks[0]["title"] == "Kernel"
        assert contents(b for b in blocks if b["title"] == "Kernel") == [
            f"Kernel upgrade {n}." if n % 5 == 0 else f"Sentence {n} of kernel.md."
            for n in range(12)
        ]
        relations = {b["content"]: b["relation"] for b in blocks}
        assert relations["Kernel upgrade 0."] == "hit"
        assert relations["Sentence 1 of kernel.md."] == "expansion"
        assert blocks[0]["block"] == (
            "## Kernel › Start (kernel.md)\n"
            f"[relevance {blocks[0]['score']:.2f}, level 0]\n"
            f'<passage id="{blocks[0]["document_id"]}">\nKernel upgrade 0.\n</passage>'
        )
        assert blocks[1]["block"] == (
            "[relevance 0.10, level 0]\n"
            f'<passage id="{blocks[1]["document_id"]}">\nSentence 1 of kernel.md.\n</passage>'
        )
        blocks = self.context(connection, top_k=1, alpha=0, expand=False, format="simple")
        assert blocks[0]["block"] == (
            f"[1] Kernel › kernel.md › Start (relevance {blocks[0]['score']:.2f}, kernel.md)\n"
            f'<passage id="{blocks[0]["document_id"]}">\n{blocks[0]["content"]}\n</passage>'
        )

    def test_budget_is_kept_for_the_best_and_counts_four_bytes(self, connection, tool):
        everything = self.context(connection, top_k=5)
        total = sum(block["tokens"] for block in everything)
        for budget in (total // 2, 100, 60):
            blocks = self.context(connection, top_k=5, token_budget=budget)
            assert sum(block["tokens"] for block in blocks) <= budget
            hits = [b for b in everything if b["relation"] == "hit"]
            best = max(hits, key=lambda b: b["score"])
            assert best["document_id"] in {b["document_id"] for b in blocks}
            assert set(contents(blocks)) <= set(contents(everything))
        [block] = self.context(connection, token_budget=1)
        assert block["relation"] == "hit"
        for block in self.context(connection):
            assert block["tokens"] == -(-len(block["block"].encode()) // 4)

    def test_budget_goes_to_the_best_passages_and_what_is_next_to_them(self, connection):
        ingest(connection, "sizes", [
            page("best.md", "The manual of the kernel upgrade."),
            page("large.md", "The kernel upgrade needs a new kernel. " * 40),
            page("small.md", "The kernel is small."),
        ])  # fmt: skip
        blocks = run(connection, "context", query="kernel upgrade manual", library="sizes",
                     token_budget=120, score_share=0, levels=[2])  # fmt: skip
        ranked = search(connection, "kernel upgrade manual", library="sizes", levels=[2])
        assert [row["key"] for row in ranked] == ["best.md", "large.md", "small.md"]
        assert [block["url"] for block in blocks] == ["best.md", "small.md"]
        ingest(connection, "yards", [
            page("wide.md", "The slipway crane lifts boats.", "A crane. " * 20, "Slip. " * 30),
            page("other.md", "The slipway crane is red."),
        ])  # fmt: skip
        rows = search(connection, "slipway crane boats", library="yards", levels=[2])
        assert [row["key"] for row in rows[:2]] == ["wide.md", "other.md"]
        given = {"library": "yards", "score_share": 0, "token_budget": 105, "levels": [2]}
        blocks = run(connection, "context", query="slipway crane boats", **given)
        assert {block["document_id"] for block in blocks} == {r["document_id"] for r in rows[:2]}
        ingest(
            connection, "harbour",
            [page("pilots.md", *(f"Word {n} of it." for n in range(9)), "Pilots board by ladder.",
                  "They leave by boat.")],
        )  # fmt: skip
        given = {"library": "harbour", "top_k": 1, "levels": [2], "expansion_threshold": 0}
        whole = run(connection, "context", query="pilots ladder", **given)
        assert [block["relation"] for block in whole].count("expansion") == 10
        some = run(connection, "context", query="pilots ladder", **given, token_budget=150)
        assert [block["content"] for block in some] == [
            "Word 8 of it.", "Pilots board by ladder.", "They leave by boat."
        ]  # fmt: skip
        ingest(connection, "quay", [page("cranes.md", "Cranes lift crates. " * 12, "Mind.")])
        given = {"library": "quay", "top_k": 1, "levels": [2], "expansion_threshold": 0}
        for budget, relations in ((4000, {"hit", "expansion"}), (50, {"hit"})):
            blocks = run(
                connection, "context", query="cranes lift crates", **given, token_budget=budget
            )
            assert {block["relation"] for block in blocks} == relations

    def test_pages_far_below_the_best_are_left_out_and_not_expanded(self, connection, tool, ids):
        """A weak passage stays if its page has a good one."""
        hits = search(connection, "kernel upgrade", library="tool", top_k=20)
        best = hits[0]["score"]
        kept = {}
        for share in (0, 0.4, 0.9):
            blocks = self.context(connection, top_k=20, expand=False, score_share=share)
            pages = {hit["page_id"] for hit in hits if hit["score"] >= share * best}
            kept[share] = {hit["document_id"] for hit in hits if hit["page_id"] in pages}
            assert {block["document_id"] for block in blocks} == kept[share]
        assert len(kept[0.9]) < len(kept[0])
        assert min(hit["score"] for hit in hits if hit["document_id"] in kept[0.9]) < 0.9 * best
        hits = {"document_ids": [ids["Kernel upgrade 5."], ids["Vault keys 20."]]}
        for share, expanded in ((0, {"kernel.md", "vault.md"}), (0.8, {"kernel.md"})):
            rows = run(
                connection, "expand_documents", **hits, scores=[0.9, 0.6], expansion_share=share
            )
            assert {row["key"] for row in rows if row["relation"] == "expansion"} == expanded

    def test_parent_stands_in_front_neighbours_around_and_overlap(self, connection, tool):
        blocks = self.context(connection, top_k=1, alpha=0, expand=False, parents=True, levels=[2])
        [above, hit] = blocks
        assert (above["content"], above["relation"], hit["relation"]) == ("Start.", "parent", "hit")
        assert above["score"] == hit["score"]
        blocks = self.context(
            connection, top_k=1, filters={"page": "short.md"}, expand=False, parents=True
        )
        assert contents(blocks) == ["Only a kernel here."]
        blocks = self.context(connection, '"vault keys 20"', expand=False, siblings=2)
        assert [(b["content"], b["relation"]) for b in blocks] == [
            ("Sentence 18 of vault.md.", "sibling"), ("Sentence 19 of vault.md.", "sibling"),
            ("Vault keys 20.", "hit"), ("Sentence 21 of vault.md.", "sibling"),
            ("Sentence 22 of vault.md.", "sibling"),
        ]  # fmt: skip
        blocks = self.context(connection, '"vault keys 20"', expand=False, siblings=1, overlap=True)
        texts = [b["block"].split("\n")[-2] for b in blocks]
        assert texts[0] == "… the end of 18 Sentence 19 of vault.md."
        assert texts[1:] == ["Vault keys 20.", "Sentence 21 of vault.md."]
        assert all("the end of" not in b["content"] for b in blocks)

    def test_around_sections_of_one_paragraph_nothing_is_said_twice(self, connection, town):
        blocks = self.context(
            connection, "zebra 100 metres sight", library=town, top_k=1, expand=False, siblings=1
        )
        assert contents(blocks) == [ZEBRA, PELICAN]
        assert [b["relation"] for b in blocks] == ["hit", "sibling"]
        # The summary of a section of one paragraph is that paragraph.
        given = {"library": town, "expand": False, "parents": True, "levels": [2]}
        [above, hit] = self.context(connection, "zebra", top_k=1, **given)
        assert (above["relation"], hit["content"]) == ("parent", ZEBRA)
        assert above["content"] == f"People meet trams.\n- Pelican: {PELICAN}"
        blocks = self.context(connection, "zebra pelican", score_share=0, **given)
        text = "\n".join(b["block"] for b in blocks)
        assert [text.count(said) for said in (ZEBRA, PELICAN, "People meet")] == [1, 1, 1]
        blocks = self.context(connection, "zebra", library=town, parents=True, levels=[2])
        assert contents(blocks) == ["People meet trams.", ZEBRA, PELICAN]

    def test_no_text_is_said_twice_whatever_is_gathered(self, connection):
        jobs = [f"Ada worked for yard number {n} as a welder of hulls." for n in range(3)]
        note = "Every hull of the harbour was welded by hand until the strike."
        ingest(connection, "lives", [
            page(
                "ada.md",
                document("Ada's yards.", level=0, covers=1, is_summary=True),
                document("\n".join(f"- Yard {n}: {job}" for n, job in enumerate(jobs)), level=1,
                         covers=2, parent=0, is_summary=True, heading="Jobs"),
                *(document(job, parent=1, heading="Jobs") for job in jobs),
                document(note, parent=0),
            ),
            page("strike.md", note, "The strike of the welders lasted a year."),
        ])  # fmt: skip
        for given in (
            {}, {"levels": [1]}, {"levels": [0, 1, 2]}, {"siblings": 20}, {"parents": True},
            {"siblings": 20, "parents": True, "levels": [0, 1, 2], "top_k": 1},
        ):  # fmt: skip
            asked = {"library": "lives", "score_share": 0, **given}
            blocks = self.context(connection, "yard of Ada, welder of hulls", **asked)
            text = "\n".join(block["content"] for block in blocks)
            assert [text.count(job) for job in jobs] == [1, 1, 1], given
            assert text.count(note) <= 1, given
            del asked["siblings" if "siblings" in asked else "score_share"]
            [made] = run(connection, "answer_context", question="yard of Ada, welder of hulls",
                         intent="off", **asked)  # fmt: skip
            text = "\n".join(source["content"] for source in made["sources"])
            assert [text.count(job) for job in jobs] == [1, 1, 1], given

    def test_each_passage_above_the_hits_is_asked_once(self, connection, tool):
        """A summary is compared once per page, not once per hit."""
        connection.execute("set local track_functions = 'all'")
        calls = """
            select coalesce(sum(calls), 0) as calls from pg_stat_xact_user_functions
            where funcname = 'unsaid'
        """
        [before] = connection.execute(calls)
        blocks = self.context(
            connection, top_k=100, score_share=0, expand=False, parents=True, levels=[2]
        )
        [after] = connection.execute(calls)
        assert len(blocks) > 10
        assert 0 < after["calls"] - before["calls"] <= 2 * len({b["page_id"] for b in blocks})


def test_an_intent_that_wants_pages_still_gives_passages_with_their_own_scores(connection, tool):
    """Units and orders of an intent do not decide which passages to read."""
    given = {"library": tool, "intent": "EXPLORATORY"}
    rows = run(
        connection,
        "context",
        query="kernel upgrade",
        expand=False,
        score_share=0,
        top_k=10,
        **given,
    )
    assert len([row for row in rows if "Kernel upgrade" in row["content"]]) == 3
    hits = search(connection, "kernel upgrade", unit="document", **given)
    own = {hit["document_id"]: hit["hybrid_score"] for hit in hits}
    assert {row["document_id"]: row["score"] for row in rows} == pytest.approx(own)
