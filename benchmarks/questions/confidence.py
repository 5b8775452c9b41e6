"""Confidence: the constants of `_pgrag.confidence`, and how well it tells what is answered.

A library is asked its own questions with and without the pages that answer them, and the questions
of other documentations. `python -m benchmarks.questions confidence DATA` measures the sets that had
no part in the fit and writes docs/confidence.md and its picture; with `--fit` it prints constants.
"""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, TypeAlias

import numpy as np

from benchmarks import evaluation
from benchmarks.corpora import Corpora
from benchmarks.figures import table, write_between
from pgrag.evaluation.labelled import LabelledQuery, library_of, read_labelled_set
from pgrag.search.result import NO_MATCH
from pgrag.service.app import App

PAGE = Path(__file__).parents[2] / "docs" / "confidence.md"
PICTURE = PAGE.with_suffix(".svg")
MARKS = ("<!-- figures: made by `python -m benchmarks.questions confidence` -->",
         "<!-- end of the figures -->")  # fmt: skip
#: A library and the set whose questions it is asked: its own, or those of its translation.
Asked: TypeAlias = tuple[str, str]
FITTED: tuple[Asked, ...] = (
    ("xquad-en", "xquad-en"), ("xquad-ru", "xquad-ru"), ("xquad-en", "xquad-de"),
    ("fastapi-questions", "fastapi-questions"), ("k8s-questions", "k8s-questions"),
    ("scifact", "scifact"),
)  # fmt: skip
TESTED: tuple[Asked, ...] = (
    ("xquad-de", "xquad-de"), ("xquad-es", "xquad-es"), ("mdn-questions", "mdn-questions"),
    ("fastapi-de-questions", "fastapi-de-questions"),
    ("fastapi-ru-questions", "fastapi-ru-questions"), ("obsidian-anchor", "obsidian-anchor"),
    ("xquad-en", "xquad-ru"), ("xquad-de", "xquad-en"),
)  # fmt: skip
#: Sets of which another's questions say nothing: link texts are seldom about one documentation.
LINKS = frozenset({"obsidian-anchor"})
SAMPLE = 150
Kind: TypeAlias = Literal["answered", "another", "topic", "passage"]
#: What a question lacks: nothing; everything, because it is about another documentation; all pages
#: on its topic; the one page that answers it.
KINDS: tuple[Kind, ...] = ("answered", "another", "topic", "passage")
BEST = """
select
    (array_agg(to_jsonb(e) order by e.nth))[1] as evidence,
    max(e.confidence) as confidence
from (select _pgrag.make_request(%(query)s, %(arguments)s) as request offset 0) as r
cross join lateral (
    select (_pgrag.list_hits(r.request)).hits as hits offset 0
) as l
cross join lateral _pgrag.evidence(l.hits, r.request) as e
"""
PAGES = """
select p.key, p.page_id
from pgrag.pages as p
join pgrag.libraries as l on l.library_id = p.library_id
where l.name = %(library)s
"""
_BINS = 10
_RIDGE = 1e-4


@dataclass(frozen=True, slots=True)
class Example:
    """A question to a library, the evidence of its best hit, and the largest confidence."""

    asked: Asked
    kind: Kind
    evidence: dict[str, Any]
    confidence: float


def measure(app: App, corpora: Corpora) -> str:
    """Measure the sets that had no part in the fit; write the page and the picture."""
    examples = list(_examples(app, corpora, TESTED))
    write_between(PAGE, MARKS, tables(examples))
    PICTURE.write_text(picture(_reliability(examples)), "utf-8")
    return tables(examples)


def fit(app: App, corpora: Corpora) -> str:
    """Fit the constants of hybrid search, words alone and meaning alone to the other sets."""
    examples = list(_examples(app, corpora, FITTED))
    answered = np.array([each.kind == "answered" for each in examples], float)
    weights = np.array(_weights(examples))
    lines = []
    for kind, features in FEATURES.items():
        rows = np.array([[1.0, *features(each.evidence).values()] for each in examples])
        names = ["constant", *features(examples[0].evidence)]
        constants = _logistic(rows, answered, weights)
        told = ", ".join(f"{n} {c:.2f}" for n, c in zip(names, constants, strict=True))
        lines.append(f"{kind}: {told}")
    return "\n".join(lines)


