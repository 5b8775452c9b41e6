"""The quality of searches and of the sources of answers on our labelled questions."""

from collections.abc import Sequence
from statistics import fmean
from typing import TypeAlias

from benchmarks.corpora import Corpora
from benchmarks.figures import table
from benchmarks.quality import METRIC, import_queries
from benchmarks.questions.rows import LANGUAGES, SETS, Question, Split, Unit, half, read, write_set
from pgrag.evaluation import labelled, runs
from pgrag.service.app import App

SYSTEMS = ("keyword", "semantic", "hybrid", "rrf")
#: Budgets for the sources of an answer, in tokens.
BUDGETS = (2400, 4000)
ENGLISH = ("k8s-questions", "mdn-questions", "fastapi-questions")
#: The rows of `pgrag eval ablation` that are compared.
FUSIONS = ("keyword alone", "reciprocal rank fusion", "alpha 0.3", "hybrid")
_UNITS: tuple[Unit, ...] = ("page", "section")

Scores: TypeAlias = dict[str, dict[str, float]]
"""The metric of each question by its id, by system."""


def measure(app: App, corpora: Corpora, split: Split, names: Sequence[str] = ()) -> str:
    """Measure a half of the sets: nDCG of pages and sections, facts in the sources of answers."""
    asked: list[Question] = []
    scores: dict[Unit, Scores] = {unit: {system: {} for system in SYSTEMS} for unit in _UNITS}
    complete: dict[int, set[str]] = {budget: set() for budget in BUDGETS}
    for name in names or SETS:
        questions = half(read(name), split)
        import_questions(app, corpora, name, questions)
        for unit in _UNITS:
            _score(app, name, unit, scores[unit])
        for budget in BUDGETS:
            complete[budget] |= _complete(app, name, questions, budget)
        asked += questions
    return tables(asked, scores, complete)


def tables(
    questions: Sequence[Question], scores: dict[Unit, Scores], complete: dict[int, set[str]]
) -> str:
    """The means by corpus and language, and of all questions, as Markdown."""
    ranked, answered = [], []
    for label, part in _parts(questions).items():
        for unit in _UNITS:
            means = (fmean(scores[unit][system][each.id] for each in part) for system in SYSTEMS)
            ranked.append([f"{label}, {len(part)}", unit, *(f"{mean:.3f}" for mean in means)])
        if with_facts := [each for each in part if each.facts]:
            shares = (
                fmean(each.id in complete[budget] for each in with_facts) for budget in BUDGETS
            )
            answered.append([f"{label}, {len(with_facts)}", *(f"{share:.0%}" for share in shares)])
    budgets = (f"{budget:,} tokens" for budget in BUDGETS)
    return "\n\n".join(
        (
            table(("nDCG@10 on", "of", *SYSTEMS), ranked),
            table(("all required facts among the sources", *budgets), answered),
        )
    )


def _parts(questions: Sequence[Question]) -> dict[str, list[Question]]:
    parts: dict[str, list[Question]] = {}
    for each in questions:
        parts.setdefault(f"{each.library}, asked in {each.language}", []).append(each)
    return parts | {"all": list(questions)}


def compare_fusions(
    app: App, corpora: Corpora, split: Split, names: Sequence[str] = ENGLISH
) -> str:
    """The means of words alone and of each fusion by page: the table of docs/ranking.md."""
    lines = []
    for name in names:
        questions = half(read(name), split)
        import_questions(app, corpora, name, questions)
        scores = {
            each.name: runs.run(app, name, each, (METRIC,))["metrics"][METRIC]
            for each in runs.ablation(app)
            if each.name in FUSIONS
        }
        lines.append([f"{name}, {len(questions)}", *(f"{scores[row]:.3f}" for row in FUSIONS)])
    return table(("nDCG@10, pages", *FUSIONS), lines)


def import_questions(app: App, corpora: Corpora, name: str, questions: Sequence[Question]) -> None:
    """Import the questions twice, judged by page and by section, about one library."""
    labelled.import_set(
        app,
        name,
        write_set(questions, corpora.scratch / "sets" / name),
        corpus=corpora.pages(SETS[name]),
        language=LANGUAGES.get(SETS[name]),
        held_out=True,
    )
    by_section = [
        {"id": each.id, "text": each.text, "judgements": each.judgements("section")}
        for each in questions
    ]
    library = labelled.library_of(name)
    import_queries(app, _set_of(name, "section"), library, by_section, unit="section")


def _score(app: App, name: str, unit: Unit, scores: Scores) -> None:
    """Add the metric of each question, by system."""
    for configuration in runs.chosen(app, SYSTEMS):
        made = runs.run(app, _set_of(name, unit), configuration, (METRIC,))
        for row in app.database.call(
            "_pgrag.evaluation_scores", run_id=made["run"], metrics=[METRIC]
        ):
            scores[configuration.name][row["query_id"]] = row["score"]


def _complete(app: App, name: str, questions: Sequence[Question], budget: int) -> set[str]:
    """The ids of the questions whose facts are all among the sources of an answer."""
    complete = set()
    for each in questions:
        [material] = app.database.call(
            "answer_context",
            question=each.text,
            library=labelled.library_of(name),
            token_budget=budget,
        )
        text = "\n".join(source["content"] for source in material["sources"])
        if each.facts and not each.missing_facts(text):
            complete.add(each.id)
    return complete


def _set_of(name: str, unit: Unit) -> str:
    return name if unit == "page" else f"{name}-sections"
