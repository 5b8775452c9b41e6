"""`pgrag doctor`: the installation, or one library."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.text import Text

from pgrag.cli import options
from pgrag.cli.arguments import parse_target
from pgrag.cli.output import notice, print_indented, print_json, print_table, printable, stdout
from pgrag.cli.progress import shown_step
from pgrag.cli.session import opened

CHECKS = ("documents", "pages", "vectors", "links", "statistics")
"""What `pgrag.check_library` looks at; one by one, so that it can be said how far it is."""


def doctor(
    library: Annotated[
        str | None,
        typer.Argument(
            metavar="[LIBRARY[@VERSION]]",
            help="Check this library: its ids, links, vectors and statistics.",
            show_default=False,
        ),
    ] = None,
    *,
    repair: Annotated[
        bool, typer.Option("--repair", help="Mend what can be mended, with LIBRARY.")
    ] = False,
    settings: Annotated[
        bool, typer.Option("--settings", help="List every setting and where it comes from.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Check the database, its schema and the models, or one library, and say how to mend it.

    Exit status 1 means that something is wrong (with --repair: that something still is).
    """
    if library is not None:
        _examine(library, repair=repair, as_json=as_json)
        return
    if repair:
        raise typer.BadParameter("name the library to mend.", param_hint="--repair")
    if settings:
        _list_settings(as_json=as_json)
        return
    with opened() as app:
        findings = app.findings()
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            mark = ("ok    ", "green") if finding.ok else ("wrong ", "bold red")
            message = printable(finding.message)
            stdout().print(Text.assemble(mark, f"{finding.name:<14} ", message), soft_wrap=True)
            if not finding.ok:
                print_indented(Text(printable(finding.remedy)), indent=20)
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)


def _examine(library: str, *, repair: bool, as_json: bool) -> None:
    """Check a library, part by part, or mend it at once."""
    target = parse_target(library)
    found: list[dict[str, Any]] = []
    with opened() as app:
        named = {"library": target.library, "version": target.version}
        if repair:
            with shown_step("mending", hidden=as_json):
                found = app.database.call("repair_library", **named)
        else:
            for check in CHECKS:
                with shown_step(f"checking {check}", hidden=as_json):
                    found += app.database.call("check_library", checks=[check], **named)
    if as_json:
        print_json(found)
    elif not found:
        notice(f"{target}: nothing is wrong.")
    for row in found if not as_json else ():
        _print_finding(row, str(target))
    if any(not row.get("repaired", False) for row in found):
        raise typer.Exit(1)


def _print_finding(row: dict[str, Any], target: str) -> None:
    repaired = row.get("repaired")
    mark = ("mended", "green") if repaired else ("wrong ", "bold red")
    head = Text.assemble(mark, f"  {row['check']:<11} {row['count']:,} × {row['problem']}")
    stdout().print(head, soft_wrap=True)
    print_indented(Text(printable("; ".join(row["examples"])), style="dim"), indent=8)
    remedy = row["remedy"] or f"pgrag doctor {target} --repair"
    if repaired is None or (repaired is False and row["remedy"]):
        print_indented(Text(printable(f"Run `{remedy}`.")), indent=8)


def _list_settings(*, as_json: bool) -> None:
    from pgrag.settings import describe_settings, load_settings

    described = describe_settings(load_settings())
    if as_json:
        print_json([asdict(setting) for setting in described])
        return
    print_table(
        ("setting", "value", "source", "meaning"),
        [(item.name, item.value, item.source, item.description) for item in described],
    )
