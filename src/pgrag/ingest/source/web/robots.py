"""What a site's robots.txt allows (RFC 9309), and how fast."""

from dataclasses import dataclass

from protego import Protego

from pgrag.ground.errors import SourceError

#: The name of this crawler in robots.txt, and in meta elements.
AGENT = "pgrag"
#: Bytes of robots.txt that are read, as RFC 9309 asks.
LONGEST = 500 * 1024
#: Seconds between two requests; a site that asks for more would be crawled for months.
LONGEST_DELAY = 60.0


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules of one site for this crawler; `delay` is in seconds."""

    delay: float = 0.0
    sitemaps: tuple[str, ...] = ()
    _rules: Protego | None = None

    @classmethod
    def read(cls, url: str, status: int, body: bytes) -> "Robots":
        """Read an answer; 4xx allows all. Raises SourceError for 5xx and for long delays."""
        if status >= 500:
            raise SourceError(
                f"{url}: answers {status}, so nothing may be read.",
                hint="Try again when the site works.",
            )
        if status >= 400:
            return cls()
        rules = Protego.parse(body[:LONGEST].decode("utf-8", "replace"))
        rate = rules.request_rate(AGENT)
        pause = rate.seconds / rate.requests if rate and rate.requests else 0.0
        delay = max(rules.crawl_delay(AGENT) or 0.0, pause)
        if delay > LONGEST_DELAY:
            raise SourceError(
                f"{url}: asks for {delay:,.0f} seconds between two requests; pgrag waits at most"
                f" {LONGEST_DELAY:.0f}.",
                hint="Ask the site's owner, or index its sources from a folder.",
            )
        return cls(delay, tuple(rules.sitemaps), rules)

    def allows(self, url: str) -> bool:
        """Whether this crawler may ask for an address."""
        return self._rules is None or bool(self._rules.can_fetch(url, AGENT))
