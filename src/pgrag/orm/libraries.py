"""Libraries, what is in them, and what ranks it."""

from __future__ import annotations

import uuid
from typing import Any

from sqlalchemy import (
    REAL,
    BigInteger,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    SmallInteger,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR
from sqlalchemy.orm import Mapped, foreign, mapped_column, relationship, remote

from pgrag.orm.base import (
    Base,
    BigInt,
    EmptyText,
    Fields,
    GeneratedKey,
    Impacts,
    Key,
    LibraryKey,
    ModelKey,
    Moment,
    Now,
    Real,
    SmallInt,
    Vector,
    Words,
)


class InstalledFunctions(Base):
    """Which tree of SQL functions the database has."""

    __tablename__ = "installed_functions"

    digest: Mapped[str] = mapped_column(primary_key=True)
    installed_at: Mapped[Now]


class EmbeddingModel(Base):
    """A model whose vectors are kept."""

    __tablename__ = "embedding_models"
    __table_args__ = (
        CheckConstraint("provider in ('builtin', 'openai', 'local', 'custom')", name="provider"),
        CheckConstraint("dimensions between 1 and 4000", name="dimensions"),
        CheckConstraint("alpha between 0 and 1", name="alpha"),
    )

    model_id: Mapped[GeneratedKey]
    name: Mapped[str] = mapped_column(unique=True)
    provider: Mapped[str]
    dimensions: Mapped[int]
    query_prefix: Mapped[EmptyText]
    document_prefix: Mapped[EmptyText]
    alpha: Mapped[float | None]
    checksum: Mapped[str | None]
    settings: Mapped[Fields]
    created_at: Mapped[Now]


class Library(Base):
    """A documentation set."""

    __tablename__ = "libraries"
    __table_args__ = (CheckConstraint("name ~ '^[a-z0-9][a-z0-9._/-]{0,99}$'", name="name"),)

    library_id: Mapped[GeneratedKey]
    name: Mapped[str] = mapped_column(unique=True)
    language: Mapped[str] = mapped_column(server_default="english")
    model_id: Mapped[int | None] = mapped_column(
        BigInteger, ForeignKey("pgrag.embedding_models.model_id")
    )
    settings: Mapped[Fields]
    created_at: Mapped[Now]

    model: Mapped[EmbeddingModel | None] = relationship(viewonly=True)
    versions: Mapped[list[Version]] = relationship(viewonly=True, back_populates="library")


class Version(Base):
    """One version of a library; the label is empty for documentation without versions."""

    __tablename__ = "versions"
    __table_args__ = (
        UniqueConstraint("library_id", "label"),
        CheckConstraint("label = lower(btrim(label))", name="label"),
        CheckConstraint("class in ('semver', 'partial', 'tag', 'unversioned')", name="class"),
        CheckConstraint("status in ('indexing', 'ready')", name="status"),
    )

    library_id: Mapped[LibraryKey]
    version_id: Mapped[GeneratedKey]
    label: Mapped[str]
    class_: Mapped[str] = mapped_column("class")
    release_key: Mapped[str | None] = mapped_column(Text(collation="C"))
    prerelease: Mapped[bool] = mapped_column(server_default=text("false"))
    status: Mapped[str] = mapped_column(server_default="indexing")
    source: Mapped[Fields]
    page_count: Mapped[int] = mapped_column(server_default=text("0"))
    document_count: Mapped[int] = mapped_column(server_default=text("0"))
    created_at: Mapped[Now]
    updated_at: Mapped[Now]

    library: Mapped[Library] = relationship(viewonly=True, back_populates="versions")
    pages: Mapped[list[Page]] = relationship(viewonly=True, back_populates="version")


class Page(Base):
    """One page of a version, with all of its front matter."""

    __tablename__ = "pages"

    library_id: Mapped[Key]
    page_id: Mapped[GeneratedKey]
    version_id: Mapped[BigInt]
    key: Mapped[str]
    url: Mapped[str]
    title: Mapped[str]
    path: Mapped[Words]
    front_matter: Mapped[Fields]
    uuid: Mapped[str | None]
    link: Mapped[str | None]
    topic: Mapped[str | None]
    type: Mapped[str | None]
    tags: Mapped[Words]
    language: Mapped[str]
    created: Mapped[Moment | None]
    modified: Mapped[Moment | None]
    source_hash: Mapped[str]
    warnings: Mapped[Words]
    document_count: Mapped[int] = mapped_column(server_default=text("0"))
    indexed_at: Mapped[Now]
    length: Mapped[float] = mapped_column(REAL, server_default=text("0"))
    body: Mapped[str]
    weights: Mapped[Impacts | None]
    title_weights: Mapped[Impacts | None]
    head: Mapped[EmptyText]
    aliases: Mapped[Words]
    anchor_texts: Mapped[Words]
    reading: Mapped[dict[str, Any] | None] = mapped_column(JSONB)

    version: Mapped[Version] = relationship(viewonly=True, back_populates="pages")
    documents: Mapped[list[Document]] = relationship(
        viewonly=True, back_populates="page", order_by="Document.sort_order"
    )

    __table_args__ = (
        ForeignKeyConstraint(
            ["library_id", "version_id"], ["pgrag.versions.library_id", "pgrag.versions.version_id"]
        ),
        Index("pages_key", "library_id", "version_id", "key", unique=True),
        Index("pages_uuid", "library_id", "uuid", postgresql_where=text("uuid is not null")),
        Index("pages_tags", "tags", postgresql_using="gin"),
        Index(
            "pages_type",
            "library_id",
            "version_id",
            text("lower(type)"),
            postgresql_where=text("type is not null"),
        ),
        Index("pages_path", "path", postgresql_using="hash"),
        Index(
            "pages_path_above",
            text("(path[\\:(cardinality(path) - 1)])"),
            postgresql_using="hash",
            postgresql_where=text("cardinality(path) > 1"),
        ),
        Index(
            "pages_front_matter",
            "front_matter",
            postgresql_using="gin",
            postgresql_ops={"front_matter": "jsonb_path_ops"},
        ),
        {"postgresql_with": {"toast_tuple_target": 128}},
    )


class Document(Base):
    """One chunk of a page: its summary (level 0), a section's (1), or a paragraph (2)."""

    __tablename__ = "documents"

    library_id: Mapped[Key]
    document_id: Mapped[GeneratedKey]
    version_id: Mapped[BigInt]
    page_id: Mapped[BigInt]
    parent_id: Mapped[BigInt | None]
    level: Mapped[SmallInt]
    covers: Mapped[SmallInt]
    sort_order: Mapped[int]
    heading_level: Mapped[int] = mapped_column(SmallInteger, server_default=text("0"))
    depth: Mapped[int] = mapped_column(SmallInteger, server_default=text("0"))
    line_start: Mapped[int] = mapped_column(server_default=text("0"))
    line_end: Mapped[int] = mapped_column(server_default=text("0"))
    is_summary: Mapped[bool] = mapped_column(server_default=text("false"))
    text_hash: Mapped[uuid.UUID]
    language: Mapped[str]
    position: Mapped[str] = mapped_column(server_default="middle")
    anchor: Mapped[EmptyText]
    heading: Mapped[EmptyText]
    root_section: Mapped[EmptyText]
    types: Mapped[Words]
    path: Mapped[Words]
    overlap: Mapped[EmptyText]
    content: Mapped[str]
    search: Mapped[Any | None] = mapped_column(TSVECTOR)
    weights: Mapped[Impacts | None]
    content_tags: Mapped[Words]
    keywords: Mapped[Words]
    title_weights: Mapped[Impacts | None]
    context: Mapped[EmptyText]
    situation: Mapped[EmptyText]
    extract: Mapped[str | None]

    page: Mapped[Page] = relationship(viewonly=True, back_populates="documents")
    embeddings: Mapped[list[Embedding]] = relationship(viewonly=True, back_populates="document")
    parent: Mapped[Document | None] = relationship(
        viewonly=True,
        primaryjoin=lambda: (
            (foreign(Document.library_id) == remote(Document.library_id))
            & (foreign(Document.parent_id) == remote(Document.document_id))
        ),
        uselist=False,
    )

    __table_args__ = (
        ForeignKeyConstraint(
            ["library_id", "page_id"],
            ["pgrag.pages.library_id", "pgrag.pages.page_id"],
            ondelete="CASCADE",
        ),
        CheckConstraint("level between 0 and 2", name="level"),
        CheckConstraint("covers between 0 and 7", name="covers"),
        Index("documents_page", "library_id", "page_id", "sort_order"),
        Index("documents_parent", "library_id", "parent_id"),
        Index("documents_text_hash", "library_id", "text_hash"),
        Index(
            "documents_search",
            "search",
            postgresql_using="gin",
            postgresql_with={"fastupdate": "on", "gin_pending_list_limit": 32768},
        ),
        {"postgresql_with": {"toast_tuple_target": 128}},
    )


class Embedding(Base):
    """The vector of a document by a model, of length 1.

    `page_hash` says from what text of its whole page it was pooled; None: from its own alone.
    """

    __tablename__ = "embeddings"

    library_id: Mapped[Key]
    document_id: Mapped[Key]
    model_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("pgrag.embedding_models.model_id"), primary_key=True
    )
    version_id: Mapped[BigInt]
    page_id: Mapped[BigInt]
    covers: Mapped[SmallInt]
    embedding: Mapped[Vector]
    page_hash: Mapped[uuid.UUID | None]

    document: Mapped[Document] = relationship(viewonly=True, back_populates="embeddings")
    model: Mapped[EmbeddingModel] = relationship(viewonly=True)

    __table_args__ = (
        ForeignKeyConstraint(
            ["library_id", "document_id"],
            ["pgrag.documents.library_id", "pgrag.documents.document_id"],
            ondelete="CASCADE",
        ),
        Index("embeddings_scope", "library_id", "model_id", "version_id", "page_id"),
    )


