"""A website on loopback, with pages that are written for a test, and what it was asked."""

import hashlib
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from pgrag.ground.settings import Settings
from pgrag.ingest import pipeline
from pgrag.ingest.page import IndexTarget, PageOptions
from pgrag.ingest.source.web.crawl import CrawlLimits
from pgrag.ingest.source.web.site import SiteOptions, open_site
from pgrag.models.embedding import BuiltinEmbedder


@dataclass(frozen=True)
class Reply:
    """What the site answers; `seconds` is how long it waits before, and after, half of the body."""

    body: str | bytes = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str = "text/html; charset=utf-8"
    seconds: float = 0.0
    drip: float = 0.0
    """Seconds between the bytes of a header that is sent first."""


Page = str | Reply | Callable[[str], "str | Reply"]
NOTHING = Reply("Nothing here.", 404)


def page(title, text="", *links, head=""):
    """A page of HTML with a heading, a paragraph that no other page has, and links."""
    anchors = " ".join(f'<a href="{link}">{link}</a>' for link in links)
    name = title.lower().replace(" ", "-")
    return (
        f"<!doctype html><html lang=en><head><title>{title}</title>{head}</head><body><main>"
        f'<h1 id="{name}">{title}</h1><p>{text or f"Everything about {title}, in one place."}</p>'
        f"<p>{anchors}</p></main></body></html>"
    )


class Website:
    """A server of pages by path; it keeps the paths `asked`, their `hosts`, and the bytes `sent`.

    `cookies` are the headers with which they came back. With `validates` the site sends an ETag and
    answers 304. `otherwise` is for all other paths.
    """

    def __init__(self, pages, *, validates=True, otherwise=NOTHING, address=("127.0.0.1", 0)):
        self.pages = dict(pages)
        self.validates = validates
        self.otherwise = otherwise
        self.asked = []
        self.hosts = []
        self.times = []
        self.sent = {}
        self.cookies = []
        self.running = self.most_running = 0
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self.server = ThreadingHTTPServer(address, self._handler())
        self.port = self.server.server_port
        self._thread = threading.Thread(target=self.server.serve_forever, args=[0.02])

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def forget(self):
        self.asked.clear()
        self.times.clear()
        self.sent.clear()

    def end_waiting(self):
        """Let the answers end that wait or send headers without end."""
        self._is_over.set()

    def reply(self, path):
        found = self.pages.get(path, self.otherwise)
        found = found(path) if callable(found) else found
        return Reply(found) if isinstance(found, str) else found

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.end_waiting()
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()

    def _handler(site):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self):
                self.answer()

            def do_GET(self):
                with site._lock:
                    site.asked.append(self.path)
                    site.hosts.append(self.headers["Host"])
                    site.times.append(time.monotonic())
                    site.cookies += self.headers.get_all("Cookie", [])
                    site.running += 1
                    site.most_running = max(site.most_running, site.running)
                try:
                    self.answer()
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True
                finally:
                    with site._lock:
                        site.running -= 1

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                self.do_GET()

            def answer(self):
                reply = site.reply(self.path)
                body = reply.body.encode() if isinstance(reply.body, str) else reply.body
                etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
                is_known = site.validates and self.headers.get("If-None-Match") == etag
                site._is_over.wait(reply.seconds)
                if reply.drip:
                    self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
                    while not site._is_over.wait(reply.drip):
                        self.wfile.write(b"x")
                self.send_response(304 if is_known else reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                if reply.status == 200 and site.validates:
                    self.send_header("ETag", etag)
                if reply.media_type:
                    self.send_header("Content-Type", reply.media_type)
                self.send_header("Content-Length", "0" if is_known else str(len(body)))
                self.end_headers()
                if is_known or self.command == "HEAD":
                    return
                half = len(body) // 2 if reply.seconds else len(body)
                self.wfile.write(body[:half])
                self.wfile.flush()
                site._is_over.wait(reply.seconds)
                self.wfile.write(body[half:])
                with site._lock:
                    site.sent[self.path] = site.sent.get(self.path, 0) + len(body)

            def log_message(self, *_):
                pass

        return Handler


def opened(
    database,
    address,
    version="",
    *,
    limits=None,
    allow_private=True,
    settings=None,
    progress=None,
    **options,
):
    """Crawl a site for a version of the library "site"."""
    return open_site(
        address,
        SiteOptions(limits=limits or CrawlLimits(), allow_private=allow_private, **options),
        database=database,
        settings=settings or Settings(),
        library="site",
        version=version,
        progress=progress,
    )


def indexed(database, source, version="", **options):
    target = IndexTarget("site", version, PageOptions(**options))
    return pipeline.index(database, BuiltinEmbedder(), source, target)


def crawled(database, address, version="", **options):
    """Crawl a site into a version of the library "site", as `App.index` does."""
    with opened(database, address, version, **options) as source:
        report = indexed(database, source, version)
    database.call("_pgrag.drop_fetched_bodies", library="site", version=version)
    return report


def crawl_of(database, pages, path="/", *, otherwise=NOTHING, **options):
    """Crawl a site of these pages, from this path on."""
    with Website(pages, otherwise=otherwise) as site:
        return crawled(database, f"{site.url}{path}", **options)


def keys(database, version=""):
    return {
        row["key"] for row in database.call("_pgrag.stored_pages", library="site", version=version)
    }


def reasons(report):
    return {group.reason: group.count for group in report.skipped}
