"""Labelled sets in the layout of BEIR, from files into the database. Errors name file and line."""

import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pgrag.ground.errors import InvalidInput, SourceError
from pgrag.ground.json_text import InvalidJson, read_json
from pgrag.ingest.reader import Progress
from pgrag.ingest.report import IndexReport
from pgrag.ingest.source.source import Source, SourceFile
from pgrag.ingest.source.sources import discover
from pgrag.service.app import App

_QRELS = ("qrels.tsv", "qrels/test.tsv")

UNITS = ("page", "section", "document")
"""The targets that a judgement may name."""


@dataclass(slots=True)
class LabelledQuery:
    """A question, the grade of each judged target, and pages excluded from its results."""

    id: str
    text: str
    judgements: dict[str, int] = field(default_factory=dict)
    excluded: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """The queries of a set; `locations` holds file and line of each judged target."""

    queries: list[LabelledQuery]
    locations: dict[str, str]

    def require_pages(self, keys: Collection[str]) -> None:
        """Raise SourceError for the first relevant page that is not among the keys."""
        known = set(keys)
        for query in self.queries:
            for target, grade in query.judgements.items():
                if grade > 0 and target not in known:
                    raise SourceError(
                        f"{self.locations[target]}: the corpus has no page {target!r}, which query"
                        f" {query.id!r} expects.",
                        hint="Pages are named by their path in the corpus, or by their _id.",
                    )

    def document(self) -> list[dict[str, Any]]:
        """The queries in the form that `pgrag.import_evaluation_set` takes."""
        return [asdict(query) for query in self.queries]


def read_labelled_set(folder: Path) -> LabelledSet:
    """Read `queries.jsonl`, `qrels.tsv` (or `qrels/test.tsv`) and, if present, `sources.tsv`. A
    line of queries is {"_id", "text"}; one of qrels is query id, page, grade; one of sources is
    query id, page: that page quotes the query, and is excluded from its results. The first line of
    a .tsv file may be a header. Raises SourceError, naming file and line.
    """
    if not folder.is_dir():
        raise SourceError(f"{folder}: no such folder.", hint="A set is a folder in BEIR's layout.")
    queries = _read_queries(folder / "queries.jsonl")
    qrels = next((folder / name for name in _QRELS if (folder / name).is_file()), None)
    if qrels is None:
        raise SourceError(f"{folder}: has neither {_QRELS[0]} nor {_QRELS[1]}.")
    locations: dict[str, str] = {}
    for location, cells in _rows(qrels, 3):
        query = _known(queries, cells[0], location)
        target, grade = cells[1], _grade(cells[2], location)
        if query.judgements.get(target, grade) != grade:
            raise SourceError(f"{location}: query {query.id!r} and {target!r} are judged twice.")
        query.judgements[target] = grade
        locations.setdefault(target, location)
    if (sources := folder / "sources.tsv").is_file():
        for location, cells in _rows(sources, 2):
            _known(queries, cells[0], location).excluded.append(cells[1])
    if not locations:
        raise SourceError(f"{qrels}: holds no judgement.")
    if not any(grade > 0 for query in queries.values() for grade in query.judgements.values()):
        raise SourceError(
            f"{qrels}: no grade is above 0.", hint="At least one target must be relevant."
        )
    return LabelledSet(list(queries.values()), locations)


def _read_queries(path: Path) -> dict[str, LabelledQuery]:
    queries: dict[str, LabelledQuery] = {}
    for location, record in json_lines(path):
        identity, text = record.get("_id"), record.get("text")
        if not isinstance(identity, str) or not identity:
            raise SourceError(f"{location}: the query has no _id.")
        if not isinstance(text, str) or not text.strip():
            raise SourceError(f"{location}: query {identity!r} has no text.")
        if identity in queries:
            raise SourceError(f"{location}: query {identity!r} occurs twice.")
        queries[identity] = LabelledQuery(identity, text)
    if not queries:
        raise SourceError(f"{path}: holds no query.")
    return queries


