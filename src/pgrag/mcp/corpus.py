"""The documentation that the tools search and read."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from pgrag.ground.calls import Row
from pgrag.ground.errors import UnknownVersion
from pgrag.mcp.workplace import Workplace
from pgrag.project import Dependencies
from pgrag.search.search import Search
from pgrag.service.app import App

UNVERSIONED = "-"
"""Stands for the empty label of unversioned documentation."""

_CLIENT = "mcp"
"""The client name under which searches are recorded."""

_LIKENESS = 0.35
"""The similarity from which a name is like another; 1 is equal."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """The version that a request resolved to, and why; `label` is empty for the unversioned."""

    library: str
    label: str
    reason: str

    def __str__(self) -> str:
        return f"{named(self.library, self.label)} ({self.reason})"

    @property
    def content(self) -> dict[str, str]:
        """The fields of a reply that tell which version was read."""
        version = shown(self.label)
        return {"library": self.library, "version": version, "version_reason": self.reason}


@dataclass(frozen=True, slots=True)
class Documentation:
    """The libraries of an `App`; thread-safe.

    `is_read_only`: searches are not recorded either. `roots`: the folders from which agents may
    index; None: any folder that the server's user may read. `asks_for_ratings`: replies say how to
    rate them. `workplace`: the project of an agent on this machine, whose versions are read where
    it asks for none.
    """

    app: App
    is_read_only: bool = False
    roots: tuple[Path, ...] | None = None
    asks_for_ratings: bool = False
    workplace: Workplace | None = None

    @property
    def search(self) -> Search:
        """The search functions; an agent's searches are recorded, unless recording is off."""
        return self.unrecorded if self.is_read_only else self.app.searching_as(_CLIENT)

    @property
    def unrecorded(self) -> Search:
        """The search functions without recording, for pgrag's own queries."""
        return self.app.search

    def call(self, function: str, /, **arguments: Any) -> list[Row]:
        """Rows of `pgrag.<function>`; see `Database.call`."""
        return self.app.database.call(function, **arguments)

    def resolve(self, library: str, wish: str | None) -> Resolved:
        """Raises `UnknownLibrary`, `UnknownVersion`."""
        version = label(wish)
        pinned = self.pinned() if version is None else None
        [row] = self.call("resolve_version", library=library, wanted=version, dependencies=pinned)
        if version == "" and row["version"]:
            raise UnknownVersion(
                f"{library} has no documentation without versions.",
                hint=f"Its newest version is {row['version']}.",
            )
        reason = "the version asked for" if row["reason"] == "exact" else row["reason"]
        return Resolved(library.strip().lower(), row["version"], reason)

    def pinned(self) -> Dependencies | None:
        """What the agent's project depends on, as far as it is known."""
        return None if self.workplace is None else self.workplace.dependencies() or None

    def meant(self, name: str) -> tuple[str, str | None] | None:
        """A library, and the version if there is one, by another spelling: Next.js, react@18, or
        the ids of Context7: /react/18.2.0, /vercel/next.js.
        """
        known = {letters(row["library"]): row["library"] for row in self.call("libraries")}
        name, _, version = name.strip().partition("@")
        parts = name.strip("/").split("/")
        # /fastapi/fastapi/0.115.0: the second is the library, the first its owner.
        for length in range(len(parts), 0, -1):
            for first in range(min(1, len(parts) - length), -1, -1):
                last = first + length
                library = known.get(letters("/".join(parts[first:last])))
                if library is not None:
                    return library, "/".join(parts[last:]) or version or None
        return None

    def nearest(self, name: str, count: int) -> list[str]:
        """The libraries whose names are like another, the likest first."""
        rows = self.call("libraries")
        likeness = {row["library"]: _likeness(row["library"], letters(name)) for row in rows}
        near = [library for library in likeness if likeness[library] >= _LIKENESS]
        return sorted(near, key=lambda library: (-likeness[library], library))[:count]


def letters(name: str) -> str:
    """The letters and digits of a name: Next.js is nextjs."""
    return re.sub(r"[\W_]", "", name.lower())


def _likeness(library: str, name: str) -> float:
    """Similarity of a library's name to the letters of another, 0 to 1."""
    if not name:
        return 0.0
    return max(
        0.5 * (own.startswith(name) or name.startswith(own))
        + 0.5 * SequenceMatcher(None, own, name).ratio()
        for own in map(letters, (library, library.rpartition("/")[2]))
        if own
    )


def label(wish: str | None) -> str | None:
    """The label of a version as the database stores it."""
    return "" if wish is not None and wish.strip() == UNVERSIONED else wish


def shown(version: str | None) -> str:
    """The label in the form that an agent can pass back; never empty."""
    return version or UNVERSIONED


def named(library: str, version: str) -> str:
    """A library and its version, for people and models."""
    return f"{library} {version}" if version else library
