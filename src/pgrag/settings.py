"""The settings: the only reader of the environment, and of `.env` in the working directory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit, urlunsplit

import platformdirs
from dotenv import dotenv_values
from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from pgrag.errors import SettingsError

ENV_FILE = ".env"
MASK = "********"


def _database_url(value: str) -> str:
    """Accept what SQLAlchemy writes too, and keep what libpq reads."""
    scheme, separator, rest = value.partition("://")
    driver_free = scheme.partition("+")[0]
    if not separator or driver_free not in {"postgresql", "postgres"}:
        raise ValueError("must be like postgresql://user:password@host:5432/database")
    return f"postgresql://{rest}"


def _http_url(value: str) -> str:
    if urlsplit(value).scheme not in {"http", "https"} or not urlsplit(value).netloc:
        raise ValueError("must be like https://host/v1")
    return value.rstrip("/")


def _absolute(value: Path) -> Path:
    """Begin at the root: the embedded server runs in another working directory."""
    return Path(os.path.abspath(value.expanduser()))


def _lowered(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


LogLevel = Annotated[
    Literal["debug", "info", "warning", "error", "critical"], BeforeValidator(_lowered)
]
Count = Annotated[int, Field(ge=1)]


@dataclass(frozen=True, slots=True)
class DescribedSetting:
    """One setting as a person may see it: secrets are masked.

    `source` is "environment", ".env" or "default".
    """

    name: str
    value: str
    source: str
    meaning: str


class Settings(BaseSettings):
    """What the environment says. A variable that is empty counts as unset.

    Raises `SettingsError`, naming the variable and the values that it may have, when one cannot
    be used.
    """

    model_config = SettingsConfigDict(
        env_prefix="PGRAG_",
        env_file=ENV_FILE,
        env_file_encoding="utf-8",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        populate_by_name=True,
    )

    database_url: Annotated[str, AfterValidator(_database_url)] | None = Field(
        default=None,
        repr=False,
        description="the database; unset: the embedded server",
    )
    home: Annotated[Path, AfterValidator(_absolute)] = Field(
        default_factory=lambda: platformdirs.user_data_path("pgrag"),
        description="folder of the embedded server and of caches",
    )
    embedded_port: int | None = Field(
        default=None,
        ge=1,
        le=65535,
        description="TCP port of the embedded server on 127.0.0.1; unset: none",
    )
    pool_size: Count = Field(default=10, description="most connections to the database at once")
    hybrid_alpha: float | None = Field(
        default=None,
        ge=0,
        le=1,
        validation_alias=AliasChoices("hybrid_alpha", "HYBRID_ALPHA"),
        description="share of the vector arm; unset: the library's, else the model's, else 0.3",
    )
    embedding_url: Annotated[str, AfterValidator(_http_url)] | None = Field(
        default=None,
        description="OpenAI-compatible endpoint; unset: the built-in model",
    )
    embedding_model: str | None = Field(default=None, description="name of the endpoint's model")
    embedding_api_key: SecretStr | None = Field(default=None, description="key of the endpoint")
    embedding_dimensions: Count | None = Field(
        default=None, description="length of the model's vectors; unset: the model's own"
    )
    embedding_query_prefix: str = Field(default="", description="goes before every query")
    embedding_document_prefix: str = Field(default="", description="goes before every document")
    embedding_batch_size: Count = Field(default=64, description="texts per request")
    embedding_concurrency: Count = Field(default=4, description="requests at once")
    embedding_retries: int = Field(default=5, ge=0, description="further attempts per request")
    embedding_timeout: float = Field(default=60.0, gt=0, description="seconds per request")
    log_level: LogLevel = Field(
        default="warning", description="debug, info, warning, error or critical"
    )

    @classmethod
    def load(cls) -> Self:
        """Read the environment and `.env`. Raises `SettingsError`."""
        try:
            settings = cls()
        except ValidationError as error:
            raise SettingsError("\n".join(_complaints(error))) from None
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"{ENV_FILE} cannot be read: {error}") from error
        if settings.embedding_url and not settings.embedding_model:
            raise SettingsError(
                "PGRAG_EMBEDDING_URL is set, but PGRAG_EMBEDDING_MODEL is not.",
                hint="Set it to the name of a model that the endpoint serves.",
            )
        return settings

    def described(self) -> list[DescribedSetting]:
        """List every setting with its value (secrets masked) and where it comes from."""
        in_file = dotenv_values(ENV_FILE)
        described = []
        for field, info in type(self).model_fields.items():
            name = variable(field)
            if _is_set(os.environ, name):
                source = "environment"
            elif _is_set(in_file, name):
                source = ENV_FILE
            else:
                source = "default"
            value = _shown(field, getattr(self, field))
            described.append(DescribedSetting(name, value, source, info.description or ""))
        return described


def variable(field: str) -> str:
    """Return the name of a field's environment variable."""
    return "HYBRID_ALPHA" if field == "hybrid_alpha" else f"PGRAG_{field.upper()}"


def without_password(url: str) -> str:
    """Return a URL that can be shown: passwords, also those among the parameters, are masked."""
    parts = urlsplit(url)
    credentials, at, hosts = parts.netloc.rpartition("@")
    user, colon, _ = credentials.partition(":")
    netloc = f"{user}{colon}{MASK if colon else ''}{at}{hosts}"
    query = "&".join(
        f"{parameter.partition('=')[0]}={MASK}" if "password" in parameter.lower() else parameter
        for parameter in parts.query.split("&")
    )
    return urlunsplit(parts._replace(netloc=netloc, query=query))


def _is_set(variables: Any, name: str) -> bool:
    """Names of variables are compared as pydantic-settings does, without regard to case."""
    return any(key.lower() == name.lower() and value for key, value in variables.items())


def _shown(field: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, SecretStr):
        return MASK
    return without_password(str(value)) if field.endswith("_url") else str(value)


def _complaints(error: ValidationError) -> list[str]:
    """Say for each bad value which variable has it and what it may be."""
    complaints = []
    for problem in error.errors(include_url=False):
        field = str(problem["loc"][0]).lower()
        value = problem["input"]
        shown = MASK if field.endswith("api_key") else _shown(field, value)
        wanted = problem["msg"].removeprefix("Value error, ")
        wanted = wanted.replace("Input should be", "must be").rstrip(".")
        complaints.append(f"{variable(field)} is {shown!r}: {wanted}.")
    return complaints