def _features(*names: str) -> Callable[[dict[str, Any]], dict[str, float]]:
    def of(evidence: dict[str, Any]) -> dict[str, float]:
        unknown = (1 - evidence["known"]) * evidence["cosine"]
        whole = evidence | {"unknown x cosine": unknown}
        return {name: whole[name] for name in names}

    return of


FEATURES = {
    "hybrid": _features("coverage", "known", "page_score", "cosine", "unknown x cosine"),
    "words alone": _features("coverage", "known", "page_score"),
    "meaning alone": _features("coverage", "known", "cosine", "unknown x cosine"),
}


def _logistic(rows: Any, answered: Any, weights: Any) -> Any:
    """The constants of a logistic regression, by Newton's method."""
    constants = np.zeros(rows.shape[1])
    penalty = _RIDGE * np.diag([0.0, *np.ones(rows.shape[1] - 1)])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-rows @ constants))
        slope = rows.T @ (weights * (answered - chance)) - penalty @ constants
        curve = (rows * (weights * chance * (1 - chance))[:, None]).T @ rows + penalty
        constants = constants + np.linalg.solve(curve, slope)
    return constants


def _weights(examples: Sequence[Example]) -> list[float]:
    """Every library counts alike, half by what it answers, half by the other kinds, alike."""
    counts: dict[tuple[Asked, Kind], int] = {}
    for each in examples:
        counts[each.asked, each.kind] = counts.get((each.asked, each.kind), 0) + 1
    others = {asked: sum(key[0] == asked for key in counts) - 1 for asked, _ in counts}
    libraries = len(others)
    return [
        (0.5 if each.kind == "answered" else 0.5 / others[each.asked])
        / counts[each.asked, each.kind]
        / libraries
        for each in examples
    ]


def tables(examples: Sequence[Example]) -> str:
    """AUC by library and kind, shares below the threshold, and reliability, as Markdown."""
    separated, below = [], []
    for asked in dict.fromkeys(each.asked for each in examples):
        found = {
            kind: [each.confidence for each in examples if (each.asked, each.kind) == (asked, kind)]
            for kind in KINDS
        }
        library, questions = (name.removesuffix("-questions") for name in asked)
        name = library if library == questions else f"{library}, asked in {questions[-2:]}"
        yes = found["answered"]
        auc = [f"{_auc(yes, found[kind]):.3f}" if found[kind] else "" for kind in KINDS[1:]]
        separated.append([f"{name}, {len(yes)}", *auc])
        shares = [f"{fmean(c < NO_MATCH for c in found[k]):.0%}" if found[k] else "" for k in KINDS]
        below.append([name, *shares])
    reliable = [
        [f"{mean:.2f}", f"{share:.2f}", str(count)] for mean, share, count in _reliability(examples)
    ]
    columns = ("another documentation", "its topic removed", "its page alone removed")
    return "\n\n".join(
        (
            "### AUC\n\n" + table(("library, questions", *columns), separated),
            f"### Below {NO_MATCH}\n\n" + table(("library", "answered", *columns), below),
            "### Reliability\n\n" + table(("mean confidence", "answered", "questions"), reliable),
        )
    )


def _auc(higher: Sequence[float], lower: Sequence[float]) -> float:
    """How often a random one of the first is larger than a random one of the second."""
    a, b = np.array(higher)[:, None], np.array(lower)[None]
    return float((a > b).mean() + (a == b).mean() / 2)


def _reliability(examples: Sequence[Example]) -> list[tuple[float, float, int]]:
    """Of tenths of the scale: mean confidence, share of answered questions, and their number."""
    weights = _weights(examples)
    tenths: list[list[tuple[float, float, bool]]] = [[] for _ in range(_BINS)]
    for each, weight in zip(examples, weights, strict=True):
        nth = min(int(each.confidence * _BINS), _BINS - 1)
        tenths[nth].append((weight, each.confidence, each.kind == "answered"))
    return [
        (
            sum(w * c for w, c, _ in part) / sum(w for w, _, _ in part),
            sum(w for w, _, yes in part if yes) / sum(w for w, _, _ in part),
            len(part),
        )
        for part in tenths
        if part
    ]


