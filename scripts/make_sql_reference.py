"""Write docs/sql.md: the public functions with their signatures and comments, read from sql/.

The public functions are those of the schema pgrag. Needs no database.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import reference_page

PAGE = reference_page.ROOT / "docs" / "sql.md"

_CHAPTERS = {
    "search": ("Searching", "Hybrid search, single retrievers, and what is made of hits."),
    "context": ("Context", "The text that a reader or a language model needs."),
    "navigate": ("Navigating", "Libraries, pages, outlines, and the passages around a passage."),
    "links": ("Links", "Edges between pages, and what they lead to."),
    "page_queries": ("Queries over pages", "Pages as rows with properties."),
    "versions": ("Versions", "Which version a label or a range stands for."),
    "changes": ("Changes", "What changed between two versions."),
    "filters": ("Queries and filters", "How the text of a query is understood."),
    "configuration": ("Configuration", "Settings, page types, intents and synonyms."),
    "ingest": ("Indexing", "Writing pages, links, vectors and statistics."),
    "tables": ("Your own tables", "Tables whose rows are pages, and their changes."),
    "jobs": ("Jobs", "Sources that workers index, uploads, and schedules."),
    "models": ("Embedding models", "Models, and the vectors of queries."),
    "enrich": ("Enrichment", "What language models add to passages."),
    "check": ("Checking", "What is wrong with a library, and how it is repaired."),
    "observe": ("Observation", "Recorded searches, feedback and metrics."),
    "views": (
        "Help",
        "Views for analysts (`passages`, `pages_now`, `libraries_overview`, `searches_by_day`,"
        " `gaps_now`) are on the page about [psql](psql.md#views).",
    ),
    "access": ("Access", "Who may see and change which library; keys for services, and the audit."),
    "evaluate": ("Evaluation and tuning", "Labelled sets, runs, comparisons, settings."),
    "ranking": ("Ranking", "The formulas of BM25F, callable one by one."),
    "text": ("Texts and vectors", "From the text of a passage to what is searched."),
}
_RESULTS = {
    "hit": "What the search functions return, best first.",
    "passage": "What the navigation functions and `expand_documents` return.",
    "context_block": "What `context` returns, in reading order.",
}

_INTRODUCTION = """---
title: SQL reference
path: [pgrag, Reference, SQL reference]
topic: reference
type: reference
tags: [sql, functions, psql, api, reference]
created: 2026-11-21
description: Every public function of the schema pgrag, with its arguments, result and errors.
---

# SQL reference

The schema `pgrag` is the program; the command line and the REST interface call these functions by
name. Functions that search take query, library and limit in this order; pass all other arguments by
name, as `version => '2.0'`: names stay, positions may change. Only the functions below are promised
to stay; the schema `_pgrag` holds their private helpers.

This page is made from the comments in `sql/` by `make docs`.
"""

_ERRORS = """## Errors

