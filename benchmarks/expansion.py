"""Expansion: recall and noise of the context of a question."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from benchmarks.bench import Bench, Connection
from benchmarks.figures import Figure, judged

FOLDER = Path(__file__).parents[1] / "tests/fixtures/expansion"
LIBRARY = "expansion"
#: Pages that answer no question: similar in kind, or about different topics.
OTHERS = ("banking_guide.md", "curriculum_vitae.md", "wegweiser", "spravka", "kestrel/2.0")
CONTEXT = """
select b.document_id, p.key
from pgrag.context(
    %(query)s, 'expansion', expand => %(expand)s,
    score_share => %(score_share)s, expansion_share => %(expansion_share)s
) as b
join pgrag.pages as p on p.page_id = b.page_id
join pgrag.libraries as l on l.library_id = p.library_id
where l.name = 'expansion'
"""
DEFAULTS = {"expand": True, "score_share": 0.7, "expansion_share": 0.8}
ANSWER = """
select (s.source ->> 'document_id')::bigint, s.source ->> 'key'
from pgrag.answer_context(%(query)s, 'expansion') as a
cross join jsonb_array_elements(a.sources) as s (source)
"""
SEARCH = """
select s.document_id, s.key
from pgrag.search(%(query)s, 'expansion', levels => '{2}', top_k => %(relevant)s) as s
"""
PARAGRAPHS = """
select d.document_id, d.line_start, d.line_end
from pgrag.documents as d
join pgrag.libraries as l on l.library_id = d.library_id
join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
where l.name = 'expansion' and p.key = %s and d.level = 2
order by d.sort_order
"""


class Question(NamedTuple):
    """A question, the pages that answer it, and the relevant paragraphs."""

    text: str
    pages: set[str]
    relevant: set[int]


class Score(NamedTuple):
    """The result over all questions, in percent.

    `recall` is the share of relevant paragraphs that were returned. Of all returned paragraphs,
    `foreign` is the share from pages without any part of the answer, `beside` the share that is not
    relevant, even if from a page with the answer.
    """

    recall: float
    foreign: float
    beside: float


def contexts(bench: Bench) -> list[Figure]:
    """Our own labelled set of CVs, contracts and manuals in German and English."""
    bench.require(LIBRARY, _pages(bench.scratch / "expansion"))
    with bench.connect() as connection:
        asked = _questions(connection)
        whole = _score(connection, asked, CONTEXT, DEFAULTS)
        answer = _score(connection, asked, ANSWER)
        others = {
            how: _score(connection, asked, CONTEXT, DEFAULTS | changed)
            for how, changed in (
                ("without expansion", {"expand": False}),
                ("without shares", {"score_share": 0, "expansion_share": 0}),
                ("with score_share 0.8", {"score_share": 0.8}),
            )
        }
        others["(none): search, as many hits as are relevant"] = _score(connection, asked, SEARCH)
    on = f"CVs, contracts, manuals (de, en), {len(asked)} questions"
    figures = []
    for what, score in (("context", whole), ("sources of an answer", answer)):
        figures += [
            judged(f"{what}: relevant passages returned", on, score.recall, 90, "%", is_least=True),
            judged(f"{what}: passages of pages that do not answer", on, score.foreign, 20, "%"),
            Figure("— passages that are not relevant themselves", on, f"{score.beside:.1f} %"),
        ]
    for how, score in others.items():
        what = f"context {how}: relevant / of other pages / not relevant themselves"
        figures.append(Figure(what, on, " / ".join(f"{share:.1f} %" for share in score)))
    return figures


def _questions(connection: Connection) -> list[Question]:
    """The labelled questions: relevant are the paragraphs with a line of a labelled section."""
    asked = []
    for record in yaml.safe_load((FOLDER / "questions.yaml").read_text("utf-8")):
        relevant = set()
        for page, headings in record["answers"].items():
            sections = dict(_sections((FOLDER / "pages" / f"{page}.md").read_text("utf-8")))
            lines = [sections[heading] for heading in headings]
            relevant |= {
                document_id
                for document_id, first, last in connection.execute(
                    PARAGRAPHS.encode(), [f"{page}.md"]
                )
                if any(first < part.stop and part.start <= last for part in lines)
            }
        pages = {f"{page}.md" for page in record["answers"]}
        asked.append(Question(record["question"], pages, relevant))
    return asked


def _sections(source: str) -> Iterator[tuple[str, range]]:
    """Yield each heading with the lines directly below it."""
    lines = source.split("\n")
    starts = [n for n, line in enumerate(lines) if re.match("#+ ", line)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        text = [n + 1 for n in range(start + 1, end) if lines[n].strip()]
        yield lines[start].lstrip("# "), range(text[0], text[-1] + 1) if text else range(0)


def _score(
    connection: Connection,
    asked: list[Question],
    statement: str,
    given: dict[str, Any] | None = None,
) -> Score:
    wanted = right = returned = foreign = beside = 0
    for question in asked:
        arguments = {"query": question.text, "relevant": len(question.relevant)}
        rows = connection.execute(statement.encode(), arguments | (given or {})).fetchall()
        wanted += len(question.relevant)
        right += len(question.relevant & {row[0] for row in rows})
        returned += len(rows)
        foreign += sum(key not in question.pages for _, key in rows)
        beside += sum(document_id not in question.relevant for document_id, _ in rows)
    return Score(100 * right / wanted, 100 * foreign / returned, 100 * beside / returned)


def _pages(folder: Path) -> Path:
    """Copy all pages of the library to one folder, including those that answer no question."""
    shutil.copytree(FOLDER / "pages", folder)
    for name in OTHERS:
        source = FOLDER.parent / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        else:
            shutil.copy(source, folder)
    return folder
