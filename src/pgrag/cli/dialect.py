"""The library of a command: its first argument, or the option --library."""

from collections.abc import Callable, Iterable, Sequence
from inspect import Parameter
from typing import Annotated, Any, get_args, get_origin

from typer import Argument, Option
from typer.models import ArgumentInfo, OptionInfo

from pgrag.cli.notations import misuse
from pgrag.cli.session import library_names

_NAMES = {"library", "target"}
#: The parameters of the forms that commands do not declare themselves.
AS_OPTION, AS_ARGUMENT = "library_option", "library_argument"


def in_either_form(
    parameters: Sequence[Parameter],
) -> tuple[list[Parameter], Callable[[dict[str, Any]], dict[str, Any]]]:
    """Let a command take its library as its first argument and as an option.

    Returns the parameters of both forms, and a function that makes of their values those of the
    command. If the option is the command's own form, the library is an argument only beside all
    others: in `search a` it is the query, in `search a b` the library and the query.
    """
    named = next((each for each in parameters if each.name in _NAMES and _info(each)), None)
    if named is None:
        return list(parameters), lambda values: values
    arguments = [each for each in parameters if isinstance(_info(each), ArgumentInfo)]
    others = [each for each in arguments if each is not named]
    is_argument = named in arguments
    made = [each.replace(default=None) if each in arguments else each for each in parameters]
    kind = Parameter.KEYWORD_ONLY if is_argument else Parameter.POSITIONAL_OR_KEYWORD
    other = AS_OPTION if is_argument else AS_ARGUMENT
    added = Parameter(other, kind, annotation=_other_form(named, is_option=is_argument))
    made.insert(len(made) if is_argument else 0, added.replace(default=None))
    argument, option = (named.name, other) if is_argument else (other, named.name)

    def settled(values: dict[str, Any]) -> dict[str, Any]:
        given = _flat(values.pop(name) for name in (argument, *(each.name for each in others)))
        library = values.pop(option)
        if library is None and given and (is_argument or len(given) > len(others)):
            library = given.pop(0)
        if library is None and named.default is Parameter.empty:
            raise misuse(_metavar(named), "is missing; it is the first argument, or -l LIBRARY.")
        return values | {named.name: library} | _placed(others, given)

    return made, settled


def _other_form(named: Parameter, *, is_option: bool) -> Any:
    """Return the declaration of the form that the command does not have itself."""
    metavar = _metavar(named).removeprefix("[").removesuffix("]]")
    metavar += "]" if "[" in metavar else ""
    if is_option:
        help = "The library, instead of the first argument."
        option = Option("--library", "-l", metavar=metavar, help=help, autocompletion=library_names)
        return Annotated[str | None, option]
    help = "The library; or -l LIBRARY."
    return Annotated[
        str | None, Argument(metavar=f"[{metavar}]", help=help, autocompletion=library_names)
    ]


def _placed(arguments: Sequence[Parameter], given: list[Any]) -> dict[str, Any]:
    """Return what was given by the names of the arguments, in their order."""
    values: dict[str, Any] = {}
    for each in arguments:
        if _is_list(each):
            values[each.name], given = given or None, []
        elif given:
            values[each.name] = given.pop(0)
        elif each.default is Parameter.empty:
            raise misuse(_metavar(each), "is missing.")
        else:
            values[each.name] = each.default
    if given:
        raise misuse("--library", "the library is given twice.")
    return values


def _flat(values: Iterable[Any]) -> list[Any]:
    flat: list[Any] = []
    for value in values:
        if value is not None:
            flat += value if isinstance(value, list | tuple) else [value]
    return flat


def _info(parameter: Parameter) -> Any:
    """Return the declaration of an argument or option; None for other parameters."""
    notes = get_args(parameter.annotation)[1:]
    return next((note for note in notes if isinstance(note, ArgumentInfo | OptionInfo)), None)


def _metavar(parameter: Parameter) -> str:
    return str(_info(parameter).metavar or parameter.name.upper())


def _is_list(parameter: Parameter) -> bool:
    kind = get_args(parameter.annotation)[0]
    return any(get_origin(part) is list for part in (kind, *get_args(kind)))
