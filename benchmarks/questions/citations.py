"""How well the check of an answer tells right citations from wrong ones, on `citations.jsonl`.

Each sentence cites one passage, which supports it or, in one detail, does not. The verdict is that
of an answer: `is_supported` of its sentence.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from benchmarks.figures import table
from benchmarks.questions.rows import FOLDER
from pgrag.answer.citations import CitationReader
from pgrag.answer.support import checked_sentences
from pgrag.ingest.source.source import Source, SourceFile
from pgrag.service.app import App

FILE = FOLDER / "citations.jsonl"
FAULTS = (
    "missing not", "neighbour number", "other version", "swapped subject", "overgeneralisation",
    "wrong unit", "invented option",
)  # fmt: skip
_DOCUMENTS = """
select p.key, min(d.document_id) as document_id
from pgrag.documents as d
join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
join pgrag.libraries as l on l.library_id = d.library_id
where l.name = %s and d.level = 2
group by p.key
"""


@dataclass(frozen=True, slots=True)
class Cited:
    """A sentence and the passage that it cites; `fault` is None if the passage supports it."""

    id: str
    language: str
    passage: str
    sentence: str
    supported: bool
    fault: str | None

    @property
    def key(self) -> str:
        """The page of the passage, which the right and the wrong sentence share."""
        return self.id.rpartition("-")[0]


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of sentences: `wrong` ones, `doubted` ones, and `caught` ones, which are both."""

    wrong: int
    doubted: int
    caught: int

    @property
    def precision(self) -> float:
        """The share of doubted sentences that are wrong."""
        return self.caught / self.doubted if self.doubted else 0.0

    @property
    def recall(self) -> float:
        """The share of wrong sentences that are doubted."""
        return self.caught / self.wrong if self.wrong else 0.0


def read() -> list[Cited]:
    """The sentences of the file."""
    return [Cited(**json.loads(line)) for line in FILE.read_text("utf-8").splitlines()]


def doubted(app: App, sentences: Sequence[Cited]) -> set[str]:
    """The ids of the sentences that the check of an answer would not call supported."""
    doubts = set()
    for language in dict.fromkeys(each.language for each in sentences):
        of_language = [each for each in sentences if each.language == language]
        with _library(app, language, of_language) as (library, documents):
            for each in of_language:
                text = f"{each.sentence} [1]"
                reader = CitationReader()
                citations = [*reader.feed(text), *reader.finish()]
                source = {
                    "library": library, "document_id": documents[each.key], "title": each.key,
                    "path": (), "content": each.passage,
                }  # fmt: skip
                verdicts = checked_sentences(app.database, text, citations, {1: source})
                if not all(verdict.is_supported for verdict in verdicts):
                    doubts.add(each.id)
    return doubts


def tally(sentences: Sequence[Cited], doubts: set[str]) -> Tally:
    """Count the sentences and the doubts about them."""
    wrong = {each.id for each in sentences if not each.supported}
    ids = {each.id for each in sentences}
    return Tally(len(wrong), len(ids & doubts), len(wrong & doubts))


def tables(sentences: Sequence[Cited], doubts: set[str]) -> str:
    """Precision and recall of the doubts by language and by half, recall by fault, as Markdown."""
    languages = dict.fromkeys(each.language for each in sentences)
    parts = {"all": list(sentences)} | {
        language: [each for each in sentences if each.language == language]
        for language in languages
    }
    # The rules for details were written with every second pair of the file in view.
    for name, first in (("pairs in view of the rules", 0), ("other pairs", 2)):
        parts[name] = [each for n, each in enumerate(sentences) if n % 4 // 2 * 2 == first]
    rows = [
        [f"{name}, {len(part)}", str(t.wrong), str(t.doubted), f"{t.precision:.2f}",
         f"{t.recall:.2f}"]
        for name, part in parts.items()
        for t in [tally(part, doubts)]
    ]  # fmt: skip
    by_fault = [
        [fault, str(t.wrong), f"{t.recall:.2f}"]
        for fault in FAULTS
        for t in [tally([each for each in sentences if each.fault == fault], doubts)]
    ]
    all_sentences = table(("sentences", "wrong", "doubted", "precision", "recall"), rows)
    return f"{all_sentences}\n\n{table(('fault', 'sentences', 'recall'), by_fault)}"


@contextmanager
def _library(
    app: App, language: str, sentences: Sequence[Cited]
) -> Iterator[tuple[str, dict[str, int]]]:
    """Lend a library of the passages, and the document of each by its key."""
    name = f"citations-{language}"
    passages = {each.key: each.passage.encode() for each in sentences}
    files = tuple(
        SourceFile(f"{key}.md", lambda _, text=text: text) for key, text in passages.items()
    )
    app.index(name, "", Source(name, files), language=language)
    try:
        rows = app.database.query(_DOCUMENTS, [name])
        yield name, {row["key"].removesuffix(".md"): row["document_id"] for row in rows}
    finally:
        app.database.call("remove_library", library=name)
