"""`pgrag remove` and `pgrag configure`: what changes a library besides indexing."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgrag.cli import options
from pgrag.cli.arguments import Target, counted, label, parse_settings, parse_target
from pgrag.cli.output import notice, print_json, print_table, print_text
from pgrag.cli.session import opened

if TYPE_CHECKING:
    from pgrag.app import App


def remove(
    target: Annotated[
        str,
        typer.Argument(
            metavar="LIBRARY[@VERSION]",
            help="NAME: the library with all its versions. NAME@VERSION: this one."
            " NAME@: the one without a version.",
            show_default=False,
        ),
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: options.Json = False,
) -> None:
    """Remove a version of a library, or the whole library."""
    place = parse_target(target)
    with opened() as app:
        pages = _pages_at_stake(app, place)
        if not yes and not _is_confirmed(place, pages):
            notice("Nothing was removed.")
            raise typer.Exit(1)
        if place.version is None:
            [row] = app.database.call("remove_library", library=place.library)
            removed = row["remove_library"]
        else:
            [row] = app.database.call(
                "remove_version", library=place.library, version=place.version
            )
            removed = row["remove_version"]
    if as_json:
        print_json({"library": place.library, "version": place.version, "pages": removed})
    else:
        print_text(f"Removed {_shown(place)}: {counted(removed, 'page')}.")


def configure(
    library: options.LibraryName,
    changes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KEY=VALUE]…",
            help="alpha=0.5, field_weights.title=4, k1=null (back to the default) …",
            show_default=False,
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Change the retrieval settings of a library, and print those in force."""
    settings = parse_settings(changes or ())
    with opened() as app:
        [row] = app.database.call("configure_library", library=library, settings=settings)
    in_force: dict[str, Any] = row["configure_library"]
    if as_json:
        print_json(in_force)
        return
    print_table(
        ("setting", "value"),
        [
            (f"{name}.{member}" if member else name, _as_given(chosen))
            for name, value in sorted(in_force.items())
            for member, chosen in (
                sorted(value.items()) if isinstance(value, dict) else [("", value)]
            )
        ],
    )


def _as_given(value: Any) -> str:
    """A setting as it may be given back: false is no empty cell, 20000 has no comma."""
    return value if isinstance(value, str) else json.dumps(value)


def _pages_at_stake(app: App, place: Target) -> int | None:
    """Return how many pages would go; None for a version that is not there."""
    rows = app.database.call("library_versions", library=place.library)
    pages: dict[str, int] = {row["version"]: row["pages"] for row in rows}
    if place.version is None:
        return sum(pages.values())
    return pages.get(place.version.lower())


def _is_confirmed(place: Target, pages: int | None) -> bool:
    if pages is None:
        # The database will say which versions there are.
        return True
    if not sys.stdin.isatty():
        raise typer.BadParameter(
            f"nobody can be asked here; say --yes to remove {_shown(place)}"
            f" ({counted(pages, 'page')}).",
            param_hint="--yes",
        )
    return typer.confirm(f"Remove {_shown(place)} ({counted(pages, 'page')})?", err=True)


def _shown(place: Target) -> str:
    if place.version is None:
        return f"{place.library} with all its versions"
    return label(place.library, place.version or "(unversioned)")
