"""Front matter fields with a meaning (F1), and the validation of paths (F9)."""

from pgrag.ingest.matter.properties import Properties, path_warnings, read_properties


def read(**fields):
    properties, warnings = read_properties("a.md", fields)
    assert warnings == []
    return properties


def warning(**fields):
    _, warnings = read_properties("docs/a.md", fields)
    assert len(warnings) == 1
    return warnings[0]


def test_all_fields_with_a_meaning_and_their_other_spellings():
    same = {
        "link": "https://example.org", "topic": "water", "type": "guide", "slug": "pump",
        "modified": "2024-06-01T10:00:00+00:00", "description": "All about pumps.",
    }  # fmt: skip
    found = read(
        **same, title=" A  title ", name="A name", path=["Guides ", "Pumps"], lang="no",
        uuid="6F9619FF-8B86-D011-B42D-00CF4FC964FF", tags=["a", "#b", "a", None, 7],
        date="2024-05-01", permalink="/pumps",
    )  # fmt: skip
    assert found == Properties(
        **same, title="A title", path=("Guides", "Pumps"), language="no",
        uuid="6f9619ff-8b86-d011-b42d-00cf4fc964ff", tags=("a", "b", "7"),
        created="2024-05-01", address="/pumps",
    )  # fmt: skip
    for fields, name, value in [
        ({"name": "N"}, "title", "N"),
        ({"TITLE": "T"}, "title", "T"),
        ({"title": None, "name": "N"}, "title", "N"),
        ({"title": "", "name": "N"}, "title", "N"),
        ({"title": 2024}, "title", "2024"),
        ({"page-type": "web-api"}, "type", "web-api"),
        ({"content_type": "task"}, "type", "task"),
        ({"created": "2024-01-01", "date": "2023-01-01"}, "created", "2024-01-01"),
        ({"updated": "31.01.2024"}, "modified", "2024-01-31"),
        ({"language": "ru"}, "language", "ru"),
        ({"Locale": "de_AT.UTF-8"}, "language", "de_AT.UTF-8"),
        ({"uuid": "AAAA-1"}, "uuid", "aaaa-1"),
        ({"lang": ["", "de", "en"]}, "language", "de"),
        ({"lang": [], "locale": "ru"}, "language", "ru"),
        ({"uuid": "note-7"}, "uuid", "note-7"),
        ({"tags": "one, two words,"}, "tags", ("one", "two words")),
        ({"tags": "#one two/three"}, "tags", ("one", "two/three")),
        ({"tag": "one"}, "tags", ("one",)),
        ({"tags": []}, "tags", ()),
    ]:
        assert getattr(read(**fields), name) == value


def test_a_wrong_value_is_a_warning_and_what_is_usable_of_it_is_used():
    assert read(title="a\n b").title == "a b"
    assert len(read(title="x" * 9000).title or "") == 300

    def path(value):
        return read_properties("a.md", {"path": value})[0].path

    assert path(5) == ()
    assert path(["A", 5, None, "B"]) == ("A", "5", "B")
    assert path(list("abcdefghijkl")) == tuple("abcdefghij")
    assert path([]) == ()
    for text in ("A / B", "A > B", "/A/B/", "A » B", ["A", "B"]):
        assert path(text) == ("A", "B")
    assert path("TCP/IP > I / O") == ("TCP/IP", "I / O")
    for fields, message in [
        ({"path": 5}, 'docs/a.md: front matter field "path" must be a list of strings, got 5'),
        ({"path": ["A", 5]}, 'field "path" must be a list of strings, got 5 in it'),
        ({"path": ["A", ["B"]]}, "must be a list of strings, got ['B'] in it"),
        ({"path": ["A", " ", "B"]}, 'field "path" has an empty part: '),
        ({"path": list("abcdefghijkl")}, 'field "path" is 12 parts deep, only the first 10 are'),
        ({"Title": ["x"]}, "docs/a.md: front matter field \"Title\" must be text, got ['x']"),
        ({"uuid": {"a": 1}}, 'field "uuid" must be text'),
        ({"date": "soon"}, "docs/a.md: front matter field \"date\" must be a date, got 'soon'"),
        ({"created": "2024-02-31"}, 'field "created" must be a date'),
        ({"date": 2024}, 'field "date" must be a date, got 2024'),
        ({"tags": {"a": 1}}, 'field "tags" must be text'),
        ({"lang": True}, 'field "lang" must be text, got True'),
        ({"link": ["x"] * 500}, "..."),
    ]:
        assert message in warning(**fields)


def test_paths_unlike_their_siblings():
    pages = {f"docs/{n}.md": ("Core", "Script") for n in range(6)}
    assert path_warnings(pages) == []
    pages["docs/deep.md"] = ("Core", "Script", "API", "x")
    pages["docs/root.md"] = ("Other", "Script")
    pages["docs/spelt.md"] = ("core ", "Script")
    pages["lonely/a.md"] = ("X",)
    assert path_warnings(pages) == [
        'docs/deep.md: front matter field "path" is unlike its siblings in "docs":'
        " 4 parts, theirs have 2",
        'docs/root.md: front matter field "path" is unlike its siblings in "docs":'
        ' begins with "Other", theirs with "Core"',
        'docs/spelt.md: front matter field "path" is unlike its siblings in "docs":'
        ' "core  / Script", theirs is spelt "Core / Script"',
    ]
    pages = {f"{n}.md": (f"Part {n}", *("x" for _ in range(n))) for n in range(4)}
    assert path_warnings(pages) == []
