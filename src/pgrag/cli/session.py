"""Opens the application for a command; what is slow to import is imported here, not before."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from pgrag.cli.arguments import counted, label
from pgrag.cli.output import complain, notice, warn

if TYPE_CHECKING:
    from pgrag.app import App
    from pgrag.settings import Settings


@contextmanager
def opened() -> Iterator[App]:
    """Lend the application; nothing is connected to before it is needed."""
    from pgrag.app import App

    with App(tell=notice) as app:
        show_logs(app.settings)
        yield app


def show_logs(settings: Settings) -> None:
    """Send the log to stderr, if somebody asked for it by PGRAG_LOG_LEVEL.

    A command says by itself what a person needs to know.
    """
    if "log_level" in settings.model_fields_set:
        logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
        logging.getLogger("pgrag").setLevel(settings.log_level.upper())


@contextmanager
def resumable() -> Iterator[None]:
    """Say, when work is interrupted, that the next run goes on from there."""
    try:
        yield
    except KeyboardInterrupt:
        complain("Interrupted.", "What is written stays; the next run goes on from here.")
        raise typer.Exit(130) from None


def say_version(
    app: App, library: str | None, wanted: str | None, filters: dict[str, Any] | None = None
) -> None:
    """Say on stderr which version of a library a wish has led to, unless it is the one named."""
    if wanted is None and filters and filters.get("version") is not None:
        wanted = str(filters["version"])
    if library is None or wanted == "*":
        return
    [found] = app.database.call("resolve_version", library=library, wanted=wanted)
    if found["reason"] != "exact" and (found["version"] or wanted):
        notice(f"{label(library, found['version'] or '(unversioned)')}: {found['reason']}")


def warn_of_missing_links(app: App, library: str, wanted: str | None) -> bool:
    """Say on stderr that links of a version are not connected or were never read.

    Returns whether the links of all pages were read: of others nothing can be said.
    """
    unread = 0
    for row in app.database.call("link_progress", library=library, version=wanted):
        name = label(library, row["label"])
        unread += row["unread_pages"]
        if not row["is_finished"]:
            warn(
                f"{name} is not indexed to its end, and links may not be connected yet."
                " Run `pgrag index` again (in SQL: pgrag.finish_version)."
            )
        if row["unread_pages"]:
            warn(
                f"{counted(row['unread_pages'], 'page')} of {name} indexed before links were"
                " read: their links are missing. Run `pgrag index` again."
            )
    return unread == 0
