"""What people type: words that rank, marks that demand, and anything at all."""

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
            ('"node is drained" kernel', {"order.md"}),
            ('+"fill the node" kernel', {"fill.md"}),
            ("kernel +fill", {"fill.md"}),
            ("node +kernel +upgrade", {"drain.md", "order.md"}),
            ("node -kernel -cake", {"fill.md"}),
            ('node -"drain the node" -cake', {"order.md", "fill.md"}),
            ('"drain the node" -kernel', set()),
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
        assert row["required"] == ["to drain", "node"]
        assert row["excluded"] == ["kernel", "old text"]
        for query in ["node --kernel", "node + kernel", "node - kernel", "node a-kernel"]:
            assert {"drain.md", "fill.md", "order.md"} <= found(connection, query)
        for query in ["+the node", 'node -"the of"', "node -the"]:
            assert found(connection, query) == {"drain.md", "fill.md", "order.md"}

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
