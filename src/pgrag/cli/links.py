"""`pgrag links`: where the links of a library, or of a folder, lead, and which are broken."""

import hashlib
import os
import posixpath
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import unquote

from typer import Argument, Option

from pgrag.cli import options
from pgrag.cli.command import App, command, listed, text
from pgrag.cli.graph import connected
from pgrag.cli.notations import Target, counted, misuse
from pgrag.cli.output import Output, Row, complain
from pgrag.cli.progress import shown_progress
from pgrag.cli.run_report import failures
from pgrag.cli.session import library_names, told
from pgrag.ground.errors import SourceError, UnknownLibrary
from pgrag.ground.values.graph import LinkState

_ALL = 2**40
_LISTED = 4
"""The maximum number of candidates in the table; --json lists all."""


@command
def links(
    app: App,
    target: Annotated[
        str,
        Argument(
            metavar="LIBRARY[@VERSION]",
            help="The library: jest, jest@29.7; or a folder, as a path: docs/.",
            autocompletion=library_names,
        ),
    ],
    *,
    state: Annotated[
        LinkState | None,
        Option(
            help="Only links in this state; fragment: the page lacks the heading; broken:"
            " unresolved, ambiguous or fragment; orphan: pages without a link to them."
        ),
    ] = None,
    page: options.Page = None,
    kind: Annotated[
        str | None, Option(metavar="KIND", help="Only links of this kind: references, embeds, …")
    ] = None,
    check: Annotated[
        bool,
        Option(help="Print broken links as FILE:LINE: MESSAGE; exit status 1 if there are any."),
    ] = False,
) -> Output:
    """List the links of a version, or of the files in a folder, with where they lead.

    For CI: --check reports links that lead to no page or could lead to several, and fragments that
    their page does not have. Links to other sites and to files that are not pages are not checked.
    A folder is read into a database of its own, which keeps what does not change; names of files
    then begin with the folder.
    """
    if check and state is not None:
        raise misuse("--check", "chooses the states itself.")
    states = "broken" if check else state
    with _read(app, target) as (reader, library, folder):
        rows = told(
            reader, "links", **library.scope, state=states, page=page, kind=kind, top_k=_ALL
        )
    if folder:
        rows = [row for row in rows if not (check and _is_file(folder, row))]
    for row in rows if folder else ():
        row |= {
            "source_page": _below(folder, row["source_page"]),
            "target_page": _below(folder, row["target_page"]),
            "candidates": [_below(folder, each) for each in row["candidates"] or ()],
        }
    total = counted(len(rows), "link")
    if check:
        lines = [f"{row['source_page']}:{row['line']}: {_fault(row)}" for row in rows]
        errors = [f"{total} broken."] if rows else []
        notices = [] if rows else ["No link is broken."]
        return text(rows, *lines, notices=notices, errors=errors)
    if state == "orphan":
        total = f"{counted(len(rows), 'page')} without a link from another page."
        return text(rows, *(row["target_page"] for row in rows), notices=[total])
    return listed(
        rows,
        {
            "where": lambda row: f"{row['source_page']}:{row['line']}", "kind": "kind",
            "link": _as_written, "leads to": _leads_to,
        },
        total=f"{total}.",
    )  # fmt: skip


def _as_written(row: Row) -> str:
    return f"{row['target']}#{row['fragment']}" if row["fragment"] else str(row["target"])


def _fault(row: Row) -> str:
    if row["state"] == "unresolved":
        return f"{_as_written(row)} leads to no page"
    if row["state"] == "ambiguous":
        return f"{_as_written(row)} could be {_candidates(row, ' or ')}"
    return f"{row['target_page']} has no heading or block #{row['fragment']}"


def _leads_to(row: Row) -> str:
    if row["state"] == "ambiguous":
        return f"ambiguous: {_candidates(row, ', ')}"
    if row["target_page"] is None:
        return str(row["state"])
    return str(row["target_page"]) + ("" if row["fragment_found"] is not False else " (no heading)")


def _candidates(row: Row, separator: str) -> str:
    pages = row["candidates"]
    more = [f"{len(pages) - _LISTED} more"] if len(pages) > _LISTED else []
    return separator.join([*pages[:_LISTED], *more])


@contextmanager
def _read(app: App, target: str) -> Iterator[tuple[App, Target, str]]:
    """Yield the application that knows the links, their library, and the folder, if it is one."""
    # The name of a library has no slash.
    if not ({"/", os.sep} & {*target} or target in {".", ".."}):
        try:
            library = connected(app, target)
        except UnknownLibrary as unknown:
            if Path(target).is_dir():
                hint = f"For the folder: pgrag links {target}/"
                raise UnknownLibrary(unknown.message, hint=hint) from unknown
            raise
        yield app, library, ""
        return
    from pgrag.service.app import App as Application

    # The user's own libraries, database and model have no part in it.
    home = app.settings.home / "links"
    own: dict[str, Any] = {"home": home, "embedding_url": None}
    if sys.platform != "win32":
        own |= {"database_url": None, "read_url": None}
    path = Path(target).resolve()
    if not path.is_dir():
        raise SourceError(f"{target} is no folder.", hint="Links lead to other files of a folder.")
    library = Target(f"folder-{hashlib.sha256(os.fsencode(path)).hexdigest()[:16]}", None)
    with _alone(home), Application(app.settings.model_copy(update=own)) as reader:
        try:
            with shown_progress(f"Reading {target}", hidden=False) as progress:
                report = reader.index(library.library, "", str(path), progress=progress)
            for failure in failures(report):
                complain(failure)
            yield reader, library, target
        finally:
            if reader.is_embedded:
                reader.server.stop()


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Wait for another check of a folder, which ends its server when it is done."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    home.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
    with open(home.parent / "links.lock", "a", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _is_file(folder: str, row: Row) -> bool:
    """Whether a link leads to a file that is no page, such as a licence or source code."""
    path = os.path.join(folder, posixpath.dirname(row["source_page"]), unquote(row["target"]))
    return row["state"] == "unresolved" and os.path.exists(path)


def _below(folder: str, page: str | None) -> str | None:
    return page and posixpath.normpath(posixpath.join(folder.replace(os.sep, "/"), page))