| SQLSTATE | meaning |
|---|---|
| `PGR01` | an argument has a value that cannot be used |
| `PGR02` | there is no such library; the hint names the nearest ones |
| `PGR03` | there is no such version; the hint lists those that exist |
| `PGR04` | there is no such page |
| `PGR05` | there is no such passage |
| `PGR06` | a filter does not follow the grammar |
| `PGR07` | a cursor was not made by a search |
| `PGR08` | a vector has another dimension than its model |
| `PGR09` | there is no such embedding model, or it lives outside the database |
| `PGR10` | there is no such evaluation set |
| `PGR11` | there is no such evaluation run |
| `PGR14` | there is no such recorded search |
| `PGR15` | a search took longer than it was given |
| `PGR16` | a query over pages does not follow the grammar |
| `PGR17` | there is no such key |
| `PGR18` | there is no such job |
| `PGR19` | a worker's lease of its job has ended |
| `PGR20` | the caller has as many jobs, or bytes of uploads, as one may have |
"""

_FUNCTION = re.compile(
    r"create or replace function pgrag\.(?P<name>[a-z]\w*)\((?P<arguments>.*?)\)\n"
    r"(?P<returns>returns .*?\n)?language ",
    re.DOTALL,
)
_COMMENT = re.compile(
    r"comment on function pgrag\.(?P<name>\w+) is\s*'(?P<text>(?:[^']|'')*)';", re.DOTALL
)
_TYPE = r"create type pgrag\.{name} as \((?P<columns>.*?)\n\);"


@dataclass(frozen=True)
class Function:
    """A public function as its file declares it."""

    name: str
    arguments: str
    returns: str
    comment: str


def functions(folder: Path) -> Iterator[Function]:
    """Yield the public functions of a folder, file by file, in their order in the file."""
    for file in sorted(folder.glob("*.sql")):
        text = file.read_text("utf-8")
        comments = {
            match["name"]: match["text"].replace("''", "'") for match in _COMMENT.finditer(text)
        }
        for match in _FUNCTION.finditer(text):
            name = match["name"]
            if name not in comments:
                raise SystemExit(
                    f"{file.relative_to(reference_page.ROOT)}: pgrag.{name} has no comment."
                )
            yield Function(name, match["arguments"].strip(), match["returns"] or "", comments[name])


def result_columns(name: str) -> list[str]:
    """Return the columns of a composite type from the newest migration that creates it."""
    columns: list[str] = []
    for file in sorted((reference_page.ROOT / "alembic" / "versions").glob("*.py")):
        pattern = re.compile(_TYPE.format(name=name), re.DOTALL)
        for match in pattern.finditer(file.read_text("utf-8")):
            columns = [line.strip().rstrip(",") for line in match["columns"].strip().splitlines()]
    if not columns:
        raise SystemExit(f"No migration makes the type pgrag.{name}.")
    return columns


def _told(function: Function) -> str:
    arguments = "".join(
        f"\n    {line.strip()}" for line in function.arguments.splitlines() if line.strip()
    )
    signature = f"pgrag.{function.name}({arguments}\n)" if arguments else f"pgrag.{function.name}()"
    # Paragraphs stay apart.
    comment = _escaped(re.sub(r"(?<!\n)\n(?!\n)", " ", function.comment))
    return f"### {function.name}\n\n{comment}\n\n```sql\n{signature}\n{function.returns}```\n"


def _escaped(text: str) -> str:
    """Keep Markdown from reading stars, tags and links into a comment."""
    return re.sub(r"\*|<(?=[a-z])|(?<=\])\(", r"\\\g<0>", text)


def _summary(function: Function) -> str:
    """Return the first sentence of a comment, as a row of the table of functions."""
    sentence = re.split(r"(?<=[.:;])\s", re.sub(r"\s+", " ", function.comment), maxsplit=1)[0]
    text = _escaped(sentence.rstrip(".:;")).replace("|", r"\|")
    return f"| [`{function.name}`](#{function.name}) | {text} |"


def reference() -> str:
    """Return the whole page: a table of all functions first, then each of them."""
    root = reference_page.ROOT / "sql"
    chapters = {heading: list(functions(root / folder)) for folder, heading in _CHAPTERS.items()}
    folders = {file.parent for file in root.glob("*/*.sql") if any(functions(file.parent))}
    if missing := {folder.name for folder in folders} - _CHAPTERS.keys():
        raise SystemExit(f"Folders without a chapter: {', '.join(sorted(missing))}.")
    parts = [_INTRODUCTION, "## All functions\n"]
    for (title, _), chapter in chapters.items():
        rows = "\n".join(_summary(function) for function in chapter)
        parts.append(f"| {title} | |\n|---|---|\n{rows}\n")
    parts.append(_ERRORS)
    parts.append("## Results\n")
    for name, meaning in _RESULTS.items():
        columns = ", ".join(f"`{column}`" for column in result_columns(name))
        parts.append(f"### Columns of {name}\n\n{meaning} Columns: {columns}.\n")
    for (title, lead), chapter in chapters.items():
        parts.append(f"## {title}\n\n{lead}\n")
        parts.extend(_told(function) for function in chapter)
    return "\n".join(parts)


if __name__ == "__main__":
    sys.exit(reference_page.write(PAGE, reference(), "sql/ says"))
