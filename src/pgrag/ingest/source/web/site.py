"""A website as a source: crawl it, list its pages."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from contextvars import copy_context
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import partial
from ipaddress import ip_address
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from pgrag.ground.calls import Row
from pgrag.ground.connections import Database
from pgrag.ground.errors import ForbiddenAddress, InvalidInput, SourceError
from pgrag.ground.outgoing import guarded_client
from pgrag.ground.settings import Settings, masked_url
from pgrag.ingest.child import Child, Limits
from pgrag.ingest.locking import held
from pgrag.ingest.source.dates import dates_of_time, without_copied
from pgrag.ingest.source.source import Skipped, Source, SourceFile
from pgrag.ingest.source.web.addresses import OTHER_VERSION, Scope, normalised
from pgrag.ingest.source.web.crawl import Crawl, CrawlLimits
from pgrag.ingest.source.web.fetcher import Fetcher, NoAnswer, Pace
from pgrag.ingest.source.web.gate import Gate, Traps
from pgrag.ingest.source.web.pages import SCRIPTED, Pages
from pgrag.ingest.source.web.robots import AGENT, LONGEST, Robots
from pgrag.ingest.source.web.seeds import Seeds
from pgrag.ingest.source.web.signals import Signals
from pgrag.ingest.values import UNDATED, Dates, Origin

#: Requests at a time, and seconds between their starts: for this machine, and for others.
LOCAL_WORKERS, WORKERS, INTERVAL = 8, 4, 0.1
#: Seconds of silence after which a request is given up.
SILENCE_SECONDS = 20.0
#: Seconds between two calls of `progress`.
LOOK_SECONDS = 0.25

#: Called with (addresses answered, addresses known, None); ends the crawl by raising.
Progress = Callable[[int, int, int | None], None]


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """Which pages of a site are visited. `allow_private` reaches this machine and its network."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    limits: CrawlLimits = field(default_factory=CrawlLimits)
    allow_private: bool = False

    def arguments(self, address: str) -> dict[str, Any]:
        """Return the arguments with which `App.index` reads the same site again."""
        return {
            "source": address,
            "include": [*self.include],
            "exclude": [*self.exclude],
            "max_pages": self.limits.pages,
            "max_depth": self.limits.depth,
            "max_bytes": self.limits.bytes,
            "allow_private": self.allow_private,
        }


def open_site(
    address: str,
    options: SiteOptions,
    *,
    database: Database,
    settings: Settings,
    library: str,
    version: str,
    progress: Progress | None = None,
) -> Source:
    """Crawl a site for a version of a library, or continue, and return its pages as a source.
    `progress` may interrupt it. Raises SourceError, and InvalidInput for what is no address.
    """
    start = normalised(address)
    if start is None:
        raise InvalidInput(f"{masked_url(address)} is not an address of a website.")
    if "@" in urlsplit(address.strip()).netloc:
        raise InvalidInput(f"{start}: pgrag logs in to no website.", hint="Omit name and password.")
    names = {"library": library, "version": version}
    with ExitStack() as stack:
        name, taken = stack.enter_context(held(database, "crawl", library, version))
        if taken:
            raise SourceError(f"Another run is crawling for {name}.", hint="Wait for its end.")
        visit = _Visit(
            stack, database=database, names=names, settings=settings, options=options, start=start
        )
        arguments = options.arguments(start)
        database.call("_pgrag.begin_crawl", **names, arguments=arguments)
        try:
            crawl = visit.crawl(progress or (lambda *_: None))
        except (SourceError, ForbiddenAddress):
            if not visit.can_continue:
                database.call("_pgrag.finish_crawl", **names, is_complete=False)
            raise
        database.call("_pgrag.finish_crawl", **names)
        skipped = tuple(visit.skipped(crawl))
        rows = database.call("_pgrag.crawled_pages", **names)
        # Of two pages with one key the last stays: one that answered.
        rows.sort(key=lambda row: row["failure"] is None)
        files = {file.key: file for file in (_file(crawl, row) for row in rows)}
        # Of a site that was published as a whole every page was changed at that time.
        listed, _ = without_copied([files[key] for key in sorted(files)])
        return Source(
            start,
            tuple(listed),
            warnings=tuple(visit.warnings),
            skipped=skipped,
            arguments=arguments,
            release=stack.pop_all().close,
        )


