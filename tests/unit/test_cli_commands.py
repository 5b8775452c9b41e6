"""Commands made of functions that return their output, and of declarations."""

import inspect
import json
from contextlib import contextmanager
from typing import Annotated, get_args

import pytest
import typer
from typer import Argument, Option
from typer.testing import CliRunner

from pgrag.cli import command as commands
from pgrag.cli import options, output
from pgrag.cli.command import REQUIRED, command, listed, listing, text
from pgrag.cli.output import Output
from pgrag.cli.program import program

ROWS = [{"key": "a.md", "count": 1200}, {"key": "b.md", "count": None}]
Name = Annotated[str, Argument(metavar="NAME", help="Its name.")]


def test_only_named_commands_are_made_and_help_is_folded_for_the_terminal():
    runner = CliRunner()
    assert "--install-completion" in runner.invoke(program(), ["--help"]).output
    variables = {"_PGRAG_COMPLETE": "complete_bash", "COMP_WORDS": "pgrag backl", "COMP_CWORD": "1"}
    ended = runner.invoke(program(), [], prog_name="pgrag", env=variables)
    assert ended.output.split() == ["backlinks"]
    for name in ("index", "context", "search"):
        shown = runner.invoke(program(), [name, "--help"]).stdout
        assert max(map(len, shown.splitlines())) <= 80
        [made_of] = program([name]).registered_commands
        hints = inspect.get_annotations(made_of.callback).values()
        notes = [note for hint in hints for note in get_args(hint) if hasattr(note, "help")]
        words = {*" ".join([made_of.help, *(note.help or "" for note in notes)]).split()}
        assert words - {*shown.split()} == set(), "no word is broken or left out"
    for arguments in [["search", "backlinks"], ["keys", "list"]]:
        assert made(arguments) == arguments[:1]
    for arguments in [[], ["--help", "keys"], ["serach", "keys"]]:
        assert {"search", "keys", "eval"} <= {*made(arguments)}


def made(arguments):
    """The names of the commands and groups that these arguments need."""
    application = program(arguments)
    names = [each.callback.__name__ for each in application.registered_commands if each.callback]
    return [*names, *(each.name for each in application.registered_groups if each.name)]


class Database:
    """Answers every call with rows, and keeps its arguments."""

    def __init__(self, rows):
        self.rows = rows
        self.calls = []
        self.database = self

    def call(self, function, **arguments):
        self.calls.append((function, arguments))
        return self.rows


@pytest.fixture
def app(monkeypatch):
    database = Database(ROWS)

    @contextmanager
    def opened():
        yield database

    monkeypatch.setattr(commands, "opened", opened)
    output.stdout.cache_clear()
    output.stderr.cache_clear()
    yield database
    output.stdout.cache_clear()
    output.stderr.cache_clear()


def run(function, *arguments):
    application = typer.Typer()
    application.command()(function)
    return CliRunner().invoke(application, arguments)


PAGES = listing(
    "pages",
    "pages_of",
    "List pages.",
    {"name": (Name, REQUIRED), "top_k": (Annotated[int, Option("--limit", "-n")], 20)},
    {"page": "key", "twice": lambda row: 2 * (row["count"] or 0)},
    nothing="No page.",
    slowest=True,
)


def test_a_declared_list_prints_a_table_or_json_or_that_there_is_none(app):
    result = run(PAGES, "jest", "-n", "3")
    assert app.calls == [("pages_of", {"name": "jest", "top_k": 3, "slowest": True})]
    head, _, first, second = result.stdout.splitlines()
    assert head.split() == ["page", "twice"]
    assert first.split() == ["a.md", "2,400"]
    assert second.split() == ["b.md", "0"]
    assert result.exit_code == 0
    result = run(PAGES, "jest", "--json")
    assert json.loads(result.stdout) == ROWS
    assert result.stderr == ""
    app.rows = []
    result = run(PAGES, "jest")
    assert (result.stdout, result.stderr, result.exit_code) == ("", "No page.\n", 0)
    assert run(PAGES, "jest", "--json").stdout == "[]\n"


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_errors_come_last_and_give_exit_status_1(app, flags):
    @command
    def check(app):
        return Output({"fine": False}, lambda: None, errors=["It broke.\nMend it."])

    result = run(check, *flags)
    assert (result.exit_code, result.stderr) == (1, "error: It broke.\nMend it.\n")
    assert bool(result.stdout) == bool(flags)


def test_a_command_may_fail_without_a_word_and_tell_a_total_on_stderr(app):
    @command
    def search(app):
        return Output([], lambda: None, failed=True)

    result = run(search)
    assert (result.exit_code, result.stderr) == (1, "")

    @command
    def count(app):
        return listed(app.call("all"), ("key", "count"), total="2 rows.")

    result = run(count)
    assert result.stderr == "2 rows.\n"
    assert "1,200" in result.stdout


def test_switches_are_named_after_arguments_and_json_is_told(app):
    @command
    def write(app, *, dry_run: Annotated[bool, Option(help="Write nothing.")] = False):
        return text(dry_run, f"dry: {dry_run}")

    assert run(write, "--dry-run").stdout == "dry: True\n"
    assert run(write).stdout == "dry: False\n"
    assert run(write, "--no-dry-run").exit_code == 2

    @command
    def watch(app, as_json: Annotated[bool, Option("--json")] = False):
        return text([as_json], str(as_json))

    assert json.loads(run(watch, "--json").stdout) == [True]
    assert run(watch).stdout == "False\n"


LIBRARY = options.LibraryVersion
QUERY = Annotated[str, Argument(metavar="QUERY")]


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ("kestrel a.md", ("kestrel", "a.md", None)),
        ("kestrel a.md b.md", ("kestrel", "a.md", "b.md")),
        ("a.md -l kestrel", ("kestrel", "a.md", None)),
        ("--library=kestrel a.md b.md", ("kestrel", "a.md", "b.md")),
    ],
)
def test_a_library_is_the_first_argument_or_an_option(app, arguments, given):
    @command
    def path(app, target: LIBRARY, first: QUERY, second: Annotated[str | None, Argument()] = None):
        return text([target, first, second])

    assert tuple(json.loads(run(path, *arguments.split(), "--json").stdout)) == given
    assert "given twice" in run(path, "x", "y", "z", "-l", "kestrel").stderr
    assert "LIBRARY[@VERSION]: is missing" in run(path).stderr
    assert "QUERY: is missing" in run(path, "kestrel").stderr


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ("a", (None, "a")),
        ("kestrel a", ("kestrel", "a")),
        ("a -l kestrel", ("kestrel", "a")),
        ("-l kestrel", ("kestrel", "all")),
        ("", (None, "all")),
    ],
)
def test_an_optional_library_is_an_argument_only_before_the_query(app, arguments, given):
    @command
    def find(app, query: QUERY = "all", *, library: options.Library = None):
        return text([library, query])

    assert tuple(json.loads(run(find, *arguments.split(), "--json").stdout)) == given

    @command
    def configure(app, library: options.LibraryName, changes: Changes = None):
        return text([library, changes])

    for arguments in (["kestrel", "a=1", "b=2"], ["a=1", "b=2", "-l", "kestrel"]):
        shown = json.loads(run(configure, *arguments, "--json").stdout)
        assert shown == ["kestrel", ["a=1", "b=2"]]
    assert json.loads(run(configure, "kestrel", "--json").stdout) == ["kestrel", None]


Changes = Annotated[list[str] | None, Argument()]
