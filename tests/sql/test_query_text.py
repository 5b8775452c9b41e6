"""What people type: words that rank, marks that demand, and anything at all."""

import re

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from library import ingest, keys, page, run, search


@pytest.fixture(scope="module")
def nodes(module_connection):
    ingest(module_connection, "nodes", [
        page("drain.md", "Drain the node before you upgrade its kernel."),
        page("order.md", "The kernel is upgraded first, then the node is drained."),
        page("fill.md", "Fill the node again."),
        page("cake.md", "A cake needs flour, and/or eggs."),
    ])  # fmt: skip
    return "nodes"


def found(connection, query, library="nodes", function="keyword_search", **more):
    return set(keys(run(connection, function, query=query, library=library, **more)))


def answer(connection, function, **arguments):
    """The rows, or none if the arguments are refused; other errors are raised."""
    try:
        with connection.transaction():
            return run(connection, function, **arguments)
    except psycopg.Error as error:
        if error.sqlstate != "PGR01":
            raise
        return []


class TestMarks:
    @pytest.mark.parametrize("function", ["keyword_search", "semantic_search", "search"])
    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ('"drain the node"', {"drain.md"}),
            ('"drain the node", "before you upgrade"', {"drain.md"}),
            ("“drain the node” „fill the node“", set()),
            ('+"node is drained" kernel', {"order.md"}),
            ('+"fill the node" kernel', {"fill.md"}),
            ("kernel +fill", {"fill.md"}),
            ("node +kernel +upgrade", {"drain.md", "order.md"}),
            ("node -kernel -cake", {"fill.md"}),
            ('node -"drain the node" -cake', {"order.md", "fill.md"}),
            ('"drain the node" -kernel', set()),
            ('node +"drain the node" -kernel', set()),
            ("node +cake +fill", set()),
            ("+KERNEL -Order", {"drain.md"}),
        ],
    )
    def test_conditions_hold_in_every_retriever(self, connection, nodes, function, query, expected):
        assert found(connection, query, function=function) == expected

    def test_words_alone_signs_and_a_stop_word_are_no_conditions(self, connection, nodes):
        assert found(connection, "drain kernel flour") == {"drain.md", "order.md", "cake.md"}
        [row] = run(connection, "_pgrag.parse_search_text",
                    query='how "to drain" +node -kernel -"old text" --flag C++ a-b')  # fmt: skip
        assert row["words"].split() == ["how", "to", "drain", "node", "--flag", "C++", "a-b"]
        assert row["required"] == ["node"]
        assert row["phrases"] == ["to drain"]
        assert row["excluded"] == ["kernel", "old text"]
        for query in ["node --kernel", "node + kernel", "node - kernel", "node a-kernel"]:
            assert {"drain.md", "fill.md", "order.md"} <= found(connection, query)
        for query in ["+the node", 'node -"the of"', "node -the"]:
            assert found(connection, query) == {"drain.md", "fill.md", "order.md"}

    @pytest.mark.parametrize(
        ("query", "phrases"),
        [
            ('Failed to resolve component: "my-widget" in vue', ["my-widget"]),
            ('pods "web-1" is forbidden: User "jane"', ["web-1", "jane"]),
            ("why „zu viele Dateien“ here", ["zu viele Dateien"]),
            ("why “too many files” here", ["too many files"]),
            ("почему «слишком много файлов» здесь", ["слишком много файлов"]),
            ("使用「数据库」连接", ["数据库"]),
            ("an ehemaligen „Model C“-Schulen", ["Model C"]),
            ('the "Model C"-schools', ["Model C"]),
            ('print("hello world") fails', ["hello world"]),
            ('{"name": "foo"}', ["name", "foo"]),
            ('a 5" and a 3" disk', []),
            ('an "unclosed phrase', []),
            ('the "" and " " of', []),
        ],
    )
    def test_quotes_anywhere_mark_phrases_that_rank(self, connection, nodes, query, phrases):
        [row] = run(connection, "_pgrag.parse_search_text", query=query)
        assert row["phrases"] == phrases
        assert row["required"] == row["excluded"] == []
        assert set(re.findall(r"\w+", query)) == set(re.findall(r"\w+", row["words"]))

    @pytest.mark.parametrize("function", ["keyword_search", "semantic_search", "search"])
    @pytest.mark.parametrize("fusion", ["absolute", "rrf"])
    def test_a_phrase_among_words_lifts_its_passages_and_filters_none(
        self, connection, function, fusion
    ):
        more = {"fusion": fusion} if function == "search" else {}
        ingest(connection, "faults", [
            page("apart.md", "The handle of the file is closed by the kernel.", title="a"),
            page("phrase.md", "The file handle is closed by the of the kernel.", title="a"),
        ])  # fmt: skip
        run(connection, "configure_library", library="faults", settings={"token_weight": 0})
        as_words = run(connection, function, query="closed file handle kernel", library="faults",
                       **more)  # fmt: skip
        hits = run(connection, function, query='closed "file handle" kernel', library="faults",
                   **more)  # fmt: skip
        scores = {hit["key"]: hit["score"] for hit in as_words}
        assert {hit["key"]: hit["score"] for hit in hits} == pytest.approx(
            scores | {"apart.md": 0.95 * scores["apart.md"]}
        )
        assert keys(hits)[0] == "phrase.md"

    def test_a_message_with_a_quoted_name_finds_its_page_in_every_reading(self, connection, nodes):
        for query in ['kernel "web-1" is upgraded', '"web-1": the kernel is upgraded first']:
            assert search(connection, query, library=nodes)[0]["key"] == "order.md"
            [first, *_] = run(connection, "context", query=query, library=nodes)
            assert "The kernel is upgraded first" in first["content"]
            [first, *_] = search(connection, query, library=nodes, explain=True)
            assert first["explanation"]["phrase_weight"] == 0.95
            assert (
                "It lacks a quoted phrase as a phrase (weight 0.95)."
                in (first["explanation"]["reasons"])
            )

    def test_phrase_counts_in_the_language_of_each_page(self, connection):
        ingest(connection, "houses", [
            page("de.md", "Die großen Häuser der Stadt.", language="de"),
            page("en.md", "The big houses of the city.", language="en"),
        ])  # fmt: skip
        assert found(connection, '"großes Haus"', "houses") == {"de.md"}
        assert found(connection, '"big house"', "houses") == {"en.md"}
        assert found(connection, "house Haus -Städte", "houses") == {"en.md"}


texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
PIECES = [
    '"', "-", "+", "node", "kernel", '"drain the', "'", "\\", "--x", "a.b", "(#A", "#A", "#A)", "(",
    ")", "-(", "AND", "OR", "NOT",
]  # fmt: skip


class TestAnything:
    """A result or a clear error, never a crash."""

    @pytest.mark.parametrize(
        "query",
        [
            "the of and", "x" * 10_000, "word " * 2_000, "node " + "y" * 100_000, "🚀🔥 👩‍💻",
            "東京タワー データベース", "'; drop table pgrag.pages; --", "' or '1'='1",
            "\\' \\\\ \\x \\", '"unclosed phrase', '""', '" "', '-""', '+"" node', "+ - + -",
            "+-node -+node", "& | ! ( ) <-> :* node:A", "%s %(name)s {} {0} $1 $$ :name ?",
            "@l1 @v1 node", "node\tnode\nnode\r\u2028\u00a0node", "a" * 3000 + " node",
            "e\u0301 \u0301\u0301", "\U0010ffff \ufffe", "SELECT * FROM pgrag.pages WHERE 1=1; --",
            "NULL", "]](((( [a](b(c) d) [[", "C++ C# .NET F# -> => != === ??",
        ],
        ids=lambda query: query[:20],
    )  # fmt: skip
    @pytest.mark.parametrize("function", ["search", "context"])
    def test_strange_queries(self, connection, nodes, function, query):
        arguments = {"snippets": True, "explain": True} if function == "search" else {}
        answer(connection, function, query=query, library=nodes, **arguments)

    def test_stop_words_unknown_words_and_those_after_10000_do_not_rank(self, connection, nodes):
        assert run(connection, "keyword_search", query="the of and", library=nodes) == []
        hits = search(connection, "before it is", library=nodes)
        assert hits
        assert {hit["keyword_score"] for hit in hits} == {0}
        assert run(connection, "keyword_search", query="zzyzx", library=nodes) == []
        assert found(connection, "flour " + "z" * 9_990 + " kernel") == {"cake.md"}

    @settings(max_examples=60)
    @given(query=st.lists(st.one_of(texts, st.sampled_from(PIECES)), max_size=8).map(" ".join))
    def test_any_text(self, connection, nodes, query):
        hits = answer(connection, "search", query=query, library=nodes, snippets=True, explain=True)
        assert all(0 <= hit["score"] <= 1 for hit in hits)
