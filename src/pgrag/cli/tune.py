"""`pgrag tune`: better retrieval settings for one library, or those of before."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pgrag.cli import options
from pgrag.cli.arguments import parse_target
from pgrag.cli.output import notice, print_json, print_table, print_text
from pgrag.cli.session import opened

#: What is in the database for those who ask, but too long for everybody else.
_DETAILS = ("trials",)


def tune(
    library: options.LibraryVersion,
    *,
    queries: Annotated[
        int, typer.Option(min=50, max=5000, help="Questions at most; more are more certain.")
    ] = 400,
    seed: Annotated[int, typer.Option(help="Which questions are drawn, and which decide.")] = 42,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="judgements, feedback or library (its own titles, headings and descriptions);"
            " default: the first of these that has enough.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be better, and change nothing.")
    ] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Go back to the settings before the last tuning.")
    ] = False,
    history: Annotated[
        bool, typer.Option("--history", help="List what tuning has done so far.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Choose alpha and field weights for a library, and keep them if they are surely better."""
    if undo and (history or dry_run):
        raise typer.BadParameter("it stands alone.", param_hint="--undo")
    target = parse_target(library)
    with opened() as app:
        if history:
            runs = app.database.call("tuning_history", library=target.library)
            _show_history(runs, as_json=as_json)
            return
        if undo:
            [run] = app.database.call("undo_tuning", library=target.library)
        else:
            notice("Gathering questions and trying settings; this takes about a minute.")
            [run] = app.database.call(
                "tune",
                library=target.library,
                version=target.version,
                query_count=queries,
                seed=seed,
                dry_run=dry_run,
                source=source,
            )
    if as_json:
        print_json(run)
    elif undo:
        print_text(f"{run['library']}: the settings of before tuning {run['tuning_id']} are back.")
    else:
        _show(run)


def _show(run: dict[str, Any]) -> None:
    asked = ", ".join(f"{count} {kind}" for kind, count in sorted(run["questions"].items()))
    print_text(f"Questions: {asked or 'none'} (source: {run['source']}, seed {run['seed']})")
    for note in run["notes"]:
        print_text(note)
    parts = [(name, run[name]) for name in ("training", "validation") if run[name]]
    if parts:
        print_table(
            ("nDCG@10", "questions", "before", "after", "difference", "95 % interval", "p"),
            [
                (
                    name,
                    part["queries"],
                    float(part["before"]),
                    float(part["after"]),
                    float(part["difference"]),
                    f"{part['lower_bound']:+.3f} … {part['upper_bound']:+.3f}",
                    float(part["p_value"]),
                )
                for name, part in parts
            ],
        )
    if run["searched"]:
        found = run["searched"]
        print_text(
            f"Searched, nothing muted: {found['before']:.3f} before, {found['after']:.3f} after,"
            f" {found['foreseen']:.3f} foreseen."
        )
    if run["proposed"]:
        print_text(f"Settings: {_settings(run['proposed'])}")
    print_text(f"{run['outcome'].capitalize()}. {run['reason']}")


def _show_history(runs: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print_json([{key: run[key] for key in run if key not in _DETAILS} for run in runs])
        return
    print_table(
        ("tuning", "at", "source", "outcome", "before", "after", "settings", "undone"),
        [
            (
                run["tuning_id"],
                run["finished_at"],
                run["source"],
                run["outcome"],
                (run["validation"] or {}).get("before"),
                (run["validation"] or {}).get("after"),
                _settings(run["proposed"]),
                run["undone_at"],
            )
            for run in runs
        ],
    )


def _settings(settings: dict[str, Any]) -> str:
    return " ".join(
        f"{name}.{member}={number:g}" if member else f"{name}={number:g}"
        for name, value in sorted(settings.items())
        for member, number in (sorted(value.items()) if isinstance(value, dict) else [("", value)])
    )
