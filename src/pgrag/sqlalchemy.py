"""pgrag in queries of SQLAlchemy: `search` as a table, and the classes of what it finds.

    hits = search("paper jam", "tickets", top_k=5)
    statement = (
        select(Ticket, hits.c.score)
        .join(hits, Ticket.id == cast(hits.c.key, BigInteger))
        .order_by(hits.c.score.desc())
    )

Works with every engine of PostgreSQL, synchronous or not. The classes are read-only: the SQL
functions that write pages keep the statistics of a library in step with its rows.
"""

from datetime import datetime
from difflib import get_close_matches
from typing import Any

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    BigInteger,
    Boolean,
    Double,
    ForeignKeyConstraint,
    Integer,
    MetaData,
    SmallInteger,
    TableValuedAlias,
    Text,
    Uuid,
    bindparam,
    column,
    event,
    func,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TIMESTAMP
from sqlalchemy.orm import DeclarativeBase, Mapped, Mapper, mapped_column, relationship
from sqlalchemy.types import TypeEngine

__all__ = ["Library", "Page", "Passage", "Version", "search"]

#: The arguments of `pgrag.search`, and the columns of a hit; see docs/sql.md.
ARGUMENTS: dict[str, TypeEngine[Any]] = {
    **dict.fromkeys(
        ("query", "library", "version", "fusion", "after", "model", "intent", "unit", "aggregate",
         "hierarchy", "query_expansion", "mode", "changed_since"),
        Text(),
    ),
    **dict.fromkeys(("top_k", "max_per_page", "page_hits", "candidate_count", "rrf_k"), Integer()),
    **dict.fromkeys(
        ("alpha", "min_score", "page_decay", "page_evidence", "mmr_lambda", "min_confidence"),
        Double(),
    ),
    **dict.fromkeys(("snippets", "explain", "graph", "history", "prefix"), Boolean()),
    "filters": JSONB(), "reranked": JSONB(), "dependencies": JSONB(),
    "levels": ARRAY(Integer), "exclude": ARRAY(Text),
    "rrf_weights": ARRAY(Double), "query_embedding": HALFVEC(),
}  # fmt: skip
HIT: dict[str, TypeEngine[Any]] = {
    **dict.fromkeys(
        ("document_id", "page_id", "previous_section", "next_section"), BigInteger()
    ),
    **dict.fromkeys(
        ("library", "version", "url", "title", "content", "key", "heading", "anchor", "link",
         "snippet", "cursor", "version_reason", "since", "changed_in", "chunk_key"),
        Text(),
    ),
    **dict.fromkeys(
        ("score", "keyword_score", "semantic_score", "hybrid_score", "confidence"), Double()
    ),
    **dict.fromkeys(("sort_order", "line_start", "line_end"), Integer()),
    "path": ARRAY(Text), "types": ARRAY(Text), "level": SmallInteger(), "explanation": JSONB(),
    "search_id": Uuid(), "has_children": Boolean(), "sibling_sections": ARRAY(BigInteger),
}  # fmt: skip


