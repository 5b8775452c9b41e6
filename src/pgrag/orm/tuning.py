"""What was tried to tune libraries, and what came of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Index, text
from sqlalchemy.dialects.postgresql import JSONB, TIMESTAMP
from sqlalchemy.orm import Mapped, mapped_column

from pgrag.orm.base import Base, BigInt, Fields, GeneratedKey, Moment, Words


class TuningRun(Base):
    """One tuning of a library; see `pgrag.tune` and `pgrag.tuning_history`."""

    __tablename__ = "tuning_runs"
    __table_args__ = (
        CheckConstraint("source in ('judgements', 'feedback', 'library')", name="source"),
        CheckConstraint(
            "outcome in ('accepted', 'dry run', 'not better', 'too little', 'overtaken',"
            " 'taken back')",
            name="outcome",
        ),
        Index("tuning_runs_library", "library_id"),
    )

    tuning_id: Mapped[GeneratedKey]
    library_id: Mapped[BigInt]
    library: Mapped[str]
    version: Mapped[str]
    source: Mapped[str]
    seed: Mapped[BigInt]
    questions: Mapped[Fields]
    settings_before: Mapped[dict[str, Any]] = mapped_column(JSONB)
    settings_after: Mapped[dict[str, Any]] = mapped_column(JSONB)
    proposed: Mapped[Fields]
    training: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    validation: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    searched: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    trials: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default=text("'[]'"))
    notes: Mapped[Words]
    outcome: Mapped[str]
    reason: Mapped[str]
    started_at: Mapped[Moment]
    finished_at: Mapped[Moment]
    undone_at: Mapped[datetime | None] = mapped_column(TIMESTAMP(timezone=True))
