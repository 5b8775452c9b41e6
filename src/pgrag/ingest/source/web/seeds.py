"""Where a crawl begins: the start page, sitemaps, the inventory of Sphinx, llms.txt."""

import secrets
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from pgrag.ground.errors import PgragError, SourceError
from pgrag.ingest.source.web import lists
from pgrag.ingest.source.web.addresses import normalised
from pgrag.ingest.source.web.crawl import Crawl
from pgrag.ingest.source.web.fetcher import Answer, NoAnswer
from pgrag.ingest.source.web.pages import HTML, Missing, Pages
from pgrag.ingest.source.web.signals import Signals, read_markdown_signals, read_signals

FULL_TEXT = "llms-full.txt"
#: Pages that may lack Markdown before no more is requested.
MARKDOWN_CHANCES = 5
_LISTS = ("llms.txt", FULL_TEXT)


@dataclass(frozen=True, slots=True)
class Seeds:
    """Queues the first addresses of a crawl, depending on its start."""

    crawl: Crawl
    pages: Pages
    warnings: list[str]

    def plant(self) -> None:
        """Queue the first addresses. Raises SourceError if a required list cannot be read."""
        crawl, pages = self.crawl, self.pages
        path = urlsplit(pages.start).path
        name = path.rpartition("/")[2]
        if name in _LISTS:
            pages.follows = False
            text = self._required(pages.start).body
            if name == FULL_TEXT:
                given = pages.run(
                    lists.split_full_text, pages.start, text.decode("utf-8", "replace")
                )
                crawl.store_given({url: page.encode() for url, page in given.items()})
            else:
                signals: Signals = pages.run(read_markdown_signals, pages.start, text)
                crawl.queue(signals.links, 0)
        elif path.endswith((".xml", ".xml.gz")):
            pages.follows = False
            self._required(pages.start)
            self._queue_sitemaps([pages.start], 0)
        else:
            pages.missing = self._missing()
            crawl.queue_start()
            llms = (f"{pages.gate.scope.prefix}llms.txt", f"{pages.gate.scope.origin}/llms.txt")
            if any(self._optional(each) for each in dict.fromkeys(llms)):
                pages.markdown_chances = MARKDOWN_CHANCES
            prefixes = dict.fromkeys((pages.gate.scope.prefix, f"{pages.gate.scope.origin}/"))
            usual = [f"{each}sitemap.xml" for each in prefixes]
            self._queue_sitemaps(self._own_sitemaps() or usual, 1)
            self._queue_inventory(f"{pages.gate.scope.prefix}objects.inv")
            self._note_versions()

    def _required(self, url: str) -> Answer:
        if not self.pages.robots.allows(url):
            raise SourceError(f"{url}: robots.txt does not let pgrag read it.")
        try:
            answer = self.pages.fetcher.follow(url)
        except NoAnswer as error:
            raise SourceError(f"{url}: cannot be read: {error}.") from error
        if answer.status != 200 or answer.is_cut:
            why = "is too large" if answer.is_cut else f"answers HTTP {answer.status}"
            raise SourceError(f"{url}: {why}.")
        return answer

    def _optional(self, url: str) -> Answer | None:
        answer = self._answered(url)
        return None if answer is None or answer.is_cut or answer.media_type in HTML else answer

    def _answered(self, url: str) -> Answer | None:
        if not self.pages.robots.allows(url):
            return None
        try:
            answer = self.pages.fetcher.follow(url)
        except (NoAnswer, PgragError):
            return None
        return answer if answer.status == 200 else None

    def _own_sitemaps(self) -> list[str]:
        """Return the sitemaps of robots.txt on the site's host: others may be private."""
        scope = self.pages.gate.scope
        urls = (normalised(each, scope.prefix) for each in self.pages.robots.sitemaps)
        own = (scope.own(url) for url in urls if url is not None)
        return [url for url in own if scope.is_of_site(url)]

    def _queue_sitemaps(self, urls: list[str], depth: int) -> None:
        crawl, pages = self.crawl, self.pages
        allowed = [url for url in urls if pages.robots.allows(url)]
        sitemap = lists.read_sitemaps(pages.fetcher, pages.run, allowed, crawl.limits.addresses)
        if depth == 0:
            self.warnings.extend(sitemap.faults)
        pages.changed = {pages.gate.scope.own(url): at for url, at in sitemap.pages.items()}
        crawl.queue(pages.changed, depth)

    def _queue_inventory(self, url: str) -> None:
        answer = self._optional(url)
        if answer is not None:
            try:
                self.crawl.queue(self.pages.run(lists.parse_inventory, url, answer.body), 1)
            except PgragError as error:
                self.warnings.append(error.message)

    def _note_versions(self) -> None:
        """Count the versions of the site's switcher among the addresses that are not visited."""
        gate = self.pages.gate
        if gate.scope.versions:
            for name in ("versions.json", "switcher.json", "_static/switcher.json"):
                url = f"{gate.scope.prefix if '/' in name else gate.scope.versions}{name}"
                if (answer := self._optional(url)) is not None:
                    with suppress(PgragError):
                        gate.passed(self.pages.run(lists.parse_versions, url, answer.body))

    def _missing(self) -> Missing:
        """Request a page that cannot exist, to know the site's answer."""
        url = f"{self.pages.gate.scope.prefix}no-such-page-{secrets.token_hex(6)}"
        answer = self._answered(url)
        if answer is None or answer.media_type not in HTML:
            return Missing()
        signals: Signals = self.pages.run(read_signals, url, answer.body, "", False, answer.charset)
        return Missing.of(url, answer.body, signals)
