"""The arguments of indexing, declared once, as `pgrag.ground.arguments` declares those of searches.
Options of the command line, bodies of REST, fields of the MCP tool, methods of Python, stored jobs,
and the checks of all of them derive from the classes below. An argument that is omitted or None is
the one that the version remembers, else the default.
"""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Literal, TypedDict

from pgrag.ground.arguments import EVERY_FACE, Argument, Declared, declared
from pgrag.ground.errors import InvalidInput
from pgrag.ingest.text.slugs import SlugStyle
from pgrag.ingest.values import ProfileName

_LONGEST_PATH = 4000
_LONGEST_ITEM = 1000
_MOST = 2**62
_everywhere = partial(Argument, faces=EVERY_FACE)


class Reading(TypedDict, total=False):
    """How pages are read. The version remembers these; an empty text forgets one."""

    base_url: Annotated[
        str | None,
        _everywhere(
            "The address at which the pages are published.", longest=_LONGEST_PATH, metavar="URL"
        ),
    ]
    language: Annotated[
        str | None,
        _everywhere(
            "Language of pages that neither name nor show one; by default that of most pages.",
            longest=100,
            metavar="en|de|…",
        ),
    ]
    slugs: Annotated[
        Literal[SlugStyle, ""] | None,
        _everywhere(
            "The site generator whose anchors headings get; by default guessed, else github."
        ),
    ]
    converter: Annotated[
        Literal["docling", ""] | None,
        _everywhere("Converter of PDF files, instead of the built-in one."),
    ]
    profile: Annotated[
        Literal[ProfileName, ""] | None,
        Argument("How pages are cut into passages; by default that of their type, else medium."),
    ]
    chunk_sizes: Annotated[
        list[int] | None,
        Argument(
            "Minimum, preferred and maximum size of a paragraph in characters, instead of the"
            " profile's.",
            bounds=(0, 1_000_000),
            shortest=3,
            longest=3,
            examples=((150, 900, 1200),),
            metavar="MINIMUM,PREFERRED,MAXIMUM",
        ),
    ]


class Choosing(TypedDict, total=False):
    """Which part of a source is read."""

    include: Annotated[
        list[str] | None,
        _everywhere(
            "Only these files or pages, by globs: `guide/**`.",
            longest=100,
            examples=(("guide/**",),),
            metavar="GLOB",
            is_repeated=True,
        ),
    ]
    exclude: Annotated[
        list[str] | None,
        _everywhere(
            "Not these files or pages: `**/draft-*`.",
            longest=100,
            examples=(("**/draft-*",),),
            metavar="GLOB",
            is_repeated=True,
        ),
    ]
    subfolder: Annotated[
        str | None,
        _everywhere("Only this part of the source.", longest=_LONGEST_PATH, metavar="FOLDER"),
    ]
    ref: Annotated[
        str | None,
        _everywhere("Branch, tag or commit of a repository.", longest=1000, metavar="REF"),
    ]
    include_ignored: Annotated[
        bool | None, _everywhere("Also the files that .gitignore and .ignore name.", default=False)
    ]
    versions: Annotated[
        Literal["auto"] | None,
        _everywhere(
            "`auto`: folders of versions become versions (Docusaurus, mike, 1.x/ beside 2.x/)."
        ),
    ]


class Crawling(TypedDict, total=False):
    """How far a website is followed."""

    max_pages: Annotated[
        int | None,
        _everywhere(
            "The maximum number of pages of a website.",
            bounds=(1, None),
            default=10_000,
            metavar="N",
        ),
    ]
    max_depth: Annotated[
        int | None,
        _everywhere(
            "The maximum number of links from the start of a website.",
            bounds=(0, None),
            default=30,
            metavar="N",
        ),
    ]
    max_bytes: Annotated[
        int | None,
        _everywhere(
            "The maximum number of bytes of a website.",
            bounds=(1, None),
            default=2_000_000_000,
            metavar="N",
        ),
    ]
    # For callers of REST and agents the operator's settings decide.
    allow_private: Annotated[
        bool | None,
        Argument(
            "Allow a source on this machine or in a private network.",
            default=False,
            faces=frozenset({"cli"}),
        ),
    ]