class ModelToken(Base):
    """A word piece of the built-in model and its vector."""

    __tablename__ = "model_tokens"

    model_id: Mapped[ModelKey]
    token: Mapped[str] = mapped_column(Text(collation="C"), primary_key=True)
    prefix_lengths: Mapped[list[int]] = mapped_column(ARRAY(SmallInteger))
    embedding: Mapped[Vector]


class QueryVector(Base):
    """The vector of a query seen before, by a model outside the database."""

    __tablename__ = "query_vectors"

    model_id: Mapped[ModelKey]
    query_hash: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    embedding: Mapped[Vector]
    used_at: Mapped[Now]

    __table_args__ = (Index("query_vectors_used", "model_id", "used_at", "query_hash"),)


class CorpusStatistics(Base):
    """Counts and lengths of the documents and pages of a library in one language."""

    __tablename__ = "corpus_statistics"

    library_id: Mapped[LibraryKey]
    language: Mapped[str] = mapped_column(primary_key=True)
    document_count: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    total_length: Mapped[float] = mapped_column(server_default=text("0"))
    average_length: Mapped[float]
    page_count: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    total_page_length: Mapped[float] = mapped_column(server_default=text("0"))
    average_page_length: Mapped[float]


class LexemeStatistics(Base):
    """In how many documents a lexeme is, and the largest impact that it has in one."""

    __tablename__ = "lexeme_statistics"
    __table_args__ = ({"postgresql_with": {"fillfactor": 70}},)

    library_id: Mapped[LibraryKey]
    language: Mapped[str] = mapped_column(primary_key=True)
    lexeme: Mapped[str] = mapped_column(Text(collation="C"), primary_key=True)
    document_count: Mapped[int]
    largest_impact: Mapped[Real]
