"""Commands made of functions that take the application and return their output."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer
from typer.models import ArgumentInfo, OptionInfo

from pgrag.cli import options
from pgrag.cli.dialect import AS_ARGUMENT, in_either_form
from pgrag.cli.notations import misuse, parse_filters
from pgrag.cli.output import Output, Row, notice, print_table, print_text
from pgrag.cli.session import opened, told
from pgrag.ground.arguments import Declared, declared
from pgrag.ground.errors import UnknownLibrary

if TYPE_CHECKING:
    from pgrag.service import app

    App = app.App
else:
    App = Any  # slow to import, and needed as a type only
Columns = Mapping[str, str | Callable[[Row], Any]] | Sequence[str]
"""Headings with a field or a function that makes the cell of a row; or fields alone."""
REQUIRED = Parameter.empty
Arguments = Mapping[str, tuple[Any, Any]]
"""Arguments of an SQL function that are options, with type and default."""
_NOTATIONS = {
    "library": options.Library,
    "version": options.Version,
    "condition": options.Filter,
    "filters": options.Filters,
}
"""Options of arguments with a notation of their own on the command line."""


def text(value: Any, *lines: str, **outcome: Any) -> Output:
    """Return an output of lines of text; `outcome`: notices, errors, whether it failed."""
    return Output(value, lambda: print_text(*lines), **outcome)


def listed(
    rows: Sequence[Row], columns: Columns, *, nothing: str | None = None, total: str | None = None
) -> Output:
    """Return a table; `nothing` is the notice without rows, `total` the notice below the table."""
    fields = columns if isinstance(columns, Mapping) else {name: name for name in columns}

    def show() -> None:
        if not rows and nothing is not None:
            notice(nothing)
            return
        cells = fields.values()
        print_table(
            list(fields),
            [[row[each] if isinstance(each, str) else each(row) for each in cells] for row in rows],
        )
        if total is not None:
            notice(total)

    return Output(rows, show)


def listing(
    name: str,
    function: str,
    about: str,
    arguments: Arguments,
    columns: Columns,
    *,
    nothing: str | None = None,
    prepared: Callable[..., Row] | None = None,
    **fixed: Any,
) -> Callable[..., None]:
    """Make the command that prints the rows of one SQL function.

    `prepared` converts the command's arguments to those of the SQL function, if they differ.
    `fixed`: arguments of the SQL function that are not options.
    """

    def rows(app: App, **values: Any) -> Output:
        values = prepared(app, **values) if prepared else values
        return listed(told(app, function, **values, **fixed), columns, nothing=nothing)

    rows.__name__, rows.__doc__ = name, about
    own = (_parameter(each, hint, default) for each, (hint, default) in arguments.items())
    return command(_with_parameters(rows, [_parameter("app", App, REQUIRED), *own]))


def command(function: Callable[..., Output]) -> Callable[..., None]:
    """Make a command of a function whose first argument is the application.

    The command has an option --json, which the function gets if it has an argument `as_json`. Its
    library, if it has one, is an argument and an option; see `in_either_form`. A switch is named
    after its argument unless it names itself, and cannot be negated. Help shows the defaults of
    options only.
    """
    _, *parameters = inspect.signature(function, eval_str=True).parameters.values()
    takes_json = any(each.name == "as_json" for each in parameters)
    required = {each.name for each in parameters if each.default is REQUIRED}
    has_query = any(each.name == "query" for each in parameters)
    parameters, settled = in_either_form(parameters)
    if not takes_json:
        parameters.append(_parameter("as_json", options.Json, False, Parameter.KEYWORD_ONLY))

    @wraps(function)
    def run(*, as_json: bool, **arguments: Any) -> None:
        before_query = arguments.get(AS_ARGUMENT)
        arguments = settled(arguments)
        if takes_json:
            arguments["as_json"] = as_json
        with opened() as app:
            try:
                output = function(app, **arguments)
            except UnknownLibrary as unknown:
                if not has_query or before_query is None or arguments["library"] != before_query:
                    raise
                quoted = "Or was it one query? Then quote its words."
                hint = " ".join(filter(None, (unknown.hint, quoted)))
                raise UnknownLibrary(unknown.message, hint=hint) from unknown
        if not output.print(as_json=as_json):
            raise typer.Exit(1)

    run.required = required  # type: ignore[attr-defined]
    return _with_parameters(run, [each.replace(annotation=_read(each)) for each in parameters])


def member(
    group: typer.Typer, name: str | None = None
) -> Callable[[Callable[..., Output]], Callable[..., None]]:
    """Make a command, as `command` does, and add it to a group."""
    return lambda function: group.command(name)(command(function))


def searching(arguments: type) -> Callable[[Callable[..., Output]], Callable[..., None]]:
    """Make a command with an option for each declared argument of a search, as `taking` does."""

    def parsed(values: dict[str, Any]) -> dict[str, Any]:
        library, version = options.scope(values.pop("library"), values.pop("version"))
        filters = parse_filters(values.pop("condition") or (), values.pop("filters"))
        return {"library": library, "version": version, "filters": filters}

    return taking(arguments, _NOTATIONS, parsed)


def taking(
    arguments: type,
    notations: Mapping[str, Any] | None = None,
    parsed: Callable[[dict[str, Any]], dict[str, Any]] = lambda values: {},
) -> Callable[[Callable[..., Output]], Callable[..., None]]:
    """Make a command with an option for each declared argument.

    The function gets the options that were given as the mapping `arguments`, by declared names.
    `parsed` takes the options `notations` out of the values and returns the arguments they mean.
    """
    own_form = notations or {}
    shown = [one for one in declared(arguments, "cli") if one.name not in own_form]

    def decorate(function: Callable[..., Output]) -> Callable[..., None]:
        @wraps(function)
        def run(app: App, **values: Any) -> Output:
            stated = parsed(values)
            stated |= {one.name: _value(one, values.pop(one.name)) for one in shown}
            stated = {name: value for name, value in stated.items() if value is not None}
            return function(app, **values, arguments=stated)

        defined = inspect.signature(function, eval_str=True).parameters.values()
        own = [each for each in defined if each.name != "arguments"]
        made = [*own_form.items(), *((one.name, _option(one)) for one in shown)]
        parameters = [
            *(each for each in own if each.kind is not Parameter.KEYWORD_ONLY),
            *(_parameter(name, hint, None, Parameter.KEYWORD_ONLY) for name, hint in made),
            *(each for each in own if each.kind is Parameter.KEYWORD_ONLY),
        ]
        return command(_with_parameters(run, parameters))

    return decorate


def _parameter(
    name: str, annotation: Any, default: Any, kind: Any = Parameter.POSITIONAL_OR_KEYWORD
) -> Parameter:
    return Parameter(name, kind, annotation=annotation, default=default)


def _with_parameters(
    function: Callable[..., Any], parameters: Sequence[Parameter]
) -> Callable[..., Any]:
    function.__annotations__ = {each.name: each.annotation for each in parameters}
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return function


def _read(parameter: Parameter) -> Any:
    match get_args(parameter.annotation):
        case (_, ArgumentInfo() as argument):
            argument.show_default = False
        case (kind, OptionInfo(default=default, help=help_text)) if kind is bool and default is ...:
            name = f"--{parameter.name.replace('_', '-')}"
            return Annotated[bool, typer.Option(name, help=help_text)]
    return parameter.annotation


def _option(one: Declared) -> Any:
    argument = one.argument
    names = argument.option or (f"--{one.name.replace('_', '-')}",)
    kind, metavar = one.type, argument.metavar
    if argument.is_repeated:
        kind = list[str]
    elif one.item:
        kind, metavar = str, metavar or "LIST"
    elif one.choices:
        metavar = metavar or f"[{'|'.join(filter(None, one.choices))}]"
    elif one.type is bool and argument.default is not False:
        names = (f"{names[0]}/--no-{names[0].removeprefix('--')}",)
    settings: dict[str, Any] = {"help": _help(one), "show_default": False, "metavar": metavar}
    if one.type in {int, float}:
        settings["min"], settings["max"] = argument.bounds
    return Annotated[kind | None, typer.Option(*names, **settings)]


def _help(one: Declared) -> str:
    meaning = one.argument.meaning.replace("`", "")
    default = one.argument.default
    if default is None or default is False:
        return meaning
    shown = {True: "yes"}.get(default, default)
    if isinstance(shown, tuple):
        shown = ",".join(map(str, shown))
    return f"{meaning.rstrip('.')}; default: {shown}."


def _value(one: Declared, value: Any) -> Any:
    """The value of an option; commas separate the items of a list."""
    if value is None or not one.item:
        return value
    if one.argument.is_repeated:
        return value or None
    parts = [part.strip() for part in value.replace(" ", ",").split(",") if part.strip()]
    try:
        return [one.item(part) for part in parts]
    except ValueError:
        example = ",".join(map(str, one.argument.examples[0]))
        raise misuse(
            f"--{one.name.replace('_', '-')}",
            f"{value!r} is not a list of numbers, such as {example}.",
        ) from None
