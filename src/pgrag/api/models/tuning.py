"""Tuning: what is asked for, and what was found, tried and changed."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from pgrag.api.models.arguments import Arguments, VersionWish


class TuningBody(Arguments):
    """How to look for better settings. It takes about a minute."""

    version: VersionWish | None = Field(
        default=None, description="The version that is asked; default: the newest."
    )
    query_count: int = Field(
        default=400, ge=50, le=5000, description="Questions at most; more are more certain."
    )
    seed: int = Field(
        default=42,
        ge=-(2**62),
        le=2**62,
        description="Which questions are drawn, and which of them decide.",
    )
    dry_run: bool = Field(default=False, description="Change nothing.")
    source: Literal["judgements", "feedback", "library"] | None = Field(
        default=None, description="Default: the first of these that has enough questions."
    )


class GainComparison(BaseModel):
    """Two settings on the same questions: mean nDCG@10 of pages."""

    queries: int = Field(examples=[133])
    before: float = Field(examples=[0.655])
    after: float = Field(examples=[0.671])
    difference: float = Field(examples=[0.016])
    lower_bound: float = Field(description="Of the 95 % confidence interval.", examples=[0.004])
    upper_bound: float = Field(examples=[0.028])
    p_value: float = Field(description="Paired randomisation test, one-sided.", examples=[0.006])
    wins: int = Field(examples=[31])
    losses: int = Field(examples=[12])


class Tuning(BaseModel):
    """One tuning of a library."""

    tuning_id: int = Field(examples=[4])
    library_id: int
    library: str = Field(examples=["harbour"])
    version: str = Field(examples=["2.1"])
    source: str = Field(description="judgements, feedback or library.", examples=["library"])
    seed: int = Field(examples=[42])
    questions: dict[str, int] = Field(examples=[{"description": 120, "heading": 280}])
    settings_before: dict[str, Any] = Field(description="What the library set by itself.")
    settings_after: dict[str, Any]
    proposed: dict[str, Any] = Field(
        description="What would serve better.", examples=[{"alpha": 0.4}]
    )
    training: GainComparison | None = Field(description="The questions that chose.")
    validation: GainComparison | None = Field(description="The questions that decided.")
    searched: dict[str, float] | None = Field(
        description="The deciding questions by real searches: before, after, foreseen."
    )
    trials: list[dict[str, Any]] = Field(description="Every value that was tried.")
    notes: list[str]
    outcome: str = Field(
        description="accepted, dry run, not better, too little, overtaken or taken back.",
        examples=["accepted"],
    )
    reason: str
    started_at: datetime
    finished_at: datetime
    undone_at: datetime | None


class Tunings(BaseModel):
    """The tunings of a library, the latest first."""

    library: str = Field(examples=["harbour"])
    tunings: list[Tuning]
