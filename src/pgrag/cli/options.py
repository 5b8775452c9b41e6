"""Options shared by several commands."""

from datetime import datetime
from typing import Annotated, Any

from typer import Argument, Option

from pgrag.cli.notations import misuse, parse_target
from pgrag.cli.session import library_names

LIMIT = ("--top-k", "--limit", "-n")
"""The spellings of the maximum number of rows."""
Query = Annotated[
    str,
    Argument(
        help='Words and "phrases" rank; +word and +"a phrase" must occur, -word must not;'
        " type:guide, created:>=2024-12-01 or #tag filter, joined by AND, OR, NOT."
    ),
]
LibraryVersion = Annotated[
    str,
    Argument(
        metavar="LIBRARY[@VERSION]",
        help="The library: jest (its newest version), jest@29.7, jest@^28.1.",
        autocompletion=library_names,
    ),
]
LibraryName = Annotated[
    str, Argument(metavar="LIBRARY", help="Name.", autocompletion=library_names)
]
Library = Annotated[
    str | None,
    Option(
        "--library",
        "-l",
        metavar="LIBRARY[@VERSION]",
        help="The library; default: all.",
        autocompletion=library_names,
    ),
]
OneLibrary = Annotated[
    str | None,
    Option(
        "--library",
        "-l",
        metavar="LIBRARY",
        help="Only of this library.",
        autocompletion=library_names,
    ),
]
Since = Annotated[datetime | None, Option(metavar="DATE", help="From this date on; default: all.")]
Until = Annotated[datetime | None, Option(metavar="DATE", help="Before it; default: now.")]
Page = Annotated[
    str | None,
    Option(metavar="PAGE", help="Only of this page: its key, name, title, alias, url or id."),
]
Version = Annotated[
    str | None,
    Option(
        "--version",
        "-v",
        help="A label, a range such as ^1.2, or * for every version; default: the newest.",
    ),
]
Limit = Annotated[int, Option(*LIMIT, min=1, help="The maximum number of rows.")]
Filter = Annotated[
    list[str] | None,
    Option(
        "--filter",
        "-f",
        metavar="FIELD=VALUE",
        help="Only matches of this condition: type=guide, tags=a, created>=2024-12-01,"
        " front_matter.status=draft … Repeat it for more; equal fields are alternatives.",
    ),
]
Filters = Annotated[
    str | None, Option("--filters", metavar="JSON", help="Conditions as JSON, with and, or, not.")
]
MinScore = Annotated[float, Option(min=0, help="Leave out hits below this score.")]
Json = Annotated[bool, Option("--json", help="Print JSON, and nothing else, to stdout.")]


def moments(since: datetime | None, until: datetime | None) -> dict[str, Any]:
    """Return the bounds of a period, which users give in local time, with their time zone."""
    return {"since": since and since.astimezone(), "until": until and until.astimezone()}


def scope(library: str | None, version: str | None) -> tuple[str | None, str | None]:
    """Return library and version from `--library` and `--version`; both may name a version."""
    if library is None:
        return None, version
    target = parse_target(library)
    if version is not None and target.version is not None:
        raise misuse("--version", "the version is given twice.")
    return target.library, target.version if version is None else version
