"""Whether the best score of a search tells what a documentation answers from what it does not."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from benchmarks.corpora import Corpora
from benchmarks.figures import table
from benchmarks.questions.measuring import import_questions
from benchmarks.questions.rows import Question, half, read
from pgrag.evaluation import importing
from pgrag.service.app import App

SETS = ("k8s-questions", "mdn-questions", "fastapi-questions")
#: The default of `pgrag.gaps`, and what is beside it.
THRESHOLDS = (0.2, 0.25, 0.3, 0.33, 0.35, 0.4)


def compare(app: App, corpora: Corpora) -> str:
    """Ask every documentation the English questions about each, those of the open half.

    Returns the shares of questions whose best hybrid score is below each threshold, as Markdown.
    """
    asked = {name: [q for q in half(read(name), "open") if q.language == "en"] for name in SETS}
    rows = []
    with tempfile.TemporaryDirectory(prefix="pgrag-questions-") as scratch:
        for name, questions in asked.items():
            import_questions(app, corpora, name, questions, Path(scratch))
            others = [q for other in SETS if other != name for q in asked[other]]
            for label, part in (("its own", questions), ("others", others)):
                best = _best_scores(app, importing.library_of(name), part)
                rows.append(
                    [
                        f"{name.removesuffix('-questions')}, {label}, {len(part)}",
                        *(f"{fmean(score < least for score in best):.0%}" for least in THRESHOLDS),
                    ]
                )
    return table(("questions asked", *(f"below {least:g}" for least in THRESHOLDS)), rows)


def _best_scores(app: App, library: str, questions: Sequence[Question]) -> list[float]:
    """The score of the first hit of each question, 0 without a hit."""
    found = (
        app.database.call("search", query=each.text, library=library, top_k=1) for each in questions
    )
    return [hits[0]["score"] if hits else 0.0 for hits in found]
