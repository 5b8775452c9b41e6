"""What was searched, what was found, and what readers thought of it."""

from __future__ import annotations

import uuid

from sqlalchemy import CheckConstraint, Identity, Index, Uuid, text
from sqlalchemy.orm import Mapped, mapped_column

from pgrag.orm.base import Base, BigInt, Fields, Now, SmallInt


class RecordedSearch(Base):
    """A search: who asked what, how long it took, and how much was found."""

    __tablename__ = "searches"

    search_id: Mapped[uuid.UUID] = mapped_column(
        Uuid, primary_key=True, server_default=text("gen_random_uuid()")
    )
    at: Mapped[Now]
    client: Mapped[str]
    query: Mapped[str]
    library: Mapped[str | None]
    version: Mapped[str | None]
    continued: Mapped[bool] = mapped_column(server_default=text("false"))
    parameters: Mapped[Fields]
    timings: Mapped[Fields]
    duration_ms: Mapped[float | None]
    hit_count: Mapped[int]
    top_score: Mapped[float | None]
    mean_score: Mapped[float | None]

    __table_args__ = (Index("searches_at", "at"),)


class SearchHit(Base):
    """One hit of a recorded search; what it names may have been removed since."""

    __tablename__ = "search_hits"

    search_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    rank: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    library_id: Mapped[BigInt | None]
    page_id: Mapped[BigInt | None]
    document_id: Mapped[BigInt | None]
    library: Mapped[str | None]
    version: Mapped[str | None]
    page_key: Mapped[str | None]
    score: Mapped[float | None]
    hybrid_score: Mapped[float | None]
    keyword_score: Mapped[float | None]
    semantic_score: Mapped[float | None]
    keyword_rank: Mapped[int | None]
    semantic_rank: Mapped[int | None]
    passage_score: Mapped[float | None]
    page_score: Mapped[float | None]
    section_score: Mapped[float | None]


class Feedback(Base):
    """A rating of a hit, or of a whole answer where there is no document."""

    __tablename__ = "feedback"
    __table_args__ = (CheckConstraint("rating between 1 and 5", name="rating"),)

    search_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    feedback_id: Mapped[BigInt] = mapped_column(Identity(always=True), primary_key=True)
    at: Mapped[Now]
    document_id: Mapped[BigInt | None]
    rating: Mapped[SmallInt]
    comment: Mapped[str | None]


class ObservationSettings(Base):
    """For how many days searches are kept; one row."""

    __tablename__ = "observation_settings"
    __table_args__ = (
        CheckConstraint("singleton", name="singleton"),
        CheckConstraint("retention_days between 1 and 36500", name="retention_days"),
    )

    singleton: Mapped[bool] = mapped_column(primary_key=True, server_default=text("true"))
    retention_days: Mapped[int | None]
