"""The options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from pgrag.cli.arguments import parse_target


class Aggregate(StrEnum):
    """How the scores of a page's documents become one."""

    MAX = "max"
    MEAN = "mean"
    RRF = "rrf"


class Unit(StrEnum):
    """What a hit is."""

    DOCUMENT = "document"
    PAGE = "page"


class Fusion(StrEnum):
    """How the two arms become one score."""

    ABSOLUTE = "absolute"
    RRF = "rrf"


class Expansion(StrEnum):
    """Where more words for the query come from."""

    NONE = "none"
    SYNONYMS = "synonyms"
    FEEDBACK = "feedback"
    BOTH = "both"


class Hierarchy(StrEnum):
    """Which part of the headings' tree comes first."""

    NONE = "none"
    DEPTH = "depth"
    BREADTH = "breadth"
    OVERVIEW = "overview"


Query = Annotated[
    str,
    typer.Argument(
        help='Words rank; "a phrase" and +word must occur, -word must not; type:guide,'
        " created:>=2024-12-01 or #tag filter, joined by AND, OR, NOT.",
        show_default=False,
    ),
]
LibraryVersion = Annotated[
    str,
    typer.Argument(
        metavar="LIBRARY[@VERSION]",
        help="Where to look: jest (its newest version), jest@29.7, jest@^28.1.",
        show_default=False,
    ),
]
LibraryName = Annotated[
    str, typer.Argument(metavar="LIBRARY", help="Its name.", show_default=False)
]
Library = Annotated[
    str | None,
    typer.Option(
        "--library",
        "-l",
        metavar="LIBRARY[@VERSION]",
        help="Where to search; default: everywhere.",
    ),
]
Version = Annotated[
    str | None,
    typer.Option(
        "--version",
        "-v",
        help="A label, a range such as ^1.2, or * for every version; default: the newest.",
    ),
]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="Hits at most.")]
Filter = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        "-f",
        metavar="FIELD=VALUE",
        help="Only what is like this: type=guide, tags=a, created>=2024-12-01,"
        " front_matter.status=draft … Repeat it for more; equal fields are alternatives.",
    ),
]
Filters = Annotated[
    str | None,
    typer.Option("--filters", metavar="JSON", help="The same as JSON, with and, or, not."),
]
Alpha = Annotated[
    float | None, typer.Option(min=0, max=1, help="Share of the vector arm in the score.")
]
MinScore = Annotated[float, typer.Option(min=0, help="Leave out hits below this score.")]
Levels = Annotated[
    str | None,
    typer.Option(
        metavar="0,1,2",
        help="0 page summaries, 1 section summaries, 2 paragraphs; default: 1,2.",
    ),
]
Intent = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="auto: the kind of question chooses what is left open; or the name of an intent or"
        " query type; default: the library's setting.",
    ),
]
FusionMethod = Annotated[
    Fusion | None,
    typer.Option("--fusion", help="How the arms become one score; default: absolute."),
]
MaxPerPage = Annotated[int | None, typer.Option(metavar="N", help="Hits of one page at most.")]
PreferredHierarchy = Annotated[
    Hierarchy | None,
    typer.Option(
        "--hierarchy",
        help="Prefer the best hit's section, other sections, or introductions.",
    ),
]
MmrLambda = Annotated[
    float | None,
    typer.Option(
        min=0, max=1, help="Below 1: hits that differ from those before them first; 0.7, say."
    ),
]
QueryExpansion = Annotated[
    Expansion | None,
    typer.Option("--query-expansion", help="Add words: synonyms, of the best hits, or both."),
]
Graph = Annotated[
    bool | None,
    typer.Option(
        "--graph/--no-graph",
        help="Let links count, and pages in that only links lead to; default: as the library says.",
        show_default=False,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Embedding model to search with; default: the library's."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, to stdout.")]


def scope(library: str | None, version: str | None) -> tuple[str | None, str | None]:
    """Return library and version of `--library` and `--version`, which may both name one."""
    if library is None:
        return None, version
    target = parse_target(library)
    if version is not None and target.version is not None:
        raise typer.BadParameter("the version is given twice.", param_hint="--version")
    return target.library, target.version if version is None else version