def search(
    query: Any, library: Any = None, *, name: str = "hits", **arguments: Any
) -> TableValuedAlias:
    """Return `pgrag.search(…)` as a table with typed columns, to select from and to join.

    The arguments are those of the SQL function; a value is sent as a parameter, an expression, such
    as a column of a lateral join, is taken as it is. `name` is its alias: two searches in one
    statement need two. Hits come in no order of their own: order by `c.score.desc()`. A library
    with a model outside the database needs `query_embedding`, else it is searched by words alone.

    Raises TypeError for an unknown argument.
    """
    given = {"query": query, "library": library, **arguments}
    if unknown := [each for each in given if each not in ARGUMENTS]:
        near = get_close_matches(unknown[0], ARGUMENTS, 1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise TypeError(f"pgrag.search has no argument {unknown[0]!r}.{hint}")
    call = func.pgrag.search(
        *(
            column(each).op("=>")(_sent(value, ARGUMENTS[each]))
            for each, value in given.items()
            if value is not None
        )
    )
    columns = [column(each, kind) for each, kind in HIT.items()]
    return call.table_valued(*columns, name=name)


def _sent(value: Any, kind: TypeEngine[Any]) -> Any:
    is_expression = hasattr(value, "__clause_element__") or hasattr(value, "self_group")
    return value if is_expression else bindparam(None, value, kind)


class _Base(DeclarativeBase):
    metadata = MetaData(schema="pgrag")
    type_annotation_map = {  # noqa: RUF012 - as SQLAlchemy declares it
        int: BigInteger,
        str: Text,
        datetime: TIMESTAMP(timezone=True),
        list[str]: ARRAY(Text),
        dict[str, Any]: JSONB,
    }


class Library(_Base):
    """A library."""

    __tablename__ = "libraries"
    library_id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    language: Mapped[str]
    settings: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    versions: Mapped[list["Version"]] = relationship(back_populates="library", viewonly=True)


class Version(_Base):
    """A version of a library; `label` is empty for documentation without versions."""

    __tablename__ = "versions"
    __table_args__ = (ForeignKeyConstraint(["library_id"], [Library.library_id]),)
    library_id: Mapped[int] = mapped_column(primary_key=True)
    version_id: Mapped[int] = mapped_column(primary_key=True)
    label: Mapped[str]
    status: Mapped[str]
    source: Mapped[dict[str, Any]]
    page_count: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    library: Mapped[Library] = relationship(back_populates="versions", viewonly=True)
    pages: Mapped[list["Page"]] = relationship(
        back_populates="version", order_by="Page.key", viewonly=True
    )


class Page(_Base):
    """A page; of an indexed table, a row: `key` is that of the row."""

    __tablename__ = "pages"
    __table_args__ = (
        ForeignKeyConstraint(
            ["library_id", "version_id"], [Version.library_id, Version.version_id]
        ),
    )
    library_id: Mapped[int] = mapped_column(primary_key=True)
    page_id: Mapped[int] = mapped_column(primary_key=True)
    version_id: Mapped[int]
    key: Mapped[str]
    url: Mapped[str]
    title: Mapped[str]
    path: Mapped[list[str]]
    front_matter: Mapped[dict[str, Any]]
    topic: Mapped[str | None]
    type: Mapped[str | None]
    tags: Mapped[list[str]]
    language: Mapped[str] = mapped_column("language_code")
    created: Mapped[datetime | None]
    modified: Mapped[datetime | None]
    indexed_at: Mapped[datetime]
    body: Mapped[str]
    version: Mapped[Version] = relationship(back_populates="pages", viewonly=True)
    passages: Mapped[list["Passage"]] = relationship(
        back_populates="page", order_by="Passage.sort_order", viewonly=True
    )


class Passage(_Base):
    """A passage of a page, in the table `pgrag.documents`."""

    __tablename__ = "documents"
    __table_args__ = (
        ForeignKeyConstraint(["library_id", "page_id"], [Page.library_id, Page.page_id]),
    )
    library_id: Mapped[int] = mapped_column(primary_key=True)
    document_id: Mapped[int] = mapped_column(primary_key=True)
    version_id: Mapped[int]
    page_id: Mapped[int]
    level: Mapped[int] = mapped_column(SmallInteger)
    sort_order: Mapped[int] = mapped_column(Integer)
    heading: Mapped[str]
    anchor: Mapped[str]
    path: Mapped[list[str]]
    content: Mapped[str]
    line_start: Mapped[int] = mapped_column(Integer)
    line_end: Mapped[int] = mapped_column(Integer)
    page: Mapped[Page] = relationship(back_populates="passages", viewonly=True)


def _refuse(mapper: Mapper[Any], *_: Any) -> None:
    raise TypeError(
        f"{mapper.class_.__name__} is read-only: write pages by pgrag.ingest_page, settings by"
        " pgrag.configure_library."
    )


for _event in ("before_insert", "before_update", "before_delete"):
    event.listen(_Base, _event, _refuse, propagate=True)
