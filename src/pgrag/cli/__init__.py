"""The command line `pgrag`."""

from pgrag.cli.entry import main

__all__ = ["main"]
