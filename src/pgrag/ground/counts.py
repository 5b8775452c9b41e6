"""Counts of what has happened in this process, for its metrics: cheap, and without their library,
which takes longer to import than a search from the shell.
"""

from collections import Counter
from threading import Lock

_counts: Counter[tuple[str, tuple[tuple[str, str], ...]]] = Counter()
_lock = Lock()


def count(name: str, **labels: str) -> None:
    """Count one more event; a label has one of a few values, never one that a caller chooses."""
    with _lock:
        _counts[name, tuple(sorted(labels.items()))] += 1


def counted(name: str) -> dict[tuple[tuple[str, str], ...], int]:
    """How often an event has happened, by its labels."""
    with _lock:
        return {labels: times for (each, labels), times in _counts.items() if each == name}
