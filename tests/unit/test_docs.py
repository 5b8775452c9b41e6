"""The documentation says what the code does: references are up to date, links lead somewhere."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from pgrag.api import admission, crowd, problems
from pgrag.ground.settings import Settings, variable
from pgrag.ingest.page import PageOptions, read_page
from pgrag.ingest.source.sources import discover

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("**/*.md"))
TEXTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *PAGES]

_FENCE = re.compile(r"^(```+|~~~+).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"(?<!\\)\]\(([^()\s]+)\)")
_NAME = r"(?<![\w./~=-])pgrag(?![\w/-])"
#: The package `pgrag` of the index, which is another project's, as somebody is told to install it.
_FOREIGN = re.compile(
    rf"\b(?:pip3?|pipx|uv)\b[^\n|;&`]*? (?:install|add|download|inject)\b[^\n|;&`]*?{_NAME}"
    rf"|\b(?:uvx|pipx run|uv tool run) (?![^\n]*--(?:from|spec))[^\n|;&`]*?{_NAME}"
    rf"|^[ \t\"'-]*{_NAME} ?(?:[=<>~!]=|@ )|{_NAME}\[\w",
    re.MULTILINE,
)


def _links(text):
    for match in _LINK.finditer(_CODE.sub("", _FENCE.sub("", text))):
        if not re.match(r"[a-z]+:", match[1]):
            yield match[1]


@cache
def _anchors(file):
    """The anchors of a page's headings, as pgrag itself gives them to hits."""
    return {chunk.anchor for chunk in read_page(file.name, file.read_bytes(), PageOptions()).chunks}


def _name(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("script", [
    "make_argument_rules.py",
    "make_pictures.py",
    "make_sql_reference.py",
    "make_cli_reference.py",
    "make_mcp_reference.py",
    "make_client_files.py",
])  # fmt: skip
def test_references_are_up_to_date(script):
    command = [sys.executable, ROOT / "scripts" / script, "--check"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_sql_reference_holds_every_public_function_and_the_last_error():
    definition = re.compile(r"^create or replace function pgrag\.(\w+)\(", re.MULTILINE)
    public = [
        name
        for file in (ROOT / "sql").rglob("*.sql")
        for name in definition.findall(file.read_text("utf-8"))
    ]
    headings = re.findall(r"^### (\w+)$", (DOCS / "sql.md").read_text("utf-8"), re.MULTILINE)
    assert len(public) > 40
    assert sorted(public) == sorted(headings)
    functions = [file.read_text("utf-8") for file in (ROOT / "sql").glob("*/*.sql")]
    raised = re.findall(r"errcode = '(PGR\d\d)'", "".join(functions))
    last = max(code for code in raised if code != "PGR99")  # caught within a function
    named = [
        code
        for file in TEXTS
        for code in re.findall(r"`PGR01` to `(PGR\d\d)`", file.read_text("utf-8"))
    ]
    assert len(named) >= 2
    assert set(named) == {last}


def test_rest_lists_every_problem():
    named = [*vars(problems).values(), *vars(admission).values(), *vars(crowd).values()]
    kinds = [*named, *problems.KINDS.values(), *problems.HTTP_KINDS.values()]
    text = (DOCS / "rest.md").read_text("utf-8")
    assert [kind.type for kind in kinds if isinstance(kind, problems.Kind)
            and f"`{kind.type}`" not in text] == []  # fmt: skip


def test_configuration_lists_every_setting_with_its_default():
    text = (DOCS / "configuration.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `([A-Z_]+)` \| ([^|]*?) \|", text, re.MULTILINE))
    defaults = {
        variable(name): field.get_default(call_default_factory=True)
        for name, field in Settings.model_fields.items()
    }
    expected = {
        name: {None: "unset", (): "unset", "": "empty"}.get(value, str(value))  # type: ignore[arg-type]
        for name, value in defaults.items()
    }
    expected["PGRAG_OUTGOING_ALLOW"] = " ".join(defaults["PGRAG_OUTGOING_ALLOW"])
    # Where the data of a user lies is the platform's choice.
    expected["PGRAG_HOME"] = "the user's data folder"
    expected["PGRAG_MAX_PAGE_MEMORY"] = "512000000, or an eighth of the machine's if less"
    expected["PGRAG_POOL_SIZE"] = "2 for each processor, from 4 to 20"
    assert rows == expected
    function = (ROOT / "sql" / "configuration" / "_default_settings.sql").read_text("utf-8")
    names = re.findall(r'^        "(\w+)":', function, re.MULTILINE)
    assert len(names) >= 6
    assert [name for name in names if f"| `{name}` |" not in text] == []


@pytest.mark.parametrize("file", TEXTS, ids=_name)
def test_relative_links_lead_to_files_and_headings(file):
    broken = []
    for link in _links(file.read_text("utf-8")):
        path, _, anchor = link.partition("#")
        target = (file.parent / path).resolve() if path else file
        if not target.exists() or (anchor and anchor not in _anchors(target)):
            broken.append(link)
    assert broken == []


def test_no_text_tells_people_to_install_a_strangers_package():
    folders = ("docs", "src", "sql", "docker", "scripts", "benchmarks", "campaign", "alembic")
    files = [each for folder in folders for each in (ROOT / folder).rglob("*")]
    kinds = {".md", ".py", ".sql", ".sh", ".yaml", ".toml", ""}
    foreign = {
        _name(file): match[0]
        for file in [each for each in (*TEXTS, *ROOT.glob("*"), *files) if each.suffix in kinds]
        if file.is_file()
        for match in _FOREIGN.finditer(file.read_text("utf-8", "replace"))
    }
    assert foreign == {}


@pytest.mark.parametrize(("text", "is_foreign"), [
    ("pip install pgrag", True),
    ("hint='pip3 install -U \"pgrag>=1\"'", True),
    ("use 'pgrag[documents]'", True),
    ("uv tool install pgrag", True),
    ("uv add pgrag && pgrag doctor", True),
    ("uvx pgrag doctor", True),
    ("    pgrag==0.1.0", True),
    ("~/pgrag/bin/pip install . && pgrag doctor", False),
    ("pip install pgrag-search; pip install dist/pgrag_search-*.whl", False),
    ("pipx run --spec dist/*.whl pgrag doctor", False),
    ("uvx --from dist/*.whl pgrag doctor", False),
])  # fmt: skip
def test_what_would_install_a_strangers_package_is_recognised(text, is_foreign):
    assert (_FOREIGN.search(text) is not None) is is_foreign


def test_pages_have_front_matter_and_no_warnings_and_are_linked_from_the_start_page():
    with discover(str(DOCS)) as source:
        pages = [read_page(file.key, file.read(), PageOptions()) for file in source.files()]
    assert len(pages) == len(PAGES) >= 14
    assert [warning for page in pages for warning in page.warnings] == []
    start = set(_links((DOCS / "index.md").read_text("utf-8")))
    assert {page.relative_to(DOCS).as_posix() for page in PAGES} - {"index.md"} <= {
        link.split("#")[0] for link in start
    }
    for file in PAGES:
        page = read_page(file.name, file.read_bytes(), PageOptions())
        assert page.title == page.front_matter.get("title")
        assert page.path[0] == "pgrag"
        assert page.path[-1] == page.title
        for field in (page.topic, page.type, page.tags, page.created):
            assert field
