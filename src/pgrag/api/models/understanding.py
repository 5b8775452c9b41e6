"""Answers about queries themselves."""

from __future__ import annotations

from pydantic import BaseModel, Field


class Intent(BaseModel):
    """What kind of question a query is, and what that chooses for a search."""

    intent: str = Field(examples=["PROCEDURAL"])
    query_type: str = Field(examples=["procedural"])
    confidence: float = Field(description="0: no rule says an intent.", examples=[0.9])
    rule: str | None = Field(description="That says the intent.", examples=["how-to-en"])
    matched: str | None = Field(description="The words it matched.", examples=["how do I"])
    type_rule: str | None = Field(description="That says the type.", examples=["how-to-en"])
    type_matched: str | None = Field(examples=["how do I"])
    levels: list[int] = Field(examples=[[1, 2]])
    unit: str = Field(description="document or page.", examples=["document"])
    aggregate: str = Field(description="max, mean or rrf.", examples=["max"])
    alpha: float | None = Field(description="Null: the library's.")
    alpha_offset: float | None = Field(description="To be added to alpha.")
    hierarchy: str = Field(description="none, depth, breadth or overview.", examples=["depth"])
