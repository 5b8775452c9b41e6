"""Exact search over the sources, against a search by Python's own means, and against ripgrep."""

import re
import shutil
import subprocess

import pytest
from library import document, ingest, page, refused, run, value, walk

from pgrag.ingest.globs import matcher

SOURCES = {
    "guide/install.md": (
        "---\ntitle: Install\ntags: [setup, Linux]\n---\n",
        "# Install\n\nRun `pgrag-ctl init` first.\nThen run pgrag_ctl(start).\n\n"
        "- a.b matches a+b? No: a.b is a.b\n- tabs\there \n",
    ),
    "guide/deep/größe.md": (
        "",
        "# Größe und Maß\nDie GRÖSSE einer Straße, für Ärger.\n"
        "Über größere Größen\n\n\n100 % \\ {x}",
    ),
    "заметки.md": ("---\nязык: ru\n---\n\n", "Заметка о файлах.\nФайл и заметка; и ещё ФАЙЛ\n"),
    "empty.md": ("", ""),
    "line-end.md": ("", "\n"),
    "a[1].md": ("", "last line without end: init"),
}
WISHES = [
    ("init", "literal"), ("INIT", "literal"), ("a.b", "literal"), ("[setup, Linux]", "literal"),
    ("title: Install", "literal"), ("(start)", "literal"), ("\\ {x}", "literal"),
    ("größe", "literal"), ("файл", "literal"), ("nowhere", "literal"), ("^", "literal"),
    ("a", "word"), ("run", "word"), ("и", "word"), ("init`", "word"), ("Maß", "word"),
    (r"^$", "regex"), (r"\s$", "regex"), (r"^# \w+", "regex"), (r"[äöüß]\w*", "regex"),
    (r"\bGr", "regex"), (r"\w\b\.", "regex"), (r"^-{3}$", "regex"), (r"x?", "regex"),
    (r"(run|RUN) ", "regex"), (r"[^\]]\]$", "regex"), (r"[a-z]_[a-z]+\(", "regex"),
    (r"(\w)\1", "regex"), (r"init(?!`)", "regex"), (r"о(?=\s)", "regex"), (r"\Aа?З", "regex"),
    (r"\d+ %", "regex"), (r".{30,}", "regex"), (r"[А-Я][а-я]+", "regex"), (r"a\.b", "regex"),
]  # fmt: skip
#: Python's \s, \w and \A are as PostgreSQL's on these texts; ripgrep looks around nothing.
NOT_OF_RIPGREP = re.compile(r"\(\?[=!]|\\[1A]")


@pytest.fixture(scope="module")
def module_connection(module_connection):
    pages = [page(key, head=head, body=body) for key, (head, body) in SOURCES.items()]
    for written in pages:
        written["documents"] = [
            document("All.", level=0, covers=0, line_start=1, line_end=1000),
            document("Some.", line_start=3, line_end=6),
        ]
    ingest(module_connection, "notes", pages, embed=False)
    # An index made over rows that were just updated is not used by the transaction that makes it.
    module_connection.execute("vacuum pgrag.pages")
    return module_connection


def found(connection, pattern, mode, **arguments):
    rows = run(connection, "search_text", pattern=pattern, library="notes", mode=mode, **arguments)
    return [(row["key"], row["line"]) for row in rows]


def expected(pattern, mode, *, ignore_case):
    """The matches, from a regular expression of Python on every line."""
    written = pattern if mode == "regex" else re.escape(pattern)
    if mode == "word":
        written = rf"(?<!\w){written}(?!\w)"
    expression = re.compile(written, re.IGNORECASE if ignore_case else 0)
    return {
        (key, number)
        for key, (head, body) in SOURCES.items()
        for number, line in enumerate((head + body).split("\n"), 1)
        if expression.search(line)
        # What follows the last line end is not a line.
        and (line or number <= (head + body).count("\n"))
    }


@pytest.mark.parametrize("case_mode", ["sensitive", "ignore"])
def test_lines_are_those_of_a_plain_search(connection, case_mode):
    for pattern, mode in WISHES:
        lines = found(connection, pattern, mode, case_mode=case_mode)
        wanted = expected(pattern, mode, ignore_case=case_mode == "ignore")
        assert set(lines) == wanted, (pattern, mode)
        assert len(lines) == len(wanted)


