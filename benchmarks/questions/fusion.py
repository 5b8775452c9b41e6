"""What the fusion is worth on our labelled questions: the table of docs/ranking.md."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.corpora import Corpora
from benchmarks.figures import table
from benchmarks.questions.measuring import METRIC, import_questions
from benchmarks.questions.rows import Split, half, read
from pgrag.evaluation import runs
from pgrag.service.app import App

SETS = ("k8s-questions", "mdn-questions", "fastapi-questions")
#: The rows of `pgrag eval ablation` that are compared.
ROWS = ("keyword alone", "reciprocal rank fusion", "alpha 0.3", "hybrid")


def compare(app: App, corpora: Corpora, split: Split, names: Sequence[str] = SETS) -> str:
    """Run each of ROWS on each set, by page, and return the means as Markdown."""
    lines = []
    with tempfile.TemporaryDirectory(prefix="pgrag-questions-") as scratch:
        for name in names:
            questions = half(read(name), split)
            import_questions(app, corpora, name, questions, Path(scratch))
            found = {
                each.name: runs.run(app, name, each, (METRIC,))["metrics"][METRIC]
                for each in runs.ablation(app)
                if each.name in ROWS
            }
            lines.append([f"{name}, {len(questions)}", *(f"{found[row]:.3f}" for row in ROWS)])
    return table(("nDCG@10, pages", *ROWS), lines)
