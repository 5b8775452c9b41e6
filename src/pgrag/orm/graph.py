"""How pages are linked, by what names, and what the types of pages choose."""

from __future__ import annotations

import uuid

from sqlalchemy import (
    REAL,
    BigInteger,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column, relationship

from pgrag.orm.base import Base, BigInt, EmptyText, GeneratedKey, Key, Real, Vector, Words
from pgrag.orm.libraries import Page


class PageType(Base):
    """A type of page: how it is cut, what it is worth, and what its front matter means."""

    __tablename__ = "page_types"
    __table_args__ = (
        CheckConstraint("name ~ '^[a-z0-9][a-z0-9_-]{0,49}$'", name="name"),
        CheckConstraint(
            "chunk_profile in ('by_heading', 'by_meaning', 'short', 'medium', 'long')",
            name="chunk_profile",
        ),
        CheckConstraint("retriever_weight between 0 and 10", name="retriever_weight"),
    )

    name: Mapped[str] = mapped_column(primary_key=True)
    description: Mapped[EmptyText]
    folders: Mapped[Words]
    chunk_profile: Mapped[str | None]
    edge_defaults: Mapped[Words]
    retriever_weight: Mapped[float] = mapped_column(server_default=text("1"))
    link_keys: Mapped[Words]
    inject: Mapped[Words]


class EdgeKind(Base):
    """A kind of edge, and what it weighs in a search."""

    __tablename__ = "edge_kinds"
    __table_args__ = (
        CheckConstraint("name ~ '^[a-z][a-z0-9_]{0,49}$'", name="name"),
        CheckConstraint("weight between 0 and 10", name="weight"),
    )

    name: Mapped[str] = mapped_column(primary_key=True)
    description: Mapped[EmptyText]
    weight: Mapped[float] = mapped_column(server_default=text("1"))


class Edge(Base):
    """One link, relation or tag of a page, and where it leads as far as that is known."""

    __tablename__ = "edges"

    library_id: Mapped[Key]
    edge_id: Mapped[GeneratedKey]
    version_id: Mapped[BigInt]
    source_page_id: Mapped[BigInt]
    source_document_id: Mapped[BigInt | None]
    target_page_id: Mapped[BigInt | None]
    target_document_id: Mapped[BigInt | None]
    confidence: Mapped[Real]
    place: Mapped[int]
    line: Mapped[int]
    state: Mapped[str]
    how: Mapped[str | None]
    rule: Mapped[str]
    kind: Mapped[str]
    target: Mapped[str]
    fragment: Mapped[str | None]
    fragment_found: Mapped[bool | None]
    name: Mapped[str]
    link_text: Mapped[EmptyText]
    sentence: Mapped[EmptyText]
    candidates: Mapped[list[int] | None] = mapped_column(ARRAY(BigInteger))

    source_page: Mapped[Page] = relationship(viewonly=True)

    __table_args__ = (
        ForeignKeyConstraint(
            ["library_id", "source_page_id"],
            ["pgrag.pages.library_id", "pgrag.pages.page_id"],
            ondelete="CASCADE",
        ),
        CheckConstraint("confidence > 0 and confidence <= 1", name="confidence"),
        CheckConstraint(
            "state in ('resolved', 'unresolved', 'ambiguous', 'external', 'asset', 'tag')",
            name="state",
        ),
        Index("edges_source", "library_id", "source_page_id"),
        Index(
            "edges_target",
            "library_id",
            "target_page_id",
            postgresql_where=text("target_page_id is not null"),
        ),
        Index("edges_name", "library_id", "version_id", "name"),
    )


class PageName(Base):
    """A name by which links reach a page."""

    __tablename__ = "page_names"

    library_id: Mapped[Key]
    version_id: Mapped[BigInt]
    page_id: Mapped[Key]
    name: Mapped[str]
    full_name: Mapped[str] = mapped_column(primary_key=True)
    how: Mapped[str] = mapped_column(primary_key=True)

    __table_args__ = (
        ForeignKeyConstraint(
            ["library_id", "page_id"],
            ["pgrag.pages.library_id", "pgrag.pages.page_id"],
            ondelete="CASCADE",
        ),
        CheckConstraint("how in ('path', 'url', 'title', 'alias', 'slug')", name="how"),
        Index("page_names_name", "library_id", "version_id", "name"),
    )


class PendingName(Base):
    """A name that came or went since links were resolved: those with it are looked at again."""

    __tablename__ = "pending_names"

    library_id: Mapped[Key]
    version_id: Mapped[Key]
    name: Mapped[str] = mapped_column(primary_key=True)

    __table_args__ = (
        ForeignKeyConstraint(
            ["library_id", "version_id"],
            ["pgrag.versions.library_id", "pgrag.versions.version_id"],
            ondelete="CASCADE",
        ),
    )


class PendingPage(Base):
    """A page written since links were resolved: its links, and those into it, are looked at."""

    __tablename__ = "pending_pages"

    library_id: Mapped[Key]
    page_id: Mapped[Key]
    version_id: Mapped[BigInt]

    __table_args__ = (
        ForeignKeyConstraint(
            ["library_id", "page_id"],
            ["pgrag.pages.library_id", "pgrag.pages.page_id"],
            ondelete="CASCADE",
        ),
    )


class PageRank(Base):
    """How central a page is among all pages of its version, and how many edges it has."""

    __tablename__ = "page_ranks"

    library_id: Mapped[Key]
    page_id: Mapped[Key]
    version_id: Mapped[BigInt]
    rank: Mapped[float] = mapped_column(REAL)
    in_degree: Mapped[int]
    out_degree: Mapped[int]

    __table_args__ = (
        ForeignKeyConstraint(
            ["library_id", "page_id"],
            ["pgrag.pages.library_id", "pgrag.pages.page_id"],
            ondelete="CASCADE",
        ),
    )


class EdgeEmbedding(Base):
    """The vector of an edge's text by a model, of length 1."""

    __tablename__ = "edge_embeddings"

    library_id: Mapped[Key]
    edge_id: Mapped[Key]
    model_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("pgrag.embedding_models.model_id"), primary_key=True
    )
    version_id: Mapped[BigInt]
    text_hash: Mapped[uuid.UUID]
    embedding: Mapped[Vector]

    __table_args__ = (
        ForeignKeyConstraint(
            ["library_id", "edge_id"],
            ["pgrag.edges.library_id", "pgrag.edges.edge_id"],
            ondelete="CASCADE",
        ),
    )
