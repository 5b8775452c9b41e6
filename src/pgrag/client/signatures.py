"""Signatures and descriptions of methods, from the declared arguments."""

import inspect
from collections.abc import Callable
from textwrap import fill
from typing import Any, TypeVar, get_type_hints

from pgrag.ground.arguments import Declared, declared

M = TypeVar("M", bound=Callable[..., Any])


def explained(arguments: type) -> Callable[[M], M]:
    """Show `help` and editors the arguments that a method takes as `**arguments`."""

    def explain(method: M) -> M:
        signature = inspect.signature(method)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        hints = get_type_hints(arguments)
        shown = [
            one
            for one in declared(arguments)
            if one.argument.faces and one.name not in signature.parameters
        ]
        named = [
            inspect.Parameter(
                one.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hints[one.name]
            )
            for one in shown
        ]
        method.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*own, *named]
        )
        lines = [_line(one) for one in [*_placed(arguments, signature), *shown]]
        about = inspect.getdoc(method) or ""
        method.__doc__ = "\n".join([about, "", "Arguments:", *lines])
        return method

    return explain


def _placed(arguments: type, signature: inspect.Signature) -> list[Declared]:
    return [one for one in declared(arguments) if one.name in signature.parameters]


def _line(one: Declared) -> str:
    """Return name, type, meaning, bounds and default of an argument."""
    kind = " or ".join(f"`{choice}`" for choice in one.choices) or inspect.formatannotation(
        one.type
    )
    text = f"{one.name} ({kind}): {one.argument.meaning}"
    low, high = one.argument.bounds
    if low is not None and high is not None:
        text += f" {low:g} to {high:g}." if one.type in {int, float} else ""
    if one.argument.default is not None:
        text += f" Default: {one.argument.default}."
    return fill(text, 96, initial_indent="    ", subsequent_indent="        ")
