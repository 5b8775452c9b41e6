"""The settings; the only module that reads the environment."""

import ast
import inspect
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from ipaddress import ip_network
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from platformdirs import user_data_path
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from pgrag.ground.errors import SettingsError
from pgrag.ground.hosts import ascii_host

ENV_FILE = ".env"
MASK = "********"
UNSET = "(unset)"

_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PAIR = re.compile(r"((\w+)\s*=\s*)('(?:[^'\\]|\\.)*'|(?:[^\s'\\]|\\.)*)")
_PAIRS = re.compile(rf"\s*(?:{_PAIR.pattern}(?:\s+|$))*")
_OPEN = {"host", "hostaddr", "port", "dbname", "user", "sslmode", "options", "application_name"}
"""Keys of a connection string whose values are shown."""
_PASSWORD = re.compile(r"(?s)^((?:[^:]*://)?+[^:]*:).*@")
"""From the first colon to the last @: a password may contain unescaped characters."""
_KEY_IN_QUERY = re.compile(r"(?i)([?&][^=&#]*(?:pass|key|token|secret|auth|sig)[^=&#]*=)[^&#]*")

_NAMES = {"hybrid_alpha": "HYBRID_ALPHA", "forwarded_allow_ips": "FORWARDED_ALLOW_IPS"}
"""Environment variables without the prefix PGRAG_, by field."""


def checked_database_url(secret: SecretStr) -> SecretStr:
    """Accept a libpq URL, libpq `key = value` pairs, or a SQLAlchemy URL. Refuses those whose
    password the driver would take in part for something else, and quote in its errors.
    """
    value = secret.get_secret_value().strip()
    scheme, separator, rest = value.partition("://")
    if separator and scheme.partition("+")[0] in {"postgresql", "postgres"}:
        server, _, path = rest.partition("/")
        if server.count("@") > 1 or "@" in path.partition("?")[0] or _BAD_ESCAPE.search(rest):
            raise ValueError("must have %40, %2F and %25 in place of @, / and % in its password")
        return SecretStr(f"postgresql://{rest}")
    if _is_pairs(value):
        if _PAIRS.fullmatch(value):
            return SecretStr(value)
        raise ValueError("must have quotes around values with blanks: password='two words'")
    raise ValueError("must be like postgresql://user:password@host:5432/database")


def checked_http_url(value: str) -> str:
    """Accept an http or https URL; a host in other letters becomes ASCII."""
    try:
        parts = urlsplit(value.strip())
        host = "" if value.isascii() else ascii_host(parts.hostname or "")
        port = f":{parts.port}" if host and parts.port else ""
    except ValueError:  # its message quotes a part
        parts, host, port = urlsplit(""), "", ""
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must be like https://host/v1")
    login, at, _ = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{login}{at}{host}{port}").geturl() if host else value.strip()


def host_and_port(address: str) -> tuple[str, int]:
    """Split an address such as 127.0.0.1:9464 or [::1]:9464. Raises ValueError."""
    host, colon, port = address.strip().rpartition(":")
    is_bracketed = host.startswith("[") and host.endswith("]")
    if not colon or not port.isdecimal() or int(port) > 65535 or (":" in host and not is_bracketed):
        raise ValueError("must be like 127.0.0.1:9464")
    return (host[1:-1] if is_bracketed else host) or "127.0.0.1", int(port)


def _listening_address(value: str) -> str:
    host_and_port(value)
    return value.strip()


def _absolute(value: Path) -> Path:
    try:
        return Path(os.path.abspath(value.expanduser()))
    except RuntimeError as error:
        raise ValueError("must not begin with the home of somebody unknown") from error


def _paths(value: Any) -> Any:
    """Split paths as in PATH; any other value stays unchanged."""
    if not isinstance(value, str):
        return value
    paths = [Path(part) for part in value.split(os.pathsep) if part]
    if value and not paths:
        raise ValueError("must name a folder; unset it to name none")
    return paths


def _entries(value: Any) -> Any:
    return tuple(value.lower().replace(",", " ").split()) if isinstance(value, str) else value