def json_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield file and line, and the object on it. Raises SourceError if a line holds none."""
    for location, line in _lines(path):
        try:
            record = read_json(line)
        except InvalidJson as error:
            raise SourceError(f"{location}: not JSON: {error}.") from None
        if not isinstance(record, dict):
            raise SourceError(f"{location}: must be a JSON object.")
        yield location, record


def _rows(path: Path, columns: int) -> Iterator[tuple[str, list[str]]]:
    for number, (location, line) in enumerate(_lines(path)):
        cells = [cell.strip() for cell in line.split("\t")]
        if number == 0 and cells[0].lower() in {"query-id", "query_id", "qid"}:
            continue
        if len(cells) != columns or not all(cells):
            raise SourceError(
                f"{location}: must be {columns} columns with a tab between, got {line[:100]!r}."
            )
        yield location, cells


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(f"{path}: is not UTF-8 (byte {error.start}).") from None
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror}.") from None
    # Not splitlines: a text may contain other line separators.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield f"{path}:{number}", line.rstrip("\r")


def _known(queries: dict[str, LabelledQuery], identity: str, location: str) -> LabelledQuery:
    try:
        return queries[identity]
    except KeyError:
        raise SourceError(
            f"{location}: there is no query {identity!r}.", hint="queries.jsonl lists them by _id."
        ) from None


def _grade(text: str, location: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 6:
        raise SourceError(f"{location}: the grade must be a whole number from 0, got {text!r}.")
    return int(text)


def open_corpus(path: Path) -> Source:
    """List the pages of a corpus, a folder or `corpus.jsonl` ({"_id", "title", "text"}).

    Raises SourceError, naming file and line.
    """
    return _records(path) if path.suffix == ".jsonl" else discover(str(path))


def corpus_of(folder: Path) -> Path:
    """The corpus in the folder of a set. Raises SourceError if there is none."""
    path = folder / "corpus.jsonl"
    if not path.is_file():
        raise SourceError(
            f"{folder}: has no corpus.jsonl.",
            hint="Name the folder of the pages: pgrag eval import SET PATH --corpus FOLDER.",
        )
    return path


def _records(path: Path) -> Source:
    files: dict[str, SourceFile] = {}
    for location, record in json_lines(path):
        key, title, text = record.get("_id"), record.get("title") or "", record.get("text")
        if not isinstance(key, str) or not key:
            raise SourceError(f"{location}: the page has no _id.")
        if not isinstance(text, str) or not isinstance(title, str):
            raise SourceError(f"{location}: title and text of {key!r} must be texts.")
        if key in files:
            raise SourceError(f"{location}: page {key!r} occurs twice.")
        files[key] = SourceFile(key, _markdown(title, text))
    if not files:
        raise SourceError(f"{path}: holds no page.")
    return Source(str(path), tuple(files[key] for key in sorted(files)))


def _markdown(title: str, text: str) -> Callable[[int], bytes]:
    # Every JSON string is also a YAML string.
    head = f"---\ntitle: {json.dumps(title, ensure_ascii=False)}\n---\n\n" if title.strip() else ""
    return lambda _: f"{head}{text}\n".encode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Imported:
    """Result of an import: numbers of queries and judgements, ids of queries without judgements."""

    name: str
    library: str
    language: str
    queries: int
    judgements: int
    unjudged: list[str]
    index: IndexReport


def library_of(name: str) -> str:
    """The name of the library that holds the corpus of a set."""
    return f"eval-{name.strip().lower()}"


def import_set(
    app: App,
    name: str,
    folder: Path,
    *,
    corpus: Path | None = None,
    language: str | None = None,
    unit: str = "page",
    held_out: bool = False,
    progress: Progress | None = None,
) -> Imported:
    """Index the corpus as library `eval-NAME` and import the set, replacing an earlier import.
    Tuning never learns from a set that is `held_out`. Raises SourceError before anything is
    written.
    """
    if unit not in UNITS:
        raise InvalidInput(f"The judged unit must be page, section or document, got {unit!r}.")
    labelled = read_labelled_set(folder)
    path = corpus or corpus_of(folder)
    with open_corpus(path) as pages:
        if unit == "page":
            labelled.require_pages([file.key for file in pages.files()])
        report = app.index(library_of(name), "", pages, language=language, progress=progress)
    if report.failed:
        key, reason = next(iter(report.failed.items()))
        raise SourceError(f"{key}: {reason}", hint="Every page of a labelled corpus must be read.")
    source = {
        "path": str(folder.resolve()), "corpus": str(path.resolve()), "language": language,
        "held_out": held_out,
    }  # fmt: skip
    [row] = app.database.call(
        "import_evaluation_set",
        name=name,
        library=library_of(name),
        queries=json.dumps(labelled.document()),
        unit=unit,
        source=source,
    )
    libraries = {row["library"]: row for row in app.database.call("libraries")}
    return Imported(
        name=name.strip().lower(),
        library=library_of(name),
        language=libraries[library_of(name)]["language"],
        queries=row["imported_queries"],
        judgements=row["imported_judgements"],
        unjudged=row["unjudged"],
        index=report,
    )
