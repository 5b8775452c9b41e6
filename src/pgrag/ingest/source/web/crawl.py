"""One crawl of a site. The queue and every answer are in the database, so that a killed crawl can
be continued.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from pgrag.ground.calls import Row
from pgrag.ground.connections import Database
from pgrag.ground.errors import SourceError
from pgrag.ingest.source.source import digest_of
from pgrag.ingest.source.web.addresses import Scope
from pgrag.ingest.source.web.pages import MARKDOWN, Pages, Result

#: Consecutive addresses without an answer after which the site counts as down.
SILENCES = 10
#: Bytes of bodies per statement, unless one body has more.
BATCH_BYTES = 50_000_000
#: Addresses kept for each page that may be fetched, and at least in all.
ADDRESSES_A_PAGE, LEAST_ADDRESSES = 20, 1000


@dataclass(frozen=True, slots=True)
class CrawlLimits:
    """The limits of a crawl: pages, links from the start, bytes of all pages."""

    pages: int = 10_000
    depth: int = 30
    bytes: int = 2_000_000_000

    @property
    def addresses(self) -> int:
        """The maximum number of queued addresses; nearer ones come first."""
        return max(ADDRESSES_A_PAGE * self.pages, LEAST_ADDRESSES)


@dataclass(slots=True)
class Crawl:
    """A crawl under way; `names` are the library and version that it fills, `found` its pages."""

    database: Database
    names: Mapping[str, str]
    pages: Pages
    limits: CrawlLimits
    workers: int
    found: int = 0
    _bytes: int = 0
    _answered: int = 0
    _known: int = 0
    _silences: int = 0
    _silent: list[Result] = field(default_factory=list)

    @property
    def progress(self) -> tuple[int, int]:
        """The numbers of addresses answered and known."""
        return self._answered, max(self._answered, self._known, 1)

    def queue(self, urls: Iterable[str], depth: int) -> None:
        """Queue addresses of the site that may be visited."""
        wanted = self.pages.gate.passed(urls)
        if wanted and depth <= self.limits.depth:
            self._call("_pgrag.queue_addresses", urls=wanted, depth=depth)

    def queue_start(self) -> None:
        """Queue the start page, which leads to the others even if it is not wanted itself."""
        self._call("_pgrag.queue_addresses", urls=[self.pages.start], depth=0)

    def store_given(self, given: Mapping[str, bytes]) -> None:
        """Store pages in Markdown, by address, that came in one list."""
        keys = {url: _key(url) for url in islice(given, self.limits.pages)}
        wanted = [url for url in keys if self.pages.gate.scope.is_wanted(keys[url])]
        for url in islice(given, self.limits.pages, None):
            self.pages.gate.refuse(f"beyond {self.limits.pages:,} pages", url)
        self._call("_pgrag.queue_addresses", urls=wanted, depth=0)
        self._store(
            [
                {
                    "url": url,
                    "outcome": "page",
                    "key": keys[url],
                    "media_type": MARKDOWN,
                    "digest": digest_of(given[url]),
                    "body": given[url],
                }
                for url in wanted
            ]
        )

    def fetch_all(self) -> None:
        """Fetch until nothing is queued or a limit is reached. Raises SourceError."""
        outcomes = self._call("_pgrag.crawl_outcomes")
        self.found = sum(row["addresses"] for row in outcomes if row["outcome"] == "page")
        self._known = sum(row["addresses"] for row in outcomes)
        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="pgrag-fetch")
        try:
            while (rows := self._call("_pgrag.queued_addresses")) and self._fetch(rows, pool):
                pass
        except BaseException:
            self.pages.fetcher.pace.end()  # wakes the threads that wait for their turn
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    def body(self, url: str) -> bytes | None:
        """Return a body, or fetch it again: bodies are dropped once they are indexed. The next
        crawl sees by the digest whether it has changed since.
        """
        [row] = self._call("_pgrag.fetched_body", url=url)
        if row["fetched_body"] is not None:
            return bytes(row["fetched_body"])
        unknown = dict.fromkeys(("outcome", "etag", "last_modified", "fetched_at"))
        body: bytes | None = self.pages.fetch({"url": url, **unknown}).get("body")
        return body

    def _fetch(self, rows: list[Row], pool: ThreadPoolExecutor) -> bool:
        """Fetch addresses; return false if a limit is reached before the last."""
        waiting = deque(rows)
        pending: set[Future[Result]] = set()
        while waiting or pending:
            while (
                waiting
                and len(pending) < 2 * self.workers
                and self.found + len(pending) < self.limits.pages
                and self._bytes < self.limits.bytes
            ):
                pending.add(pool.submit(self.pages.fetch, waiting.popleft()))
            if not pending:
                return False
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            self._note([future.result() for future in done])
        self._store_silent()
        return True

    def _note(self, results: list[Result]) -> None:
        """Store results; those without an answer only after the site has answered again."""
        answers = [result for result in results if not result.get("is_silent")]
        self._silent += [result for result in results if result.get("is_silent")]
        self._silences = 0 if answers else self._silences + len(results)
        if answers:
            self._store_silent()
            self._store(answers)
        elif self._silences >= SILENCES:
            raise SourceError(
                f"{self.pages.gate.scope.prefix}: stopped answering after {self.found:,} pages:"
                f" {self._silent[-1]['failure']}.",
                hint="Nothing was changed. The same command continues the crawl.",
            )

    def _store_silent(self) -> None:
        self._store(self._silent)
        self._silent.clear()

    def _store(self, results: list[Result]) -> None:
        for batch in _batches(results):
            bodies = [result.pop("body", None) for result in batch]
            [row] = self._call(
                "_pgrag.store_fetched", pages=batch, bodies=bodies, max_depth=self.limits.depth
            )
            # What failed is asked again when the crawl continues, so it is not done.
            self._answered += sum("failure" not in result for result in batch)
            self._known += row["queued"]
            self._bytes += sum(len(body) for body in bodies if body)
            self.found += sum(map(_is_found, batch))
            for url in row["too_deep"]:
                self.pages.gate.refuse(f"more than {self.limits.depth} links from the start", url)

    def _call(self, function: str, **arguments: Any) -> list[Row]:
        return self.database.call(function, **self.names, **arguments)


def _batches(results: list[Result]) -> Iterator[list[Result]]:
    batch: list[Result] = []
    size = 0
    for result in results:
        own = len(result.get("body") or b"")
        if batch and size + own > BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(result)
        size += own
    if batch:
        yield batch


def _is_found(result: Result) -> bool:
    if result.get("is_kept"):
        return bool(result["was_page"]) and "failure" not in result
    return bool(result["outcome"] == "page")


def _key(url: str) -> str:
    return Scope("/".join([*url.split("/", 3)[:3], ""]), lambda _: True).key(url)
