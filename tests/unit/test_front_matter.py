"""Front matter: found in all its odd forms, read with types, repaired when broken."""

import json

import pytest

from pgrag.ingest.matter.front_matter import FrontMatter, split
from pgrag.ingest.matter.yaml_values import YamlError, iso_date, load_yaml


def fields(block: str) -> dict[str, object]:
    matter = split("a.md", f"---\n{block}\n---\nBody\n")
    assert (matter.body, matter.warnings) == ("Body\n", ())
    return matter.fields


def test_empty_and_odd_blocks_are_removed_and_what_is_never_closed_is_text():
    assert split("a.md", "---\n---\nBody") == FrontMatter({}, "Body", 3)
    text = "\n---\ntitle: T\n\n# Heading\n"
    matter = split("docs/a.md", text)
    assert matter.body == text
    assert matter.warnings == (
        "docs/a.md: front matter is opened in line 2 and never closed; it is kept as text",
    )
    for block, shown in [("- a\n- b", "a list"), ("42", "42"), ("true", "True")]:
        matter = split("a.md", f"---\n{block}\n---\nBody")
        assert (matter.fields, matter.body) == ({}, "Body")
        assert matter.warnings == (
            f"a.md: front matter must be fields with values, got {shown}; left out",
        )
    for text in [
        "",
        "---",
        "# Title\n\n---\na: b\n---\n",
        "---\n\nJust prose.\n\n---\nMore prose.\n",
        "---\n\nA note: this is prose, with a colon: twice.\n\n---\n",
        "Text\n---\n",
        "--- title: T\n---\n",
    ]:
        assert split("a.md", text) == FrontMatter({}, text, 1)
    for text, first_line in [
        ("---\ntitle: T\n---\nBody\n", 4),
        ("\n\n---\ntitle: T\n---\nBody\n", 6),
        ("---   \ntitle: T   \n---\t\nBody\n", 4),
        ("------\ntitle: T\n------\nBody\n", 4),
        ("---\ntitle: T\n...\nBody\n", 4),
        ("---\n\n# comment\ntitle: T\n\n---\nBody\n", 7),
        ('+++\ntitle = "T"\n+++\nBody\n', 4),
    ]:
        assert split("a.md", text) == FrontMatter({"title": "T"}, "Body\n", first_line)


def test_values_have_the_types_of_json_and_none_that_yaml_1_1_would_spoil():
    assert fields(
        "text: plain\nquoted: '12'\nint: 12\nfloat: 1.5\nyes: true\nno: False\nnothing: ~\nempty:\n"
        "day: 2024-02-29\ntime: 2024-01-31 10:00:00 +02:00\nzulu: 2023-03-10T17:00:00.000Z\n"
        "list: [a, 2]\nmap: {deep: {er: [1]}}\nlong: >\n  two\n  lines"
    ) == {
        "text": "plain",
        "quoted": "12",
        "int": 12,
        "float": 1.5,
        "yes": True,
        "no": False,
        "nothing": None,
        "empty": None,
        "day": "2024-02-29",
        "time": "2024-01-31T10:00:00+02:00",
        "zulu": "2023-03-10T17:00:00+00:00",
        "list": ["a", 2],
        "map": {"deep": {"er": [1]}},
        "long": "two lines\n",
    }
    text = (
        "lang: no\nswitch: on\nclock: 12:30:45\nzip: 01234\nday: 2024-02-31\nbig: .inf\n"
        "nan: .nan\nunder: 1_000\nexponent: 1e5\n1: one\ntrue: two\n2024-01-01: three"
    )
    assert fields(text) == dict(line.split(": ") for line in text.split("\n"))
    assert fields(
        "a: !ENV [X, y]\nb: !!python/name:os.system x\nc: !!int seven\nd: !!binary aGk="
    ) == {"a": ["X", "y"], "b": "x", "c": "seven", "d": "aGk="}
    merged = fields("base: &b {x: 1, y: 2}\nderived:\n  <<: *b\n  y: 3")
    assert merged["derived"] == {"x": 1, "y": 3}


def test_nothing_that_postgresql_cannot_store_gets_through():
    good = '---\na: "x\\0y"\n"k\\0": 1\nhuge: ' + "9" * 5000 + "\nf: 1.0e+999\n---\n"
    broken = '---\na: "x\\0y"\nhalf: "\\ud800z"\n---\n'
    assert split("a.md", good).fields == {"a": "xy", "k": 1, "huge": "9" * 5000, "f": "1.0e+999"}
    for text in (good, broken):
        written = json.dumps(split("a.md", text).fields, allow_nan=False, ensure_ascii=False)
        assert "\\u0000" not in written
        written.encode()


def test_a_warning_names_file_field_and_line():
    matter = split("a.md", "\n---\ntitle: one\ndate: 2024-01-01\ntitle: two\n---\n")
    assert matter.fields == {"title": "two", "date": "2024-01-01"}
    assert matter.warnings == (
        'a.md: front matter repeats the field "title" in line 5; the last value is used',
    )
    matter = split("a.md", f"---\ntitle: T\ndeep: {'[' * 40}{']' * 40}\n---\nBody")
    assert matter.warnings == (
        'a.md: front matter is broken YAML in line 3: "deep" is nested deeper than 30 levels',
    )
    assert (matter.fields["title"], matter.fields["deep"]) == ("T", "[" * 40 + "]" * 40)


