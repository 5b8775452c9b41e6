"""What a failed start means, told by the words that PostgreSQL leaves in its log."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pgrag.errors import DatabaseUnavailable

_SHOWN_LINES = 10


@dataclass(frozen=True, slots=True)
class _Failure:
    words: str
    cause: str
    way_out: str


_BUSY = _Failure(
    r"pre-existing shared memory|postmaster\.pid\" already exists",
    "processes of an earlier server still use the data",
    "End the postgres processes of {data}.",
)
_FAILURES = (
    _Failure("No space left on device", "the disk is full", "Free space on the disk of {data}."),
    _Failure(
        "could not create any TCP/IP sockets",
        "port {port} of 127.0.0.1 is in use or not allowed",
        "Stop the program that uses it, or choose another port.",
    ),
    _BUSY,
    _Failure(
        "Cannot allocate memory|could not create shared memory",
        "there is not enough memory",
        "Lower shared_buffers in {data}/postgresql.conf.",
    ),
    _Failure(
        "ermission denied|invalid permissions|wrong ownership",
        "the permissions are wrong",
        "{data} must belong to the user that runs the server, with mode 700.",
    ),
)
_UNKNOWN = _Failure("", "see its log", "Mend what the log names, then start again.")


def is_busy(log: str) -> bool:
    """Say whether the start failed because processes of an earlier server still live."""
    return re.search(_BUSY.words, log) is not None


def startup_failure(log: str, *, data: Path, port: int) -> DatabaseUnavailable:
    """Return the error that explains a failed start, with the last lines of its log."""
    failure = next((each for each in _FAILURES if re.search(each.words, log)), _UNKNOWN)
    lines = "\n".join(f"    {line}" for line in log.strip().splitlines()[-_SHOWN_LINES:])
    return DatabaseUnavailable(
        f"The embedded PostgreSQL did not start: {failure.cause.format(port=port)}.\n{lines}\n",
        hint=failure.way_out.format(data=data),
    )
