"""What language models wrote for a library."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from pgrag.api.models.arguments import Arguments, VersionWish


class EnrichmentParameters(Arguments):
    """Which version, and how many failures."""

    version: VersionWish | None = Field(
        default=None,
        description="A label or a range; `-` for the unversioned documentation; default: all"
        " versions.",
        examples=["2.1"],
    )
    limit: int = Field(default=100, ge=0, le=10_000, description="At most so many failures.")


class EnrichmentKind(BaseModel):
    """One kind of text, and how far it is."""

    kind: str = Field(
        description="context: situations of paragraphs; summary: of pages and sections.",
        examples=["context"],
    )
    setting: bool = Field(description="Whether indexing has them written.")
    documents: int = Field(description="That it is for.", examples=[1200])
    enriched: int = Field(description="That have one.", examples=[1180])
    failed: int = Field(description="That a model failed on.", examples=[2])
    kept: int = Field(description="Texts of the whole library, used or not.", examples=[1400])
    models: list[str] = Field(description="That wrote them.", examples=[["qwen3:8b"]])


class EnrichmentFailure(BaseModel):
    """A document that a model failed on; it is as if nobody had asked."""

    kind: str = Field(examples=["context"])
    document_id: int = Field(examples=[12])
    label: str = Field(description="Of the version.", examples=["2.1"])
    key: str = Field(description="Of the page.", examples=["tides.md"])
    path: list[str] = Field(examples=[["Harbour", "Tides"]])
    model: str = Field(examples=["qwen3:8b"])
    reason: str = Field(examples=["qwen3:8b wrote nothing that can be used."])
    attempts: int = Field(examples=[1])
    failed_at: datetime


class Enrichment(BaseModel):
    """What language models wrote for a library, or one of its versions."""

    library: str = Field(examples=["harbour"])
    version: str | None = Field(description="Null: all versions.", examples=["2.1"])
    kinds: list[EnrichmentKind]
    failures: list[EnrichmentFailure]
