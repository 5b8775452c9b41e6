"""Ask a site for one address: validators, limits of size and time, retries."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx

from pgrag import outgoing
from pgrag.ingest.formats.formats import size_limit
from pgrag.ingest.source.web.addresses import normalised
from pgrag.ingest.source.web.pace import Pace, retry_after
from pgrag.models import Origin

#: Seconds that one answer may take, however slowly it comes.
ANSWER_SECONDS = 60.0
#: Seconds before each retry of a site that is busy or does not answer.
RETRY_DELAYS = (1.0, 4.0, 15.0)
REDIRECTS = 5
#: Bytes of a list of pages, such as a sitemap; those of a page are a setting.
LARGEST_LIST = 50_000_000

_BUSY = frozenset({429, 502, 503, 504})
_MOVED = frozenset({301, 302, 303, 307, 308})


class NoAnswer(Exception):
    """The site did not give an answer that could be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a site answers for one address; `location` is where it redirects to."""

    url: str
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    is_cut: bool = False

    @property
    def media_type(self) -> str:
        """The media type, in lower case and without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def location(self) -> str | None:
        """The address that the answer redirects to, if it is one of http."""
        if self.status not in _MOVED:
            return None
        return normalised(self.headers.get("location", ""), self.url)


class Fetcher:
    """Asks one site at its pace; thread-safe.

    `largest` is in bytes of the decoded body of a page; a PDF may have more, as in a folder.
    """

    def __init__(self, client: httpx.Client, pace: Pace, largest: int) -> None:
        self._client = client
        self.pace = pace
        self._largest = largest

    def get(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        is_wanted: Callable[[Answer], bool] = lambda _: True,
        method: str = "GET",
        largest: int | None = None,
    ) -> Answer:
        """Return the answer for an address, without following redirects.

        The body of an answer that is not wanted, or not a success, is not read; one that is larger
        than the limit is cut. A busy site is asked again after the time that it names. Raises
        NoAnswer, and ForbiddenAddress for addresses that may not be reached from here.
        """
        for delay in (*RETRY_DELAYS, None):
            pause = delay
            try:
                answer = self._once(method, url, headers, is_wanted, largest)
                if answer.status not in _BUSY:
                    return answer
                problem = f"HTTP {answer.status}"
                asked = retry_after(answer.headers.get("retry-after"))
                if delay is not None and asked is not None:
                    pause = asked
            except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError) as error:
                raise NoAnswer(f"the address cannot be used: {error}") from error
            except httpx.TimeoutException:
                problem = "no answer in time"
            except httpx.TransportError as error:
                problem = str(error).rstrip(".") or "the connection broke"
            if pause is not None:
                self.pace.pause(pause)
        raise NoAnswer(problem)

    def follow(self, url: str, *, method: str = "GET") -> Answer:
        """Return the answer behind at most `REDIRECTS` redirects, none of which leaves the host."""
        for _ in range(REDIRECTS + 1):
            answer = self.get(url, method=method, largest=LARGEST_LIST)
            if answer.location is None:
                return answer
            if urlsplit(answer.location).hostname != urlsplit(url).hostname:
                raise NoAnswer(f"it redirects to another site, {answer.location}")
            url = answer.location
        raise NoAnswer(f"more than {REDIRECTS} redirects")

    def _once(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None,
        is_wanted: Callable[[Answer], bool],
        largest: int | None,
    ) -> Answer:
        if not self.pace.wait():
            raise NoAnswer("the crawl has ended")
        started = time.monotonic()
        try:
            with outgoing.deadline(ANSWER_SECONDS):
                return self._read(method, url, headers, is_wanted, largest)
        except httpx.TimeoutException as error:
            if time.monotonic() - started < ANSWER_SECONDS:
                raise
            text = f"its answer takes more than {ANSWER_SECONDS:.0f} seconds"
            raise NoAnswer(text) from error

    def _read(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None,
        is_wanted: Callable[[Answer], bool],
        largest: int | None,
    ) -> Answer:
        with self._client.stream(method, url, headers=headers) as response:
            head = Answer(url, response.status_code, response.headers)
            if response.status_code != 200 or not is_wanted(head):
                return head
            named = Origin(head.media_type)
            limit = largest or size_limit(urlsplit(url).path, named, self._largest)
            pieces, size = [], 0
            for piece in response.iter_bytes():
                pieces.append(piece)
                size += len(piece)
                if limit and size > limit:
                    return Answer(url, 200, response.headers, is_cut=True)
            return Answer(url, 200, response.headers, b"".join(pieces))
