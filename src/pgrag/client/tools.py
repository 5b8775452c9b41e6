"""The tools of the MCP server as functions, for frameworks that make tools of functions."""

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any, TypeAlias

from pydantic import ValidationError

from pgrag.ground.errors import InvalidInput, NotFound
from pgrag.mcp import failures
from pgrag.mcp.corpus import Documentation
from pgrag.mcp.tool import Tool
from pgrag.mcp.tools import offered
from pgrag.service.app import App

Function: TypeAlias = Callable[..., str]


def functions(app: App, fixed: dict[str, str]) -> list[Function]:
    """The default tools; the model neither sees nor chooses arguments that are `fixed`."""
    documentation = Documentation(app, is_read_only=True)
    return [
        _function(tool, documentation, fixed)
        for tool in offered(writes=False, read_only=True)
        if tool.is_default
    ]


def _function(tool: Tool[Any], documentation: Documentation, fixed: dict[str, str]) -> Function:
    """A function with the signature and the docstring that frameworks make schemas of."""
    fields = tool.arguments.model_fields
    kept = {name: value for name, value in fixed.items() if name in fields}
    # What is required comes first, as Python demands, and how to continue a reply last.
    told = sorted(tool.schema["properties"], key=lambda name: not fields[name].is_required())
    shown = {name: fields[name] for name in told if name not in kept}
    signature = Signature(
        [
            Parameter(
                name,
                Parameter.POSITIONAL_OR_KEYWORD,
                default=Parameter.empty if field.is_required() else field.default,
                annotation=field.annotation,
            )
            for name, field in shown.items()
        ],
        return_annotation=str,
    )

    def call(*args: Any, **arguments: Any) -> str:
        values = signature.bind_partial(*args).arguments | arguments | kept
        try:
            return tool.call(documentation, values).text
        except ValidationError as error:
            return failures.tell_arguments(error, tool.name, list(shown))
        except (InvalidInput, NotFound) as error:
            return failures.tell(error, tool.name)

    call.__name__ = call.__qualname__ = tool.name
    call.__signature__ = signature  # type: ignore[attr-defined]
    call.__annotations__ = {name: field.annotation for name, field in shown.items()}
    call.__annotations__["return"] = str
    about = [f"    {name}: {each.description}" for name, each in shown.items() if each.description]
    call.__doc__ = "\n".join([tool.description, "", "Args:", *about])
    return call
