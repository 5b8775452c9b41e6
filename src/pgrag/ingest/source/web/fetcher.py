"""Request one address of a site: validators, limits of size and time, retries."""

import threading
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from urllib.parse import urlsplit

import httpx

from pgrag.ground.outgoing import retry_after, watched
from pgrag.ingest.source.web.addresses import normalised


class Ended(Exception):
    """The crawl has ended; its threads end, too."""


#: Longest wait that a site can ask for with Retry-After, in seconds.
LONGEST_PAUSE = 120.0


class Pace:
    """Lets requests begin `interval` seconds apart, one after the other; can pause or end them."""

    def __init__(self, interval: float) -> None:
        self.interval = interval
        self._next = 0.0
        self._lock = threading.Lock()
        self._is_over = threading.Event()

    def look(self) -> None:
        """Raise Ended if `end` was called."""
        if self._is_over.is_set():
            raise Ended

    def wait(self) -> None:
        """Wait for the next turn. Raises Ended if there is none."""
        while True:
            self.look()
            with self._lock:
                now = time.monotonic()
                if now >= self._next:
                    self._next = now + self.interval
                    return
                left = self._next - now
            self._is_over.wait(left)

    def pause(self, seconds: float) -> None:
        """Let no request begin for some seconds."""
        with self._lock:
            self._next = max(self._next, time.monotonic() + min(seconds, LONGEST_PAUSE))

    def end(self) -> None:
        """Let no request begin or continue, and wake the waiting threads."""
        self._is_over.set()


#: Seconds for one answer, from the first connection to its last byte.
ANSWER_SECONDS = 60.0
#: Seconds before each retry of a site that is busy or does not answer.
RETRY_DELAYS = (1.0, 4.0, 15.0)
REDIRECTS = 5
#: Bytes of a list of pages, such as a sitemap; those of a page are a setting.
LARGEST_LIST = 50_000_000
#: Characters of a declared encoding that are kept.
LONGEST_CHARSET = 60

_BUSY = frozenset({429, 502, 503, 504})
_MOVED = frozenset({301, 302, 303, 307, 308})
_PIECE = 65536
_PACKED = frozenset({"gzip", "x-gzip"})

#: Returns how many bytes of the decoded body are read, by the head of an answer.
Room = Callable[["Answer"], int]


class NoAnswer(Exception):
    """The site gave no usable answer; the message says why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a site answers for one address; with `is_cut` the body is only the beginning."""

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
    def charset(self) -> str:
        """The encoding that the header declares, as a parameter of a media type; empty if none."""
        parameters = self.headers.get("content-type", "").split(";")[1:]
        names = (each.strip() for each in parameters if "charset" in each.lower())
        return "".join(f"; {name}" for name in islice(names, 1))[:LONGEST_CHARSET]

    @property
    def location(self) -> str | None:
        """The http address that the answer redirects to, if any."""
        if self.status not in _MOVED:
            return None
        return normalised(self.headers.get("location", ""), self.url)


class Fetcher:
    """Sends requests to one site at its pace; thread-safe."""

    def __init__(self, client: httpx.Client, pace: Pace) -> None:
        self._client = client
        self.pace = pace

    def get(
        self, url: str, headers: Mapping[str, str] | None = None, *, room: Room, method: str = "GET"
    ) -> Answer:
        """Return the answer for an address, without following redirects, and up to `room` bytes of
        a success. Raises NoAnswer, ForbiddenAddress, and Ended.
        """
        for delay in (*RETRY_DELAYS, None):
            pause = delay
            try:
                answer = self._once(method, url, headers or {}, room)
                if answer.status not in _BUSY:
                    return answer
                problem = f"HTTP {answer.status}"
                asked = retry_after(answer.headers.get("retry-after", ""))
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

    def follow(self, url: str, *, method: str = "GET", room: int | None = None) -> Answer:
        """Return the answer after at most `REDIRECTS` redirects, none of which leaves the host."""
        for _ in range(REDIRECTS + 1):
            answer = self.get(url, method=method, room=lambda _: room or LARGEST_LIST)
            if answer.location is None:
                return answer
            if urlsplit(answer.location).hostname != urlsplit(url).hostname:
                raise NoAnswer(f"it redirects to another site; if you mean it: {answer.location}")
            url = answer.location
        raise NoAnswer(f"more than {REDIRECTS} redirects")

    def _once(self, method: str, url: str, headers: Mapping[str, str], room: Room) -> Answer:
        self.pace.wait()
        deadline = time.monotonic() + ANSWER_SECONDS

        def seconds_left() -> float:
            self.pace.look()
            left = deadline - time.monotonic()
            if left <= 0:
                raise NoAnswer(f"its answer takes more than {ANSWER_SECONDS:.0f} seconds")
            return left

        headers = {**headers, "Accept-Encoding": "gzip"}
        with watched(seconds_left), self._client.stream(method, url, headers=headers) as response:
            head = Answer(url, response.status_code, response.headers)
            largest = room(head) if response.status_code == 200 else 0
            if not largest:
                return head
            body = _body(response, largest + 1)
            return Answer(url, 200, response.headers, body[:largest], len(body) > largest)


def _body(response: httpx.Response, most: int) -> bytes:
    """Return at most that many bytes of a decoded body. Raises NoAnswer."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in {*_PACKED, "identity", ""}:
        raise NoAnswer(f"its encoding {encoding[:50]!r} is not read")
    unpacker = zlib.decompressobj(31) if encoding in _PACKED else None
    body = bytearray()
    for packed in response.iter_raw(_PIECE):
        try:
            room = most - len(body)
            body += unpacker.decompress(packed, room) if unpacker else packed[:room]
        except zlib.error as error:
            raise NoAnswer(f"its body cannot be decompressed: {error}") from error
        if len(body) >= most:
            return bytes(body)
    if unpacker and body and not unpacker.eof:
        raise NoAnswer("its body is incomplete")
    return bytes(body)
