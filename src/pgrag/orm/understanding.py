"""What tells one kind of question from another, and what its words also mean."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Computed,
    ForeignKey,
    Integer,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from pgrag.orm.base import Base, EmptyText, GeneratedKey, Now, Words

_HIERARCHIES = "hierarchy in ('none', 'depth', 'breadth', 'overview')"
_PHRASES = """
case
    when kind = 'words'
    then string_to_array(
        replace(replace(replace(replace(replace(replace(
            ' ' || btrim(regexp_replace(regexp_replace(
                translate(lower(normalize(pattern, nfkc)), 'äöüё', 'aouе'),
                '[^[:alnum:]|*]+', ' ', 'g'
            ), ' *[|] *', ' | ', 'g')) || ' ',
            'ß', 'ss'), 'ae', 'a'), 'oe', 'o'), 'ue', 'u'), '* ', ''), ' *', ''
        ),
        '|'
    )
end
"""


class QueryType(Base):
    """A type of question, and what it chooses for a search."""

    __tablename__ = "query_types"
    __table_args__ = (
        CheckConstraint("name ~ '^[a-z][a-z0-9_]{0,49}$'", name="name"),
        CheckConstraint("levels <@ '{0,1,2}' and cardinality(levels) > 0", name="levels"),
        CheckConstraint("alpha_offset between -1 and 1", name="alpha_offset"),
        CheckConstraint(_HIERARCHIES, name="hierarchy"),
    )

    name: Mapped[str] = mapped_column(primary_key=True)
    description: Mapped[EmptyText]
    levels: Mapped[list[int]] = mapped_column(ARRAY(Integer), server_default=text("'{1,2}'"))
    alpha_offset: Mapped[float | None]
    hierarchy: Mapped[str | None]


class Intent(Base):
    """What somebody wants who asks, and what it chooses for a search."""

    __tablename__ = "intents"
    __table_args__ = (
        CheckConstraint("name ~ '^[A-Z][A-Z0-9_]{0,49}$'", name="name"),
        CheckConstraint("unit in ('document', 'page')", name="unit"),
        CheckConstraint("aggregate in ('max', 'mean', 'rrf')", name="aggregate"),
        CheckConstraint("alpha between 0 and 1", name="alpha"),
        CheckConstraint(_HIERARCHIES, name="hierarchy"),
        CheckConstraint("levels <@ '{0,1,2}' and cardinality(levels) > 0", name="levels"),
    )

    name: Mapped[str] = mapped_column(primary_key=True)
    description: Mapped[EmptyText]
    unit: Mapped[str] = mapped_column(Text, server_default="document")
    aggregate: Mapped[str] = mapped_column(Text, server_default="max")
    alpha: Mapped[float | None]
    hierarchy: Mapped[str | None]
    query_type: Mapped[str | None] = mapped_column(
        ForeignKey("pgrag.query_types.name", deferrable=True, initially="deferred")
    )
    template: Mapped[str | None] = mapped_column(
        ForeignKey("pgrag.answer_templates.name", deferrable=True, initially="deferred")
    )
    inject_types: Mapped[Words]
    levels: Mapped[list[int] | None] = mapped_column(ARRAY(Integer))


class IntentRule(Base):
    """Words, a regular expression or a shape that tell intent, query type or both."""

    __tablename__ = "intent_rules"
    __table_args__ = (
        CheckConstraint("name ~ '^[a-z0-9][a-z0-9-]{0,79}$'", name="name"),
        CheckConstraint("language in ('any', 'de', 'en', 'ru')", name="language"),
        CheckConstraint("kind in ('words', 'pattern', 'shape')", name="kind"),
        CheckConstraint("pattern ~ '[^[:space:]]'", name="pattern"),
        CheckConstraint("confidence between 0 and 1", name="confidence"),
        CheckConstraint("intent is not null or query_type is not null", name="target"),
        CheckConstraint(
            "kind <> 'shape' or pattern in ('filters', 'quoted', 'identifier', 'path', 'name')",
            name="shape",
        ),
    )

    name: Mapped[str] = mapped_column(primary_key=True)
    language: Mapped[str] = mapped_column(Text, server_default="any")
    kind: Mapped[str] = mapped_column(Text, server_default="words")
    pattern: Mapped[str]
    intent: Mapped[str | None] = mapped_column(
        ForeignKey("pgrag.intents.name", deferrable=True, initially="deferred")
    )
    query_type: Mapped[str | None] = mapped_column(
        ForeignKey("pgrag.query_types.name", deferrable=True, initially="deferred")
    )
    confidence: Mapped[float] = mapped_column(server_default=text("0.8"))
    phrases: Mapped[list[str] | None] = mapped_column(
        ARRAY(Text), Computed(_PHRASES, persisted=True)
    )


class Synonym(Base):
    """What a term of a library's queries also means."""

    __tablename__ = "synonyms"
    __table_args__ = (
        CheckConstraint("term ~ '[^[:space:]]'", name="term"),
        CheckConstraint("cardinality(expansions) > 0", name="expansions"),
        CheckConstraint("weight > 0 and weight <= 1", name="weight"),
    )

    library_id: Mapped[int] = mapped_column(
        BigInteger,
        ForeignKey("pgrag.libraries.library_id", ondelete="CASCADE"),
        primary_key=True,
    )
    term: Mapped[str] = mapped_column(primary_key=True)
    expansions: Mapped[list[str]] = mapped_column(ARRAY(Text))
    mutual: Mapped[bool] = mapped_column(server_default=text("false"))
    weight: Mapped[float] = mapped_column(server_default=text("0.5"))


class ConfigurationVersion(Base):
    """The configuration as it was shipped, or after somebody had changed it."""

    __tablename__ = "configuration_versions"
    __table_args__ = (CheckConstraint("origin in ('package', 'user')", name="origin"),)

    version_id: Mapped[GeneratedKey]
    origin: Mapped[str]
    note: Mapped[EmptyText]
    configuration: Mapped[dict[str, object]] = mapped_column(JSONB)
    created_at: Mapped[Now]