@pytest.mark.parametrize(("block", "expected", "line"), [
    ("title: Foo: bar\ntags: [a, b]", {"title": "Foo: bar", "tags": ["a", "b"]}, 2),
    ("title: T\nlist: [a, b", {"title": "T", "list": "[a, b"}, 3),
    ("title: T\ntags:\n\t- a\n\t- b", {"title": "T", "tags": ["a", "b"]}, 4),
    ("title: {{ name }}\ntype: x", {"title": "{{ name }}", "type": "x"}, 2),
    ('title: "open\ntype: x', {"title": '"open', "type": "x"}, 3),
    ("title: T\nlist:\n  - [a\n  - b", {"title": "T", "list": "- [a\n  - b"}, 5),
    ("title: T\n[a, b]: c", {"title": "T"}, 3),
    ("title: T\nname: @at\ntype: x", {"title": "T", "name": "@at", "type": "x"}, 3),
])  # fmt: skip
def test_broken_yaml_keeps_the_fields_that_can_be_read(block, expected, line):
    matter = split("docs/a.md", f"---\n{block}\n---\n# Heading\n")
    assert (matter.fields, matter.body, len(matter.warnings)) == (expected, "# Heading\n", 1)
    assert matter.warnings[0].startswith(f"docs/a.md: front matter is broken YAML in line {line}: ")


def test_toml_values_and_broken_toml():
    good = split("a.md", "+++\ndate = 2024-05-01T10:00:00Z\nday = 2024-05-01\n[a]\nb=inf\n+++\n")
    date = {"date": "2024-05-01T10:00:00+00:00", "day": "2024-05-01"}
    assert good.fields == date | {"a": {"b": "inf"}}
    bad = split("a.md", "+++\nn = 1\ntitle = unquoted\n+++\nBody")
    assert (bad.fields, bad.body) == ({"n": 1, "title": "unquoted"}, "Body")
    assert bad.warnings == ("a.md: front matter is broken TOML in line 3: Invalid value",)


@pytest.mark.parametrize(("text", "first_line"), [
    ('{"title": "T"}\nBody\n', 2),
    ('\n{\n  "title": "T"\n}\nBody\n', 5),
    (';;;\n"title": "T"\n;;;\nBody\n', 4),
    (';;;\n{"title": "T"}\n;;;\nBody\n', 4),
    ('---json\n{"title": "T"}\n---\nBody\n', 4),
    ("--- yaml\ntitle: T\n---\nBody\n", 4),
    ('---toml\ntitle = "T"\n---\nBody\n', 4),
])  # fmt: skip
def test_front_matter_in_json_and_in_a_notation_that_it_names(text, first_line):
    assert split("a.md", text) == FrontMatter({"title": "T"}, "Body\n", first_line)


def test_broken_json_is_a_warning_with_its_line_and_keeps_its_fields():
    matter = split("a.md", '\n{\n  // mine\n  "title": "T",\n  "n": [1,\n  "b": 2,\n}\nBody')
    assert (matter.fields, matter.body) == ({"title": "T", "n": "[1", "b": 2}, "Body")
    assert len(matter.warnings) == 1
    assert matter.warnings[0].startswith("a.md: front matter is broken JSON in line 3: ")
    for text in ("{: .note}\nText", "{{< note >}}", '{"a": 1} and text\n', '{"a"\nText', "[]\n"):
        assert split("a.md", text) == FrontMatter(body=text)
    deep = split("a.md", '{\n"a": ' + "[" * 100_000 + "\n}\nBody")
    assert (deep.body, len(deep.warnings)) == ("Body", 1)
    assert split("a.md", '{"a\\u0000": "\\ud800x", "b": NaN}\n').fields == {"a": "x", "b": "nan"}


@pytest.mark.parametrize("block", [
    "a: &a [*a]",
    "a: " + "[" * 4000,
    "a: " + "[" * 40_000 + "]" * 40_000,
    "a:\n  " + "- " * 40_000,
    "a: &a [x, x, x, x, x, x, x, x]\n"
    + "\n".join(
        f"{k}: &{k} [{', '.join(['*' + j] * 8)}]" for j, k in zip("abcdefg", "bcdefgh", strict=True)
    ),
    "[a, b]: c",
], ids=["loop", "depth", "brackets", "dashes", "billion laughs", "list as a key"])  # fmt: skip
def test_hostile_yaml_ends_quickly_with_a_problem(block):
    with pytest.raises(YamlError):
        load_yaml(block)
    matter = split("a.md", f"---\ntitle: T\n{block}\n---\nBody")
    assert (matter.fields["title"], matter.body) == ("T", "Body")
    assert len(json.dumps(matter.fields)) < 100_000


@pytest.mark.parametrize(("text", "iso"), [
    ("2024-01-31", "2024-01-31"),
    ("2024/1/5", "2024-01-05"),
    ("31.12.2024", "2024-12-31"),
    ("2024-01-31T10:20:30+0200", "2024-01-31T10:20:30+02:00"),
    ("2024-01-31 18:05", "2024-01-31T18:05:00"),
    ("2018-03-27t11:01:39.569-07:00", "2018-03-27T11:01:39.569000-07:00"),
    ("2024-02-31", None),
    ("2024", None),
    ("tomorrow", None),
    ("2024-01-31 and more", None),
    ("", None),
])  # fmt: skip
def test_dates(text, iso):
    assert iso_date(text) == iso
