"""Links of a library, and what became of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from pgrag.api.models.arguments import LARGEST_ID, Arguments, Name, Text, VersionWish

State = Literal[
    "resolved", "unresolved", "ambiguous", "external", "asset", "tag", "fragment", "broken",
    "orphan",
]  # fmt: skip


class LinkParameters(Arguments):
    """Which of the links."""

    version: VersionWish | None = Field(
        default=None,
        description="A label or a range; `-` for the unversioned documentation; default: the"
        " newest.",
        examples=["2.1"],
    )
    state: State | None = Field(
        default=None,
        description="fragment: the page has no such heading or block; broken: unresolved,"
        " ambiguous or fragment; orphan: instead of links the pages that none leads to.",
        examples=["unresolved"],
    )
    page: Annotated[Text, Field(max_length=4000)] | None = Field(
        default=None, description="Only links of this page: its key, url or id."
    )
    kind: Name | None = Field(default=None, description="Only these.", examples=["links_to"])
    limit: int = Field(default=100, ge=1, le=10_000, description="At most so many links.")
    after: int | None = Field(
        default=None,
        ge=1,
        le=LARGEST_ID,
        description="The `next` of the answer before: continues behind it.",
    )


class Link(BaseModel):
    """One link, or with `state=orphan` a page without one: all is null but the target page."""

    edge_id: int | None = Field(examples=[12])
    source_page_id: int | None = Field(examples=[7])
    source_page: str | None = Field(description="Its key.", examples=["tides.md"])
    line: int | None = Field(description="In the source file, from 1; 0: unknown.", examples=[12])
    target: str | None = Field(description="As it is written.", examples=["moorings.md"])
    fragment: str | None = Field(description="As it is written, without #.", examples=["fees"])
    fragment_found: bool | None = Field(description="Null without a fragment.")
    target_page_id: int | None = Field(description="Null unless resolved.", examples=[9])
    target_page: str | None = Field(examples=["services/moorings.md"])
    rule: str | None = Field(description="What made it a link.", examples=["explicit:link"])
    kind: str | None = Field(examples=["links_to"])
    confidence: float | None = Field(description="Above 0, up to 1.", examples=[1.0])
    state: str = Field(examples=["resolved"])
    how: str | None = Field(
        description="path, name, title, alias, slug, url or self.", examples=["path"]
    )
    link_text: str | None = Field(examples=["What a night costs"])
    candidates: list[str] | None = Field(description="Keys of the pages that it could mean.")


class Links(BaseModel):
    """Links by source page, in the order of the source."""

    library: str = Field(examples=["harbour"])
    version: str = Field(examples=["2.1"])
    is_finished: bool = Field(
        description="Whether the version is indexed to its end, and all of its links connected."
    )
    unread_pages: int = Field(
        description="Pages that were indexed before links were read: theirs are missing.",
        examples=[0],
    )
    links: list[Link]
    next: int | None = Field(
        description="As `after`: the next links. Null where there are no more.", examples=[12]
    )
