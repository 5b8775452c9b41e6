"""What language models are told, what they wrote, and the answers that were given."""

from __future__ import annotations

import uuid
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from pgrag.orm.base import Base, EmptyText, Fields, Key, Now

_KINDS = "kind in ('context', 'summary')"


class AnswerTemplate(Base):
    """What a language model is told: who it is, and how question and context are put."""

    __tablename__ = "answer_templates"
    __table_args__ = (
        CheckConstraint("name ~ '^[a-z][a-z0-9_-]{0,49}$'", name="name"),
        CheckConstraint("system ~ '[^[:space:]]'", name="system"),
        CheckConstraint("prompt ~ '[^[:space:]]'", name="prompt"),
    )

    name: Mapped[str] = mapped_column(primary_key=True)
    description: Mapped[EmptyText]
    system: Mapped[str]
    prompt: Mapped[str]


class Enrichment(Base):
    """What a model wrote for a text, kept so that it is never asked twice."""

    __tablename__ = "enrichments"
    __table_args__ = (CheckConstraint(_KINDS, name="kind"),)

    library_id: Mapped[int] = mapped_column(
        BigInteger,
        ForeignKey("pgrag.libraries.library_id", ondelete="CASCADE"),
        primary_key=True,
    )
    kind: Mapped[str] = mapped_column(primary_key=True)
    input_hash: Mapped[uuid.UUID] = mapped_column(Uuid, primary_key=True)
    model: Mapped[str] = mapped_column(primary_key=True)
    prompt_version: Mapped[str] = mapped_column(primary_key=True)
    text: Mapped[str]
    prompt_tokens: Mapped[int | None]
    completion_tokens: Mapped[int | None]
    created_at: Mapped[Now]


class EnrichmentFailure(Base):
    """A document for which a model wrote nothing that could be used, and why."""

    __tablename__ = "enrichment_failures"
    __table_args__ = (
        CheckConstraint(_KINDS, name="kind"),
        ForeignKeyConstraint(
            ["library_id", "document_id"],
            ["pgrag.documents.library_id", "pgrag.documents.document_id"],
            ondelete="CASCADE",
        ),
    )

    library_id: Mapped[Key]
    document_id: Mapped[Key]
    kind: Mapped[str] = mapped_column(primary_key=True)
    model: Mapped[str]
    input_hash: Mapped[uuid.UUID]
    reason: Mapped[str]
    attempts: Mapped[int] = mapped_column(server_default=text("1"))
    failed_at: Mapped[Now]


class Answer(Base):
    """An answer that was given, by the search that found its sources."""

    __tablename__ = "answers"
    __table_args__ = (
        CheckConstraint(
            "status in ('answered', 'not_in_documentation', 'failed', 'cancelled')", name="status"
        ),
        Index("answers_at", "at"),
    )

    search_id: Mapped[uuid.UUID] = mapped_column(Uuid, primary_key=True)
    at: Mapped[Now]
    client: Mapped[str]
    question: Mapped[str]
    library: Mapped[str | None]
    version: Mapped[str | None]
    intent: Mapped[str | None]
    model: Mapped[str | None]
    status: Mapped[str]
    answer: Mapped[EmptyText]
    citations: Mapped[list[Any]] = mapped_column(JSONB, server_default=text("'[]'"))
    trace: Mapped[list[Any] | None] = mapped_column(JSONB)
    prompt_tokens: Mapped[int | None]
    completion_tokens: Mapped[int | None]
    timings: Mapped[Fields]
