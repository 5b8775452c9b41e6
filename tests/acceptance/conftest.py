"""`pgrag` on databases of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from command_line import CommandLine

SITE = "https://kestrel.example"


@pytest.fixture(scope="session")
def kestrel(fixtures_folder: Path) -> Path:
    """The documentation of a small program, in two versions."""
    return fixtures_folder / "kestrel"


@pytest.fixture(scope="session")
def fixtures_folder() -> Path:
    return Path(__file__).parents[1] / "fixtures"


@pytest.fixture(scope="session")
def indexed(
    clone: Callable[[], AbstractContextManager[str]],
    tmp_path_factory: pytest.TempPathFactory,
    kestrel: Path,
    fixtures_folder: Path,
) -> Iterator[CommandLine]:
    """`pgrag` on a database with four small libraries; nobody changes them."""
    with clone() as url:
        pgrag = CommandLine(tmp_path_factory.mktemp("cli"), {"PGRAG_DATABASE_URL": url})
        pgrag.run_all(
            *(
                (
                    "index",
                    f"kestrel@{version}",
                    kestrel / version,
                    "--base-url",
                    f"{SITE}/{version}",
                )
                for version in ("1.4", "2.0")
            ),
            *(
                ("index", library, fixtures_folder / library, "--language", language)
                for library, language in (("wegweiser", "de"), ("spravka", "ru"))
            ),
        )
        yield pgrag


@pytest.fixture
def pgrag(database_url: str, tmp_path: Path) -> CommandLine:
    """`pgrag` on a database of its own, migrated and empty."""
    return CommandLine(tmp_path, {"PGRAG_DATABASE_URL": database_url})
