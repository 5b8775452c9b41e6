"""The project in which an agent on this machine works, and the versions that it pins."""

import logging
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from urllib.parse import unquote, urlsplit

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError

from pgrag.mcp.progress import Context
from pgrag.project import Dependencies, read_kept

log = logging.getLogger(__name__)

_MOST_ROOTS = 20
_PATIENCE_SECONDS = 2.0
"""How long a call waits for a client that has roots and does not tell them."""


class Workplace:
    """The folders of a client's project: its roots, or else the folder that it starts us in.

    Their lock files and manifests are read when a search wants them, and again if they changed.
    """

    def __init__(self, folder: Path) -> None:
        self._folders: Sequence[Path] = [folder]
        self._is_told = False
        self._reading = Lock()

    async def ask(self, context: Context) -> None:
        """Ask the client for its roots, once, if it has any to tell."""
        able = context.session.client_capabilities
        if self._is_told or able is None or able.roots is None:
            return
        self._is_told = True
        try:
            with anyio.move_on_after(_PATIENCE_SECONDS):
                request = types.ListRootsRequest()
                told = await context.session.send_request(request, types.ListRootsResult)
                folders = [*filter(None, map(_folder, told.roots[:_MOST_ROOTS]))]
                self._folders = folders or self._folders
        except MCPError as error:
            log.info("The client does not tell its roots: %s", error)

    async def forget(self, context: Context, _: types.NotificationParams | None) -> None:
        """Ask again, for the roots have changed."""
        self._is_told = False

    def dependencies(self) -> Dependencies:
        """What the project depends on; of two folders that say it, the first counts."""
        found: Dependencies = {}
        with self._reading:
            for folder in self._folders:
                found = read_kept(folder) | found
        return found


def _folder(root: types.Root) -> Path | None:
    address = urlsplit(str(root.uri))
    path = Path(unquote(address.path))
    return path if address.scheme == "file" and path.is_absolute() else None
