"""Write the commands into docs/cli.md, between two marks, from the texts of `--help`."""

import enum
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any

import reference_page
import typer
from typer.models import ArgumentInfo, OptionInfo

from pgrag.cli.program import program

PAGE = reference_page.ROOT / "docs" / "cli.md"
_VALUES = {int: "N", float: "X", str: "TEXT"}


def commands(application: typer.Typer, name: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the full name and the function of every command."""
    for info in application.registered_commands:
        if info.callback is not None:
            yield f"{name} {info.name or info.callback.__name__}", info.callback
    for group in application.registered_groups:
        if group.typer_instance is not None:
            yield from commands(group.typer_instance, f"{name} {group.name}")


def parameters(
    function: Callable[..., Any],
) -> Iterator[tuple[str, Any, ArgumentInfo | OptionInfo, Any]]:
    """Yield name, type, typer declaration and default of each parameter of a command."""
    hints = typing.get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        kind, *notes = typing.get_args(hints[name]) or (hints[name],)
        for note in notes:
            if isinstance(note, ArgumentInfo | OptionInfo):
                yield name, kind, note, parameter.default


def _bare(kind: Any) -> Any:
    """Return X of X | None."""
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        [kind] = (part for part in typing.get_args(kind) if part is not types.NoneType)
    return typing.get_args(kind)[0] if typing.get_origin(kind) is list else kind


def _spelling(name: str, kind: Any, option: OptionInfo) -> str:
    # In Annotated, typer stores the first spelling in the option's default.
    spelt = [each for each in (option.default, *(option.param_decls or ())) if each is not ...]
    declared = [spelling for each in spelt for spelling in str(each).split("/")]
    if not declared:
        declared = [f"--{name.replace('_', '-')}"]
        if kind is bool:
            declared.append(f"--no-{name.replace('_', '-')}")
    if kind is not bool:
        if isinstance(kind, enum.EnumMeta):
            value = "|".join(str(member.value) for member in kind)
        elif typing.get_origin(kind) is typing.Literal:
            value = "|".join(filter(None, typing.get_args(kind)))
        else:
            value = option.metavar or _VALUES.get(kind, "TEXT")
        declared[0] += f" {value}"
    return ", ".join(f"`{spelling}`" for spelling in declared)


def _explained(info: ArgumentInfo | OptionInfo, default: Any) -> str:
    text = " ".join((info.help or "").split())
    default = getattr(default, "value", default)
    if not isinstance(default, bool) and default not in (None, "", inspect.Parameter.empty):
        text += f" Default: `{default}`."
    return text


def _shown(name: str, info: ArgumentInfo, function: Callable[..., Any]) -> str:
    """Return an argument as the usage line has it: in brackets unless it is required."""
    shown = str(info.metavar or name.upper())
    is_required = name in getattr(function, "required", {name})
    return shown if is_required or shown.startswith("[") else f"[{shown}]"


def told(name: str, function: Callable[..., Any]) -> str:
    """Return the chapter of one command."""
    declared = list(parameters(function))
    arguments = [
        (_shown(each, info, function), info, default)
        for each, _, info, default in declared
        if isinstance(info, ArgumentInfo)
    ]
    options = [
        (_spelling(each, _bare(kind), info), info, default)
        for each, kind, info, default in declared
        if isinstance(info, OptionInfo)
    ]
    usage = [name, *(shown for shown, *_ in arguments), *(["[OPTIONS]"] if options else [])]
    about = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    lines = [f"### {name}", "", f"`{' '.join(usage)}`", ""]
    lines += ["\n\n".join(" ".join(part.split()) for part in about), ""]
    for shown, info, default in [(f"`{shown}`", *rest) for shown, *rest in arguments] + options:
        text = _explained(info, default)
        lines.append(f"- {shown}: {text}" if text else f"- {shown}")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    chapters = (told(name, function) for name, function in commands(program(), "pgrag"))
    sys.exit(reference_page.write_part(PAGE, "commands", chapters))
