"""Migrations and the reflected ORM classes have the same tables."""

from uuid import uuid4

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import NullPool, create_engine, inspect, select, text
from sqlalchemy.orm import Session

from pgrag.ground import orm, schema
from pgrag.ground.connections import register_vector_types


@pytest.fixture
def engine(database_url):
    engine = engine_of(database_url)
    yield engine
    engine.dispose()


def engine_of(url):
    def connect():
        # A user who is called like the schema would have it first in the search_path.
        connection = psycopg.connect(url, options="-c search_path=public")
        register_vector_types(connection)
        return connection

    return create_engine("postgresql+psycopg://", creator=connect, poolclass=NullPool)


@pytest.mark.parametrize("name", ["weighted_vector", "posting_keys"])
def test_a_function_that_tables_need_is_the_one_of_today(name):
    """A revision makes a copy, which is replaced without making anew what it has computed."""
    file = (schema.sql_root() / "text" / f"_{name}.sql").read_text("utf-8")
    function = file[file.index("create or replace function") : file.index("$$;") + 3]
    revisions = sorted((schema.alembic_root() / "versions").glob("*.py"))
    texts = [revision.read_text("utf-8") for revision in revisions]
    assert function in [text for text in texts if f"function _pgrag.{name}(" in text][-1]


def test_every_schema_table_view_and_column_says_what_it_holds(database_url):
    with psycopg.connect(database_url) as connection:
        silent = connection.execute(
            """
            with relation as (
                select c.oid, c.relnamespace::regnamespace || ' ' || c.relkind::text as kind
                from pg_class as c
                where c.relnamespace in ('pgrag'::regnamespace, '_pgrag'::regnamespace)
                    and c.relkind in ('r', 'p', 'v', 'm', 'f')
            )
            select r.oid::regclass::text
            from relation as r
            where obj_description(r.oid, 'pg_class') is null
            union all
            select n.nspname
            from pg_namespace as n
            where n.nspname in ('pgrag', '_pgrag')
                and obj_description(n.oid, 'pg_namespace') is null
            union all
            select format('%s.%s', r.oid::regclass, a.attname)
            from relation as r
            join pg_attribute as a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
            where col_description(r.oid, a.attnum) is null
                -- Private views are steps of functions, which have no comments either.
                and r.kind <> '_pgrag v'
            order by 1
            """
        ).fetchall()
    assert silent == []


def test_every_table_has_a_class_as_alembic_sees_it(engine):
    base = orm.reflect(engine)
    with engine.connect() as connection:
        names = {*inspect(connection).get_table_names(schema="pgrag")} - {"alembic_version"}
    assert {mapped.__table__.name for mapped in base.classes} == names
    assert {mapped.__name__ for mapped in base.classes} == {
        "Answer", "AnswerTemplate", "Audit", "ConfigurationVersion", "CorpusStatistics",
        "ChangedRow", "Crawl",
        "Document", "Edge", "EdgeEmbedding", "EdgeKind", "Embedding", "EmbeddingModel",
        "Enrichment", "EnrichmentFailure", "EvaluationJudgement", "EvaluationQuery",
        "EvaluationResult", "EvaluationRun", "EvaluationRunQuery", "EvaluationSet", "Feedback",
        "FetchedPage",
        "Impact", "IndexedTable",
        "InstalledFunctions", "Intent", "IntentRule", "Job", "Key", "KeySecret",
        "KeyUsage", "LexemeStatistics", "Library", "ModelToken", "ObservationSettings", "Page",
        "PageName", "PageRank", "PageType", "PendingName", "PendingPage", "QueryType",
        "QueryVector", "RoleLibrary", "Search", "SearchHit", "SectionText", "Synonym", "TuningRun",
        "Upload", "Version",
    }  # fmt: skip

    def is_ours(name, kind, _):
        return {"schema": name == "pgrag", "table": name != "alembic_version"}.get(kind, True)

    with engine.connect() as connection:

        def differences():
            context = MigrationContext.configure(
                connection,
                opts={
                    "include_schemas": True,
                    "include_name": is_ours,
                    "compare_type": True,
                    "compare_server_default": True,
                    "version_table_schema": "pgrag",
                },
            )
            return compare_metadata(context, base.metadata)

        assert differences() == []
        connection.execute(text("alter table pgrag.pages add column motto text"))
        [(change, _, table, column)] = differences()
        assert (change, table, column.name) == ("remove_column", "pages", "motto")


def test_rows_are_read_with_their_relations(database, engine):
    pages = [
        {
            "key": "a.md", "title": "Nodes", "path": ["Nodes"], "tags": ["ops"],
            "front_matter": {"audience": "all"}, "created": "2024-01-01",
            "documents": [
                {"content": "About nodes.", "level": 0, "covers": 1, "path": ["Nodes"]},
                {"content": "Drain the node.", "parent": 0, "path": ["Nodes", "Drain"]},
            ],
        },
        {
            "key": "b.md", "title": "Pods", "documents": [{"content": "See nodes."}],
            "edges": [{"target": "a.md", "rule": "explicit:link", "kind": "references",
                       "confidence": 1, "line": 1}],
        },
    ]  # fmt: skip
    for page in pages:
        database.call("ingest_page", library="tool", version="1.2.0", page=page)
    classes = orm.reflect(engine).classes
    with Session(engine) as session:
        [library] = session.scalars(select(classes.Library)).all()
        [version] = library.versions
        [nodes, pods] = version.pages
        summary, paragraph = nodes.documents
        [embedding] = paragraph.embeddings
        [edge] = pods.edges
        assert (library.name, version.label, version.class_) == ("tool", "1.2.0", "semver")
        assert (nodes.front_matter, nodes.tags) == ({"audience": "all"}, ["ops"])
        assert (summary.parent, paragraph.parent) == (None, summary)
        assert (paragraph.page, paragraph.path) == (nodes, ["Nodes", "Drain"])
        assert (edge.source_page, edge.target_page) == (pods, nodes)
        assert embedding.model is library.model
        assert len(embedding.embedding) == embedding.model.dimensions
        [impact] = paragraph.impacts
        assert impact.weights is not None
        assert "'drain':" in paragraph.search
        nearest = select(classes.Embedding).order_by(
            classes.Embedding.embedding.max_inner_product(embedding.embedding)
        )
        assert session.scalars(nearest).first() is embedding


def test_rows_are_written(engine):
    """With all types that a driver does not know by itself, and keys that the database makes."""
    classes = orm.reflect(engine).classes
    vector = [0.5, -1.0, 2.0]
    with Session(engine) as session, session.begin():
        model = classes.EmbeddingModel(name="mini", provider="custom", dimensions=3)
        session.add(model)
        session.flush()
        assert model.settings == {}
        session.add(
            classes.QueryVector(model_id=model.model_id, query_hash=uuid4(), embedding=vector)
        )
    with Session(engine) as session:
        [stored] = session.scalars(select(classes.QueryVector).join(classes.QueryVector.model))
        assert stored.model.name == "mini"
        assert list(map(float, stored.embedding)) == vector
