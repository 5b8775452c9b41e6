"""Whether every page, section and fact that the questions name is in the corpora."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.questions.rows import Question, pages
from pgrag.ingest.page import PageOptions, read_page
from pgrag.ingest.source.sources import discover

Sections = dict[str, str]
"""The text of each section of a page by its anchor; "" is the text above the first heading."""


def faults(questions: Sequence[Question], corpus: Path) -> Iterator[str]:
    """Yield what is wrong with the judgements, a line each."""
    read = _read(corpus, set(pages(questions)))
    for question in questions:
        for each in question.relevant:
            if each.page not in read:
                yield f"{question.id}: there is no page {each.page}"
            elif (each.anchor or "") not in read[each.page]:
                yield f"{question.id}: there is no section {each.section}"
        texts = [
            read.get(each.page, {}).get(each.anchor or "", "")
            for each in question.relevant
            if each.grade == 2
        ]
        for fact in question.missing_facts("\n".join(texts)):
            yield f"{question.id}: no section that answers it says {' or '.join(fact)}"


def _read(corpus: Path, keys: set[str]) -> dict[str, Sections]:
    known: dict[str, Sections] = {}
    with discover(str(corpus)) as source:
        generator = source.generator()
        options = PageOptions(slugs=generator.style if generator else None)
        for file in source.files():
            if file.key in keys:
                sections: Sections = {}
                for chunk in read_page(file.key, file.read(), options).chunks:
                    # A page's summary repeats headings and names no section.
                    if chunk.covers & 6:
                        text = sections.get(chunk.anchor, "")
                        sections[chunk.anchor] = f"{text}\n{chunk.content}"
                known[file.key] = sections
    return known
