"""The recipes of docs/own-tables.md for Django and asyncpg, with the real packages."""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import django
import psycopg
import pytest
from django.conf import settings
from django.db import connection, models

PAGE = (Path(__file__).parents[2] / "docs" / "own-tables.md").read_text("utf-8")


def blocks(heading):
    section = PAGE[PAGE.index(f"\n## {heading}\n") + 1 :].partition("\n## ")[0]
    return re.findall(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def tickets(clone):
    with clone() as url:
        with psycopg.connect(url, autocommit=True) as own:
            own.execute(
                "create table public.tickets (id bigint primary key, subject text, body text,"
                " status text); insert into public.tickets values"
                " (1, 'Printer jams', 'Paper jams in it.', 'open'),"
                " (2, 'Account', 'It is locked.', 'open'),"
                " (3, 'Scanner', 'Paper jams there, too.', 'closed')"
            )
        yield url


@pytest.fixture(scope="module")
def database(tickets):
    """Django, whose migration makes the table searchable."""
    parts = urlsplit(tickets)
    given = {name: value for name, [value] in parse_qs(parts.query).items()}
    settings.configure(
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.postgresql", "NAME": parts.path[1:],
                "USER": parts.username or "", "PASSWORD": parts.password or "",
                "HOST": given.get("host", parts.hostname or ""),
                "PORT": given.get("port", parts.port or ""),
            }
        }
    )  # fmt: skip
    django.setup()
    migration = {}
    exec(compile(blocks("Django")[1], "migration", "exec"), migration)
    with connection.cursor() as cursor:
        for operation in migration["operations"]:
            cursor.execute(operation.sql)
        cursor.execute("select written from pgrag.refresh_table('tickets')")
        assert cursor.fetchone() == (3,)
    yield tickets
    connection.close()


def test_django_makes_models_of_hits_and_filters_querysets(database, capsys):
    class Ticket(models.Model):
        id = models.BigIntegerField(primary_key=True)
        subject = models.TextField()
        status = models.TextField()

        class Meta:
            app_label = "desk"
            db_table = "tickets"
            managed = False

    exec(compile(blocks("Django")[0], "queries", "exec"), {"Ticket": Ticket})
    found, count = capsys.readouterr().out.splitlines()
    assert found.startswith("[('Printer jams', 0.")
    assert "('Scanner', 0." in found
    assert 1 <= int(count) <= 2


def test_asyncpg_sends_values_as_parameters(database, capsys):
    exec(compile(blocks("asyncpg")[0], "asyncpg", "exec"), {"URL": database})
    told = capsys.readouterr().out
    assert told.startswith("[('Printer jams', 0.")
    assert "Scanner" not in told