class IndexArguments(Reading, Choosing, Crawling, total=False):
    """Arguments of a run, besides the source and the version that it becomes."""


class JobArguments(IndexArguments, total=False):
    """Arguments of a job: those of a run, or of a run for each tag."""

    tags: Annotated[
        str | None,
        _everywhere(
            "Each tag that matches becomes a version: `v1.*` gives 1.0, 1.1 …",
            longest=1000,
            examples=("v1.*",),
            metavar="GLOB",
        ),
    ]


def checked(arguments: Mapping[str, Any], allowed: type = IndexArguments) -> dict[str, Any]:
    """Return the arguments that are not None. Raises InvalidInput for an unknown or wrong one."""
    known = {one.name: one for one in declared(allowed)}
    stated = {name: value for name, value in arguments.items() if value is not None}
    for name, value in stated.items():
        if name not in known:
            raise InvalidInput(
                f"Indexing has no argument {name!r}.", hint=f"It has {', '.join(known)}."
            )
        if wanted := _fault(known[name], value):
            raise InvalidInput(f"{name} must be {wanted}, not {value!r}.")
    return stated


_LIMITS_OF_A_SITE = frozenset({"max_pages", "max_depth", "max_bytes"})

#: The arguments that a kind of source does not follow; see `sources.kind_of`.
_MEANINGLESS = {
    "a website": frozenset({"subfolder", "include_ignored", "versions"}),
    "a repository at an address": _LIMITS_OF_A_SITE,
    "a path": _LIMITS_OF_A_SITE | {"allow_private"},
    "a folder that is watched": _LIMITS_OF_A_SITE | {"allow_private", "ref", "versions"},
}


def refuse_meaningless(arguments: Mapping[str, Any], kind: str) -> None:
    """Raise InvalidInput for arguments that have no meaning for this kind of source."""
    if names := ", ".join(sorted(name for name in _MEANINGLESS[kind] if arguments.get(name))):
        verb = "have" if "," in names else "has"
        raise InvalidInput(f"{names} {verb} no meaning for {kind}.", hint=f"Omit {names}.")


def part_of(arguments: Mapping[str, Any], part: type) -> dict[str, Any]:
    """Return the arguments that one of the classes above declares."""
    names = {one.name for one in declared(part)}
    return {name: value for name, value in arguments.items() if name in names}


def _fault(one: Declared, value: Any) -> str | None:
    argument = one.argument
    if one.choices:
        is_right = isinstance(value, str) and value in one.choices
        return None if is_right else f"one of {', '.join(filter(None, one.choices))}"
    if not one.item:
        return _fault_of_value(one, one.type, value)
    least, most = argument.shortest or 0, argument.longest or 0
    if not isinstance(value, list | tuple) or not least <= len(value) <= most:
        return f"a list of {most}" if least == most else f"a list of at most {most}"
    return next(filter(None, (_fault_of_value(one, one.item, item) for item in value)), None)


def _fault_of_value(one: Declared, kind: Any, value: Any) -> str | None:
    if kind is int:
        least, most = one.argument.bounds
        is_number = isinstance(value, int) and not isinstance(value, bool)
        if is_number and (least or 0) <= value <= (most or _MOST):
            return None
        return f"a number from {least:,}" + (f" to {most:,}" if most else "")
    if kind is bool:
        return None if isinstance(value, bool) else "true or false"
    longest = _LONGEST_ITEM if one.item else one.argument.longest or _LONGEST_ITEM
    is_text = isinstance(value, str) and "\0" not in value and len(value) <= longest
    return None if is_text else f"a text of at most {longest:,} characters"