class _Visit:
    def __init__(
        self,
        stack: ExitStack,
        *,
        database: Database,
        names: dict[str, str],
        settings: Settings,
        options: SiteOptions,
        start: str,
    ) -> None:
        self._database, self._names, self._options = database, names, options
        limits = Limits(settings.max_page_seconds, settings.max_page_memory)
        self._child, self._lock = stack.enter_context(Child(limits, (Signals,))), Lock()
        self._largest = settings.max_page_bytes
        self._client = stack.enter_context(
            guarded_client(
                settings,
                headers={"User-Agent": AGENT},
                timeout=SILENCE_SECONDS,
                allow_private=options.allow_private,
            )
        )
        self._pace = Pace(0.0)
        self._crawl: Crawl | None = None
        self.start = start
        self.warnings: list[str] = []
        self.can_continue = False

    def crawl(self, progress: Progress) -> Crawl:
        """Fetch pages in a thread that this one can end. Raises SourceError if there are none."""
        with ThreadPoolExecutor(1, thread_name_prefix="pgrag-crawl") as pool:
            crawling = pool.submit(copy_context().run, self._crawled)
            try:
                while wait([crawling], LOOK_SECONDS).not_done:
                    progress(*(self._crawl.progress if self._crawl else (0, 1)), None)
            except BaseException:
                self._pace.end()
                self._child.kill()
                raise
        return crawling.result()

    def _crawled(self) -> Crawl:
        fetcher = Fetcher(self._client, self._pace)
        scope = self._scope(fetcher)
        robots = self._robots(fetcher, scope.origin)
        if not robots.allows(self.start):
            raise SourceError(
                f"{self.start}: robots.txt does not let {AGENT} read it.",
                hint="Ask the site's owner, or index its sources from a folder.",
            )
        is_local = _is_local(scope.origin)
        fetcher.pace.interval = robots.delay or (0.0 if is_local else INTERVAL)
        gate = Gate(scope, Traps(self._options.limits.addresses))
        pages = Pages(fetcher, gate, robots, self._run, self.start, self._largest)
        workers = 1 if robots.delay else LOCAL_WORKERS if is_local else WORKERS
        crawl = Crawl(self._database, self._names, pages, self._options.limits, workers)
        self._crawl = crawl
        Seeds(crawl, pages, self.warnings).plant()
        self.can_continue = True
        crawl.fetch_all()
        self.can_continue = False
        if not crawl.found:
            raise self._explained(crawl)
        return crawl

    def _scope(self, fetcher: Fetcher) -> Scope:
        try:
            head = fetcher.follow(self.start, method="HEAD")
        except NoAnswer as error:
            raise SourceError(
                f"{self.start}: cannot be read: {error}.", hint="Nothing was changed."
            ) from error
        except ForbiddenAddress as error:
            raise ForbiddenAddress(
                error.message,
                hint="--allow-private, or PGRAG_ALLOW_PRIVATE=1, lets it be in a private network.",
            ) from error
        self.start = head.url
        return Scope.around(self.start, self._options.include, self._options.exclude)

    def _robots(self, fetcher: Fetcher, origin: str) -> Robots:
        url = f"{origin}/robots.txt"
        try:
            answer = fetcher.follow(url, room=LONGEST)
        except NoAnswer as error:
            raise SourceError(
                f"{url}: cannot be read: {error}.", hint="Try again later."
            ) from error
        return Robots.read(url, answer.status, answer.body)

    def _run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        with self._lock:
            return self._child.run(function, *arguments)

    def _explained(self, crawl: Crawl) -> SourceError:
        groups = [*self.skipped(crawl)]
        if any(group.reason == SCRIPTED for group in groups):
            return SourceError(
                f"{self.start}: its pages are {SCRIPTED}, and have no text without them.",
                hint="Index its sources from a folder, or its llms.txt if it has one.",
            )
        told = "; ".join(f"{group.count:,} {group.reason}" for group in groups) or "no address"
        return SourceError(f"{self.start}: has no page to index: {told}.")

    def skipped(self, crawl: Crawl) -> Iterator[Skipped]:
        """Yield why addresses became no pages, the most frequent reason first."""
        groups = []
        limits = self._options.limits
        for row in self._database.call("_pgrag.crawl_outcomes", **self._names):
            outcome, reason, hint = row["outcome"], row["reason"], ""
            if outcome == "page":
                continue
            if outcome == "queued":
                reason = f"beyond {limits.pages:,} pages or {limits.bytes:,} bytes"
                hint = "--max-pages and --max-bytes raise the limits."
            if reason == OTHER_VERSION:
                hint = "Each can be indexed as a version of its own, from its own address."
            reason = reason or {"copy": "copy of another page", "moved": "redirect"}[outcome]
            groups.append(Skipped(reason, row["addresses"], (row["example"],), hint))
        scope = crawl.pages.gate.scope
        for reason, urls in crawl.pages.gate.refused.items():
            examples, hint = sorted(urls)[:3], ""
            if reason == OTHER_VERSION:
                versions = {scope.other_version(url) for url in urls}
                examples = [f"{scope.versions}{version}/" for version in sorted(versions)]
                hint = "Each can be indexed as a version of its own."
            groups.append(Skipped(reason, len(urls), tuple(examples), hint))
        yield from sorted(groups, key=lambda group: -group.count)


def _file(crawl: Crawl, row: Row) -> SourceFile:
    url, failure = row["url"], row["failure"]
    key = row["key"] or crawl.pages.gate.scope.key(url)
    load = partial(_body, crawl, key, url, failure)
    digest = None if failure else row["digest"]
    dates = _dates(row["last_modified"] or "")
    return SourceFile(key, load, Origin(row["media_type"], url), digest, dates)


def _dates(last_modified: str) -> Dates:
    try:
        return dates_of_time(parsedate_to_datetime(last_modified).timestamp(), "server")
    except ValueError:
        return UNDATED


def _body(crawl: Crawl, key: str, url: str, failure: str | None, size: int) -> bytes:
    if failure:
        raise SourceError(f"{key}: {url}: {failure}.")
    body = crawl.body(url)
    if body is None:
        raise SourceError(f"{key}: {url}: has vanished since the site was crawled.")
    return body if size < 0 else body[:size]


def _is_local(origin: str) -> bool:
    host = urlsplit(origin).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