@pytest.mark.skipif(shutil.which("rg") is None, reason="no ripgrep here")
def test_lines_are_those_of_ripgrep(connection, tmp_path):
    for key, (head, body) in SOURCES.items():
        (tmp_path / key).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / key).write_text(head + body, "utf-8")
    options = {"literal": ["-F"], "word": ["-F", "-w"], "regex": []}
    for pattern, mode in WISHES:
        if mode == "regex" and NOT_OF_RIPGREP.search(pattern):
            continue
        listed = subprocess.run(
            ["rg", "--no-config", "-0nH", "--no-heading", *options[mode], "-e", pattern, "."],
            cwd=tmp_path, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        lines = {
            (key.removeprefix("./"), int(rest.partition(":")[0]))
            for key, zero, rest in (line.partition("\0") for line in listed.stdout.split("\n"))
            if zero
        }
        assert set(found(connection, pattern, mode)) == lines, (pattern, mode)


def test_a_row_tells_where_and_what_is_around_and_all_matches(connection):
    [row] = run(connection, "search_text", pattern="ctl", library="notes", context=2, top_k=1)
    assert row["key"] == "guide/install.md"
    assert (row["line"], row["column"]) == (7, 12)
    assert row["content"] == "Run `pgrag-ctl init` first."
    assert row["matches"] == [{"start": 12, "end": 15}]
    assert row["lines_before"] == ["# Install", ""]
    assert row["lines_after"] == ["Then run pgrag_ctl(start).", ""]
    level = "select d.level from pgrag.documents as d where d.document_id = %s"
    assert value(connection, level, row["document_id"]) == 0
    [row] = run(connection, "search_text", pattern="Überhaupt|Über", library="notes", mode="regex",
                context=100)  # fmt: skip
    assert value(connection, level, row["document_id"]) == 2
    assert len(row["lines_before"]) == 2
    assert len(row["lines_after"]) == 3
    [row] = run(connection, "search_text", pattern="a.b", library="notes")
    assert [(m["start"], m["end"]) for m in row["matches"]] == [(3, 6), (24, 27), (31, 34)]
    [row] = run(connection, "search_text", pattern="x?$", library="notes", mode="regex", path="a*")
    assert row["matches"] == [{"start": 28, "end": 28}]
    assert len(found(connection, "файл", "literal", case_mode="smart")) == 2
    assert len(found(connection, "Файл", "literal", case_mode="smart")) == 1
    assert len(found(connection, r"файл\W", "regex", case_mode="smart")) == 1
    assert len(found(connection, "(?i)ФАЙЛ", "regex")) == 2


def test_pages_of_lines_are_the_list(connection):
    whole = found(connection, "a", "literal", case_mode="ignore")
    assert len(whole) > 5
    assert whole == sorted(whole, key=lambda line: (whole.index(next(
        other for other in whole if other[0] == line[0])), line[1]))  # fmt: skip
    given = {"pattern": "a", "library": "notes", "case_mode": "ignore"}
    assert [(r["key"], r["line"]) for r in walk(connection, "search_text", 2, **given)] == whole


GLOBS = [
    "*.md", "guide/*.md", "guide/**", "guide/", "**/install.md", "install.md", "./guide/*", "/a*",
    "a[!x]1?.md", "заметк?.md", "guide/**/*.md", "*", "[ae]*.md", "gu*de",
    "**", "guide/deep/*ö*", "a[1].md", "guide", "*[^a]*", "line.end.md", "(a)|b", "[]x]*",
]  # fmt: skip


def test_globs_mean_what_they_mean_for_indexing(connection):
    for glob in GLOBS:
        is_wanted = matcher([glob], [])
        matching = [
            row["key"]
            for row in connection.execute(
                "select p.key from pgrag.pages as p where p.key ~ _pgrag.glob_expression(%s)",
                [glob],
            )
        ]
        assert sorted(matching) == sorted(filter(is_wanted, SOURCES)), glob
    assert found(connection, "init", "literal", path="a*") == [("a[1].md", 1)]


@pytest.mark.parametrize(
    ("pattern", "complaint", "hint"),
    [
        (r"a(?P<name>b)", "named group ((?P<name>) at character 2", "plain group"),
        (r"(?<name>b)", "named group", "plain group"),
        (r"x\p{L}", r"Unicode property (\p) at character 2", "[[:alpha:]]"),
        (r"[\p{L}]", "Unicode property", "[[:alpha:]]"),
        (r"(?i)a(?s:b)", "flags for a part of the pattern ((?s:) at character 6", "beginning"),
        (r"a++", "possessive", ""),
        (r"(?>a)", "atomic", ""),
        (r"\Qa\E", "escape of Perl", ""),
        (r"[a&&b]", "set operation", ""),
        (r"\x{41}", "code point", ""),
        (r"a\nb", "line end", ""),
        ("***=a", "prefix", ""),
        ("(a", "parentheses () not balanced", "parenthesis"),
        ("[a", "brackets [] not balanced", "bracket"),
        ("*a", "quantifier operand invalid", "literal"),
        (r"a{1,1000}", "repetition", "255"),
        ("\\", "escape", "backslash"),
        ("((a{1,150}){1,150}){1,150}", "too complex", "multiply"),
        ("(a{1,200}){1,200}", "too complex", "multiply"),
    ],
)
def test_bad_expressions_are_explained(connection, pattern, complaint, hint):
    with refused(connection, "PGR01", complaint, hint):
        found(connection, pattern, "regex")
    assert set(found(connection, pattern, "literal")) <= expected(
        pattern, "literal", ignore_case=False
    )


def test_bad_arguments_are_explained_and_time_is_bounded(connection):
    for given, code, message, hint in [
        ({"pattern": ""}, "PGR01", "1 to 1000 characters", ""),
        ({"pattern": "x" * 1001}, "PGR01", "1 to 1000 characters", ""),
        ({"pattern": "a\nb"}, "PGR01", "line end", "context"),
        ({"mode": "fuzzy"}, "PGR01", "mode must be", ""),
        ({"case_mode": "upper"}, "PGR01", "case_mode must be", ""),
        ({"path": "[z-a]/x"}, "PGR01", "The path", ""),
        ({"context": 101}, "PGR01", "context must be", ""),
        ({"after": "guide/install.md"}, "PGR07", "cursor", "first line"),
        ({"library": "nothing"}, "PGR02", "", ""),
    ]:
        with refused(connection, code, message, hint):
            run(connection, "search_text", **({"pattern": "a", "library": "notes"} | given))
    body = f"{'a' * 3000}\n" * 20
    ingest(connection, "slow", [page(f"{n}.md", body=body, documents=[]) for n in range(50)],
           embed=False)  # fmt: skip
    with refused(connection, "PGR15", "more than 1 ms", "index_sources"):
        run(connection, "search_text", pattern="(a|aa)+b|x{1,200}y", library="slow", mode="regex",
            timeout_ms=1)  # fmt: skip


def test_a_trigram_index_changes_no_result(connection):
    available = value(
        connection, "select exists (select from pg_available_extensions where name = 'pg_trgm')"
    )
    [said] = run(connection, "index_sources")
    assert not said["indexed"]
    assert "pg_trgm" in said["message"]
    if not available:
        return
    before = {wish: found(connection, *wish) for wish in WISHES}
    connection.execute("create extension pg_trgm")
    [said] = run(connection, "index_sources")
    assert said["indexed"]
    [again] = run(connection, "index_sources")
    assert again["indexed"]
    connection.execute("set local enable_seqscan = off; set local enable_indexscan = off")
    assert {wish: found(connection, *wish) for wish in WISHES} == before
    plan = connection.execute(
        "explain select from pgrag.pages as p where (p.head || p.body) ~ '(?n)install'"
    ).fetchall()
    # While somebody (an automatic analyze, say) may still see rows of before, it is not used yet.
    waits = value(
        connection,
        "select i.indcheckxmin from pg_index as i"
        " where i.indexrelid = 'pgrag.pages_source_trigrams'::regclass",
    )
    assert waits or "pages_source_trigrams" in str(plan)
