"""`pgrag` on databases of its own."""

import signal
from pathlib import Path

import pytest
from command_line import CommandLine

# A shell makes what it starts in the background ignore Ctrl+C, and with it all commands below.
signal.signal(signal.SIGINT, signal.default_int_handler)

SITE = "https://kestrel.example"


@pytest.fixture(scope="session")
def kestrel(fixtures_folder):
    """The documentation of a small program, in two versions."""
    return fixtures_folder / "kestrel"


@pytest.fixture(scope="session")
def fixtures_folder():
    return Path(__file__).parents[1] / "fixtures"


@pytest.fixture(scope="session")
def indexed(clone, tmp_path_factory, kestrel, fixtures_folder):
    """`pgrag` on a database with four small libraries; nobody changes them."""
    with clone() as url:
        pgrag = CommandLine(tmp_path_factory.mktemp("cli"), {"PGRAG_DATABASE_URL": url})
        pgrag.run_all(
            ("index", "kestrel@1.4", kestrel / "1.4", "--base-url", f"{SITE}/1.4"),
            ("index", "wegweiser", fixtures_folder / "wegweiser", "--language", "de"),
            ("index", "kestrel@2.0", kestrel / "2.0", "--base-url", f"{SITE}/2.0"),
            ("index", "spravka", fixtures_folder / "spravka", "--language", "ru"),
        )
        yield pgrag


@pytest.fixture
def pgrag(database_url, tmp_path):
    """`pgrag` on a database of its own, migrated and empty."""
    return CommandLine(tmp_path, {"PGRAG_DATABASE_URL": database_url})
