"""Names and arguments of the tools: their definitions in OpenAI's format, and validation."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pgrag.ground.aliases import by_own_names


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Searching(_Arguments):
    """Arguments of a search."""

    query: Annotated[str, Field(min_length=1, max_length=2000)]
    top_k: Annotated[int, Field(ge=1, le=10, description="Passages to return.")] = 5
    threshold: Annotated[float, Field(ge=0, le=1, description="The lowest score of a passage.")] = 0


class Reading(_Arguments):
    """Arguments of `read_chunk`."""

    chunk_id: Annotated[
        int | str, Field(description="The id below each passage, or its key: guide.md#c3.")
    ]
    before: Annotated[int, Field(ge=0, le=5, description="Passages before it to read, too.")] = 0
    after: Annotated[int, Field(ge=0, le=5, description="Passages after it to read, too.")] = 0
    expand: Annotated[bool, Field(description="Read its page, too, up to 20 passages.")] = False


class Anywhere(Searching):
    """Arguments of a search that may choose a library."""

    library: Annotated[str, Field(max_length=200, description="Only this library.")] = ""
    version: Annotated[
        str, Field(max_length=200, description="2.1, ^2, latest, * for all; default: the newest.")
    ] = ""


DESCRIPTIONS = {
    "keyword_search": (
        "Find passages of the documentation by words: names of functions, options and commands,"
        ' error messages, rare terms. +word and +"a phrase" must occur, -word must not.'
    ),
    "semantic_search": (
        "Find passages of the documentation by meaning: questions and descriptions, whatever words"
        " the documentation uses."
    ),
    "read_chunk": (
        "Read a passage from a search with its neighbours or its whole page, if it begins or ends"
        " in the middle of a topic."
    ),
}


def definitions(*, scoped: bool = False) -> list[dict[str, Any]]:
    """Return the tools; with `scoped`, without the arguments that choose a library."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": description,
                "parameters": _schema(_arguments_of(name, scoped=scoped)),
            },
        }
        for name, description in DESCRIPTIONS.items()
    ]


def read_arguments(
    name: str, written: str, *, scope: Mapping[str, str] | None = None
) -> Searching | Reading:
    """Validate the arguments of a tool, which may have other names than here. In a `scope`, the
    library and version of the question, they may name just these. Raises `ValueError` with what is
    wrong.
    """
    try:
        values = json.loads(written or "{}")
        if isinstance(values, str):  # some models quote the object as a string
            values = json.loads(values)
    except (ValueError, RecursionError):
        raise ValueError("the arguments are not JSON.") from None
    if not isinstance(values, dict):
        raise ValueError("the arguments must be a JSON object.")  # noqa: TRY004 - as above
    kind = _arguments_of(name, scoped=scope is not None)
    stated = {key: value for key, value in values.items() if value not in (None, "")}
    stated = by_own_names(stated, [*kind.model_fields, *(scope or {})])
    for key, own in (scope or {}).items():
        asked = str(stated.pop(key, own)).strip().lower()
        if asked not in {own, *(("latest", "" if own else "-") if key == "version" else ())}:
            raise ValueError(
                f"{key}: this question is about {' '.join(filter(None, (scope or {}).values()))},"
                f" not about {asked[:80]}. Leave {key} out."
            )
    try:
        return kind.model_validate(stated)
    except ValidationError as error:
        complaints = "; ".join(
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg'].lower()}"
            for problem in error.errors()[:5]
        )
        known = ", ".join(kind.model_fields)
        raise ValueError(f"{complaints}. The arguments are: {known}.") from None


def key_of(name: str, arguments: Searching | Reading) -> str:
    """Return a key that is equal for calls that differ only in spelling."""
    values = arguments.model_dump()
    if "query" in values:
        values["query"] = " ".join(values["query"].casefold().split())
    return name + json.dumps(values, sort_keys=True)


def _arguments_of(name: str, *, scoped: bool) -> type[Searching | Reading]:
    if name == "read_chunk":
        return Reading
    return Searching if scoped else Anywhere


def _schema(arguments: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of arguments, without the parts that tell a model nothing."""
    schema = arguments.model_json_schema()
    for definition in schema["properties"].values():
        definition.pop("title", None)
    kept = ("type", "properties", "required", "additionalProperties")
    return {name: schema[name] for name in kept}
