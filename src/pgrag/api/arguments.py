"""Types of arguments shared by several routes."""

import re
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

UNVERSIONED = "-"
"""Stands for the empty label in an address, which has no empty parts."""

LARGEST_ID = 2**63 - 1

CONTINUES = "`next` of the previous response: continues after it."
"""Describes `after`."""


def _storable(value: str) -> str:
    """Refuse what PostgreSQL cannot store: invalid Unicode and NUL."""
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
Cursor = Annotated[Text, Field(max_length=4000)]

LibraryName = Annotated[Name, AfterValidator(_library_name)]
VersionWish = Annotated[Name, AfterValidator(_label)]

VersionPath = Annotated[
    Text,
    AfterValidator(_label),
    Path(
        max_length=200,
        description="The label itself; `-` for the unversioned documentation.",
        examples=["2.1"],
    ),
]


def _id(description: str, example: int) -> Any:
    return Annotated[int, Path(ge=1, le=LARGEST_ID, description=description, examples=[example])]


def _id_or_name(value: str) -> str:
    if re.fullmatch(r"-?\d+", value) and not 0 < int(value) <= LARGEST_ID:
        raise ValueError(f"must be an id from 1 to {LARGEST_ID}, or a name")
    return value


def _named(description: str, example: str) -> Any:
    return Annotated[
        Text,
        AfterValidator(_id_or_name),
        Path(max_length=4000, description=description, examples=[example]),
    ]


#: The path parameters that several routes have.
PATH: dict[str, Any] = {
    "library": Annotated[
        Text,
        AfterValidator(_library_name),
        Path(max_length=200, description="Name of a library.", examples=["harbour"]),
    ],
    "page_id": _named("`page_id` of a hit, or a name: `harbour:tides.md`.", "7"),
    "document_id": _named("`document_id` of a hit, or its key: `harbour:tides.md#c3`.", "42"),
    "search_id": Annotated[UUID, Path(description="Id of a recorded search.")],
    "job_id": _id("`job_id` of a job.", 7),
    "run_id": _id("`run_id` of a run.", 7),
    "query_id": Annotated[
        Text, Path(max_length=1000, description="Id of a query.", examples=["q1"])
    ],
}


class Arguments(BaseModel):
    """The arguments of a route. An unknown argument is an error: it may be a typo."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    def for_sql(self) -> dict[str, Any]:
        """The arguments by their names in SQL."""
        return self.model_dump(by_alias=True)


class Body(Arguments):
    """The arguments of a JSON body, in which 1 is not a boolean, true and "1" are not numbers."""

    model_config = ConfigDict(strict=True)


def at_most(default: int, largest: int, rows: str, *, name: str = "top_k") -> Any:
    """A limit: its default, its maximum, the rows it limits, and its name in SQL."""
    return Field(
        default=default,
        ge=1,
        le=largest,
        serialization_alias=name,
        description=f"At most this many {rows}.",
    )


class OfVersion(Arguments):
    """Arguments with a version of the library in the address."""

    version: VersionWish | None = Field(
        default=None,
        description="A label or a range; `-` for the unversioned documentation; default: the"
        " newest.",
        examples=["2.1"],
    )
