"""The front door: `pgrag.connect()` and the client that it returns.

Methods return frozen values of `pgrag.ground.values` and raise errors of `pgrag.ground.errors`.
"""

from typing import Self

from pgrag.client.addresses import database_url
from pgrag.client.evaluating import Evaluating
from pgrag.client.reading import Reading
from pgrag.client.searching import Searching, SearchResult
from pgrag.client.writing import Writing
from pgrag.ground.settings import load_settings
from pgrag.service.app import App

__all__ = ["Client", "SearchResult", "connect"]


class Client(Searching, Reading, Writing, Evaluating):
    """Documentation in one database. A context manager, safe to share between threads.

    `pgrag.connect` creates a client. `library` is the name that was passed to `index`. `version`
    is a label, a range (`^2`), `latest`, or `-` for documentation without a version; None is the
    newest release. A library, version or page that does not exist raises a `NotFound` error.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; an embedded server keeps running."""
        self._app.close()


def connect(url: str | None = None, *, read_url: str | None = None) -> Client:
    """Open a database: `url`, else PGRAG_DATABASE_URL, else the user's embedded database; with a
    `url` also `read_url`, the standbys of it that are read first, which is else PGRAG_READ_URL.

    This does not connect; the first call does. `pgrag db upgrade` must have prepared a database
    of your own; the embedded database prepares itself.
    """
    settings = load_settings()
    if url is not None:
        own = {"database_url": database_url(url), "read_url": read_url and database_url(read_url)}
        settings = settings.model_copy(update=own)
    return Client(App(settings))
