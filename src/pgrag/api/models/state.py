"""Answers about the service itself, and about what went wrong."""

from __future__ import annotations

from pydantic import BaseModel, Field


class Health(BaseModel):
    """The process answers."""

    status: str = Field(examples=["ok"])


class Finding(BaseModel):
    """One check."""

    name: str = Field(examples=["schema"])
    ok: bool
    message: str = Field(examples=["The database fits this version of pgrag."])
    remedy: str = Field(description="What to do about it; empty if nothing.", examples=[""])


class Readiness(BaseModel):
    """Everything that is needed to answer is there."""

    status: str = Field(examples=["ready"])
    findings: list[Finding]


class FieldError(BaseModel):
    """One bad argument."""

    in_: str = Field(alias="in", description="query, path or body.", examples=["query"])
    field: str = Field(description="Its name.", examples=["limit"])
    message: str = Field(examples=["Input should be less than or equal to 1000."])


class Problem(BaseModel):
    """What went wrong (RFC 9457). Members that say nothing are left out."""

    type: str = Field(description="Names the kind.", examples=["/problems/unknown-library"])
    title: str = Field(examples=["There is no such library"])
    status: int = Field(examples=[404])
    detail: str | None = Field(None, examples=["There is no library 'harbor'."])
    hint: str | None = Field(None, description="The way out.", examples=["Did you mean harbour?"])
    instance: str = Field(description="The address asked for.", examples=["/v1/search"])
    errors: list[FieldError] | None = Field(None, description="Of an invalid request.")
    findings: list[Finding] | None = Field(None, description="Of a service that is not ready.")
