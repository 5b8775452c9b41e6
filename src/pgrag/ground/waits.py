"""Waits for a database: they end, and whoever waits learns for what."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

from psycopg.conninfo import conninfo_to_dict, make_conninfo

log = logging.getLogger(__name__)

TELL_SECONDS = 2.0
"""Seconds of waiting after which it is told."""

CONNECT_SECONDS = 10
"""Seconds for a connection to be made."""

#: A network that is cut sends no end of the connection: without these of libpq, a session waits
#: for a reply as long as the kernel likes, two hours and more. Here it is about 10 seconds.
_LIVELY = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 4,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}


def bounded(url: str) -> str:
    """Return a connection string whose waits for the network end, unless it sets limits itself."""
    given = conninfo_to_dict(url)
    if "PGCONNECT_TIMEOUT" in os.environ:
        given.setdefault("connect_timeout", os.environ["PGCONNECT_TIMEOUT"])
    return make_conninfo("", **{**_LIVELY, **given})


@contextmanager
def told(what: str) -> Iterator[None]:
    """Say what is awaited, as a warning, if the block takes longer than `TELL_SECONDS`."""
    timer = Timer(TELL_SECONDS, log.warning, ["%s", what])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
