"""What the tools work on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgrag.app import App
from pgrag.db import Row
from pgrag.errors import UnknownVersion
from pgrag.results import Results

UNVERSIONED = "-"
"""Stands for the empty label of documentation without versions."""

_CLIENT = "mcp"
"""Under this name searches are recorded."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """The version that a wish stands for, and why; `label` is empty for the unversioned."""

    library: str
    label: str
    reason: str

    def __str__(self) -> str:
        return f"{named(self.library, self.label)} ({self.reason})"


@dataclass(frozen=True, slots=True)
class Documentation:
    """The libraries of an `App`, for threads of any number.

    `is_read_only`: searches are not recorded either. `roots`: the folders below which agents may
    index; None: wherever the server's user may read.
    """

    app: App
    is_read_only: bool = False
    roots: tuple[Path, ...] | None = None

    @property
    def search(self) -> Results:
        """The search functions; what they find for an agent is recorded, if anything is."""
        return self.unrecorded if self.is_read_only else self.app.searching_as(_CLIENT)

    @property
    def unrecorded(self) -> Results:
        """The same, for questions that are our own."""
        return self.app.search

    def call(self, function: str, /, **arguments: Any) -> list[Row]:
        """Rows of `pgrag.<function>`; see `Database.call`."""
        return self.app.database.call(function, **arguments)

    def resolve(self, library: str, wish: str | None) -> Resolved:
        """Raises `UnknownLibrary`, `UnknownVersion`."""
        wanted = label(wish)
        [row] = self.call("resolve_version", library=library, wanted=wanted)
        if wanted == "" and row["version"]:
            raise UnknownVersion(
                f"{library} has no documentation without versions.",
                hint=f"Its newest version is {row['version']}.",
            )
        reason = "the version asked for" if row["reason"] == "exact" else row["reason"]
        return Resolved(library.strip().lower(), row["version"], reason)


def label(wish: str | None) -> str | None:
    """The label of a version as the database has it."""
    return "" if wish is not None and wish.strip() == UNVERSIONED else wish


def shown(version: str) -> str:
    """The label as an agent can give it back."""
    return version or UNVERSIONED


def named(library: str, version: str) -> str:
    """A library in a version, for people and models."""
    return f"{library} {version}" if version else library
