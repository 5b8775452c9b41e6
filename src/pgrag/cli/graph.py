"""Libraries, versions, and the graph: `pgrag libraries` … `read`, `backlinks` … `edges`."""

import re
from typing import Annotated, Any, Literal

import typer
from rich.text import Text
from rich.tree import Tree
from typer import Argument, Option

from pgrag.cli import options
from pgrag.cli.command import REQUIRED, App, Arguments, command, listed, listing, text
from pgrag.cli.notations import Target, counted, label, misuse
from pgrag.cli.output import Output, Row, notice, print_text, stdout, warn
from pgrag.cli.rendered import plain
from pgrag.cli.session import page_id, resolved, told
from pgrag.ground.printable import printable

_ITS_NAMES = "Its key, name, title, alias, url or id."
PageName = Annotated[str, Argument(metavar="PAGE", help=_ITS_NAMES)]
Direction = Annotated[Literal["out", "in", "both"], Option(help="out: along links; in: against.")]
Kinds = Annotated[
    list[str] | None,
    Option("--kind", metavar="KIND", help="Only edges of this kind; repeat it for more."),
]
Steps = Annotated[int, Option("--depth", "-d", min=1, help="The maximum number of steps.")]
FanOut = Annotated[int, Option(min=1, metavar="N", help="Follow the strongest N edges of a page.")]
Total = Annotated[int, Option(min=1, metavar="N", help="The maximum number of pages.")]


def connected(app: App, target: str) -> Target:
    """Return the named library; warn of versions whose links are not resolved yet."""
    library = resolved(app, target)
    for row in app.database.call("_pgrag.link_progress", **library.scope):
        if not row["is_finished"]:
            warn(
                f"{label(library.library, row['label'])} is not indexed to its end, and links may"
                " be missing. Run `pgrag index` again (in SQL: pgrag.finish_version)."
            )
    return library


def _by_id(app: App, target: str, page: str, **others: Any) -> Row:
    return {"page_id": page_id(app, connected(app, target), page), **others}


def _edge(row: Row) -> str | None:
    """Return the kind and direction of an edge; None at the beginning of a path."""
    return row["kind"] and f"{'→' if row['forward'] else '←'} {row['kind']}"


def _sentence(row: Row) -> str:
    return plain(row["sentence"] or "")


_OF_PAGE: Arguments = {"target": (options.LibraryVersion, REQUIRED), "page": (PageName, REQUIRED)}

backlinks = listing(
    "backlinks", "backlinks", "List the links to a page, with line and sentence.",
    {**_OF_PAGE, "kinds": (Kinds, None), "top_k": (options.Limit, 100)},
    {"page": "key", "line": "line", "kind": "kind", "sentence": _sentence},
    nothing="No page links there.", prepared=_by_id,
)  # fmt: skip
related = listing(
    "related", "related_pages", "List the pages most related to a page, and why.",
    {**_OF_PAGE, "top_k": (options.Limit, 10)},
    {"score": "score", "page": "key", "title": "title", "why": "reason"},
    nothing="No page is related to this one.", prepared=_by_id,
)  # fmt: skip
neighbourhood = listing(
    "neighbourhood", "neighbourhood",
    "List the pages around a page, up to a number of steps along links.",
    {
        **_OF_PAGE, "depth": (Steps, 1), "direction": (Direction, "both"), "kinds": (Kinds, None),
        "fan_out": (FanOut, 50), "total": (Total, 500),
    },
    {
        "depth": "depth", "weight": "weight", "from": "via_page", "by": _edge, "page": "key",
        "sentence": _sentence,
    },
    nothing="No link leads from this page or to it.", prepared=_by_id,
)  # fmt: skip


@command
def path(
    app: App,
    target: options.LibraryVersion,
    from_page: Annotated[str, Argument(metavar="FROM", help=_ITS_NAMES)],
    to_page: Annotated[str, Argument(metavar="TO", help=_ITS_NAMES)],
    *,
    max_depth: Annotated[int, Option(min=1, metavar="N", help="The maximum of steps.")] = 8,
    direction: Direction = "out",
    kind: Kinds = None,
) -> Output:
    """Show a shortest path from one page to another along links, with the sentence of each."""
    library = connected(app, target)
    ends = {"from_page": from_page, "to_page": to_page}
    ids = {end: page_id(app, library, page) for end, page in ends.items()}
    steps = {"max_depth": max_depth, "direction": direction, "kinds": kind}
    within = counted(max_depth, "step")
    return listed(
        app.database.call("shortest_path", **ids, **steps),
        {"step": "step", "page": "key", "by": _edge, "line": "line", "sentence": _sentence},
        nothing=f"No path of at most {within} leads from {from_page} to {to_page}.",
    )


