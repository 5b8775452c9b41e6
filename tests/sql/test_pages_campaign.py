"""Pages made by chance are read and stored, and what escapes is reported."""

import time
from contextlib import ExitStack

import psycopg
import pytest
from campaign import pages, reading

from pgrag.ingest.page import read_page


def test_pages_made_by_chance_are_the_same_again_and_stored(database_url, tmp_path):
    first, second = (pages.Pages(9, []) for _ in range(2))
    assert [first.page(n) for n in range(60)] == [second.page(n) for n in range(60)]
    assert first.page(3) != pages.Pages(10, []).page(3)
    (tmp_path / "real.md").write_text("# A real page\n\nWith a [link](x.md).\n")
    outcome = pages.run(database_url, count=1500, seed=5, data=tmp_path)
    assert outcome.counts["pages"] == 1500
    assert outcome.counts["refused"] < 150
    assert outcome.counts["stored"] > 20
    assert outcome.faults == []


def broken(key, data, options):
    if b"Ventil" in data:
        raise KeyError("Ventil")
    return read_page(key, data, options)


def slow(key, data, options):
    deadline = time.process_time() + 0.3
    while time.process_time() < deadline:
        pass
    return read_page(key, data, options)


class InThisProcess(ExitStack):
    """Takes the place of the child, so that a test can plant a fault in what it runs."""

    def run(self, function, *arguments):
        return function(*arguments)


@pytest.fixture
def here(monkeypatch):
    monkeypatch.setattr(pages, "Child", InThisProcess)
    return monkeypatch


def test_what_escapes_or_takes_too_long_is_reported(database_url, here):
    here.setattr(reading, "read_page", broken)
    [fault] = pages.run(database_url, count=60, seed=1).faults
    assert "KeyError at test_pages_campaign.py" in fault
    assert fault.endswith("\nb'Ventil'")
    here.setattr(reading, "read_page", slow)
    here.setattr(pages, "SECONDS_A_PAGE", 0.1)
    outcome = pages.run(database_url, count=1, seed=1)
    assert " s for " in outcome.faults[0]


def test_what_the_database_refuses_is_reported(database_url):
    with psycopg.connect(database_url) as connection:
        connection.execute("alter table pgrag.pages add check (1 / (length(title) - 5) < 99)")
    faults = pages.run(database_url, count=1000, seed=1).faults
    assert any("22012 division by zero" in fault for fault in faults)
