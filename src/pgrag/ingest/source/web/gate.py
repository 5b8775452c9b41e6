"""Which addresses a crawl may visit, and how many it may not, by reason."""

import re
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from pgrag.ingest.source.web.addresses import Scope

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


#: Addresses that are counted for each reason.
MOST_COUNTED = 10_000

_NO_PAGE = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|avif|ico|bmp|tiff?|css|m?js|map|json|ya?ml|xml|rss|atom|csv|txt"
    r"|zip|gz|tgz|xz|bz2|7z|tar|whl|jar|exe|msi|dmg|deb|rpm|iso|woff2?|ttf|eot|otf|mp[34]|webm|ogg"
    r"|wav|mov|avi|inv|epub|docx?|pptx?|xlsx?|rst|ipynb|py|c|h|cpp|java|go|rs|sh|sql|diff|patch)$",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Gate:
    """Passes addresses of a site, and keeps those that it refuses. Thread-safe."""

    scope: Scope
    traps: Traps
    refused: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def passed(self, urls: Iterable[str]) -> list[str]:
        """Return the addresses that may be visited, in the spelling of the site."""
        wanted = []
        with self._lock:
            for each in urls:
                url = self.scope.own(each)
                reason = self._refusal(url)
                if reason is None:
                    wanted.append(url)
                else:
                    self._count(reason, url)
        return wanted

    def refuse(self, reason: str, url: str) -> None:
        """Count an address that is not visited for another reason."""
        with self._lock:
            self._count(reason, url)

    def _count(self, reason: str, url: str) -> None:
        if len(self.refused[reason]) < MOST_COUNTED:
            self.refused[reason].add(url)

    def _refusal(self, url: str) -> str | None:
        reason = self.scope.refusal(url)
        if reason is None and _NO_PAGE.search(url.partition("?")[0]):
            reason = "no page by its name"
        return reason or self.traps.refusal(url)
