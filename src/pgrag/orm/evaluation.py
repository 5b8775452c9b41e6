"""Labelled sets, and runs with all that they were made with."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, ForeignKeyConstraint, Index, Text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TIMESTAMP
from sqlalchemy.orm import Mapped, mapped_column, relationship

from pgrag.orm.base import Base, BigInt, Fields, GeneratedKey, Now, Words


class EvaluationSet(Base):
    """Queries with graded judgements about one library; `unit` is what targets name."""

    __tablename__ = "evaluation_sets"
    __table_args__ = (
        CheckConstraint("name ~ '^[a-z0-9][a-z0-9._-]{0,79}$'", name="name"),
        CheckConstraint("unit in ('page', 'section', 'document')", name="unit"),
    )

    set_id: Mapped[GeneratedKey]
    name: Mapped[str] = mapped_column(unique=True)
    library: Mapped[str]
    unit: Mapped[str]
    digest: Mapped[str]
    source: Mapped[Fields]
    created_at: Mapped[Now]

    queries: Mapped[list[EvaluationQuery]] = relationship(
        viewonly=True, order_by="EvaluationQuery.query_id"
    )


class EvaluationQuery(Base):
    """A query of a set; pages in `excluded` do not count for it."""

    __tablename__ = "evaluation_queries"

    set_id: Mapped[int] = mapped_column(
        BigInteger,
        ForeignKey("pgrag.evaluation_sets.set_id", ondelete="CASCADE"),
        primary_key=True,
    )
    query_id: Mapped[str] = mapped_column(Text(collation="C"), primary_key=True)
    query: Mapped[str]
    excluded: Mapped[Words]

    judgements: Mapped[list[EvaluationJudgement]] = relationship(
        viewonly=True, order_by="EvaluationJudgement.target"
    )


class EvaluationJudgement(Base):
    """How good a target is as an answer to a query: 0 not at all."""

    __tablename__ = "evaluation_judgements"
    __table_args__ = (
        CheckConstraint("grade >= 0", name="grade"),
        ForeignKeyConstraint(
            ["set_id", "query_id"],
            ["pgrag.evaluation_queries.set_id", "pgrag.evaluation_queries.query_id"],
            ondelete="CASCADE",
        ),
    )

    set_id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    query_id: Mapped[str] = mapped_column(Text(collation="C"), primary_key=True)
    target: Mapped[str] = mapped_column(Text(collation="C"), primary_key=True)
    grade: Mapped[int]


class EvaluationRun(Base):
    """One pass over a set with one configuration, and its averages."""

    __tablename__ = "evaluation_runs"
    __table_args__ = (Index("evaluation_runs_set", "set_name"),)

    run_id: Mapped[GeneratedKey]
    set_name: Mapped[str]
    set_digest: Mapped[str]
    unit: Mapped[str]
    name: Mapped[str]
    configuration: Mapped[dict[str, Any]] = mapped_column(JSONB)
    library: Mapped[str]
    version: Mapped[str]
    model: Mapped[str | None]
    settings: Mapped[dict[str, Any]] = mapped_column(JSONB)
    functions: Mapped[str | None]
    query_count: Mapped[int]
    averages: Mapped[Fields]
    started_at: Mapped[datetime] = mapped_column(TIMESTAMP(timezone=True))
    finished_at: Mapped[datetime | None] = mapped_column(TIMESTAMP(timezone=True))

    queries: Mapped[list[EvaluationRunQuery]] = relationship(
        viewonly=True, order_by="EvaluationRunQuery.query_id"
    )


class EvaluationRunQuery(Base):
    """A run's own copy of a query with its judgements, a grade for each target."""

    __tablename__ = "evaluation_run_queries"

    run_id: Mapped[int] = mapped_column(
        BigInteger,
        ForeignKey("pgrag.evaluation_runs.run_id", ondelete="CASCADE"),
        primary_key=True,
    )
    query_id: Mapped[str] = mapped_column(Text(collation="C"), primary_key=True)
    query: Mapped[str]
    excluded: Mapped[list[str]] = mapped_column(ARRAY(Text))
    judgements: Mapped[dict[str, int]] = mapped_column(JSONB)

    results: Mapped[list[EvaluationResult]] = relationship(
        viewonly=True, order_by="EvaluationResult.rank"
    )


class EvaluationResult(Base):
    """What a run returned for a query, best first; the document may be gone by now."""

    __tablename__ = "evaluation_results"
    __table_args__ = (
        ForeignKeyConstraint(
            ["run_id", "query_id"],
            ["pgrag.evaluation_run_queries.run_id", "pgrag.evaluation_run_queries.query_id"],
            ondelete="CASCADE",
        ),
    )

    run_id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    query_id: Mapped[str] = mapped_column(Text(collation="C"), primary_key=True)
    rank: Mapped[int] = mapped_column(primary_key=True)
    target: Mapped[str] = mapped_column(Text(collation="C"))
    document_id: Mapped[BigInt | None]
    score: Mapped[float | None]
