"""Public texts use one word for each thing: the word of the glossary in docs/concepts.md."""

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import pgrag

ROOT = Path(__file__).parents[2]
#: Where *document* is right: a user's file, an object of JSON, a name or a value in SQL and REST.
_DOCUMENT = (
    r"(?:PDF|Word|Office|problem|OpenAPI) documents?",
    r"[Dd]ocument frequenc\w+",
    r"pgrag\.documents|documents\.\w+|\"documents?\"|documents: |documents \(|documents, idf",
    r"(?:unit|kind):? \(?document|(?:section )?or document|document (?:\(passages\) )?or page",
    r"Some of documents, pages|checks: documents",
)
#: What is wrong, the word to use, and the contexts in which the wrong word is right.
RULES = {
    r"documents?": ("passage, or file", _DOCUMENT),
    r"chunks?": ("passage", (r"chunk (?:sizes?|profiles?)|chunk-\w+",)),
    r"so many": ("the maximum number of", ()),
    r"in place of": ("instead of", ()),
    r"t(?:akes?|ook) the place of": ("replace", ()),
    r"hangs? on": ("depend on", ()),
    r"revision 00\d\d": ("the version of pgrag", ()),
}
#: Pages about the chunker, and the glossary, which explains the wrong words.
EXCEPT = {("docs/indexing.md", r"chunks?"), ("docs/concepts.md", r"documents?")}
#: Not prose: code, names as headings, targets of links, and tables that a measurement writes.
_CODE = re.compile(
    r"^(```+|~~~+).*?^\1[ \t]*$|^### \S*( /\S*)?$|`(?:[^`\n]|\n(?!\n))*`|\]\([^)\s]*\)"
    r"|<!-- \w+: made by.*?<!-- end",
    re.MULTILINE | re.DOTALL,
)
_COMMENT = re.compile(r"comment on (?!index)\w+ ([\w.]+) is\s+'((?:[^']|'')*)'", re.IGNORECASE)
_Named = Iterator[tuple[str, str]]


def wrong_words(text: str, name: str = "") -> list[str]:
    """The wrong words of a text, each with what is around it and the word to use."""
    prose = re.sub(r"\s+", " ", _CODE.sub("``", text))
    return [
        f"{prose[max(0, each.start() - 30) : each.end() + 30]!r}: say {right}"
        for wrong, (right, allowed) in RULES.items()
        if (name, wrong) not in EXCEPT
        for each in re.finditer("|".join([*allowed, rf"(?P<wrong>\b(?i:{wrong})\b)"]), prose)
        if each["wrong"]
    ]


def _pages() -> _Named:
    """The pages; those of SQL, REST, MCP and the command line are made from comments and help."""
    for file in (ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(ROOT.glob("docs/*.md"))):
        yield file.relative_to(ROOT).as_posix(), file.read_text("utf-8")


def _docstrings() -> _Named:
    for name in pgrag.__all__:
        value = getattr(pgrag, name)
        yield name, inspect.getdoc(value) or ""
        if inspect.isclass(value) and value.__module__.startswith("pgrag."):
            for method, function in inspect.getmembers(value, inspect.isfunction):
                if not method.startswith("_") and function.__module__.startswith("pgrag."):
                    yield f"{name}.{method}", inspect.getdoc(function) or ""


def _comments() -> _Named:
    for file in sorted(ROOT.glob("alembic/versions/*.py")):
        yield from _COMMENT.findall(file.read_text("utf-8"))


@pytest.mark.parametrize("texts", [_pages, _docstrings, _comments])
def test_public_texts_use_the_words_of_the_glossary(texts: Callable[[], _Named]) -> None:
    named = list(texts())
    assert len(named) > 30
    assert {name: words for name, text in named if (words := wrong_words(text, name))} == {}


@pytest.mark.parametrize(("text", "is_wrong"), [
    ("Each document has a vector.", True),
    ("It returns the chunks of a page.", True),
    ("At most so many passages.", True),
    ("It stands in place of the title.", True),
    ("A `document_id`, the `documents` of a library, and PDF documents.", False),
    ("Its document frequency; the chunk sizes; a problem document.", False),
    ("A key such as `KEY#c3` names a passage.", False),
    ("```sql\nselect document\n```\n", False),
    ("### GET /v1/documents\n\nA passage by its key.", False),
    ("### GET /v1/documents\n\nA document by its key.", True),
])  # fmt: skip
def test_a_wrong_word_is_recognised(text: str, is_wrong: bool) -> None:
    assert bool(wrong_words(text)) is is_wrong
