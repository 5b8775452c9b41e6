"""Write docs/sql.md: the public functions with their signatures and comments, read from sql/.

Public is what sql/90_grants.sql grants. Without arguments the page is written; with --check it is
compared, and the exit status is 1 where it is not up to date. Needs no database.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import reference_page

PAGE = reference_page.ROOT / "docs" / "sql.md"

_CHAPTERS = {
    "40_search": ("Searching", "Hybrid search, and each of its arms alone."),
    "50_navigate": ("Navigating", "What there is, and what stands around a page or document."),
    "60_context": ("Context", "The text that a reader or a language model needs."),
    "30_query": ("Queries, filters and versions", "How the arguments of a search are understood."),
    "70_ingest": ("Indexing", "Writing pages, vectors, models and settings."),
    "75_check": ("Checking", "What is wrong with a library, and mending it."),
    "80_observe": ("Observing", "What was searched and found, and what readers thought of it."),
    "80_evaluate": ("Evaluation", "Labelled sets, runs, and what they were worth."),
    "10_text": ("Texts and vectors", "From the text of a document to what is searched."),
    "20_rank": ("Ranking", "The formulas of BM25F, callable one by one."),
    "00_words": ("Words, labels and defaults", "The smallest parts."),
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
name. Pass arguments by name, as `library => 'kestrel'`: names stay, positions may change. Only the
functions below are promised to stay; what begins with `_` is a helper.

This page is made from the comments in `sql/` by `make docs`.

## Errors

| SQLSTATE | meaning |
|---|---|
| `PGR01` | an argument has a value that cannot be used |
| `PGR02` | there is no such library; the hint names the nearest ones |
| `PGR03` | there is no such version; the hint lists those that exist |
| `PGR04` | there is no such page |
| `PGR05` | there is no such document |
| `PGR06` | a filter does not follow the grammar |
| `PGR07` | a cursor was not made by a search |
| `PGR08` | a vector has another dimension than its model |
| `PGR09` | there is no such embedding model, or it lives outside the database |
| `PGR14` | there is no such recorded search |
| `PGR15` | a search took longer than it was given |
| `PGR16` | a query over pages does not follow the grammar |
"""

_FUNCTION = re.compile(
    r"create or replace function pgrag\.(?P<name>[a-z]\w*)\((?P<arguments>.*?)\)\n"
    r"returns (?P<returns>.*?)\nlanguage ",
    re.DOTALL,
)
_COMMENT = re.compile(
    r"comment on function pgrag\.(?P<name>\w+)\([^)]*\) is\s*'(?P<text>(?:[^']|'')*)';", re.DOTALL
)
_TYPE = r"create type pgrag\.{name} as \((?P<columns>.*?)\n\);"


@dataclass(frozen=True)
class Function:
    """A public function as its file declares it."""

    name: str
    arguments: str
    returns: str
    comment: str


def public_names() -> set[str]:
    """Return the names that are granted to everybody."""
    grants = (reference_page.ROOT / "sql" / "90_grants.sql").read_text("utf-8")
    listed = grants[grants.index("grant execute on function\n") :]
    return set(re.findall(r"^    pgrag\.(\w+)", listed, re.MULTILINE))


def functions(folder: Path, public: set[str]) -> Iterator[Function]:
    """Yield the public functions of a folder, by file and in the order of the file."""
    for file in sorted(folder.glob("*.sql")):
        text = file.read_text("utf-8")
        comments = {
            match["name"]: match["text"].replace("''", "'") for match in _COMMENT.finditer(text)
        }
        for match in _FUNCTION.finditer(text):
            name = match["name"]
            if name not in public:
                continue
            if name not in comments:
                raise SystemExit(
                    f"{file.relative_to(reference_page.ROOT)}: pgrag.{name} has no comment."
                )
            yield Function(name, match["arguments"].strip(), match["returns"], comments[name])


def result_columns(name: str) -> list[str]:
    """Return the columns of a composite type, as the newest migration that makes it says."""
    found: list[str] = []
    for file in sorted((reference_page.ROOT / "alembic" / "versions").glob("*.py")):
        pattern = re.compile(_TYPE.format(name=name), re.DOTALL)
        for match in pattern.finditer(file.read_text("utf-8")):
            found = [line.strip().rstrip(",") for line in match["columns"].strip().splitlines()]
    if not found:
        raise SystemExit(f"No migration makes the type pgrag.{name}.")
    return found


def _told(function: Function) -> str:
    arguments = "".join(
        f"\n    {line.strip()}" for line in function.arguments.splitlines() if line.strip()
    )
    signature = f"pgrag.{function.name}({arguments}\n)" if arguments else f"pgrag.{function.name}()"
    comment = _escaped(re.sub(r"\s+", " ", function.comment))
    return (
        f"### {function.name}\n\n{comment}\n\n"
        f"```sql\n{signature}\nreturns {function.returns}\n```\n"
    )


def _escaped(text: str) -> str:
    """Keep Markdown from reading stars, tags and links into a comment."""
    return re.sub(r"\*|<(?=[a-z])|(?<=\])\(", r"\\\g<0>", text)


def reference() -> str:
    """Return the whole page."""
    public = public_names()
    parts = [_INTRODUCTION]
    parts.append("## Results\n")
    for name, meaning in _RESULTS.items():
        columns = ", ".join(f"`{column}`" for column in result_columns(name))
        parts.append(f"### Columns of {name}\n\n{meaning} Columns: {columns}.\n")
    told: set[str] = set()
    for folder, (title, lead) in _CHAPTERS.items():
        found = list(functions(reference_page.ROOT / "sql" / folder, public))
        told.update(function.name for function in found)
        parts.append(f"## {title}\n\n{lead}\n")
        parts.extend(_told(function) for function in found)
    if missing := public - told:
        raise SystemExit(f"Granted, but in no chapter: {', '.join(sorted(missing))}.")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.exit(reference_page.main(PAGE, lambda _: reference(), "sql/ says"))