def _outgoing_entry(value: str) -> str:
    """Accept `public`, a network or an address, or a name with stars."""
    try:
        return str(ip_network(value))
    except ValueError as error:
        if "/" in value or ":" in value or not re.search(r"[a-z]|^\*$", value):
            raise ValueError(f"must not have {value}, which is not a network: {error}") from None
    if not re.fullmatch(r"[a-z0-9_*]([a-z0-9_*.-]*[a-z0-9_*])?", value):
        raise ValueError(f"must list names such as docs.example, not {value}")
    return value


def _lowered(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


_Url = Annotated[str, AfterValidator(checked_http_url)]
_Retries = Annotated[int, Field(ge=0, le=20)]
_Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# The groups of processes that a system limits (cgroups), and where it says that of this process.
_GROUPS, _OWN_GROUP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def _limits() -> Iterator[Path]:
    """Yield the files with a limit of memory for this process: of its group (a container, or a
    service of systemd), of those around it, and that of version 1.
    """
    own = Path("/")
    with suppress(OSError):
        version_2 = re.search(r"^0::(/.*)$", _OWN_GROUP.read_text(), re.MULTILINE)
        own = Path(version_2[1]) if version_2 else own
    for group in (own, *own.parents):
        yield _GROUPS / str(group).strip("/") / "memory.max"
    yield _GROUPS / "memory" / "memory.limit_in_bytes"


def memory() -> int:
    """Bytes of memory of the machine, or of the container or service if it may use less."""
    sizes: list[int] = []
    with suppress(AttributeError, OSError, ValueError):  # Windows
        sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for path in _limits():
        with suppress(OSError, ValueError):
            sizes.append(int(path.read_text()))
    return min(sizes, default=4_000_000_000)


class Settings(BaseSettings):
    """Every setting of pgrag: from the environment, else from `.env`, else its default. An empty
    value counts as unset. Use `load_settings` to read them: it explains bad values.
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

    database_url: Annotated[SecretStr, AfterValidator(checked_database_url)] | None = None
    """PostgreSQL to use, postgresql://…; unset: a private embedded server"""
    read_url: Annotated[SecretStr, AfterValidator(checked_database_url)] | None = None
    """Standbys of it that searching and reading ask first, several hosts with commas"""
    home: Annotated[Path, AfterValidator(_absolute)] = Field(
        default_factory=lambda: user_data_path("pgrag")
    )
    """Folder of the embedded server"""
    pool_size: int = Field(default_factory=lambda: min(max(2 * processors(), 4), 20), ge=1, le=1000)
    """Database connections of one process"""
    costly_pool_size: int = Field(default=2, ge=1, le=1000)
    """Further connections of a service for costly requests, as many for writing, for admission"""
    read_timeout: _Seconds = 30.0
    """Seconds that a service lets a search or another reading request run in the database"""
    write_timeout: _Seconds = 120.0
    """Seconds that a service lets a writing request run in the database"""
    costly_timeout: _Seconds = 300.0
    """Seconds that a service lets a costly request, such as a tuning, run in the database"""
    lock_timeout: _Seconds = 5.0
    """Seconds that a request to a service waits for another writer"""
    hybrid_alpha: float | None = Field(
        default=None, validation_alias=_NAMES["hybrid_alpha"], ge=0, le=1
    )
    """Share of the vector retriever where library and model set none"""
    embedding_url: _Url | None = Field(default=None, repr=False)
    """OpenAI-compatible endpoint; unset: the built-in model, or one that runs here"""
    embedding_model: str | None = None
    """Model name at the endpoint; without endpoint: a local model"""
    embedding_api_key: SecretStr | None = None
    """Key of the endpoint"""
    embedding_dimensions: int | None = Field(default=None, ge=1, le=4000)
    """Dimensions of the model's vectors; unset: its own"""
    embedding_late_chunking: bool = False
    """Pool token vectors of whole pages (local models only)"""
    embedding_query_prefix: str = ""
    """Put before queries"""
    embedding_document_prefix: str = ""
    """Put before documents"""
    embedding_batch_size: int = Field(default=64, ge=1, le=2048)
    """Texts in one request"""
    embedding_concurrency: int = Field(default=4, ge=1, le=64)
    """Requests at a time"""
    embedding_retries: _Retries = 5
    """Retries of one request"""
    embedding_timeout: _Seconds = 60.0
    """Seconds until a request is given up"""
    reranker_url: _Url | None = Field(default=None, repr=False)
    """Endpoint up to where /rerank begins"""
    reranker_model: str | None = None
    """Model name at the endpoint; without endpoint: a cross-encoder"""
    reranker_api_key: SecretStr | None = None
    """Key of the endpoint"""
    reranker_shape: Annotated[Literal["auto", "cohere", "tei"], BeforeValidator(_lowered)] = "auto"
    """auto, cohere (also Jina, vLLM) or tei"""
    reranker_batch_size: int | None = Field(default=None, ge=1, le=1000)
    """Texts in one request; unset: all, with tei 32"""
    reranker_retries: _Retries = 1
    """Retries of one request"""
    reranker_timeout: _Seconds = 5.0
    """Seconds until a request is given up"""
    llm_url: _Url | None = Field(default=None, repr=False)
    """OpenAI-compatible chat endpoint; unset: no answers by a language model"""
    llm_model: str | None = None
    """Model name at the endpoint"""
    llm_api_key: SecretStr | None = None
    """Key of the endpoint"""
    llm_timeout: _Seconds = 300.0
    """Seconds of silence until a request is given up"""
    llm_retries: _Retries = 2
    """Retries of one request"""
    llm_concurrency: int = Field(default=5, ge=1, le=64)
    """Requests at a time of pgrag enrich, and of answers"""
    llm_max_tokens: int = Field(default=1024, ge=1, le=100_000)
    """Tokens that one answer may have"""
    llm_temperature: float | None = Field(default=None, ge=0, le=2)
    """Temperature of answers; unset: the server's own"""
    llm_intents: bool = False
    """Let the model name a question's intent where no rule does"""
    max_page_bytes: int = Field(default=5_000_000, ge=1000, le=100_000_000)
    """Bytes of the largest page that is indexed; PDF and Office files may have 20 times as many"""
    max_page_seconds: _Seconds = 120.0
    """Seconds that the reading of one page may take, in formats other than Markdown"""
    max_page_memory: int = Field(
        default_factory=lambda: max(100_000_000, min(512_000_000, memory() // 8)), ge=100_000_000
    )
    """Bytes of memory that one page may take"""
    max_upload_bytes: int = Field(default=500_000_000, ge=1_000_000, le=100_000_000_000)
    """Bytes of the largest upload over REST"""
    max_waiting_upload_bytes: int = Field(
        default=10_000_000_000, ge=2_000_000, le=100_000_000_000_000
    )
    """Bytes of all uploads that wait for a worker; those of one key may take half"""
    max_waiting_jobs: int = Field(default=1000, ge=1, le=1_000_000)
    """Jobs of one key that wait, run or are scheduled"""
    outgoing_allow: Annotated[
        tuple[Annotated[str, AfterValidator(_outgoing_entry)], ...],
        NoDecode,
        BeforeValidator(_entries),
    ] = ("public",)
    """What requests may have fetched: public, private, networks, names with *"""
    allow_private: bool = False
    """Let crawls reach this machine and private networks"""
    mcp_writes: bool = False
    """Offer MCP tools that index and remove documentation"""
    mcp_read_only: bool = False
    """Offer no MCP tool that writes anything, feedback included"""
    mcp_tools: str = "default"
    """MCP tools that agents are told of: default, all, or names with commas"""
    mcp_roots: Annotated[
        tuple[Annotated[Path, AfterValidator(_absolute)], ...], NoDecode, BeforeValidator(_paths)
    ] = ()
    """Folders below which MCP and REST may index, as in PATH; unset: over HTTP none"""
    rate_limit: int = Field(default=0, ge=0, le=1_000_000)
    """Requests a minute of one client of REST and MCP; 0: no limit"""
    rate_limit_burst: int | None = Field(default=None, ge=1, le=1_000_000)
    """Requests at once; unset: a sixth of a minute"""
    request_timeout: _Seconds = 30.0
    """Seconds in which a request to a service must arrive, headers and body"""
    connection_limit: int = Field(default=1000, ge=1, le=100_000)
    """Open connections of clients, above which a service answers 503"""
    connections_per_address: int | None = Field(default=None, ge=1, le=100_000)
    """How many of them one address may have; unset: half of them"""
    forwarded_allow_ips: str | None = Field(
        default=None, validation_alias=_NAMES["forwarded_allow_ips"]
    )
    """Addresses and networks of proxies that name their clients; unset: this machine's"""
    record_searches: bool = True
    """Keep what REST, MCP and command line search and find"""
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], BeforeValidator(_lowered)
    ] = "info"
    """debug, info, warning or error"""
    log_format: Annotated[Literal["text", "json"], BeforeValidator(_lowered)] = "text"
    """text, or json: one object a line, of serve, worker and mcp"""
    metrics_address: Annotated[str, AfterValidator(_listening_address)] | None = None
    """Where serve and worker tell Prometheus, such as 127.0.0.1:9464; unset: nowhere"""


@dataclass(frozen=True, slots=True)
class DescribedSetting:
    """A setting as `pgrag doctor --settings` shows it; secrets are masked. `source` is
    "environment", ".env" or "default".
    """

    name: str
    value: str
    source: str
    description: str


def load_settings() -> Settings:
    """Read all settings. Raises `SettingsError` that names variable, value and requirement."""
    try:
        settings = Settings()
    except ValidationError as error:
        raise SettingsError(
            "\n".join(_complaint(problem) for problem in error.errors()),
            hint=f"Correct it in the environment or in {ENV_FILE}.",
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{ENV_FILE} cannot be read: {error}.") from error
    if settings.read_url is not None and settings.database_url is None:
        raise SettingsError(
            "PGRAG_READ_URL names standbys, but PGRAG_DATABASE_URL is not set.",
            hint="Set it to their primary; a standby alone can be PGRAG_DATABASE_URL itself.",
        )
    return settings


def describe_settings(settings: Settings) -> list[DescribedSetting]:
    """List every setting with its value and where it comes from."""
    variables = {name.upper() for name, value in os.environ.items() if value}
    descriptions = _descriptions()
    described = []
    for field in Settings.model_fields:
        name = variable(field)
        source = "environment" if name in variables else ENV_FILE
        if field not in settings.model_fields_set:
            source = "default"
        value = _shown(field, getattr(settings, field))
        described.append(DescribedSetting(name, value, source, descriptions.get(field, "")))
    return described


def misspelt_settings() -> list[tuple[str, str]]:
    """List variables that look like a setting and are none, each with the nearest setting."""
    known = [variable(field) for field in Settings.model_fields]
    return [
        (name, near)
        for name in sorted(os.environ)
        # Tests have variables of their own.
        if name.startswith("PGRAG_") and not name.startswith("PGRAG_TEST_") and name not in known
        for near in get_close_matches(name, known, n=1, cutoff=0.85)
    ]


def variable(field: str) -> str:
    """Return the name of a field's environment variable."""
    return _NAMES.get(field, f"PGRAG_{field.upper()}")


def masked_url(url: str) -> str:
    """Return a URL or connection string with its passwords and keys masked, even if it is wrong."""
    if _is_pairs(url):
        if not _PAIRS.fullmatch(url):
            return MASK
        return _PAIR.sub(lambda pair: pair[0] if pair[2] in _OPEN else f"{pair[1]}{MASK}", url)
    return _KEY_IN_QUERY.sub(rf"\1{MASK}", _PASSWORD.sub(rf"\1{MASK}@", url))


def _descriptions() -> dict[str, str]:
    """Return what the source says below each field. pydantic would read it at each start, which
    takes a tenth of the time of `pgrag search`.
    """
    try:
        source = inspect.getsource(Settings)
    except OSError:  # installed without its source
        return {}
    described = {}
    statements = ast.parse(source).body[0].body  # type: ignore[attr-defined]
    for pair in pairwise(statements):
        match pair:
            case ast.AnnAssign(target=field), ast.Expr(value=ast.Constant(value=str(text))):
                described[ast.unparse(field)] = inspect.cleandoc(text)
    return described


def _is_pairs(value: str) -> bool:
    return bool(re.match(r"\s*\w+\s*=", value))


def _shown(field: str, value: object) -> str:
    if value is None:
        return UNSET
    if isinstance(value, tuple):
        separator = os.pathsep if field == "mcp_roots" else " "
        return separator.join(map(str, value)) or UNSET
    text = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
    if field.endswith("_url"):
        return masked_url(text)
    return MASK if isinstance(value, SecretStr) else text


def _complaint(problem: Mapping[str, Any]) -> str:
    name = str(problem["loc"][0])
    field = next((f for f in Settings.model_fields if name in (f, variable(f))), name)
    requirement = problem["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    return f"{variable(field)}={_shown(field, problem['input'])!r} cannot be used: {requirement}."
