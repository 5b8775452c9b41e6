"""Migrations, their golden listing and the SQLAlchemy models speak of the same tables."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from schema_listing import GOLDEN, listing
from sqlalchemy import Engine, NullPool, create_engine, inspect, select, text
from sqlalchemy.orm import Session

from pgrag import orm
from pgrag.db import Database, register_vector_types


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = engine_of(database_url)
    yield engine
    engine.dispose()


def engine_of(url: str) -> Engine:
    def connect() -> psycopg.Connection:
        # A user who is called like the schema would have it first in the search_path.
        connection = psycopg.connect(url, options="-c search_path=public")
        register_vector_types(connection)
        return connection

    return create_engine("postgresql+psycopg://", creator=connect, poolclass=NullPool)


def test_migrations_make_the_golden_schema(database_url):
    """A change of tables or types belongs into a new revision, and into the listing."""
    with psycopg.connect(database_url) as connection:
        found = listing(connection).splitlines()
    expected = GOLDEN.read_text("utf-8").splitlines()
    assert found == expected, "run: python tests/migration/schema_listing.py, and read its diff"


def test_models_make_the_tables_of_the_migrations(database_url, empty_database_url):
    engine = engine_of(empty_database_url)
    with engine.begin() as connection:
        connection.execute(text("create schema pgrag"))
        connection.execute(text("create extension vector"))
        orm.Base.metadata.create_all(connection)
    engine.dispose()
    with psycopg.connect(database_url) as migrated, psycopg.connect(empty_database_url) as made:
        tables, _, types = listing(migrated, physical=False).partition("\ntype ")
        assert types
        assert listing(made, physical=False) == f"{tables}\n"


def test_alembic_sees_no_difference(engine):
    def is_compared(found: object, name: str | None, kind: str, *_: object) -> bool:
        # Alembic takes the slice in the second for another expression; the listings above do not.
        apart = ("embeddings_hnsw_", "pages_path_above")
        if kind == "index" and (name or "").startswith(apart):
            return False
        return name != "alembic_version"

    def is_ours(name: str | None, kind: str, _: object) -> bool:
        return kind != "schema" or name == "pgrag"

    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                "include_schemas": True,
                "include_name": is_ours,
                "include_object": is_compared,
                "compare_type": True,
                "version_table_schema": "pgrag",
            },
        )
        assert compare_metadata(context, orm.Base.metadata) == []
        assert len(inspect(connection).get_table_names(schema="pgrag")) > 10


def test_rows_are_read_with_their_relations(database: Database, database_url, engine):
    page = {
        "key": "a.md", "title": "Nodes", "path": ["Nodes"], "tags": ["ops"],
        "front_matter": {"audience": "all"}, "created": "2024-01-01",
        "documents": [
            {"content": "About nodes.", "level": 0, "covers": 1, "path": ["Nodes"]},
            {"content": "Drain the node.", "parent": 0, "path": ["Nodes", "Drain"]},
        ],
    }  # fmt: skip
    database.call("ingest_page", library="tool", version="1.2.0", page=page)
    with Session(engine) as session:
        [library] = session.scalars(select(orm.Library)).all()
        [version] = library.versions
        [stored] = version.pages
        summary, paragraph = stored.documents
        [embedding] = paragraph.embeddings
        assert (library.name, version.label, version.class_) == ("tool", "1.2.0", "semver")
        assert (stored.front_matter, stored.tags) == ({"audience": "all"}, ["ops"])
        assert (summary.parent, paragraph.parent) == (None, summary)
        assert (paragraph.page, paragraph.path) == (stored, ["Nodes", "Drain"])
        assert embedding.model is library.model
        assert len(embedding.embedding) == embedding.model.dimensions
        assert paragraph.weights is not None
        assert "'drain':" in paragraph.search
        nearest = select(orm.Embedding).order_by(
            orm.Embedding.embedding.max_inner_product(embedding.embedding)
        )
        assert session.scalars(nearest).first() is embedding


def test_every_table_has_a_model():
    with_models = {mapper.local_table.name for mapper in orm.Base.registry.mappers}
    assert with_models == {table.name for table in orm.Base.metadata.sorted_tables}
    assert sorted(orm.__all__) == orm.__all__
    assert {mapper.class_.__name__ for mapper in orm.Base.registry.mappers} == {*orm.__all__} - {
        "Base"
    }
