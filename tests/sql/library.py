"""Builds small libraries: pages of passages in the form of `pgrag.ingest_pages`, and calls."""

import re
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pgrag.ground.arguments import FUNCTIONS, named_and_options

Row = dict[str, Any]
SEARCHES = {*FUNCTIONS, "explain_search", "recorded_search"}


def document(content, **fields):
    """A paragraph; any column of it can be set."""
    return {"content": content, **fields}


def page(key, *documents, **fields):
    """A page of paragraphs, each of which also represents its section."""
    rows = [document(d) if isinstance(d, str) else d for d in documents]
    written = {
        "key": key,
        "title": key.removesuffix(".md").rpartition("/")[2].title(),
        "body": "\n\n".join(row["content"] for row in rows),
        "documents": rows,
        **fields,
    }
    return written | {"source_hash": repr(sorted(written.items()))}


def ingest(connection, library, pages, version="", *, language=None, embed=True, ready=True):
    """Write pages; with `embed`, give them the vectors of the built-in model."""
    options = {"language": language} if language else {}
    rows = run(
        connection, "ingest_pages",
        library=library, pages=Jsonb(list(pages)), version=version, **options,
    )  # fmt: skip
    if embed:
        run(connection, "embed_pending", library=library)
    if ready:
        run(connection, "finish_version", library=library, version=version)
    return rows


def run(connection, function, /, **arguments):
    """Call a function with named arguments; its errors come as they are.

    What a function of a search does not take by name goes to its options.
    """
    if function in SEARCHES:
        nulls = {name: None for name, argument in arguments.items() if argument is None}
        arguments = named_and_options(function, arguments) | nulls
    given = {k: Jsonb(v) if isinstance(v, dict) else v for k, v in arguments.items()}
    names = ", ".join(f"{name} => %({name})s" for name in given)
    return connection.execute(
        f"select * from {'' if '.' in function else 'pgrag.'}{function}({names})", given
    ).fetchall()


def rebuild_statistics(connection, library):
    """Rebuild statistics and impacts of a library, as changed settings do."""
    connection.execute(
        "select _pgrag.rebuild_statistics(l.library_id, _pgrag.effective_settings(l.settings))"
        " from pgrag.libraries as l where l.name = %s",
        [library],
    )


def search(connection, query, **arguments):
    """`pgrag.search`."""
    return run(connection, "search", query=query, **arguments)


def explained(connection, query, **arguments):
    """The hits in the library "manual", each with its explanation."""
    hits = search(connection, query, library="manual", explain=True, **arguments)
    assert hits
    return hits


def walk(connection, function, size, limit=200, **arguments):
    """All pages of `size` hits, one after the other."""
    hits = []
    cursor = {}
    while True:
        more = run(connection, function, top_k=size, **cursor, **arguments)
        hits += more
        if len(more) < size or len(hits) >= limit:
            return hits
        cursor = {"after": more[-1]["cursor"]}


@contextmanager
def processor_seconds(connection):
    """The processor time of each statement on the server, independent of the load."""
    times = []

    def note(diagnostic):
        used = re.search(r"([\d.]+) s user, ([\d.]+) s system", diagnostic.message_detail or "")
        if used:
            times.append(float(used[1]) + float(used[2]))

    connection.add_notice_handler(note)
    connection.execute("set local client_min_messages = log; set local log_statement_stats = on")
    yield times
    connection.execute(
        "set local log_statement_stats = off; set local client_min_messages = notice"
    )
    connection.remove_notice_handler(note)


def value(connection, statement, *arguments):
    """The only column of the only row."""
    [row] = connection.execute(statement, arguments).fetchall()
    [found] = row.values()
    return found


def compiled_expressions(connection):
    """How many regular expressions the session keeps."""
    kept = "select count(*) from pg_backend_memory_contexts where name = 'RegexpMemoryContext'"
    return value(connection, kept)


def keys(rows):
    return [row["key"] for row in rows]


def ids(rows):
    return [row["document_id"] for row in rows]


def relations(rows, name="key"):
    """Keys, or titles, by their relation to the hits."""
    return {
        relation: [row[name] for row in rows if row["relation"] == relation]
        for relation in {row["relation"] for row in rows}
    }


def contents(rows):
    return [row["content"] for row in rows]


@contextmanager
def refused(connection, sqlstate, message="", hint=""):
    """Expect this error; earlier work in the transaction stays."""
    with pytest.raises(psycopg.Error) as caught, connection.transaction():
        yield
    error = caught.value
    assert error.sqlstate == sqlstate, error
    assert message in (error.diag.message_primary or "")
    assert hint in (error.diag.message_hint or "")


def words(text):
    return re.findall(r"\w+", text)
