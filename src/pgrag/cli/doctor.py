"""`pgrag doctor`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from pgrag.cli import options
from pgrag.cli.output import print_indented, print_json, print_table, printable, stdout
from pgrag.cli.session import opened


def doctor(
    settings: Annotated[
        bool, typer.Option("--settings", help="List every setting and where it comes from.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Check the database, its schema and the models, and say how to mend what is wrong.

    Exit status 1 means that something is.
    """
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
