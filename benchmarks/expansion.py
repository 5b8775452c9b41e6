"""Expansion: recall and noise of the context of a question."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import yaml

from benchmarks.bench import Bench
from benchmarks.figures import Figure

FOLDER = Path(__file__).parents[1] / "tests/fixtures/expansion"
LIBRARY = "expansion"
#: Pages that answer no question: similar in kind, or about different topics.
OTHERS = ("banking_guide.md", "curriculum_vitae.md", "wegweiser", "spravka", "kestrel/2.0")
CONTEXT = b"""
select b.document_id, p.key, p.title
from pgrag.context(%s, %s, expand => %s, score_share => %s, expansion_share => %s) as b
join pgrag.pages as p on p.page_id = b.page_id
join pgrag.libraries as l on l.library_id = p.library_id
where l.name = %s
"""
ANSWER = b"""
select (s.source ->> 'document_id')::bigint, s.source ->> 'key', s.source ->> 'title'
from pgrag.answer_context(%s, %s) as a
cross join jsonb_array_elements(a.sources) as s (source)
"""
SEARCH = b"""
select s.document_id, s.key, s.title
from pgrag.search(%s, %s, levels => '{2}', top_k => %s) as s
"""
PARAGRAPHS = b"""
select d.document_id, d.line_start, d.line_end
from pgrag.documents as d
join pgrag.libraries as l on l.library_id = d.library_id
join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
where l.name = %s and p.key = %s and d.level = 2
order by d.sort_order
"""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the lines that the answer needs, by page key."""

    text: str
    lines: dict[str, tuple[range, ...]]


def questions(folder: Path = FOLDER) -> list[Question]:
    """The labelled questions. Raises ValueError for a heading that its page lacks."""
    records = yaml.safe_load((folder / "questions.yaml").read_text("utf-8"))
    return [
        Question(
            record["question"],
            {
                f"{page}.md": _lines(folder / "pages" / f"{page}.md", headings)
                for page, headings in record["answers"].items()
            },
        )
        for record in records
    ]


def _lines(page: Path, headings: list[str]) -> tuple[range, ...]:
    sections = dict(_sections(page.read_text("utf-8")))
    if unknown := set(headings) - set(sections):
        raise ValueError(f"{page.name} has no heading {', '.join(sorted(unknown))}")
    return tuple(sections[heading] for heading in headings)


def _sections(source: str) -> Iterator[tuple[str, range]]:
    """Yield each heading with the lines directly below it."""
    lines = source.split("\n")
    starts = [n for n, line in enumerate(lines) if re.match("#+ ", line)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        text = [n for n in range(start + 1, end) if lines[n].strip()]
        if text:
            yield lines[start].lstrip("# "), range(text[0] + 1, text[-1] + 2)
        else:
            yield lines[start].lstrip("# "), range(0)


def relevant(
    connection: psycopg.Connection[tuple[Any, ...]], question: Question, library: str = LIBRARY
) -> set[int]:
    """The paragraphs that contain a line of the answer."""
    return {
        document_id
        for page, parts in question.lines.items()
        for document_id, first, last in connection.execute(PARAGRAPHS, [library, page])
        if any(first < lines.stop and lines.start <= last for lines in parts)
    }


@dataclass(frozen=True, slots=True)
class Score:
    """The result over all questions.

    `found` is the share of relevant paragraphs that were returned (recall). Of all returned
    paragraphs, `foreign` is the share from pages without any part of the answer, `beside` the
    share that is not relevant, even if from a page with the answer.
    """

    found: float
    foreign: float
    beside: float


def in_context(
    connection: psycopg.Connection[tuple[Any, ...]],
    asked: list[Question],
    *,
    expand: bool = True,
    score_share: float = 0.7,
    expansion_share: float = 0.8,
    library: str = LIBRARY,
) -> Score:
    """Score `pgrag.context`, with the defaults of the SQL function."""
    return _score(
        connection,
        asked,
        library,
        lambda question, _: connection.execute(
            CONTEXT, [question.text, library, expand, score_share, expansion_share, library]
        ).fetchall(),
    )


def in_answer(
    connection: psycopg.Connection[tuple[Any, ...]], asked: list[Question], library: str = LIBRARY
) -> Score:
    """Score the sources of `pgrag.answer_context`, with the parameters that intents select."""
    return _score(
        connection,
        asked,
        library,
        lambda question, _: connection.execute(ANSWER, [question.text, library]).fetchall(),
    )


def in_search(
    connection: psycopg.Connection[tuple[Any, ...]],
    asked: list[Question],
    library: str = LIBRARY,
) -> Score:
    """Score `pgrag.search` with `top_k` set to the number of relevant paragraphs."""
    return _score(
        connection,
        asked,
        library,
        lambda question, count: connection.execute(
            SEARCH, [question.text, library, count]
        ).fetchall(),
    )


def _score(
    connection: psycopg.Connection[tuple[Any, ...]],
    asked: list[Question],
    library: str,
    answer: Callable[[Question, int], list[tuple[Any, ...]]],
) -> Score:
    wanted = found = returned = foreign = beside = 0
    for question in asked:
        right = relevant(connection, question, library)
        rows = answer(question, len(right))
        wanted += len(right)
        found += len(right & {row[0] for row in rows})
        returned += len(rows)
        foreign += sum(row[1] not in question.lines for row in rows)
        beside += sum(row[0] not in right for row in rows)
    return Score(found / wanted, foreign / returned, beside / returned)


def contexts(bench: Bench) -> list[Figure]:
    """Our own labelled set of CVs, contracts and manuals in German and English."""
    asked = questions()
    bench.require(LIBRARY, pages(bench.scratch / "expansion"))
    with bench.connect() as connection:
        whole = in_context(connection, asked)
        answer = in_answer(connection, asked)
        others = {
            "without expansion": in_context(connection, asked, expand=False),
            "without shares": in_context(connection, asked, score_share=0, expansion_share=0),
            "with score_share 0.8": in_context(connection, asked, score_share=0.8),
            "(none): search, as many hits as are relevant": in_search(connection, asked),
        }
    on = f"CVs, contracts, manuals (de, en), {len(asked)} questions"
    return [
        Figure("context: relevant chunks found", on, f"{whole.found:.1%}", "> 90 %",
               whole.found > 0.9),
        Figure("context: chunks of pages that do not answer", on, f"{whole.foreign:.1%}", "< 20 %",
               whole.foreign < 0.2),
        Figure("— chunks that are not relevant themselves", on, f"{whole.beside:.1%}"),
        Figure("sources of an answer: relevant chunks found", on, f"{answer.found:.1%}", "> 90 %",
               answer.found > 0.9),
        Figure("sources of an answer: chunks of pages that do not answer", on,
               f"{answer.foreign:.1%}", "< 20 %", answer.foreign < 0.2),
        *(
            Figure(
                f"context {how}: found / of other pages / not relevant themselves", on,
                f"{score.found:.1%} / {score.foreign:.1%} / {score.beside:.1%}",
            )
            for how, score in others.items()
        ),
    ]  # fmt: skip


def pages(folder: Path) -> Path:
    """Copy all pages of the library to one folder, including those that answer no question."""
    shutil.copytree(FOLDER / "pages", folder)
    for name in OTHERS:
        source = FOLDER.parent / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        else:
            shutil.copy(source, folder)
    return folder
