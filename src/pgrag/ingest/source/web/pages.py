"""Fetch one address of a crawl, and decide what becomes of it."""

import hashlib
import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from pgrag.ground.calls import Row
from pgrag.ground.errors import PgragError, SourceError
from pgrag.ingest.formats.decoding import decode
from pgrag.ingest.formats.formats import size_limit
from pgrag.ingest.source.source import digest_of
from pgrag.ingest.source.web.addresses import OTHER_VERSION
from pgrag.ingest.source.web.fetcher import Answer, Fetcher, NoAnswer
from pgrag.ingest.source.web.gate import Gate
from pgrag.ingest.source.web.robots import Robots
from pgrag.ingest.source.web.signals import Signals, read_markdown_signals, read_signals
from pgrag.ingest.values import Origin

_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$")
_FENCE = re.compile(r"^[ ]{0,3}(`{3,}|~{3,})")
_EXPLICIT = re.compile(r"\{#[^\s{}]+\}\s*$")
_LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\))?")
#: Markdown with a smaller share of the page's headings is another text.
_SHARE = 0.5


def markdown_address(url: str) -> str:
    """Return where a page is as Markdown on sites with an llms.txt, as llmstxt.org proposes."""
    path, mark, query = url.partition("?")
    return f"{path}{'index.html' if path.endswith('/') else ''}.md{mark}{query}"


def with_ids(
    markdown: bytes, headings: Iterable[tuple[str, str]], media_type: str = ""
) -> bytes | None:
    """Give the headings of a page's Markdown their ids in the page, and make it UTF-8. None if it
    is no text, or has other headings.
    """
    try:
        lines = decode("", markdown, Origin(media_type))[0].splitlines()
    except SourceError:
        return None
    ids: defaultdict[str, deque[str]] = defaultdict(deque)
    for text, own in headings:
        ids[_plain(text)].append(own)
    fence, seen, known = "", 0, 0
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        heading = None if fence or mark else _HEADING.match(line)
        if heading is None or _EXPLICIT.search(line):
            continue
        seen += 1
        if candidates := ids.get(_plain(heading[2])):
            known += 1
            lines[number] = f"{heading[1]} {heading[2]} {{#{candidates.popleft()}}}"
    if seen and ids and known < _SHARE * seen:
        return None
    return ("\n".join(lines) + "\n").encode()


def _plain(text: str) -> str:
    return "".join(re.findall(r"\w+", _LINK.sub(r"\1", text).replace("_", "").casefold()))


HTML = frozenset({"text/html", "application/xhtml+xml"})
MARKDOWN = "text/markdown"
PDF = "application/pdf"
#: Why a page is skipped that has no text before its scripts run.
SCRIPTED = "made by scripts in the browser"
#: Why a page is skipped that the site sends for addresses that do not exist.
MISSING = "the site's page for what does not exist"

#: Bytes of one body, which is stored in a single row.
LARGEST_BODY = 200_000_000

#: Media types that servers also give Markdown.
_PLAIN = frozenset({"text/x-markdown", "text/plain", "application/octet-stream", ""})
_MARKDOWN_NAME = re.compile(r"\.(?:md|mdx|markdown)$")
_MISSING = re.compile(r"\b404\b|not found|nicht gefunden|introuvable", re.IGNORECASE)
_VALIDATORS = (("If-None-Match", "etag"), ("If-Modified-Since", "last_modified"))

#: What `_pgrag.store_fetched` takes for one address; with `is_silent` the site gave no answer.
Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Missing:
    """The page that the site sends, with status 200, for what does not exist; empty: none."""

    digests: frozenset[str] = frozenset()
    title: str = ""

    @classmethod
    def of(cls, url: str, body: bytes, signals: Signals) -> "Missing":
        """Return what identifies the page that the site sends for an address that cannot exist."""
        return cls(frozenset({digest_of(body), _anonymous_digest(url, body)}), signals.title)

    def is_same(self, url: str, body: bytes, signals: Signals) -> bool:
        """Whether a page is this one, apart from addresses in its text."""
        if not self.digests:
            return False
        is_titled = signals.title == self.title and bool(_MISSING.search(self.title))
        own = {digest_of(body), _anonymous_digest(url, body)}
        return is_titled or not self.digests.isdisjoint(own)


