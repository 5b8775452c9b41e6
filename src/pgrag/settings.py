"""The only reader of the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from platformdirs import user_data_path
from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from pgrag.errors import SettingsError


class Settings(BaseSettings):
    """Every setting of pgrag: from the environment, else from `.env`, else its default.

    An empty value counts as unset. Read it by `load_settings`, which explains bad values.
    """

    model_config = SettingsConfigDict(
        env_file=".env", env_file_encoding="utf-8", extra="ignore", env_ignore_empty=True
    )

    database_url: Annotated[
        SecretStr | None,
        Field(
            validation_alias="PGRAG_DATABASE_URL",
            description="PostgreSQL to use, postgresql://…; unset: a private embedded server",
        ),
    ] = None
    home: Annotated[
        Path,
        Field(
            validation_alias="PGRAG_HOME",
            default_factory=lambda: user_data_path("pgrag"),
            description="Folder of the embedded server",
        ),
    ]
    hybrid_alpha: Annotated[
        float | None,
        Field(
            validation_alias="HYBRID_ALPHA",
            ge=0,
            le=1,
            description="Share of the vector arm where library and model set none",
        ),
    ] = None
    embedding_url: Annotated[
        str | None,
        Field(
            validation_alias="PGRAG_EMBEDDING_URL",
            description="OpenAI-compatible endpoint; unset: the built-in model",
        ),
    ] = None
    embedding_model: Annotated[
        str | None,
        Field(validation_alias="PGRAG_EMBEDDING_MODEL", description="Model name at the endpoint"),
    ] = None
    embedding_api_key: Annotated[
        SecretStr | None,
        Field(validation_alias="PGRAG_EMBEDDING_API_KEY", description="Key of the endpoint"),
    ] = None
    embedding_dimensions: Annotated[
        int | None,
        Field(
            validation_alias="PGRAG_EMBEDDING_DIMENSIONS",
            ge=1,
            le=4000,
            description="Dimensions of the model's vectors",
        ),
    ] = None
    embedding_query_prefix: Annotated[
        str,
        Field(validation_alias="PGRAG_EMBEDDING_QUERY_PREFIX", description="Put before queries"),
    ] = ""
    embedding_document_prefix: Annotated[
        str,
        Field(
            validation_alias="PGRAG_EMBEDDING_DOCUMENT_PREFIX", description="Put before documents"
        ),
    ] = ""
    embedding_batch_size: Annotated[
        int,
        Field(
            validation_alias="PGRAG_EMBEDDING_BATCH_SIZE",
            ge=1,
            le=2048,
            description="Texts in one request",
        ),
    ] = 64
    embedding_concurrency: Annotated[
        int,
        Field(
            validation_alias="PGRAG_EMBEDDING_CONCURRENCY",
            ge=1,
            le=64,
            description="Requests at a time",
        ),
    ] = 4
    embedding_retries: Annotated[
        int,
        Field(
            validation_alias="PGRAG_EMBEDDING_RETRIES",
            ge=0,
            le=20,
            description="Retries of one request",
        ),
    ] = 5
    embedding_timeout: Annotated[
        float,
        Field(
            validation_alias="PGRAG_EMBEDDING_TIMEOUT",
            gt=0,
            description="Seconds until a request is given up",
        ),
    ] = 60.0
    pool_size: Annotated[
        int,
        Field(
            validation_alias="PGRAG_POOL_SIZE",
            ge=1,
            le=1000,
            description="Database connections of one process",
        ),
    ] = 10
    log_level: Annotated[
        str,
        Field(
            validation_alias="PGRAG_LOG_LEVEL",
            pattern="^(?i:debug|info|warning|error)$",
            description="debug, info, warning or error",
        ),
    ] = "info"


@dataclass(frozen=True, slots=True)
class DescribedSetting:
    """A setting as `pgrag doctor --settings` shows it; a secret's value is masked."""

    name: str
    value: str
    source: str
    description: str


def load_settings() -> Settings:
    """Reads all settings. Raises `SettingsError` that names variable, value and what is right."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        raise SettingsError(
            f"{name}={first['input']!r} cannot be used: {first['msg']}.",
            hint="Correct it in the environment or in .env.",
        ) from None


def describe_settings(
    settings: Settings, environment: Mapping[str, str] | None = None
) -> list[DescribedSetting]:
    """Lists every setting with its value and where it comes from."""
    environment = os.environ if environment is None else environment
    described = []
    for attribute, field in Settings.model_fields.items():
        name = str(field.validation_alias)
        value = getattr(settings, attribute)
        if attribute not in settings.model_fields_set:
            source = "default"
        elif environment.get(name):
            source = "environment"
        else:
            source = ".env"
        described.append(DescribedSetting(name, _shown(value), source, field.description or ""))
    return described


def _shown(value: object) -> str:
    if value is None:
        return "(unset)"
    return str(value)
