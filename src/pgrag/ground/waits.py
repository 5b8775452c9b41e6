"""Waits for a database: they end, and whoever waits learns for what."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgrag.ground.lively import LIVELY

log = logging.getLogger(__name__)

TELL_SECONDS = 2.0
"""Seconds of waiting after which it is told."""


def bounded(url: str) -> str:
    """Return a connection string whose waits for the network end, unless it sets limits itself."""
    given = conninfo_to_dict(url)
    if "PGCONNECT_TIMEOUT" in os.environ:
        given.setdefault("connect_timeout", os.environ["PGCONNECT_TIMEOUT"])
    return make_conninfo("", **{**LIVELY, **given})


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