@command
def edges(
    app: App,
    target: options.LibraryVersion,
    query: Annotated[str | None, Argument(help="What the edges are about.")] = None,
    *,
    page: Annotated[str | None, Option(metavar="PAGE", help="Only edges of this page.")] = None,
    kind: Kinds = None,
    structure: Annotated[bool, Option(help="With --page: also belongs_to, next and prev.")] = False,
    min_score: options.MinScore = 0.0,
    top_k: options.Limit = 10,
) -> Output:
    """Search the edges between pages by meaning, or list them.

    `pgrag embed LIBRARY --edges` gives the edges vectors; without vectors, keywords decide.
    """
    if query is not None and (page is not None or structure):
        raise typer.BadParameter("--page and --structure are for a list, without a query.")
    if structure and page is None:
        raise misuse("--structure", "needs --page.")
    library = connected(app, target)
    scope = {**library.scope, "kinds": kind}
    if query is None:
        own = None if page is None else page_id(app, library, page)
        rows = told(app, "edges", **scope, page_id=own, structure=structure, top_k=top_k)
    else:
        result = app.searching_as("cli").edges(query, **scope, min_score=min_score, top_k=top_k)
        rows = result.rows
        notice(*result.notices)
    return listed(
        rows,
        {
            "score": lambda row: row.get("score"), "page": "source_page", "line": "line",
            "kind": "kind", "target": lambda row: row["target_page"] or row["target"],
            "sentence": _sentence,
        },
        nothing="No edge matches.",
    )  # fmt: skip


@command
def libraries(
    app: App,
    query: Annotated[str | None, Argument(help="Only libraries that may answer it.")] = None,
    top_k: options.Limit = 10,
) -> Output:
    """List the libraries; with a query at most --top-k that may answer it."""
    if query is None:
        return listed(
            app.database.call("libraries"),
            {
                "library": "library", "newest": "newest", "versions": "versions", "pages": "pages",
                "passages": "documents", "language": "language", "model": "model",
            },
            nothing="No library is indexed yet: pgrag index LIBRARY SOURCE.",
        )  # fmt: skip
    return listed(
        app.database.call("find_libraries", query=query, top_k=top_k),
        {
            "score": "score", "library": "library",
            "version": lambda row: row["version"] or "(unversioned)", "title": "title",
            "words": lambda row: ", ".join(row["words"]),
        },
        nothing="No library has a word of the query.",
    )  # fmt: skip


versions = listing(
    "versions", "library_versions", "List the versions of a library, the newest first.",
    {"library": (options.LibraryName, REQUIRED)},
    {
        "version": lambda row: row["version"] or "(unversioned)", "newest": "is_newest",
        "pages": "pages", "passages": "documents", "status": "status", "updated": "updated_at",
        "source": lambda row: row["source"].get("location", ""),
    },
)  # fmt: skip

losses = listing(
    "losses", "reading_state", "Count warnings, lost words and broken links of each version.",
    {"library": (options.LibraryName, REQUIRED)},
    {
        "version": lambda row: row["version"] or "(unversioned)", "pages": "pages",
        "pages with warnings": "warned_pages", "warnings": "warnings", "words shown": "words_shown",
        "words kept": "words_kept", "broken links": "broken_links",
    },
)  # fmt: skip


@command
def resolve(
    app: App,
    library: options.LibraryName,
    version: Annotated[
        str | None, Argument(metavar="[WANTED]", help="A label, a range such as ^1.2, or latest.")
    ] = None,
) -> Output:
    """Print the version that a label or range resolves to, and why."""
    [row] = app.database.call("resolve_version", library=library, wanted=version)
    return text(row, f"{row['version'] or '(unversioned)'}\t{row['reason']}")


@command
def outline(app: App, target: options.LibraryVersion, page: PageName) -> Output:
    """Show the headings of a page as a tree."""
    [outlined] = app.database.call("find_page", **resolved(app, target).scope, page=page)
    rows = app.database.call("outline", page_id=outlined["page_id"])

    def show() -> None:
        stdout().print(_tree(rows))
        print_text(f"{outlined['key']}  {outlined['url']}  (page {outlined['page_id']})")

    return Output(rows, show)


@command
def read(
    app: App,
    target: options.LibraryVersion,
    page: Annotated[str, Argument(metavar="PAGE[#cN]", help=f"{_ITS_NAMES} #c3 is its passage 3.")],
) -> Output:
    """Print a page as it was indexed, or one of its passages."""
    library = resolved(app, target)
    if re.search(r"#c\d+$", page):
        [row] = app.database.call("find_document", **library.scope, chunk_key=page)
        return Output(row, lambda: print_text(row["content"]))
    [named] = app.database.call("find_page", **library.scope, page=page)
    [row] = app.database.call("page", page_id=named["page_id"])
    return Output(row, lambda: print_text(row["body"]))


def _tree(rows: list[Row]) -> Tree:
    branches: dict[int | None, Tree] = {}
    root: Tree | None = None
    for row in rows:
        heading = Text(printable(row["heading"]))
        if row["paragraphs"]:
            heading.append(f"  lines {row['line_start']}–{row['line_end']}", style="dim")
        if row["anchor"]:
            heading.append(f"  #{printable(row['anchor'])}", style="blue")
        above = branches.get(row["parent_id"], root)
        branch = Tree(heading) if above is None else above.add(heading)
        root = root or branch
        branches[row["document_id"]] = branch
    return root or Tree(Text("(no headings)"))
