"""The command line `pgrag`."""

from pgrag.cli.program import main

__all__ = ["main"]
