"""Addresses without end: calendars, query strings, paths that repeat themselves."""

import re
from collections import Counter
from dataclasses import dataclass, field

#: How many addresses are visited that differ only in their query, only in their numbers, and only
#: in their numbers with a date.
QUERIES, NUMBERED, DATED = 20, 2000, 100
DEEPEST_PATH = 25

_NUMBER = re.compile(r"\d+")
_DATE = re.compile(r"(?:19|20)\d\d[/_-][01]?\d(?!\d)|(?:year|month|date|day|week)[=/_-]?\d")
_REPEATED = re.compile(r"(/[^/]+(?:/[^/]+){0,3}?)\1{2}(?=/|$)")


@dataclass(slots=True)
class Traps:
    """Counts the addresses of a crawl: those that look alike, and all, of which `most` pass."""

    most: int
    _queries: Counter[str] = field(default_factory=Counter)
    _shapes: Counter[str] = field(default_factory=Counter)
    _passed: set[int] = field(default_factory=set)

    def refusal(self, url: str) -> str | None:
        """Return why an address is not visited, or None. An address that passed passes again."""
        if hash(url) in self._passed:
            return None
        if len(self._passed) >= self.most:
            return f"beyond {self.most:,} addresses"
        reason = self._alike(url)
        if reason is None:
            self._passed.add(hash(url))
        return reason

    def _alike(self, url: str) -> str | None:
        """Return why too many like this one have passed, or None and count it."""
        path, _, query = url.partition("?")
        if path.count("/") > DEEPEST_PATH:
            return f"more than {DEEPEST_PATH} folders deep"
        if _REPEATED.search(path):
            return "the path repeats itself"
        if query and self._queries[path] >= QUERIES:
            return f"more than {QUERIES} query strings of one path"
        shape = _NUMBER.sub("0", url)
        if shape != url:
            most = DATED if _DATE.search(url) else NUMBERED
            if self._shapes[shape] >= most:
                return f"more than {most:,} addresses that differ only in their numbers"
            self._shapes[shape] += 1
        if query:
            self._queries[path] += 1
        return None
