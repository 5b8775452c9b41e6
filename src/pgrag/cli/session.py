"""Opens the application for a command; slow imports happen here, not before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from pgrag.cli.notations import Target, label, parse_target
from pgrag.cli.output import complain, log_messages, notice

if TYPE_CHECKING:
    from pgrag.ground.calls import Row
    from pgrag.service.app import App


#: Reasons that tell a reader nothing.
_NO_CHOICE = {"exact", "the library has no versions"}


@contextmanager
def opened(*, in_log: bool = False) -> Iterator[App]:
    """Yield the application; its first use connects. With `in_log` messages are lines of the log if
    programs read it.
    """
    from pgrag.ground import logs
    from pgrag.service.app import App

    with App(tell=notice) as app:
        settings = app.settings
        form = settings.log_format if in_log else "text"
        # If PGRAG_LOG_LEVEL is not set, the command's messages suffice.
        if "log_level" in settings.model_fields_set or form == "json":
            logs.configure(settings.log_level, form)
        if form == "json":
            log_messages()
        yield app


@contextmanager
def resumable() -> Iterator[None]:
    """Say on an interrupt that the next run resumes."""
    try:
        yield
    except KeyboardInterrupt:
        complain("Interrupted.", "What is written stays; the next run continues from here.")
        from typer import Exit

        raise Exit(130) from None


def told(app: App, function: str, timeout: float | None = None, /, **arguments: Any) -> list[Row]:
    """Return the rows of an SQL function, and print its notices; `timeout` is in seconds."""
    from pgrag.ground.notices import collected_notices

    call = app.database.call
    if timeout is not None:
        call = partial(app.database.call_within, max(1, round(1000 * timeout)))
    with collected_notices() as notices:
        rows = call(function, **arguments)
    notice(*notices)
    return rows


def read_versions(resolved: Sequence[Row]) -> list[str]:
    """Say which versions were read, and why, unless there was no choice."""
    return [
        f"{label(read['library'], read['version'] or '(unversioned)')}: {read['reason']}"
        for read in resolved
        if read["reason"] not in _NO_CHOICE
    ]


def resolved(app: App, target: str) -> Target:
    """Parse LIBRARY[@VERSION]; say which version is read unless the user named it exactly."""
    named = parse_target(target)
    [row] = app.database.call("resolve_version", library=named.library, wanted=named.version)
    if row["version"] or named.version:
        notice(*read_versions([{"library": named.library, **row}]))
    return named


def page_id(app: App, target: Target, page: str) -> int:
    """Return the id of a page; see `pgrag.find_page`."""
    [row] = app.database.call("find_page", **target.scope, page=page)
    return int(row["page_id"])


def library_names(incomplete: str) -> list[str]:
    """Return the names of libraries that complete a word; after "@" with their versions.

    An embedded server that does not run is not started, and a failure completes nothing.
    """
    from pgrag.ground.errors import PgragError
    from pgrag.service.app import App

    with suppress(PgragError), App() as app:
        if not app.is_embedded or app.server.status().running:
            library, at, _ = incomplete.lower().partition("@")
            if at:
                rows = app.database.call("library_versions", library=library)
                names = [f"{library}@{row['version']}" for row in rows if row["version"]]
            else:
                names = [row["library"] for row in app.database.call("libraries")]
            return [name for name in names if name.startswith(incomplete.lower())]
    return []
