"""What SQL functions tell by RAISE NOTICE and RAISE WARNING."""

import logging
from contextlib import AbstractContextManager
from contextvars import ContextVar

from pgrag.ground.scoped import holding

log = logging.getLogger(__name__)

_notices: ContextVar[list[str]] = ContextVar("notices")


def collected_notices() -> AbstractContextManager[list[str]]:
    """Collect the notices that functions raise (RAISE NOTICE) within the block."""
    notices: list[str] = []
    return holding(_notices, notices)


def keep(severity: str | None, sqlstate: str | None, message: str) -> None:
    """Collect a notice, or log a warning. A server that goes down warns its sessions, too: only
    what functions raise counts.
    """
    notices = _notices.get(None)
    if severity == "WARNING" and sqlstate == "01000":
        log.warning("%s", message)
    elif notices is not None and severity == "NOTICE":
        notices.append(message)
