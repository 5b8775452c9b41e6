"""The client's stdin and stdout; quick to import."""

import os
from typing import NamedTuple


class Wire(NamedTuple):
    """Descriptors that the client writes to and reads from."""

    reading: int
    writing: int


def take_wire() -> Wire:
    """Take over stdin and stdout before anything inherits them; prints now go to stderr."""
    wire = Wire(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return wire
