"""Labelled sets, runs and comparisons; tunings of a library."""

from datetime import datetime
from typing import Any

from pgrag.ground.values.base import Value, described


class EvaluationSet(Value):
    """Queries with graded judgements about one library."""

    name: str = described("", "harbour-questions")
    library: str = described("", "eval-harbour-questions")
    unit: str = described("What is judged: page, section or document.", "page")
    queries: int = described("", 40)
    judgements: int = described("", 52)
    runs: int = described("", 3)
    source: dict[str, Any] = described("Where the set was imported from.")
    created_at: datetime


class EvaluationRun(Value):
    """One run of a set, with all it takes to repeat the run."""

    run_id: int = described("", 7)
    set_name: str = described("", "harbour-questions")
    set_digest: str = described("Digest of queries and judgements; equal digests are comparable.")
    unit: str = described("", "page")
    name: str = described("Name of the configuration.", "hybrid")
    configuration: dict[str, Any]
    library: str
    version: str
    model: str | None
    settings: dict[str, Any] = described("Retrieval settings in force during the run.")
    functions: str | None = described("Digest of the SQL functions.")
    query_count: int
    averages: dict[str, float] = described("", {"ndcg@10": 0.71, "recall@20": 0.93})
    started_at: datetime
    finished_at: datetime | None


class EvaluationRunList(Value):
    """The runs of a set, the latest first."""

    set: str
    runs: tuple[EvaluationRun, ...]


class ImportedSet(Value):
    """The size of a set after its import."""

    name: str = described("", "harbour-questions")
    queries: int = described("", 40)
    judgements: int = described("", 52)
    unjudged: tuple[str, ...] = described("Queries left out because nothing is relevant.")


class Judgement(Value):
    """How well a target answers a query."""

    query_id: str = described("", "q1")
    query_text: str = described("", "tide table")
    target: str = described("As the unit of the set names it.", "navigation/tides.md")
    grade: int = described("0: not relevant.", 2)


class JudgementList(Value):
    """The judgements of a set, or of one of its queries."""

    set: str = described("", "harbour-questions")
    library: str = described("", "harbour")
    unit: str = described("What is judged: page, section or document.", "page")
    judgements: tuple[Judgement, ...]


class GradedResult(Value):
    """The query of a grade, and the set after it."""

    query_id: str = described("The same for each grade of the query.", "q1")
    judged_unit: str = described("What the set judges: page, section or document.", "page")
    query_count: int = described("Of the set.", 40)
    judgement_count: int = described("Of the set.", 52)


class RemovedSet(Value):
    """A removed set."""

    set: str
    runs: int = described("Number of runs removed with the set.")


class RemovedRun(Value):
    """A removed run."""

    run_id: int


class MovedQuery(Value):
    """A query whose metric differs between two runs."""

    query_id: str
    query: str
    score: float
    other_score: float
    difference: float


class Comparison(Value):
    """How the other run differs from the first."""

    run_id: int
    other_run_id: int
    metric: str
    queries: int
    score: float = described("Mean of the first run.")
    other_score: float
    difference: float = described("other_score - score.")
    lower_bound: float | None = described("Of the 95 % confidence interval of the difference.")
    upper_bound: float | None
    p_value: float = described("Two-sided paired randomisation test.")
    wins: int = described("Queries for which the other run is better.")
    losses: int
    ties: int
    moved: tuple[MovedQuery, ...]


class EvaluatedResult(Value):
    """A result of a query; the rank of an expected result that was not returned is null."""

    rank: int | None
    target: str
    grade: int
    score: float | None
    title: str | None
    heading: str | None
    document_id: int | None
    words: str | None = described("What each term of the query adds to the score today.")
    explanation: dict[str, Any] | None


class GainComparison(Value):
    """Two settings on the same questions: mean nDCG@10 of pages."""

    queries: int = described("", 133)
    before: float = described("", 0.655)
    after: float = described("", 0.671)
    difference: float = described("", 0.016)
    lower_bound: float = described("Of the 95 % confidence interval.", 0.004)
    upper_bound: float = described("", 0.028)
    p_value: float = described("Paired randomisation test, one-sided.", 0.006)
    wins: int = described("", 31)
    losses: int = described("", 12)


class TuningVerdict(Value):
    """What was decided on one setting, or on the weights of the ranking together."""

    setting: str = described("weights, query_expansion, graph or aggregate.", "graph")
    value: Any = described("The best other value on the training questions.", True)
    training: GainComparison | None = described("On the questions that chose the value.")
    validation: GainComparison | None = described("On the questions that decided.")
    kept: bool
    reason: str = described("", "Significantly better on the validation questions.")


class Tuning(Value):
    """One tuning of a library."""

    tuning_id: int = described("", 4)
    library_id: int
    library: str = described("", "harbour")
    version: str = described("", "2.1")
    source: str = described("judgements, feedback or library.", "library")
    seed: int = described("", 42)
    questions: dict[str, int] = described("", {"description": 120, "heading": 280})
    settings_before: dict[str, Any] = described("The library's own settings.")
    settings_after: dict[str, Any]
    proposed: dict[str, Any] = described("The settings that are better.", {"alpha": 0.4})
    training: GainComparison | None = described("All of them, on the questions that chose them.")
    validation: GainComparison | None = described("All of them, on the questions that decided.")
    searched: dict[str, float] | None = described(
        "The deciding questions by real searches: before, after, foreseen."
    )
    verdicts: tuple[TuningVerdict, ...] = described("The decision on each setting.")
    trials: tuple[dict[str, Any], ...] = described("Every value that was tried.")
    notes: tuple[str, ...]
    outcome: str = described(
        "accepted, dry run, not better, too little, overtaken or taken back.", "accepted"
    )
    reason: str
    started_at: datetime
    finished_at: datetime
    undone_at: datetime | None
