"""Near words for those that no document has."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from library import ingest, page, refused, run, value


@pytest.fixture(scope="module")
def libraries(module_connection):
    ingest(module_connection, "tool", [
        page("a.md", "Restoring the database takes an hour; databases are restored by name."),
        page("b.md", "Configuration of the database server.", "Event handlers in JavaScript."),
        page("c.md", "An even number of servers.", "Kubernetes drains its nodes."),
    ])  # fmt: skip
    ingest(module_connection, "amt",
           [page("a.md", "Die Gebühren für Häuser zahlt der Eigentümer an die Datenbank.")],
           language="de")  # fmt: skip
    ingest(module_connection, "порт".encode().hex(),
           [page("a.md", "Гости швартуются у причала, карты продаёт начальник порта.")],
           language="ru")  # fmt: skip


RUSSIAN = "порт".encode().hex()


def suggested(connection, query, **arguments):
    return [row["suggestion"] for row in run(connection, "suggest", query=query, **arguments)]


def test_the_nearest_word_comes_first_where_it_is_unknown(connection, libraries):
    for library, query, expected in [
        ("tool", "databse", "database"),
        ("tool", "datbaase server", "database server"),
        ("tool", "Databse", "Database"),
        ("tool", "atabase", "database"),
        ("tool", "xdatabase", "database"),
        ("tool", "adtabase", "database"),
        ("tool", "eevnt", "event"),
        ("tool", "confguration of srever", "configuration of server"),
        ("tool", "javscript handler", "javascript handler"),
        ("tool", "kubrenetes", "kubernetes"),
        ("tool", "resotring", "restoring"),
        (
            "tool",
            '+databse "even nmber" -old type:guide',
            '+database "even nmber" -old type:guide',
        ),
        ("amt", "Gebüren", "Gebühren"),
        ("amt", "häusr", "häuser"),
        ("amt", "datenbnak", "datenbank"),
        (RUSSIAN, "начальнк порта", "начальник порта"),
        (RUSSIAN, "првчала", "причала"),
        (None, "gebührne databse", "gebühren database"),
    ]:
        assert suggested(connection, query, library=library)[0] == expected
    for query in [
        "database", "the databases", "restored", "the", "", "xyz", "dtabsea", "evn", "node-1",
        "qqqqqqq", "-databse server", "databse_x", "123", "type:databse", "my-databse",
        '"my-databse" in the server', "“databse”", "DATABSE", "dataBse", "Wie heißt eine databse",
    ]:  # fmt: skip
        assert suggested(connection, query, library="tool") == []
    assert suggested(connection, "datenbank", library="amt") == []
    assert suggested(connection, "datenbank") == []
    assert suggested(connection, "database", library="amt") == []
    assert suggested(connection, "databse library:tool") == ["database library:tool"]
    ingest(
        connection, "many",
        [page("1.md", "marker"), page("2.md", "parker"), page("3.md", "parker harbor")],
    )  # fmt: skip
    rows = run(connection, "suggest", query="xarker", library="many", suggestion_count=5)
    assert [(row["replacement"], row["distance"], row["document_count"]) for row in rows] == [
        ("parker", 1, 2),
        ("marker", 1, 1),
    ]
    scores = [row["score"] for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert 0 < scores[-1] < scores[0] < 1
    assert len(run(connection, "suggest", query="xarker", suggestion_count=1)) == 1
    with refused(connection, "PGR01", "suggestion_count must be between 1 and 100, got 0"):
        run(connection, "suggest", query="x", suggestion_count=0)
    with refused(connection, "PGR02", "no library 'nope'"):
        run(connection, "suggest", query="x", library="nope")
    with refused(connection, "PGR06", "Column 9"):
        run(connection, "suggest", query="created:soon")


def edits(one, other):
    """Restricted Damerau-Levenshtein, by its definition."""
    table = {(i, 0): i for i in range(len(one) + 1)} | {(0, j): j for j in range(len(other) + 1)}
    for i, a in enumerate(one, 1):
        for j, b in enumerate(other, 1):
            table[i, j] = min(
                table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (a != b)
            )
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[len(one), len(other)]


words = st.text("abcä", max_size=7)


@settings(max_examples=300)
@given(one=words, other=words)
def test_the_distance_is_the_number_of_edits(connection, one, other):
    found = value(connection, "select _pgrag.edit_distance(%s, %s)", one, other)
    assert found == edits(one, other)
