"""How text becomes words: identifiers, fields, languages, and what is shown of them."""

import re

import pytest
from library import contents, document, ingest, keys, page, run, search

TEXTS = (
    "Call useEffect after the render.",
    "We use it, with great effect, everywhere.",
    "Set max_connections in the file.",
    "All connections have a max of ten.",
    "Read request.headers.accept first.",
    "A request has headers.",
    "Pass --dry-run to see it.",
    "A dry summer makes us run.",
    "Mount <video> with and/or without sound.",
    "Start the HTTPServer of the standard library.",
    "Import node:fs/promises at the top.",
)


@pytest.fixture(scope="module")
def code(module_connection):
    rows = [page(f"{n}.md", text, title="Part") for n, text in enumerate(TEXTS)]
    ingest(module_connection, "code", rows)
    return "code"


class TestIdentifiers:
    def test_a_symbol_comes_first_and_is_found_by_its_parts(self, connection, code):
        for query, best in [
            ("useEffect", 0), ("use effect", 1), ("max_connections", 2), ("maxconnections", 2),
            ("request.headers.accept", 4), ("--dry-run", 6), ("dry-run", 6), ("<video>", 8),
            ("video", 8), ("sound and/or", 8), ("HTTPServer", 9), ("httpserver", 9),
            ("node:fs/promises", 10), ("fs/promises", 10), ("promises", 10),
        ]:  # fmt: skip
            hits = run(connection, "keyword_search", query=query, library=code)
            assert contents(hits)[:1] == [TEXTS[best]]
        for query, places in [
            ("effect", {0, 1}), ("connections", {2, 3}), ("headers", {4, 5}), ("accept", {4}),
            ("dry", {6, 7}), ("dry_run", {6, 7}),
        ]:  # fmt: skip
            hits = run(connection, "keyword_search", query=query, library=code)
            assert set(contents(hits)) == {TEXTS[place] for place in places}

    def test_links_count_by_their_words(self, connection):
        ingest(
            connection, "links",
            [page("a.md", 'See [the guide](https://example.org/secret "Title") and [x](<y z>).')],
        )  # fmt: skip
        assert keys(run(connection, "keyword_search", query="guide", library="links")) == ["a.md"]
        assert run(connection, "keyword_search", query="secret", library="links") == []


@pytest.fixture(scope="module")
def fields(module_connection):
    ingest(module_connection, "fields", [
        page("a.md", "Nothing to see.", title="Zebra"),
        page("b.md", document("Nothing to see.", path=["Zebra", "More"]), title="Horse"),
        page("c.md", "Nothing to see.", title="Horse", url="https://example.org/zebra-x"),
        page("d.md", "Nothing but a zebra to see.", title="Horse"),
        page("e.md", "Nothing to see.", title="Horse", url="https://zebra.example.org/x"),
    ])  # fmt: skip
    return "fields"


class TestFields:
    """Title, path, url and content are all searched, a title more than a mention."""

    def test_each_field_is_found_by_a_weight_that_can_be_changed(self, connection, fields):
        hits = run(connection, "keyword_search", query="zebra", library=fields)
        assert keys(hits)[:2] == ["a.md", "b.md"]
        assert set(keys(hits)) == {"a.md", "b.md", "c.md", "d.md"}, "a host says nothing"
        weights = {"field_weights": {"title": 0.1, "path": 0.1, "content": 9}}
        run(connection, "configure_library", library=fields, settings=weights)
        hits = run(connection, "keyword_search", query="zebra", library=fields)
        assert keys(hits)[0] == "d.md"


class TestLanguages:
    def test_each_page_is_read_in_its_own(self, connection):
        ingest(connection, "mixed", [
            page("de.md", "Die Bücher stehen im Regal.", language="de-AT"),
            page("ru.md", "Книги стоят на полке.", language="russian"),
            page("en.md", "Books stand on the shelf."),
            page("xx.md", "Libroj staras sur la breto.", language="eo"),
        ], language="en")  # fmt: skip
        languages = run(connection, "pages", library="mixed")
        assert {row["key"]: row["language"] for row in languages} == {
            "de.md": "de-AT", "ru.md": "ru", "en.md": "en", "xx.md": "eo",
        }  # fmt: skip
        for query, key in {
            "Buch": "de.md", "BÜCHERN": "de.md", "книга": "ru.md", "КНИГАМИ": "ru.md",
            "book": "en.md", "SHELF": "en.md", "breto": "xx.md",
        }.items():  # fmt: skip
            hits = run(connection, "keyword_search", query=query, library="mixed")
            assert keys(hits) == [key], query
        ingest(
            connection, "mixed",
            [page("de.md", "Die Bücher.", language="de"), page("en.md", "The books.")],
        )  # fmt: skip
        hits = run(connection, "keyword_search", query="Buch books", library="mixed")
        assert set(keys(hits)) == {"de.md", "en.md"}