def _anonymous_digest(url: str, body: bytes) -> str:
    path = "/" + url.partition("?")[0].split("/", 3)[3]
    for each in (url, path, path.rstrip("/").rpartition("/")[2]):
        body = body.replace(each.encode(), b"") if len(each) > 1 else body
    return hashlib.sha1(body, usedforsecurity=False).hexdigest()


@dataclass(slots=True)
class Pages:
    """Fetches the pages of a site; thread-safe. `run` calls a function in a child process, because
    a page can crash its parser. `start` is always a page. `largest` is the maximum size of a page
    of text. Links are collected only with `follows`. `changed` says when pages changed last, by the
    site's sitemap. `markdown_chances` is how many more pages are requested as Markdown by a guessed
    address.
    """

    fetcher: Fetcher
    gate: Gate
    robots: Robots
    run: Callable[..., Any]
    start: str
    largest: int
    follows: bool = True
    missing: Missing = field(default_factory=Missing)
    changed: Mapping[str, datetime | None] = field(default_factory=dict)
    markdown_chances: int = 0

    def fetch(self, row: Row) -> Result:
        """Request an address; `row` is what the last crawl knows of it."""
        url = row["url"]
        kept = {"url": url, "is_kept": True, "was_page": row["outcome"] in ("page", "copy")}
        if reason := self._refusal(url):
            return {"url": url, "outcome": "skipped", "reason": reason}
        if self._is_unchanged(row):
            return kept
        validators = {
            name: row[column] for name, column in _VALIDATORS if row[column] and row["outcome"]
        }
        try:
            answer = self.fetcher.get(url, validators, room=self._room)
            return kept if answer.status == 304 else self._result(answer)
        except NoAnswer as error:
            return kept | {"failure": str(error), "is_silent": True}
        except PgragError as error:
            return kept | {"failure": error.message.rstrip(".")}

    def _refusal(self, url: str) -> str | None:
        """Return why an address is not requested: rows of the queue may come from elsewhere."""
        if url != self.start and (reason := self.gate.scope.refusal(url)):
            return reason
        return None if self.robots.allows(url) else "robots.txt forbids it"

    def _room(self, head: Answer) -> int:
        """Return how many bytes of an answer are read: none of what is not a page."""
        if not _is_page(head.url, head):
            return 0
        limit = size_limit(self.gate.scope.key(head.url), Origin(head.media_type), self.largest)
        return min(limit or self.largest, LARGEST_BODY)

    def _is_unchanged(self, row: Row) -> bool:
        """Whether, by the sitemap, a page without validators is unchanged."""
        if row["outcome"] not in ("page", "copy") or row["etag"] or row["last_modified"]:
            return False
        changed = self.changed.get(row["url"])
        return changed is not None and changed < row["fetched_at"]

    def _result(self, answer: Answer) -> Result:
        if answer.status >= 500:
            raise NoAnswer(f"HTTP {answer.status}")
        if answer.location:
            return self._moved(answer.url, answer.location)
        if answer.status in (404, 410):
            return {"url": answer.url, "outcome": "gone", "reason": f"HTTP {answer.status}"}
        if answer.status != 200:
            raise SourceError(f"HTTP {answer.status}")
        if answer.is_cut:
            raise SourceError("is larger than PGRAG_MAX_PAGE_BYTES allows")
        if not _is_page(answer.url, answer):
            reason = f"no page, but {answer.media_type or 'of no type'}"
            return {"url": answer.url, "outcome": "skipped", "reason": reason}
        return self._page(answer)

    def _moved(self, url: str, location: str) -> Result:
        target = self.gate.passed([location])
        if target and target != [url]:
            return {"url": url, "outcome": "moved", "links": target}
        reason = "redirect to where the crawl may not go"
        return {"url": url, "outcome": "skipped", "reason": reason}

    def _page(self, answer: Answer) -> Result:
        url, body, scope = answer.url, answer.body, self.gate.scope
        media_type = answer.media_type if answer.media_type in {*HTML, PDF} else MARKDOWN
        page: Result = {
            "url": url,
            "outcome": "page",
            "key": scope.key(url),
            "media_type": media_type + answer.charset,
            "etag": answer.headers.get("etag"),
            "last_modified": answer.headers.get("last-modified"),
            "digest": digest_of(body),
            "body": body,
        }
        signals = self._signals(answer, media_type)
        if signals.redirect and scope.own(signals.redirect) != url:
            return self._moved(url, signals.redirect)
        page["links"] = self.gate.passed(signals.links) if self.follows else []
        canonical = self.gate.passed([signals.canonical]) if signals.canonical else []
        if canonical and canonical != [url]:
            page["canonical"] = canonical[0]
            page["links"] += canonical
        if signals.hash_routes:
            self.gate.refuse("hash routes, which only scripts follow", f"{url}#/")
        reason = self._unwanted(url, body, signals)
        if reason in (MISSING, OTHER_VERSION):
            page["links"] = []  # which would lead on forever, or to that version
        if reason:
            return page | {"outcome": "skipped", "reason": reason, "body": None, "digest": None}
        guess = markdown_address(url) if self.markdown_chances and media_type in HTML else None
        markdown = scope.own(signals.markdown) if signals.markdown else guess
        if markdown and scope.is_of_site(markdown) and self.robots.allows(markdown):
            return self._with_markdown(page, markdown, signals.headings)
        return page

    def _signals(self, answer: Answer, media_type: str) -> Signals:
        if media_type == PDF:
            return Signals()
        if media_type == MARKDOWN:
            return cast(Signals, self.run(read_markdown_signals, answer.url, answer.body))
        tag = answer.headers.get("x-robots-tag", "")
        has_markdown = self.markdown_chances > 0
        arguments = answer.url, answer.body, tag, has_markdown, answer.charset
        return cast(Signals, self.run(read_signals, *arguments))

    def _unwanted(self, url: str, body: bytes, signals: Signals) -> str | None:
        if not signals.is_index_allowed:
            return "noindex"
        if not self.gate.scope.is_wanted(self.gate.scope.key(url)):
            return "left out by include and exclude"
        if signals.needs_scripts:
            return SCRIPTED
        folder = "next" if signals.version == "current" else signals.version
        if folder and url.startswith(f"{self.gate.scope.prefix}{folder}/"):
            return OTHER_VERSION
        if url != self.start and self.missing.is_same(url, body, signals):
            return MISSING
        return None

    def _with_markdown(self, page: Result, url: str, headings: Sequence[tuple[str, str]]) -> Result:
        """Take the Markdown that a page names as its own, with the page's anchors."""
        try:
            answer = self.fetcher.get(url, room=lambda _: self.largest)
        except (NoAnswer, PgragError):
            return page
        is_text = answer.media_type not in HTML
        body = with_ids(answer.body, headings, answer.charset) if is_text else None
        if answer.status != 200 or answer.is_cut or body is None:
            self.markdown_chances = max(0, self.markdown_chances - 1)
            return page
        return page | {
            "body": body,
            "digest": digest_of(body),
            "media_type": f"{MARKDOWN}; charset=utf-8",
        }


def _is_page(url: str, answer: Answer) -> bool:
    media_type = answer.media_type
    if media_type in HTML or media_type in {MARKDOWN, PDF}:
        return True
    return media_type in _PLAIN and bool(_MARKDOWN_NAME.search(url.partition("?")[0]))
