"""Types of arguments that more than one route takes."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

UNVERSIONED = "-"
"""Stands for the empty label where an address needs something to show."""

LARGEST_ID = 2**63 - 1


def _storable(value: str) -> str:
    """PostgreSQL keeps valid Unicode without NUL; nothing else can be asked for."""
    if "\0" in value:
        raise ValueError("must not contain NUL")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("must be valid Unicode") from None
    return value


def _label(value: str) -> str:
    return "" if value == UNVERSIONED else value


def _library_name(value: str) -> str:
    return value.strip().lower()


Text = Annotated[str, AfterValidator(_storable)]
Name = Annotated[Text, Field(max_length=200)]
Count = Annotated[int, Field(ge=0, le=10_000)]

LibraryName = Annotated[Name, AfterValidator(_library_name)]
VersionWish = Annotated[Name, AfterValidator(_label)]

LibraryPath = Annotated[
    Text,
    AfterValidator(_library_name),
    Path(max_length=200, description="Name of a library.", examples=["harbour"]),
]
VersionPath = Annotated[
    Text,
    AfterValidator(_label),
    Path(
        max_length=200,
        description="The label itself; `-` for the unversioned documentation.",
        examples=["2.1"],
    ),
]
PageId = Annotated[int, Path(ge=1, le=LARGEST_ID, description="`page_id` of a hit.", examples=[7])]
DocumentId = Annotated[
    int, Path(ge=1, le=LARGEST_ID, description="`document_id` of a hit.", examples=[42])
]


class Arguments(BaseModel):
    """The arguments of a route. One that it does not know is an error: it may be a typo."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)


class NoArguments(Arguments):
    """For routes that take none."""


NoParameters = Annotated[NoArguments, Query()]
