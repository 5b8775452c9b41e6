"""Tables of one's own through Python and workers, and the examples of docs/own-tables.md."""

import re
from pathlib import Path

import psycopg
import pytest
from mcp_service import eventually

import pgrag
from pgrag.ground.settings import Settings
from pgrag.service import tables
from pgrag.service.app import App
from pgrag.service.worker import Worker

PAGE = (Path(__file__).parents[2] / "docs" / "own-tables.md").read_text("utf-8")


def blocks(language, heading=""):
    section = PAGE[PAGE.index(heading) :] if heading else PAGE
    return re.findall(rf"^```{language}\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


@pytest.fixture
def tickets(database_url):
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "create table public.tickets (id integer primary key, subject text, body text,"
            " status text); insert into public.tickets"
            " select g, 'Ticket ' || g, 'The valve number ' || g || ' leaks.', 'open'"
            " from generate_series(1, 30) as g"
        )
        yield connection


def test_the_examples_of_the_page_do_what_it_says(database_url, monkeypatch, capsys):
    monkeypatch.setenv("PGRAG_DATABASE_URL", database_url)
    silent = re.compile(r"\s*(create|insert)\b")
    with psycopg.connect(database_url, autocommit=True) as connection:
        for block in blocks("sql"):
            for statement in block.split(";\n"):
                if statement.strip():
                    cursor = connection.execute(statement.encode())
                    assert silent.match(statement) or cursor.fetchall(), statement
    address = database_url.replace("postgresql://", "postgresql+psycopg://")
    first, mapped = blocks("python")[0], blocks("python", "## SQLAlchemy")[0]
    exec(compile(first, "first", "exec"), {})
    assert "3 rows\n1 Printer jams\n" in capsys.readouterr().out
    names = {"URL": address, "__name__": "example"}
    exec(compile(mapped, "mapped", "exec"), names)
    names["engine"].dispose()
    told = capsys.readouterr().out
    assert re.match(r"0\.\d\d Printer jams\n", told)
    assert "Printer jams {'status': 'open'} 1" in told


def test_python_reads_in_batches_until_nothing_waits(tickets, database_url, monkeypatch):
    monkeypatch.setattr(tables, "ROWS", 8)
    with pgrag.connect(database_url) as db:
        assert db.index_table("public.tickets", "body", title="subject") == "tickets"
        [table] = db.indexed_tables()
        assert (table.pages, table.waiting) == (0, None)
        refreshed = db.refresh_table("tickets")
        assert (refreshed.written, refreshed.waiting) == (30, 0)
        # Rows that came and went leave batches in which nothing happens.
        tickets.execute("insert into public.tickets select g from generate_series(101, 120) as g")
        tickets.execute("delete from public.tickets where id > 100")
        tickets.execute("update public.tickets set body = 'A pump hums.' where id = 7")
        refreshed = db.refresh_table("tickets")
        assert (refreshed.written, refreshed.removed, refreshed.waiting) == (1, 0, 0)
        assert db.search("humming pump", "tickets")[0].key == "7"
        tickets.execute("delete from public.tickets where id = 7")
        assert db.refresh_table("tickets", compare=True).removed == 1
        with pytest.raises(pgrag.InvalidInput, match=r"There is no table 'public\.tikets'"):
            db.index_table("public.tikets", "body")
        tickets.execute("create view public.own as select 1 as id, 'x'::text as body")
        tickets.execute("alter view public.own owner to pgrag_writer")
        db.index_table("public.own", "body", id="id")
        with pytest.raises(pgrag.NotPermitted, match="belongs to pgrag_writer"):
            db.refresh_table("own")


def test_a_worker_follows_the_table_and_tells_once_what_is_wrong(tickets, database_url, caplog):
    with App(Settings(database_url=database_url)) as app, pgrag.connect(database_url) as db:
        db.index_table("public.tickets", "body", title="subject")
        worker = Worker(app, poll=0.05)
        worker.start()
        try:
            eventually(lambda: db.indexed_tables()[0].pages == 30)
            tickets.execute("insert into public.tickets values (31, 'New', 'A pump hums.')")
            eventually(lambda: db.search("humming pump", "tickets", top_k=1)[0].key == "31")
            tickets.execute("alter table public.tickets drop column body")
            tickets.execute("delete from public.tickets where id = 1")
            eventually(lambda: "has no column 'body' any more" in caplog.text)
            tickets.execute("delete from public.tickets where id = 2")
            db.index_table("public.tickets", "subject")
            eventually(lambda: db.indexed_tables()[0].pages == 29)
        finally:
            worker.end()
    assert caplog.text.count("has no column 'body' any more") == 1
