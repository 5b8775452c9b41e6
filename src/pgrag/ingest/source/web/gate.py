"""Which addresses a crawl may visit, and how many it may not, by reason."""

import re
import threading
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from pgrag.ingest.source.web.addresses import Scope
from pgrag.ingest.source.web.traps import Traps

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
