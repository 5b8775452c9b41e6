"""The quality of searches and of the sources of answers on our labelled questions."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean

from benchmarks.corpora import Corpora
from benchmarks.figures import table
from benchmarks.questions.rows import LANGUAGES, SETS, Question, Split, Unit, half, read, write_set
from pgrag.app import App
from pgrag.evaluation import importing, runs

SYSTEMS = ("keyword", "semantic", "hybrid", "rrf")
METRIC = "ndcg@10"
#: Budgets for the sources of an answer, in tokens.
BUDGETS = (2400, 4000)
_UNITS: tuple[Unit, ...] = ("page", "section")


def measure(app: App, corpora: Corpora, split: Split, names: Sequence[str] = ()) -> str:
    """Measure a half of the sets: the nDCG of pages and sections, and the share of facts found."""
    ranked: list[list[str]] = []
    answered: list[list[str]] = []
    with tempfile.TemporaryDirectory(prefix="pgrag-questions-") as scratch:
        for name in names or SETS:
            questions = half(read(name), split)
            _import(app, corpora, name, questions, Path(scratch))
            scores = {unit: _scores(app, name, unit) for unit in _UNITS}
            complete = _complete(app, name, questions)
            for language in dict.fromkeys(each.language for each in questions):
                chosen = [each for each in questions if each.language == language]
                label = f"{name.removesuffix('-questions')}, {language}"
                ranked += [
                    [f"{label}, {len(chosen)}", unit, *_means(scores[unit], chosen)]
                    for unit in _UNITS
                ]
                if with_facts := [each for each in chosen if each.facts]:
                    shares = [
                        f"{fmean(each.id in found for each in with_facts):.0%}"
                        for found in complete.values()
                    ]
                    answered.append([f"{label}, {len(with_facts)}", *shares])
    return "\n\n".join(
        (
            table(("nDCG@10 on", "of", *SYSTEMS), ranked),
            table(("all required facts among the sources", *map(_budget, BUDGETS)), answered),
        )
    )


def _import(
    app: App, corpora: Corpora, name: str, questions: Sequence[Question], scratch: Path
) -> None:
    """Import the questions twice, judged by page and by section, about one library."""
    folder = write_set(questions, scratch / name)
    importing.import_set(
        app,
        name,
        folder,
        corpus=corpora.pages(SETS[name]),
        language=LANGUAGES.get(SETS[name]),
        held_out=True,
    )
    by_section = [
        {"id": each.id, "text": each.text, "judgements": each.judgements("section")}
        for each in questions
    ]
    app.database.call(
        "import_evaluation_set",
        name=_set_of(name, "section"),
        library=importing.library_of(name),
        queries=json.dumps(by_section),
        unit="section",
        source={"held_out": True},
    )


def _scores(app: App, name: str, unit: Unit) -> dict[str, dict[str, float]]:
    """The metric of each question, by system."""
    scores = {}
    for configuration in runs.chosen(app, SYSTEMS):
        made = runs.run(app, _set_of(name, unit), configuration, (METRIC,))
        rows = app.database.call("evaluation_scores", run_id=made["run"], metrics=[METRIC])
        scores[configuration.name] = {row["query_id"]: row["score"] for row in rows}
    return scores


def _means(scores: dict[str, dict[str, float]], questions: Sequence[Question]) -> list[str]:
    return [f"{fmean(scores[system][each.id] for each in questions):.3f}" for system in SYSTEMS]


def _complete(app: App, name: str, questions: Sequence[Question]) -> dict[int, set[str]]:
    """The ids of the questions whose facts are all among the sources, by budget."""
    return {
        budget: {
            each.id
            for each in questions
            if each.facts and not each.missing_facts(_sources(app, name, each.text, budget))
        }
        for budget in BUDGETS
    }


def _sources(app: App, name: str, question: str, budget: int) -> str:
    [material] = app.database.call(
        "answer_context",
        question=question,
        library=importing.library_of(name),
        token_budget=budget,
    )
    return "\n".join(source["content"] for source in material["sources"])


def _set_of(name: str, unit: Unit) -> str:
    return name if unit == "page" else f"{name}-sections"


_budget: Callable[[int], str] = "{:,} tokens".format
