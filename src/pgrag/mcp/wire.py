"""The client's end of stdin and stdout. Imports nothing that takes a while."""

from __future__ import annotations

import os
from typing import NamedTuple


class Wire(NamedTuple):
    """Descriptors of what the client writes and reads."""

    reading: int
    writing: int


def take_wire() -> Wire:
    """Take stdin and stdout away from everybody else: what is printed from now on goes to stderr.

    Call it before anything is started that could inherit them.
    """
    wire = Wire(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return wire
