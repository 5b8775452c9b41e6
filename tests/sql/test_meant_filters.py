"""Filters that only the pages of a library can tell from words, and values that no page has."""

import pytest
from library import ingest, keys, page, run, search


def said(notices):
    """The notices, but for that of a weak match."""
    return [notice for notice in notices if not notice.startswith("No good match")]


@pytest.fixture(scope="module")
def vault(module_connection):
    ingest(module_connection, "vault", [
        page("projects/alpha.md", "Note one.", title="Alpha", tags=["Python", "projekt/alpha"],
             type="Person", aliases=["First"], created="2024-12-05",
             front_matter={"Status": "active", "priority": 3}),
        page("projects/beta.md", "Note two.", title="Beta", tags=["python"], type="guide",
             created="2025-02-01", front_matter={"Status": "done", "priority": 1}),
        page("journal/day.md", "Note three.", title="A day", tags=["urgent"]),
    ])  # fmt: skip
    return "vault"


ALPHA, BETA, DAY = "projects/alpha.md", "projects/beta.md", "journal/day.md"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("note tags:PYTHON", {ALPHA, BETA}), ("note #Urgent", {DAY}), ("note type:person", {ALPHA}),
        ("note #projekt", {ALPHA}), ("note title:beta", {BETA}),
        ("note created:2024-12", {ALPHA}), ("note created:2025", {BETA}),
        ("note created:05.12.2024", {ALPHA}), ("note created:1.1.2025..", {BETA}),
        ("note before:2025", {ALPHA}),
    ],
)  # fmt: skip
def test_values_are_those_that_are_meant(connection, vault, notices, query, expected):
    assert set(keys(search(connection, query, library=vault))) == expected
    assert said(notices) == []


@pytest.mark.parametrize(
    ("query", "expected", "read"),
    [
        ("note TAGS:python", {ALPHA, BETA}, "TAGS:python"),
        ("note tags: python", {ALPHA, BETA}, "tags: python"),
        ("tags: urgent note", {DAY}, "tags: urgent"),
        ("note created: >=2025-01-01", {BETA}, "created: >=2025-01-01"),
        ("Type:guide note", {BETA}, "Type:guide"),
        ("note status:active", {ALPHA}, "status:active"),
        ("note -status:active", {BETA, DAY}, "-status:active"),
        ("note priority:>2", {ALPHA}, "priority:>2"),
        ("note page:beta", {BETA}, "page:beta"),
        ("note created: 2020-01", set(), "created: 2020-01"),
        ("note page:First", {ALPHA}, "page:First"),
        ("note file:day", {DAY}, "file:day"),
        ("note folder:projects", {ALPHA, BETA}, "folder:projects"),
        ("note has:status", {ALPHA, BETA}, "has:status"),
        ("note has:type", {ALPHA, BETA}, "has:type"),
        ("status:done", {BETA}, "status:done"),
    ],
)  # fmt: skip
def test_what_the_pages_tell_to_be_a_filter(connection, vault, notices, query, expected, read):
    assert set(keys(search(connection, query, library=vault))) == expected
    assert said(notices) == [f"Read as a filter: {read}."]
    notices.clear()
    in_words = {hit["key"] for hit in search(connection, query.replace(":", " "), library=vault)}
    assert in_words == {ALPHA, BETA, DAY} or "note" not in query


@pytest.mark.parametrize(
    "query",
    [
        "note Error: type: mismatch", "note type: of a thing", "note image:latest", "note std::x",
        "note page:next", "note http://x", "note title: Gamma", "note level:debug",
        "note key:value",
        'note "status:active"', "note `status:active`", "note {status:active}", "note 12:30",
        "note has:nothing", "note folder:gamma", "note created: soon", "the status: active note",
    ],
)  # fmt: skip
def test_other_colons_are_words(connection, vault, notices, query):
    assert set(keys(search(connection, query, library=vault))) == {ALPHA, BETA, DAY}
    assert said(notices) == []


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("note status:activ", "No page has 'activ' in its property Status", "are: active, done."),
        ("note size:>3", "No page has a property size", "front_matter.size:>3."),
        ("note type:gide", "No page has the type 'gide'.", "There are: Person, guide."),
        ("note TAGS:pyton", "No page has the tag 'pyton': “TAGS:pyton” was searched", "urgent."),
        ("note tags: pyton", "No page has the tag 'pyton': “tags: pyton” was searched", "urgent."),
        ("note path:projcts", "No page has the path 'projcts'.", ""),
        ("note page:gamma.md", "No page has the page 'gamma.md'.", "A day, Alpha, Beta."),
        ("note #pyton", "No page has the tag 'pyton'. Did you mean Python, python?", "urgent."),
        ("note front_matter.Status:activ", "No page has the property Status with the value",
         "There are: active, done."),
    ],
)  # fmt: skip
def test_a_value_that_no_page_has_is_told_with_the_near_ones(
    connection, vault, notices, query, start, end
):
    search(connection, query, library=vault)
    [notice] = said(notices)
    assert notice.startswith(start)
    assert notice.endswith(end)


def test_filters_of_an_argument_are_told_too(connection, vault, notices):
    assert search(connection, "note", library=vault, filters={"type": ["gide"]}) == []
    assert "Did you mean guide?" in notices[0]
    notices.clear()
    assert search(connection, "note", library=vault, filters={"type": "guide", "topic": None})
    assert said(notices) == []


def test_a_folder_and_a_tag_of_a_page_query_ignore_case_too(connection, vault):
    for query in ['LIST FROM "Projects"', "LIST FROM #Python", "LIST FROM #PROJEKT OR #python"]:
        rows = run(connection, "query_pages", query=query, library=vault)
        assert {row["key"] for row in rows} >= {ALPHA}


def test_of_many_values_only_near_ones_are_told(connection, notices):
    ingest(connection, "many", [
        page(f"{n}.md", f"Text {n}.", front_matter={"code": f"number {n}"}) for n in range(150)
    ])  # fmt: skip
    search(connection, "text front_matter.code:nummber", library="many")
    [note] = notices
    assert "Did you mean number" in note
    assert "There" not in note
    search(connection, "text front_matter.code:zzz", library="many")
    assert notices[-1] == "No page has the property code with the value 'zzz'."


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("note NOT status:active", {BETA, DAY}), ("note AND NOT status:active", {BETA, DAY}),
        ("note status:active,done", {ALPHA, BETA}), ('note status:"active"', {ALPHA}),
        ('5" note status:active', {ALPHA}),
    ],
)  # fmt: skip
def test_operators_lists_and_quotes_mean_what_they_mean_elsewhere(
    connection, vault, query, expected
):
    assert set(keys(search(connection, query, library=vault))) == expected


def test_beside_or_they_are_words_and_that_is_said(connection, vault, notices):
    found = keys(search(connection, "note status:active OR status:done", library=vault))
    assert set(found) == {ALPHA, BETA, DAY}
    assert sum("OR joins only filters with their full names" in notice for notice in notices) == 2


def test_other_versions_decide_nothing(connection, notices):
    old = page("a.md", "A lamp.", front_matter={"stage": "old"})
    ingest(connection, "lamps", [old], "1.0")
    ingest(connection, "lamps", [page("a.md", "A lamp of stage old.")], "2.0")
    assert keys(search(connection, "lamp stage:old", library="lamps")) == ["a.md"]
    assert said(notices) == []
