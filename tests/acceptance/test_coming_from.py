"""The pages for who comes from another engine: their examples run, and show something."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)
#: The tables as langchain-postgres makes them, with two chunks that overlap, in this order.
LANGCHAIN = """
create table public.langchain_pg_collection (uuid uuid primary key, name varchar, cmetadata json);
create table public.langchain_pg_embedding (
    id varchar primary key, collection_id uuid, embedding vector(3), document varchar,
    cmetadata jsonb
);
insert into public.langchain_pg_collection values (gen_random_uuid(), 'handbook', null);
insert into public.langchain_pg_embedding
select c.id, k.uuid, '[1, 2, 3]', c.document, '{"source": "guide/restore.md", "team": "core"}'
from public.langchain_pg_collection as k, (values
    ('b', 'To restore a folder, name the day and the folder.'),
    ('a', 'name the day and the folder. Then wait.')
) as c (id, document);
"""


def blocks(page):
    return BLOCK.findall((DOCS / page).read_text("utf-8"))


def shown(pgrag, language, text):
    """What each example of a block prints."""
    url = pgrag.variables["PGRAG_DATABASE_URL"]
    if language == "sh":
        for line in text.splitlines():
            command, _, file = line.partition(" > ")
            words = shlex.split(command, comments=True)
            if words[:1] == ["pgrag"]:
                printed = pgrag.run(*words[1:]).out
                if file:
                    (pgrag.folder / file).write_text(printed, "utf-8")
                yield command, printed
    elif language == "sql":
        with psycopg.connect(url) as connection:
            for statement in (each for each in text.split(";") if each.strip()):
                cursor = connection.execute(statement.encode())
                yield statement, repr(cursor.fetchall()) if cursor.description else "done"
    elif language == "python":
        done = subprocess.run(
            [sys.executable, "-c", text], cwd=pgrag.folder, env=pgrag.environment,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        yield text, done.stdout


@pytest.mark.parametrize(("page", "least", "words"), [
    ("docsearch.md", 4, ("When the other machine is gone", "https://docs.example/restore")),
    ("meilisearch.md", 6, ("The Long Tide", "2011", "Sill")),
    ("elasticsearch.md", 5, ("Restore a folder", "recovery")),
    ("langchain-pgvector.md", 4, (
        "guide/restore.md To restore a folder, name the day and the folder. Then wait.",
    )),
    ("context7.md", 3, ("1 pages written", "name the day and the folder")),
])  # fmt: skip
def test_examples_show_something(pgrag, page, least, words):
    with psycopg.connect(pgrag.variables["PGRAG_DATABASE_URL"]) as connection:
        connection.execute(LANGCHAIN)
    printed = {}
    for language, file, text in blocks(f"coming-from/{page}"):
        if file:
            (pgrag.folder / file).parent.mkdir(parents=True, exist_ok=True)
            (pgrag.folder / file).write_text(text, "utf-8")
        else:
            printed |= dict(shown(pgrag, language, text))
    assert len(printed) >= least
    empty = [each for each, answer in printed.items() if answer.strip() in {"", "[]"}]
    assert empty == []
    everything = re.sub(r"\s+", " ", " ".join(printed.values())).lower()
    assert [each for each in words if each.lower() not in everything] == []


def test_statements_of_the_page_on_psql_run(indexed):
    connect = psycopg.connect(indexed.variables["PGRAG_DATABASE_URL"])
    with connect as connection:
        connection.execute(
            "insert into pgrag.searches (client, query, library, hit_count) values"
            " ('rest', 'encrypt a copy', 'kestrel', 0)"
        )
        text = ";".join(each for language, _, each in blocks("psql.md") if language == "sql")
        statements = [each for each in text.split(";") if each.strip()]
        empty = [
            each
            for each in statements
            if (cursor := connection.execute(each.encode())).description and not cursor.fetchall()
        ]
        assert len(statements) > 12
        assert empty == []
        connection.rollback()
