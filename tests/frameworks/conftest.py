"""Frameworks, each the real package; `make test-frameworks` installs them."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import pgrag

sys.path.append(str(Path(__file__).parents[1] / "acceptance"))

_PACKAGES = (
    "agents", "asyncpg", "django", "haystack", "langchain_tests", "llama_index", "pydantic_ai",
)  # fmt: skip

# Elsewhere they are not part of the suite; in their own lane pytest fails if it finds none.
collect_ignore_glob = [] if all(map(find_spec, _PACKAGES)) else ["test_*.py"]

# Read when the packages are imported.
os.environ |= {
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "LANGSMITH_TRACING": "false",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
}


@pytest.fixture(scope="session")
def url(clone, tmp_path_factory):
    """A database with the handbook of kestrel, 1.4 and 2.0; nobody changes it."""
    handbook = Path(__file__).parents[1] / "fixtures" / "kestrel"
    with clone() as url:
        with pgrag.connect(url) as db:
            for version in ("1.4", "2.0"):
                db.index("kestrel", str(handbook / version), version)
        yield url


@pytest.fixture(scope="session")
def service(url, tmp_path_factory):
    """The address of a service on that database, and a key to read with."""
    from command_line import CommandLine  # noqa: PLC0415 - found by the path above
    from service import served  # noqa: PLC0415

    pgrag = CommandLine(tmp_path_factory.mktemp("service"), {"PGRAG_DATABASE_URL": url})
    key = pgrag.run("keys", "create", "frameworks", "--libraries", "kestrel", "--json").json[
        "secret"
    ]
    with served(pgrag) as (client, _):
        yield str(client.base_url), key
