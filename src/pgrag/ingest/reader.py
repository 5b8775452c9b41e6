"""Read the files of a source that are new or changed."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import itemgetter
from time import monotonic

from pgrag.ground.calls import Row
from pgrag.ground.errors import SourceError
from pgrag.ground.settings import processors
from pgrag.ingest.aside import Aside
from pgrag.ingest.children import WORTH, Children
from pgrag.ingest.chunks.semantic import Similarities
from pgrag.ingest.document import PageDocument, read_document
from pgrag.ingest.formats import formats
from pgrag.ingest.kept_pages import KeptPages
from pgrag.ingest.matter.properties import Properties
from pgrag.ingest.page import IndexTarget, read_properties_of, source_hash
from pgrag.ingest.report import IndexReport
from pgrag.ingest.source.dates import Dating
from pgrag.ingest.source.source import Elsewhere, Skips, SourceFile, digest_of
from pgrag.ingest.values import FRONT_MATTER, Dates

#: Bounds of what is read before its page is needed: files, and bytes of them.
MOST_AHEAD = 128
MOST_BYTES_AHEAD = 50_000_000

_NEVER = datetime.min.replace(tzinfo=UTC)
#: Called with (pages done, total pages, passages written) during a run; while a website is fetched
#: with (addresses that have answered, addresses known, None).
Progress = Callable[[int, int, int | None], None]
_UNCHANGED: Future[None] = Future()
_UNCHANGED.set_result(None)


@dataclass(slots=True)
class _Begun:
    """A file that is being read; the page is None if it is unchanged, `size` the bytes read."""

    file: SourceFile
    digest: str = ""
    size: int = 0
    page: Future[PageDocument] | Future[None] = _UNCHANGED


@dataclass(slots=True)
class Reader:
    """Reads the files whose hash changed; of several pages with one uuid, keeps the newest. Pages
    of Markdown are read in this process for a second, then in child processes, if there are several
    processors; other pages always are.
    """

    target: IndexTarget
    stored: dict[str, Row]
    report: IndexReport
    children: Children
    similarities: Similarities | None
    kept_pages: KeptPages | None
    dating: Dating
    skips: Skips = field(default_factory=Skips)
    kept: set[str] = field(default_factory=set)
    outdone: set[str] = field(default_factory=set)
    paths: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: The dates of unchanged pages that have others now, by key.
    redated: dict[str, Dates] = field(default_factory=dict)
    _owners: dict[str, tuple[datetime, str]] = field(default_factory=dict)
    _urls: dict[str, str] = field(default_factory=dict)
    _aside: Aside = field(init=False)
    #: Seconds that reading took in this process.
    _seconds: float = 0.0

    def __post_init__(self) -> None:
        self._aside = Aside(
            self.children,
            read_document,
            options=self.target.options,
            similarities=self.similarities,
            limit=self.target.max_page_bytes,
        )

    def follow(self, files: Sequence[SourceFile]) -> tuple[dict[str, str], list[str]]:
        """Give the stored pages whose files were renamed, or outdone by newer ones, new keys.
        Returns the new keys by the old ones, and the keys of the pages in the way. A stored page
        goes to the newest file with its uuid, of equally new ones to its own; that file claims the
        uuid. Call it before `pages`.
        """
        owners = Counter(row["uuid"] for row in self.stored.values() if row["uuid"])
        pages = {row["uuid"]: key for key, row in self.stored.items() if owners[row["uuid"]] == 1}
        heirs: dict[str, list[tuple[datetime, bool, str]]] = defaultdict(list)
        for file in files if owners else ():
            with suppress(SourceError):
                row = self.stored.get(file.key)
                if row is not None and self._stays(file):
                    uuid, moment = row["uuid"], row["stated"] or _NEVER
                else:
                    properties = self._properties(file)
                    uuid, moment = properties.uuid, _moment(properties)
                if uuid in pages:
                    heirs[uuid].append((moment, pages[uuid] == file.key, file.key))
                elif uuid in owners and row is not None and uuid == row["uuid"]:
                    # Several pages have it: unchanged ones claim it before new files do.
                    self._claim(uuid, moment, file.key)
        renamed = {}
        for uuid, files_of_uuid in heirs.items():
            moment, is_own, key = max(files_of_uuid, key=itemgetter(0, 1))
            self._claim(uuid, moment, key)
            if not is_own:
                renamed[pages[uuid]] = key
        in_the_way = [key for key in renamed.values() if key in self.stored and key not in renamed]
        rows = {new: self.stored[old] | {"source_hash": ""} for old, new in renamed.items()}
        for key in (*renamed, *in_the_way):
            del self.stored[key]
        self.stored.update(rows)
        return renamed, in_the_way

    def pages(
        self, files: Sequence[SourceFile], progress: Progress | None
    ) -> Iterator[PageDocument]:
        """Yield the pages that are new or changed, in the order of their files."""
        for done, begun in enumerate(self._ahead(files), start=1):
            page = self._finish(begun)
            if page is not None:
                yield page
            if progress is not None:
                progress(done, len(files), self.report.documents)

    def _ahead(self, files: Sequence[SourceFile]) -> Iterator[_Begun]:
        waiting: deque[_Begun] = deque()
        held = 0
        for file in files:
            begun = self._begin(file)
            waiting.append(begun)
            held += begun.size
            while waiting and (
                waiting[0].page.done() or len(waiting) > MOST_AHEAD or held > MOST_BYTES_AHEAD
            ):
                if not waiting[0].page.done():
                    self._aside.send()
                held -= waiting[0].size
                yield waiting.popleft()
        self._aside.send()
        yield from waiting

    def _begin(self, file: SourceFile) -> _Begun:
        begun = _Begun(file)
        options = self.target.options
        try:
            data = None if file.digest else self._bytes(file)
            begun.digest = file.digest or digest_of(data or b"")
            stored = self.stored.get(file.key)
            if stored is not None and self._is_current(file, begun.digest, stored):
                return begun
            if self.kept_pages and (page := self.kept_pages.find(file, begun.digest, options)):
                begun.page = _done(page)
            else:
                data = self._bytes(file) if data is None else data
                begun.size = len(data)
                begun.page = self._read(file, data, begun.digest)
        except SourceError as error:
            begun.page = Future()
            begun.page.set_exception(error)
        return begun

    def _finish(self, begun: _Begun) -> PageDocument | None:
        file = begun.file
        try:
            page = begun.page.result()
        except SourceError as error:
            if isinstance(error, Elsewhere):
                self.skips.add(file.key, error.message, error.hint or "")
            else:
                self.report.fail(file.key, str(error))
            if file.key in self.stored:
                self.kept.add(file.key)
            return None
        if page is None:
            self.kept.add(file.key)
            self.report.unchanged += 1
            self._date_again(begun)
            return None
        if self.kept_pages and begun.size:
            self.kept_pages.keep(file, begun.digest, self.target.options, page)
        self.report.warn(*page.warnings)
        self.report.count_words(page.key, page.words)
        if page.uuid and not self._claim(page.uuid, _moment(page), page.key):
            return None
        if page.stated_path is not None:
            self.paths[page.key] = page.stated_path
        other = self._urls.setdefault(page.url, page.key)
        if other != page.key:
            self.report.warn(
                f"{page.key}: has the same url as {other}: {page.url}; both are indexed"
            )
        self.kept.add(page.key)
        dates = self.dating.of(file, begun.digest)
        return page.dated(page.dates.over(dates).complete())

    def _date_again(self, begun: _Begun) -> None:
        """Date an unchanged page by its commits or the time of its file, as they are now."""
        row = self.stored[begun.file.key]
        stored = Dates(**{name: row[name] for name in Dates.__slots__})
        dates = self.dating.again(begun.file, begun.digest, stored)
        # What a text or a name states is part of the page, and read with it.
        dates = stored.stated().over(dates).complete()
        if dates != stored:
            self.redated[begun.file.key] = dates

    def _bytes(self, file: SourceFile) -> bytes:
        limit = self.target.max_page_bytes
        return file.read(formats.size_limit(file.key, file.origin, limit))

    def _read(self, file: SourceFile, data: bytes, digest: str) -> Future[PageDocument]:
        is_own = formats.format_of(file.key, data, file.origin) is formats.MARKDOWN
        given = {"key": file.key, "data": data, "origin": file.origin, "digest": digest}
        if not is_own or self.target.in_child or (self._seconds > WORTH and processors() > 1):
            return self._aside.read(is_alone=not is_own, **given)
        started = monotonic()
        page = self._aside.read_here(**given)
        self._seconds += monotonic() - started
        return _done(page)

    def _properties(self, file: SourceFile) -> Properties:
        data = self._bytes(file)
        call = file.key, data, file.origin
        is_own = formats.format_of(*call) is formats.MARKDOWN
        if not is_own or self.target.in_child:
            return self.children.submit(read_properties_of, *call).result()
        return read_properties_of(*call)

    def _stays(self, file: SourceFile) -> bool:
        """Whether the stored page is kept: its file is unchanged or cannot be read."""
        try:
            digest = file.digest or digest_of(self._bytes(file))
            return self._is_current(file, digest, self.stored[file.key])
        except SourceError:
            return True

    def _is_current(self, file: SourceFile, digest: str, stored: Row) -> bool:
        options = self.target.options
        current = source_hash(file.key, digest, options, stored["declared_type"], file.origin)
        return bool(stored["source_hash"] == current)

    def _claim(self, uuid: str, moment: datetime | None, key: str) -> bool:
        """Whether the page is the newest with its uuid; older pages are reported and dropped."""
        moment = moment or _NEVER
        owner = self._owners.get(uuid)
        if owner is None or owner[1] == key:
            self._owners[uuid] = (moment, key)
            return True
        winner, loser = (key, owner[1]) if moment > owner[0] else (owner[1], key)
        if winner == key:
            self._owners[uuid] = (moment, key)
        self.kept.discard(loser)
        self.outdone.add(loser)
        self.report.warn(
            f"{loser}: has the same uuid {uuid!r} as {winner}, which is newer or came first;"
            " it is not indexed"
        )
        return winner == key


def _done(page: PageDocument) -> Future[PageDocument]:
    future: Future[PageDocument] = Future()
    future.set_result(page)
    return future


def _moment(page: PageDocument | Properties) -> datetime:
    """Return the newest date of the front matter: other dates change with copies of a file."""
    if isinstance(page, Properties):
        created, modified = page.created, page.modified
    else:
        dates = page.dates
        created = dates.created if dates.created_from == FRONT_MATTER else None
        modified = dates.modified if dates.modified_from == FRONT_MATTER else None
    text = modified or created
    if text is None:
        return _NEVER
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
