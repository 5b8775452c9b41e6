"""Parents, children and siblings by hierarchical path, where the path crosses from page to page."""

import pytest
from library import Row, document, ingest, page, run


def whole(key: str, path: list[str], *sections: tuple[list[str], str], title: str = "") -> Row:
    """A page with sections: their headings from the top, and the words of their paragraph."""
    rows = [document(f"{key} whole", level=0, covers=1, path=path)]
    places: dict[tuple[str, ...], int] = {(): 0}
    for headings, words in sections:
        own = {
            "path": [*path, *headings], "heading": headings[-1], "depth": len(headings),
            "root_section": headings[0],
        }  # fmt: skip
        above = places[tuple(headings[:-1])]
        places[tuple(headings)] = len(rows)
        rows.append(document(f"{key} {headings[-1]}", level=1, covers=2, parent=above, **own))
        rows.append(document(words, parent=len(rows) - 1, **own))
    return page(key, *rows, path=path, title=title or path[-1])


DEVELOPERS = ["agorum core für Entwickler"]
SCRIPT = [*DEVELOPERS, "agorum core agoscript"]
PAGES = [
    # The path of the requirements: its page, and the chapters of one chapter on several pages.
    whole("00.md", DEVELOPERS),
    whole("10.md", SCRIPT, (["Übersicht"], "O."), (["Übersicht", "Einleitung"], "I.")),
    whole("11.md", SCRIPT, (["Übersicht"], "P."), (["Übersicht", "Ausblick"], "A."),
          (["Aufruf"], "C.")),
    whole("12.md", SCRIPT, (["Fehler"], "F.")),
    # Its path continues a section of another page; nothing has the path of a page.
    whole("20.md", [*SCRIPT, "Fehler", "Netz"], (["Verbindung"], "N.")),
    whole("21.md", [*SCRIPT, "Fehler", "Platte"]),
    # A page of the path comes before a section of it.
    whole("30.md", [*SCRIPT, "Aufruf"]),
    whole("31.md", [*SCRIPT, "Aufruf", "Argumente"]),
    # What is above these is nowhere.
    whole("40.md", ["Handbuch", "Suche", "Wörter"]),
    whole("41.md", ["Handbuch", "Suche", "Filter"]),
    # One title is not a place: it is what a page without a path has for one.
    whole("50.md", ["Start"], (["Erstes"], "E.")),
    whole("51.md", ["Start"], (["Zweites"], "Z.")),
    # A path of one part is one if the title is another.
    whole("60.md", ["Lager"], (["Regal"], "R."), (["Fach"], "S."), title="Halle A"),
    whole("61.md", ["Lager"], (["Kran"], "K."), title="Halle B"),
    whole("62.md", ["Lager"], (["Tor"], "T.")),
]  # fmt: skip


@pytest.fixture(scope="module")
def ids(module_connection) -> dict[str, int]:
    ingest(module_connection, "agorum", PAGES, "2.0", embed=False)
    # Neither another version nor another library is a neighbour.
    ingest(module_connection, "agorum", PAGES[:4], "1.0", embed=False)
    ingest(module_connection, "nearby", PAGES, "2.0", embed=False)
    rows = module_connection.execute(
        "select d.content, d.document_id from pgrag.documents as d"
        " join pgrag.versions as v on v.version_id = d.version_id"
        " join pgrag.libraries as l on l.library_id = d.library_id"
        " where v.label = '2.0' and l.name = 'agorum'"
    ).fetchall()
    return {row["content"]: row["document_id"] for row in rows}


@pytest.mark.parametrize(("content", "above"), [
    ("I.", ["10.md Einleitung", "10.md Übersicht", "10.md whole", "00.md whole"]),
    ("N.", ["20.md Verbindung", "20.md whole", "12.md Fehler", "12.md whole", "00.md whole"]),
    ("31.md whole", ["30.md whole", "10.md whole", "00.md whole"]),
    ("40.md whole", []),
    ("50.md whole", []),
])  # fmt: skip
def test_parents_are_found_over_the_borders_of_pages(connection, ids, content, above):
    assert walk(connection, "ancestors", ids, content) == above
    assert walk(connection, "parent", ids, content) == above[:1]


@pytest.mark.parametrize(("content", "below"), [
    ("12.md Fehler", ["F.", "20.md whole", "21.md whole"]),
    ("12.md whole", ["12.md Fehler", "30.md whole"]),
    ("11.md Aufruf", ["C."]),
    ("30.md whole", ["31.md whole"]),
    ("00.md whole", ["10.md whole", "11.md whole", "12.md whole"]),
    ("10.md Übersicht", ["O.", "10.md Einleitung"]),
])  # fmt: skip
def test_children_are_found_over_the_borders_of_pages(connection, ids, content, below):
    assert walk(connection, "children", ids, content) == below


@pytest.mark.parametrize(("content", "before", "after"), [
    ("11.md Übersicht", ["10.md Übersicht"], ["11.md Aufruf", "12.md Fehler"]),
    ("12.md Fehler", ["10.md Übersicht", "11.md Übersicht", "11.md Aufruf"], []),
    ("11.md Ausblick", ["10.md Einleitung"], []),
    ("O.", [], ["P.", "C.", "F."]),
    ("I.", [], ["A."]),
    ("C.", ["O.", "P."], ["F."]),
    ("K.", ["R.", "S."], []),
    ("60.md Fach", ["60.md Regal"], ["61.md Kran"]),
    ("61.md whole", ["60.md whole"], []),
    ("T.", [], []),
    ("20.md whole", [], ["21.md whole"]),
    ("11.md whole", ["10.md whole"], ["12.md whole"]),
    ("40.md whole", ["41.md whole"], []),
    ("51.md Zweites", [], []),
    ("50.md whole", [], []),
    ("00.md whole", [], []),
])  # fmt: skip
def test_siblings_are_found_over_the_borders_of_pages(connection, ids, content, before, after):
    rows = run(connection, "siblings", document_id=ids[content])
    assert [row["content"] for row in rows if row["relation"] == "before"] == before
    assert [row["content"] for row in rows if row["relation"] == "after"] == after
    assert [row["distance"] for row in rows] == [*range(-len(before), 0), *range(1, len(after) + 1)]
    for row in rows:
        back = run(connection, "siblings", document_id=row["document_id"])
        assert ids[content] in [other["document_id"] for other in back]


def test_a_parent_has_its_child(connection, ids):
    for content, document_id in ids.items():
        for row in run(connection, "parent", document_id=document_id):
            if row["content"] != "10.md whole" or not content.endswith("whole"):
                assert content in walk(connection, "children", ids, row["content"])


def walk(connection, function: str, ids: dict[str, int], content: str) -> list[str]:
    rows = run(connection, function, document_id=ids[content])
    return [row["content"] for row in rows]
