"""`pgrag configure`, `tune` and `remove`: changes to a library other than indexing."""

import json
import sys
from typing import Annotated, Any

import typer
from typer import Argument, Option

from pgrag.cli import notations, options
from pgrag.cli.command import App, command, listed, text
from pgrag.cli.notations import counted, misuse
from pgrag.cli.output import Output, Row, notice, print_table, print_text
from pgrag.cli.session import library_names


@command
def remove(
    app: App,
    target: Annotated[
        str,
        Argument(
            metavar="LIBRARY[@VERSION]",
            help="NAME: the library with all its versions. NAME@VERSION: this version."
            " NAME@: the documentation without a version.",
            autocompletion=library_names,
        ),
    ],
    yes: Annotated[bool, Option("--yes", "-y", help="Do not ask.")] = False,
) -> Output:
    """Remove a version of a library, or the whole library."""
    library = notations.parse_target(target)
    name = f"{library.library} with all its versions"
    if library.version is not None:
        name = notations.label(library.library, library.version or "(unversioned)")
    pages = _pages_at_stake(app, library)
    # If the version does not exist, the database's error lists the versions.
    if pages is not None and not yes and not _is_confirmed(f"{name} ({counted(pages, 'page')})"):
        notice("Nothing was removed.")
        raise typer.Exit(1)
    function = "remove_library" if library.version is None else "remove_version"
    [row] = app.database.call(function, **library.scope)
    pages = row[function]
    return text({**library.scope, "pages": pages}, f"Removed {name}: {counted(pages, 'page')}.")


@command
def configure(
    app: App,
    library: options.LibraryName,
    changes: Annotated[
        list[str] | None,
        Argument(
            metavar="[KEY=VALUE]…",
            help="alpha=0.5, field_weights.title=4, k1=null (back to the default) …",
        ),
    ] = None,
) -> Output:
    """Change the retrieval settings of a library, and print those in force."""
    settings = notations.parse_settings(changes or ())
    [row] = app.database.call("configure_library", library=library, settings=settings)
    in_force: dict[str, Any] = row["configure_library"]
    # In the form that the option takes: false is not an empty cell, 20000 has no comma.
    rows = [
        {"setting": name, "value": _value(value)} for name, value in notations.members(in_force)
    ]
    return Output(in_force, listed(rows, ("setting", "value")).show)


def _pages_at_stake(app: App, library: notations.Target) -> int | None:
    """Return how many pages would be removed; None for an unknown version."""
    rows = app.database.call("library_versions", library=library.library)
    pages: dict[str, int] = {row["version"]: row["pages"] for row in rows}
    return sum(pages.values()) if library.version is None else pages.get(library.version.lower())


def _is_confirmed(loss: str) -> bool:
    if not sys.stdin.isatty():
        raise misuse("--yes", f"there is no terminal to ask on; give --yes to remove {loss}.")
    return typer.confirm(f"Remove {loss}?", err=True)


@command
def tune(
    app: App,
    library: options.LibraryVersion,
    *,
    queries: Annotated[
        int, Option(min=50, max=5000, help="The maximum number of questions.")
    ] = 400,
    seed: Annotated[int, Option(help="Seed of the drawn questions and of their split.")] = 42,
    source: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="judgements, feedback or library (its titles, headings and descriptions);"
            " default: the first of these with enough questions.",
        ),
    ] = None,
    dry_run: Annotated[bool, Option(help="Print better settings, change nothing.")] = False,
    undo: Annotated[bool, Option(help="Go back to the settings before the last tuning.")] = False,
    history: Annotated[bool, Option(help="List the tunings so far.")] = False,
) -> Output:
    """Choose weights, links, query expansion and page aggregate of a library.

    A value is kept only if it is significantly better on questions not used to choose it.
    """
    if undo and (history or dry_run):
        raise misuse("--undo", "takes no other options.")
    target = notations.parse_target(library)
    if history:
        return _history(app.database.call("tuning_history", library=target.library))
    if undo:
        [run] = app.database.call("undo_tuning", library=target.library)
        back = f"the settings from before tuning {run['tuning_id']} are back"
        return text(run, f"{run['library']}: {back}.")
    notice("Gathering questions and trying settings; this takes a minute or two.")
    [run] = app.database.call(
        "tune", **target.scope, query_count=queries, seed=seed, dry_run=dry_run, source=source
    )
    return Output(run, lambda: _print_tuning(run))


def _print_tuning(run: Row) -> None:
    asked = ", ".join(f"{count} {kind}" for kind, count in sorted(run["questions"].items()))
    print_text(f"Questions: {asked or 'none'} (source: {run['source']}, seed {run['seed']})")
    print_text(*run["notes"])
    parts = [(name, run[name]) for name in ("training", "validation") if run[name]]
    if parts:
        print_table(
            ("nDCG@10", "questions", "before", "after", "difference", "95 % interval", "p"),
            [(name, *_gain(part)) for name, part in parts],
        )
    if run["verdicts"]:
        print_table(
            ("tried", "trained", "validated", "95 % interval", "p", "verdict"),
            [
                (
                    _tried(verdict),
                    *(f"{verdict[part]['difference']:+.3f}" for part in ("training", "validation")),
                    *_gain(verdict["validation"])[-2:],
                    f"{'kept' if verdict['kept'] else 'rejected'}: {verdict['reason']}",
                )
                for verdict in run["verdicts"]
                if verdict["validation"]
            ],
        )
    if score := run["searched"]:
        print_text(
            f"Searched, nothing muted: {score['before']:.3f} before, {score['after']:.3f} after,"
            f" {score['foreseen']:.3f} foreseen."
        )
    if run["proposed"]:
        print_text(f"Settings: {_settings(run['proposed'])}")
    print_text(f"{run['outcome'].capitalize()}. {run['reason']}")


def _gain(part: Row) -> tuple[int | float | str, ...]:
    return (
        part["queries"],
        *(float(part[figure]) for figure in ("before", "after", "difference")),
        f"{part['lower_bound']:+.3f} … {part['upper_bound']:+.3f}",
        float(part["p_value"]),
    )


def _tried(verdict: Row) -> str:
    if verdict["setting"] == "weights":
        return f"weights {_settings(verdict['value'])}".strip()
    return f"{verdict['setting']} {_value(verdict['value'])}"


def _history(runs: list[Row]) -> Output:
    for run in runs:
        del run["trials"]  # too long to list; the database stores them
    return listed(
        runs,
        {
            "tuning": "tuning_id", "at": "finished_at", "source": "source", "outcome": "outcome",
            "before": lambda run: (run["validation"] or {}).get("before"),
            "after": lambda run: (run["validation"] or {}).get("after"),
            "settings": lambda run: _settings(run["proposed"]), "undone": "undone_at",
        },
    )  # fmt: skip


def _settings(settings: dict[str, Any]) -> str:
    return " ".join(f"{name}={_value(value)}" for name, value in notations.members(settings))


def _value(value: Any) -> str:
    """A setting as `pgrag configure` takes it."""
    return value if isinstance(value, str) else json.dumps(value)
