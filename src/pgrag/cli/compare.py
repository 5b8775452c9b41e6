"""`pgrag compare`: what changed between two versions of a library."""

from collections import Counter
from typing import Annotated, Any

from rich.text import Text
from typer import Argument, Option

from pgrag.cli import options
from pgrag.cli.command import App, command
from pgrag.cli.notations import counted
from pgrag.cli.output import Output, Row, notice, print_text, stdout
from pgrag.cli.session import read_versions
from pgrag.ground.printable import printable

_SIGNS = {"added": ("+", "green"), "removed": ("-", "red"), "moved": (">", "cyan")}
_CHANGED = ("~", "yellow")
_VERSION = "A label, a range, or - for documentation without a version."


@command
def compare(
    app: App,
    library: options.LibraryName,
    from_version: Annotated[str, Argument(metavar="FROM", help=f"The old version. {_VERSION}")],
    to_version: Annotated[
        str | None, Argument(metavar="[TO]", help="The new version; default: the newest.")
    ] = None,
    *,
    page: Annotated[str | None, Option(metavar="KEY", help="Only the page with this key.")] = None,
    diff: Annotated[bool, Option(help="Add a unified diff of each page.")] = False,
) -> Output:
    """List the pages and sections that were added, removed, changed or moved between versions."""
    from pgrag.search.changes import compare_versions

    changes = compare_versions(
        app.database, library, from_version, to_version, page=page, diff=diff
    )
    notice(*read_versions([changes["from_version"], changes["to_version"]]))
    pages: list[Row] = changes["pages"]

    def show() -> None:
        for each in pages:
            _print_page(each)
            if diff:
                print_text(each["diff"])
        notice(_total(pages))

    return Output(pages, show)


def _print_page(page: dict[str, Any]) -> None:
    moved = page["change"] == "moved"
    more = f" (from {page['old_key']}{', and changed' if page['text_changed'] else ''})"
    _print_line(page["change"], f"{page['key']}{more if moved else ''}")
    for section in page["sections"]:
        _print_line(section["change"], _section(page, section), indent=4)


def _section(page: dict[str, Any], section: dict[str, Any]) -> str:
    name = _headings(section["section"])
    if section["change"] != "moved":
        return name
    old = _headings(section["old_section"])
    return f"{name} (from {old if section['old_key'] == page['old_key'] else section['old_key']})"


def _headings(section: list[str]) -> str:
    return " › ".join(section) or "(text before the first heading)"


def _print_line(change: str, name: str, *, indent: int = 0) -> None:
    sign, colour = _SIGNS.get(change, _CHANGED)
    line = Text.assemble(" " * indent, (f"{sign} {change:<8}", colour), printable(name))
    stdout().print(line, soft_wrap=True)


def _total(pages: list[Row]) -> str:
    if not pages:
        return "Nothing changed."
    counts = Counter(page["change"] for page in pages)
    parts = [f"{counts[change]} {change}" for change in (*_SIGNS, "changed") if counts[change]]
    return f"{counted(len(pages), 'page')}: {', '.join(parts)}."