SENTENCES = "".join(f"Water bed{n} and bed{n + 1} now. " for n in range(40))
WORDS = " ".join(f"word{n}" for n in range(99))


class TestSnippets:
    @pytest.fixture
    def nodes(self, connection):
        text = "Drain the node before you upgrade its kernel."
        ingest(connection, "nodes", [page("drain.md", text)])
        return "nodes"

    def test_words_are_marked_when_asked_for_and_long_passages_cut(self, connection, nodes):
        [hit, *_] = search(connection, "draining kernels", library="nodes", snippets=True)
        assert "**Drain**" in hit["snippet"]
        assert "**kernel**" in hit["snippet"]
        assert hit["content"] == "Drain the node before you upgrade its kernel."
        assert search(connection, "drain", library="nodes")[0]["snippet"] is None
        ingest(
            connection,
            "long",
            [page("a.md", "filler " * 150 + "the needle here " + "filler " * 150)],
        )
        [hit] = search(connection, "needle", library="long", snippets=True)
        assert "**needle**" in hit["snippet"]
        assert len(hit["snippet"]) < 300

    def test_dots_stand_where_a_sentence_is_cut_and_code_stays(self, connection):
        for content, query, beginning, ending in [
            (f"{SENTENCES}A heron waits.", "heron", "", "A **heron** waits"),
            (f"The heron waits. {SENTENCES}", "heron", "The **heron**", ""),
            (f"{WORDS} heron waits {WORDS}", "heron waits", "… ", " …"),
            (f"{WORDS}\n\nA heron {WORDS}", "heron waits", "… ", " …"),
            ("Die <b>Vögel</b> am <i>Teich</i> warten.", "teich", "Die", "warten"),
            ("The heron waits", "heron", "The **heron**", "waits"),
            (f"- The heron waits.\n- And {WORDS}", "heron", "- The **heron**", " …"),
            (f"{SENTENCES}Über die «heron» – wait. {SENTENCES}", "heron", "", ""),
            (f"x ** y {WORDS} heron {WORDS}", "heron", "… ", " …"),
        ]:
            ingest(connection, "pond", [page("a.md", content)])
            [hit, *_] = search(connection, query, library="pond", snippets=True)
            assert hit["snippet"].startswith(beginning)
            assert hit["snippet"].endswith(ending)
            if not beginning:
                assert re.match(r"[A-ZÜ]", hit["snippet"])
        for content, snippet in [
            ("Run `heron add <file>` on <b>ponds</b>.", "Run `**heron** add <file>` on  ponds"),
            ("Wait:\n\n```\nheron <pond> reeds\n```", "Wait:\n\n```\n**heron** <pond> reeds"),
            ("**A heron waits.** Two **herons**", "A **heron** waits. Two **herons**"),
            ("A heron is `2 ** 3` birds", "A **heron** is `2 ** 3` birds"),
        ]:
            ingest(connection, "pond", [page("a.md", content)])
            [hit, *_] = search(connection, "heron", library="pond", snippets=True)
            assert hit["snippet"] == snippet

    def test_excerpts_are_the_text_between_the_dots_from_its_beginning(self, connection):
        text = " ".join(f"one{n} two{n} three{n}." if n % 5 else f"heron{n}" for n in range(200))
        ingest(connection, "pond", [page("a.md", text)])
        [hit, *_] = search(connection, "heron5 heron105", library="pond", snippets=True)
        for part in hit["snippet"].replace("**", "").strip("… ").split(" … "):
            assert part in text
        ingest(connection, "pond", [page("a.md", "Reeds and water, " * 40)])
        [hit, *_] = search(connection, "swamp plants", library="pond", snippets=True, alpha=1)
        assert hit["snippet"].startswith("Reeds and water,")
        assert hit["snippet"].endswith(" …")
