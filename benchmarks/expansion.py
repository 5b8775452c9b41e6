"""Expansion: recall and noise of the context of a question."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
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
    %(query)s, 'expansion', expand => %(expand)s, top_k => %(top_k)s,
    score_share => %(score_share)s, expansion_share => %(expansion_share)s
) as b
join pgrag.pages as p on p.page_id = b.page_id
join pgrag.libraries as l on l.library_id = p.library_id
where l.name = 'expansion'
"""
_ALONE = {"expand": False, "expansion_share": None}
DEFAULTS = {"expand": True, "top_k": 20, "score_share": 0.65, "expansion_share": 0.8}
VITAE = """
select b.block, p.key, b.relation
from pgrag.context(%(query)s, %(library)s, top_k => 5, expand => %(expand)s) as b
join pgrag.pages as p on p.page_id = b.page_id
"""
ANSWER = """
select (s.source ->> 'document_id')::bigint, s.source ->> 'key'
from pgrag.answer_context(%(query)s, 'expansion') as a
cross join jsonb_array_elements(a.sources) as s (source)
"""
SEARCH = """
select s.document_id, s.key
from pgrag.search(%(query)s, 'expansion', levels => '{2}', top_k => %(relevant)s) as s
"""
_NAME = "Peter Kühne"
#: Numbers of curricula among which the person's is.
SIZES = (1, 17, 61)
#: Questions for the employers of the person, in German, English and Russian.
WORDINGS = (
    "Wo hat Peter Kühne gearbeitet?",
    "Welche Stationen hat Peter Kühne durchlaufen?",
    "Kühne Arbeitgeber",
    "Für welche Firmen war Peter Kühne tätig?",
    "Beruflicher Werdegang von Peter Kühne",
    "What companies did Peter Kühne work for?",
    "Where has Peter Kühne worked?",
    "List the employers of Peter Kühne",
    "Peter Kühne career history",
    "Где работал Peter Kühne?",
    "В каких компаниях работал Peter Kühne?",
)
_FIRST = (
    "Anna",
    "Bernd",
    "Clara",
    "Dirk",
    "Eva",
    "Frank",
    "Greta",
    "Hans",
    "Ida",
    "Jan",
    "Karin",
    "Lars",
    "Maria",
    "Nils",
    "Olga",
    "Paul",
)
_LAST = (
    "Albers",
    "Brandt",
    "Conrad",
    "Dietz",
    "Ebert",
    "Fuchs",
    "Gerlach",
    "Hofer",
    "Ihle",
    "Jung",
    "Krause",
    "Lenz",
    "Maurer",
)
_FIRMS = (
    "Nordwerk",
    "Havelbau",
    "Elbtal",
    "Rheinquell",
    "Isarsoft",
    "Weserstahl",
    "Neckartech",
    "Moselglas",
    "Saalekraft",
    "Spreenet",
    "Lahnbau",
    "Donaumed",
    "Fuldalog",
    "Werrapack",
    "Kochertal",
    "Ilmdata",
    "Unstrut",
    "Oderblick",
    "Warnow",
)
_TASKS = (
    "leitete die Einführung eines Warenwirtschaftssystems",
    "entwickelte Steuerungen für Förderanlagen",
    "betreute Kunden im Außendienst",
    "verantwortete Einkauf und Qualitätssicherung",
)
EMPLOYERS = [f"{firm} GmbH" for firm in _FIRMS[:10]]
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
                ("without expansion", _ALONE),
                ("of 3 hits", {"top_k": 3}),
                ("of 3 hits without expansion", _ALONE | {"top_k": 3}),
                ("of 1 hit", {"top_k": 1}),
                ("of 1 hit without expansion", _ALONE | {"top_k": 1}),
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
    return figures + [figure for size in SIZES for figure in _employers(bench, size)]


def _employers(bench: Bench, size: int) -> Iterator[Figure]:
    """How many of the ten employers of one person, and how many other people's pages, come."""
    library = f"vitae-{size}"
    folder = bench.scratch / library
    folder.mkdir()
    for key, text in curricula(size).items():
        (folder / key).write_text(text, "utf-8")
    bench.require(library, folder)
    shares: dict[bool, float] = {}
    foreign = 0
    with bench.connect() as connection:
        for expand in (True, False):
            found = 0
            for query in WORDINGS:
                rows = connection.execute(
                    VITAE.encode(), {"query": query, "library": library, "expand": expand}
                ).fetchall()
                text = "\n".join(block for block, _, _ in rows)
                found += sum(name in text for name in EMPLOYERS)
                foreign += len({key for _, key, how in rows if how == "expansion"} - {"kuehne.md"})
            shares[expand] = 100 * found / len(WORDINGS) / len(EMPLOYERS)
    on = f"{size} curricula vitae, {len(WORDINGS)} wordings (de, en, ru)"
    yield judged("context of 5 hits: employers returned", on, shares[True], 100, "%", is_least=True)
    yield Figure("— without expansion", on, f"{shares[False]:.1f} %")
    yield Figure("— pages of other people that were expanded", on, str(foreign))


def curricula(size: int) -> dict[str, str]:
    """Curricula vitae by key, `kuehne.md` and others. A person is named under "Angaben zur Person"
    only, and employers elsewhere.
    """
    chance = Random(size)
    names = {_NAME}
    while len(names) < size:
        names.add(f"{chance.choice(_FIRST)} {chance.choice(_LAST)}")
    pages = {"kuehne.md": _curriculum(_NAME, EMPLOYERS, chance)}
    for nth, name in enumerate(sorted(names - {_NAME})):
        firms = [f"{firm} KG" for firm in chance.sample(_FIRMS, chance.randint(3, 10))]
        pages[f"person-{nth}.md"] = _curriculum(name, firms, chance)
    return pages


def _curriculum(name: str, firms: list[str], chance: Random) -> str:
    jobs = "\n\n".join(
        f"### {2022 - 3 * nth} bis {2025 - 3 * nth}: {firm}\n\nBei {firm}: {chance.choice(_TASKS)}"
        f" und {chance.choice(_TASKS)}."
        for nth, firm in enumerate(firms)
    )
    return (
        f"# Lebenslauf\n\n## Angaben zur Person\n\nName: {name}\n\nGeboren in Kassel.\n\n"
        f"## Beruflicher Werdegang\n\n{jobs}\n\n## Ausbildung\n\nStudium in Ulm, Diplom.\n\n"
        "## Kenntnisse\n\nEnglisch fließend, Grundkenntnisse in SQL.\n\n"
        "## Interessen\n\nRudern, Schach und Fotografie.\n"
    )


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
