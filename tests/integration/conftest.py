"""A small harbour handbook behind the REST API."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest
from api_client import ApiClient, serving
from api_corpus import indexed
from mcp_client import McpClient, connected

from pgrag.ground.settings import Settings
from pgrag.service.app import App
from servers import embedded
from standbys import Standby, following


@pytest.fixture(scope="session")
def harbour_url(
    clone: Callable[[], AbstractContextManager[str]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A database with the libraries of `api_corpus`; nobody changes it."""
    folder = tmp_path_factory.mktemp("harbour")
    with clone() as url:
        yield indexed(url, folder)


@pytest.fixture(scope="session")
def harbour(harbour_url: str) -> Iterator[ApiClient]:
    """Requests to an application on the harbour handbook; for tests that only read."""
    with serving(harbour_url) as client:
        yield client


@pytest.fixture(scope="module")
def mcp(harbour_url: str) -> Iterator[McpClient]:
    """An agent on the harbour handbook; for tests that only read."""
    with connected(harbour_url) as client:
        yield client


@pytest.fixture(scope="session")
def primary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server of its own, with a few libraries, which standbys follow."""
    with embedded() as url:
        with App(Settings(database_url=url)) as app:
            app.upgrade()
        yield indexed(url, tmp_path_factory.mktemp("sources"))


@pytest.fixture(scope="session")
def standby(primary: str) -> Iterator[Standby]:
    """A standby of it, which every test leaves as it was."""
    with following(primary) as standby:
        yield standby