def picture(points: Sequence[tuple[float, float, int]]) -> str:
    """The share of answered questions by confidence; the diagonal is a perfect calibration."""
    at = [(60 + 300 * mean, 330 - 300 * share) for mean, share, _ in points]
    dots = "".join(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="4"/>' for x, y in at)
    line = " ".join(f"{x:.0f},{y:.0f}" for x, y in at)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 380" role="img"'
        ' aria-label="Share of answered questions by confidence">'
        "<style>text{font:13px system-ui,sans-serif;fill:#1c2733}circle{fill:#2f6fab}"
        "polyline{fill:none;stroke:#2f6fab;stroke-width:2}path{stroke:#8a97a5;fill:none}</style>"
        '<rect width="400" height="380" fill="#fff"/><path d="M60 30V330H360"/>'
        f'<path d="M60 330L360 30" stroke-dasharray="4"/><polyline points="{line}"/>{dots}'
        '<text x="210" y="365" text-anchor="middle">confidence</text>'
        '<text x="20" y="180" text-anchor="middle" transform="rotate(-90 20 180)">answered</text>'
        '<text x="55" y="346" text-anchor="end">0</text><text x="360" y="346">1</text>'
        '<text x="50" y="36" text-anchor="end">1</text></svg>\n'
    )


def _examples(app: App, corpora: Corpora, pairs: Sequence[Asked]) -> Iterator[Example]:
    """Ask the libraries of one half of the sets; foreign questions come from the same half."""
    sets = {
        name: read_labelled_set(evaluation.labelled_folder(corpora, name)).queries
        for name in dict.fromkeys(name for pair in pairs for name in pair)
    }
    chance = random.Random(36)
    for library in dict.fromkeys(library for library, _ in pairs):
        evaluation.import_labelled(app, corpora, library)
    for asked in pairs:
        library, questions = asked
        rows = app.database.query(PAGES, {"library": library_of(library)})
        page_ids = {row["key"]: row["page_id"] for row in rows}
        topics = _topics(corpora, library)
        own = chance.sample(sets[questions], min(SAMPLE, len(sets[questions])))
        foreign = [
            query
            for name, queries in sets.items()
            if _family(name) != _family(library) and name not in LINKS
            for query in queries
        ]
        for query in chance.sample(foreign, min(SAMPLE, len(foreign))):
            yield from _example(app, asked, "another", query, [])
        for query in own:
            quoted = [page_ids[key] for key in query.excluded]
            yield from _example(app, asked, "answered", query, quoted)
            if topics:
                right = {key for key, grade in query.judgements.items() if grade > 0}
                about = {topics[key] for key in right}
                on_topic = [page_ids[key] for key in page_ids if topics[key] in about]
                yield from _example(app, asked, "topic", query, on_topic)
                yield from _example(app, asked, "passage", query, [page_ids[k] for k in right])


def _example(
    app: App, asked: Asked, kind: Kind, query: LabelledQuery, without: Sequence[int]
) -> Iterator[Example]:
    arguments = {
        "library": library_of(asked[0]), "top_k": 10, "exclude": [f"page:{id}" for id in without],
    }  # fmt: skip
    [row] = app.database.query(BEST, {"query": query.text, "arguments": json.dumps(arguments)})
    if row["evidence"] is not None:
        yield Example(asked, kind, row["evidence"], row["confidence"])


def _family(name: str) -> str:
    """Translations of one documentation are no other documentation."""
    return name.partition("-")[0]


def _topics(corpora: Corpora, library: str) -> dict[str, str]:
    """The article of each page of an encyclopaedia; of other libraries, none is known: removing
    the labelled pages leaves some that answer, too.
    """
    if not library.startswith("xquad"):
        return {}
    lines = (corpora.folder(library) / "corpus.jsonl").read_text("utf-8").splitlines()
    pages = map(json.loads, lines)
    return {page["_id"]: page["title"] for page in pages}
