"""Built-in models that earlier versions of pgrag left in a database."""

import numpy as np
import psycopg
import pytest
from psycopg.types.json import Jsonb

from pgrag.models.embedding import BuiltinEmbedder, install, stored
from pgrag.models.embedding.builtin import read_description

TEXTS = ["How do I drain a node?", "Die Größe der Häuser", "", "snake_case, --long-flags"]


@pytest.fixture
def connection(database_url):
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield connection


def leave(connection: psycopg.Connection, name: str) -> None:
    """Put a model into the database as an earlier version did: the shipped one, renamed."""
    connection.execute(
        "update pgrag.embedding_models set name = %s, checksum = 'earlier' where name = %s",
        (name, read_description().name),
    )


def names(connection: psycopg.Connection) -> list[str]:
    rows = connection.execute("select m.name from pgrag.embedding_models as m order by m.name")
    return [name for (name,) in rows]


def test_the_model_of_the_database_gives_the_vectors_of_sql(connection):
    leave(connection, "earlier")
    embedder = stored(connection, "earlier")
    assert embedder is not None
    assert (embedder.name, embedder.dimensions) == ("earlier", 256)
    vectors = embedder.embed_documents(TEXTS)
    rows = connection.execute(
        "select pgrag.embed(t.text, 'earlier')::real[]"
        " from unnest(%s::text[]) with ordinality as t (text, place) order by t.place",
        (TEXTS,),
    ).fetchall()
    in_sql = np.array([row[0] or np.zeros(256) for row in rows], dtype=np.float32)
    np.testing.assert_allclose(vectors, in_sql, atol=2e-3)
    np.testing.assert_allclose(vectors, BuiltinEmbedder().embed_documents(TEXTS), atol=2e-3)


@pytest.mark.parametrize("name", ["unknown", "outside", "empty"])
def test_only_a_built_in_model_with_character_classes_is_read(connection, name):
    connection.execute("select pgrag.register_model('outside', 8)")
    connection.execute("select pgrag.register_model('empty', 8, provider => 'builtin')")
    assert stored(connection, name) is None


def test_an_upgrade_removes_an_earlier_model_that_nobody_uses(connection):
    leave(connection, "earlier")
    connection.execute("select pgrag.register_model('outside', 8)")
    connection.execute("select pgrag.register_model('bare', 8, provider => 'builtin')")
    install(connection)
    assert names(connection) == ["bare", "outside", read_description().name]


@pytest.mark.parametrize("use", ["library", "vectors"])
def test_an_upgrade_keeps_an_earlier_model_that_a_library_uses_or_may_go_back_to(connection, use):
    leave(connection, "earlier")
    page = {"key": "moths.md", "title": "Moths", "body": "Moths eat wool."}
    connection.execute("select pgrag.open_version('jumper', model => 'earlier')")
    connection.execute("select pgrag.ingest_page('jumper', %s)", (Jsonb(page),))
    if use == "vectors":
        connection.execute("select pgrag.register_model('outside', 8)")
        connection.execute("select pgrag.use_model('jumper', 'outside')")
    install(connection)
    assert "earlier" in names(connection)
    tokens = connection.execute(
        "select m.name, count(*) from pgrag.model_tokens as t"
        " join pgrag.embedding_models as m using (model_id) group by m.name order by m.name"
    ).fetchall()
    assert tokens == [("earlier", 65_521), (read_description().name, 65_521)]
