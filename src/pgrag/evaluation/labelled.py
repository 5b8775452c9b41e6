"""Labelled sets in the layout of BEIR: queries, judgements, and pages that do not count.

Every fault is named with its file and line.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pgrag.errors import SourceError

_QRELS = ("qrels.tsv", "qrels/test.tsv")


@dataclass(slots=True)
class LabelledQuery:
    """A question, the grade of each target that was judged, and pages that do not count for it."""

    id: str
    text: str
    judgements: dict[str, int] = field(default_factory=dict)
    excluded: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """The queries of a set; `places` says in which file and line each target was judged."""

    queries: list[LabelledQuery]
    places: dict[str, str]

    def require_pages(self, keys: Collection[str]) -> None:
        """Raise SourceError for the first relevant page that is none of the keys."""
        known = set(keys)
        for query in self.queries:
            for target, grade in query.judgements.items():
                if grade > 0 and target not in known:
                    raise SourceError(
                        f"{self.places[target]}: the corpus has no page {target!r}, which query"
                        f" {query.id!r} expects.",
                        hint="Pages are named by their path in the corpus, or by their _id.",
                    )

    def document(self) -> list[dict[str, Any]]:
        """The queries as `pgrag.import_evaluation_set` takes them."""
        return [
            {
                "id": query.id,
                "text": query.text,
                "judgements": query.judgements,
                "excluded": query.excluded,
            }
            for query in self.queries
        ]


def read_labelled_set(folder: Path) -> LabelledSet:
    """Read `queries.jsonl`, `qrels.tsv` (or `qrels/test.tsv`) and, if there, `sources.tsv`.

    A line of queries is {"_id", "text"}; one of qrels is query id, page, grade; one of sources is
    query id, page: that page quotes the query, and does not count for it. The first line of a .tsv
    file may be a header. Raises SourceError, naming file and line.
    """
    if not folder.is_dir():
        raise SourceError(f"{folder}: no such folder.", hint="A set is a folder in BEIR's layout.")
    queries = _read_queries(folder / "queries.jsonl")
    qrels = next((folder / name for name in _QRELS if (folder / name).is_file()), None)
    if qrels is None:
        raise SourceError(f"{folder}: has neither {_QRELS[0]} nor {_QRELS[1]}.")
    places: dict[str, str] = {}
    for place, cells in _rows(qrels, 3):
        query = _known(queries, cells[0], place)
        target, grade = cells[1], _grade(cells[2], place)
        if query.judgements.get(target, grade) != grade:
            raise SourceError(f"{place}: query {query.id!r} and {target!r} were judged before.")
        query.judgements[target] = grade
        places.setdefault(target, place)
    if (sources := folder / "sources.tsv").is_file():
        for place, cells in _rows(sources, 2):
            _known(queries, cells[0], place).excluded.append(cells[1])
    if not places:
        raise SourceError(f"{qrels}: holds no judgement.")
    if not any(grade > 0 for query in queries.values() for grade in query.judgements.values()):
        raise SourceError(
            f"{qrels}: no grade is above 0.", hint="Without one there is nothing to be found."
        )
    return LabelledSet(list(queries.values()), places)


def _read_queries(path: Path) -> dict[str, LabelledQuery]:
    queries: dict[str, LabelledQuery] = {}
    for place, record in json_lines(path):
        identity, text = record.get("_id"), record.get("text")
        if not isinstance(identity, str) or not identity:
            raise SourceError(f"{place}: the query has no _id.")
        if not isinstance(text, str) or not text.strip():
            raise SourceError(f"{place}: query {identity!r} has no text.")
        if identity in queries:
            raise SourceError(f"{place}: query {identity!r} was there before.")
        queries[identity] = LabelledQuery(identity, text)
    if not queries:
        raise SourceError(f"{path}: holds no query.")
    return queries


def json_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield file and line, and the object on it. Raises SourceError where there is none."""
    for place, line in _lines(path):
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise SourceError(f"{place}: no JSON: {error.msg} (column {error.colno}).") from None
        except ValueError as error:
            raise SourceError(f"{place}: no JSON: {error}.") from None
        if not isinstance(record, dict):
            raise SourceError(f"{place}: must be a JSON object.")
        yield place, record


def _rows(path: Path, columns: int) -> Iterator[tuple[str, list[str]]]:
    for number, (place, line) in enumerate(_lines(path)):
        cells = [cell.strip() for cell in line.split("\t")]
        if number == 0 and cells[0].lower() in {"query-id", "query_id", "qid"}:
            continue
        if len(cells) != columns or not all(cells):
            raise SourceError(
                f"{place}: must be {columns} columns with a tab between, got {line[:100]!r}."
            )
        yield place, cells


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(f"{path}: is not UTF-8 (byte {error.start}).") from None
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror}.") from None
    # Not splitlines: a text may hold other separators of lines.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield f"{path}:{number}", line.rstrip("\r")


def _known(queries: dict[str, LabelledQuery], identity: str, place: str) -> LabelledQuery:
    try:
        return queries[identity]
    except KeyError:
        raise SourceError(
            f"{place}: there is no query {identity!r}.", hint="queries.jsonl lists them by _id."
        ) from None


def _grade(text: str, place: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 6:
        raise SourceError(f"{place}: the grade must be a whole number from 0, got {text!r}.")
    return int(text)
