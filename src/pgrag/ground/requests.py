"""The request to a service that a thread works for, as the audit records it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from typing import Any
from uuid import UUID

from pgrag.ground.scoped import holding


@dataclass(slots=True)
class Served:
    """A request, with what its entry in the audit says: see the columns of `pgrag.audit`.

    `caller` is the name of a key and `role` its role; both are None without a key. `reason` says
    why the request was refused. `action` is the operation or tool. `ending` returns the statement,
    with its values, that ends the request; None where nothing is to end, or no longer.
    """

    action: str
    caller: str | None = None
    role: str | None = None
    library: str | None = None
    search_id: UUID | None = None
    reason: str | None = None
    address: str = ""
    ending: Callable[[], tuple[bytes, list[str]]] | None = None

    def entry(self) -> dict[str, Any]:
        """What the audit says of it."""
        names = (each.name for each in fields(self) if each.name != "ending")
        library = self.library and self.library.strip().lower()
        return {name: getattr(self, name) for name in names} | {
            "allowed": self.reason is None,
            "library": library,
        }

    @property
    def holder(self) -> str:
        """Who has what the request takes of the service: a key, or an address without one."""
        return f"address {self.address}" if self.caller is None else f"key {self.caller}"


_request: ContextVar[Served | None] = ContextVar("request", default=None)


def serving(request: Served) -> AbstractContextManager[object]:
    """Let the block, its tasks and its threads work for one request."""
    return holding(_request, request)


def current_request() -> Served | None:
    """The request of this block; None outside of a service."""
    return _request.get()


def holder() -> str | None:
    """Who has what this block takes of a service; None outside of one. Nobody gets more than half
    of what callers share.
    """
    request = _request.get()
    return None if request is None else request.holder


def note(*, action: str | None = None, library: Any = None, search_id: UUID | None = None) -> None:
    """Add to the audit what only the work for a request finds out."""
    request = _request.get()
    if request is not None:
        request.action = action or request.action
        request.library = library if isinstance(library, str) and library else request.library
        request.search_id = search_id or request.search_id
