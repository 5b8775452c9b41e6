"""What all models share: their base, and the types of columns that come again."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from pgvector import SparseVector
from pgvector.sqlalchemy import HALFVEC, SPARSEVEC
from sqlalchemy import (
    REAL,
    BigInteger,
    Double,
    ForeignKey,
    Identity,
    MetaData,
    SmallInteger,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TIMESTAMP
from sqlalchemy.orm import DeclarativeBase, mapped_column

BigInt = Annotated[int, mapped_column(BigInteger)]
Key = Annotated[int, mapped_column(BigInteger, primary_key=True)]
GeneratedKey = Annotated[int, mapped_column(BigInteger, Identity(always=True), primary_key=True)]
SmallInt = Annotated[int, mapped_column(SmallInteger)]
Real = Annotated[float, mapped_column(REAL)]
Words = Annotated[list[str], mapped_column(ARRAY(Text), server_default=text("'{}'"))]
Fields = Annotated[dict[str, Any], mapped_column(JSONB, server_default=text("'{}'"))]
Moment = Annotated[datetime, mapped_column(TIMESTAMP(timezone=True))]
Now = Annotated[datetime, mapped_column(TIMESTAMP(timezone=True), server_default=text("now()"))]
# Older versions of pgvector give a HalfVector, newer ones a list.
Vector = Annotated[Any, mapped_column(HALFVEC, nullable=False)]
Impacts = Annotated[SparseVector, mapped_column(SPARSEVEC)]
EmptyText = Annotated[str, mapped_column(Text, server_default="")]
ModelKey = Annotated[
    int,
    mapped_column(
        BigInteger,
        ForeignKey("pgrag.embedding_models.model_id", ondelete="CASCADE"),
        primary_key=True,
    ),
]
LibraryKey = Annotated[
    int, mapped_column(BigInteger, ForeignKey("pgrag.libraries.library_id"), primary_key=True)
]


class Base(DeclarativeBase):
    """The models of the schema `pgrag`; names of constraints are those that PostgreSQL gives."""

    metadata = MetaData(
        schema="pgrag",
        naming_convention={
            "pk": "%(table_name)s_pkey",
            "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
            "uq": "%(table_name)s_%(column_0_N_name)s_key",
            "ck": "%(table_name)s_%(constraint_name)s_check",
        },
    )
    type_annotation_map: ClassVar = {str: Text, float: Double}
