"""A site of another origin, which has the search box of a service in its pages."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from playwright.sync_api import Locator, Page, expect

#: As of a site generator: a click on a link of the site loads no document.
_ROUTER = """\
document.addEventListener('click', event => {
  const link = event.target.closest('a');
  if (!link || link.origin !== location.origin || event.defaultPrevented) return;
  event.preventDefault();
  history.pushState({}, '', link.href);
  document.querySelector('h1').textContent = location.pathname;
});
"""
_PAGE = """\
<!doctype html>
<html lang="{language}">
<head><meta charset="utf-8"><title>Kestrel</title>
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; \
script-src 'self' {service}; connect-src {service}; require-trusted-types-for 'script'">
<link rel="stylesheet" href="/site.css">
<script src="{service}/widget.js" defer></script>{router}
</head>
<body><header><nav>{element}</nav></header><main><h1>{path}</h1>
<p><label>Notes <input id="notes"></label></p></main></body>
</html>
"""
_STYLE = """\
:root { color-scheme: light dark; font: 18px Georgia, serif }
body { background: light-dark(#fff, #111); color: light-dark(#111, #eee) }
nav { text-transform: uppercase; letter-spacing: 3px; color: light-dark(#333, #ccc) }
input, mark, a, b, span, button { margin: 11px; background: light-dark(#fdd, #400) }
"""


class Site:
    """A running site; see `foreign_site`."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.service = ""
        self.element = ""
        self.language = "en"
        self.has_router = False

    def put(self, service: str, attributes: str = 'library="kestrel"', inside: str = "") -> None:
        """Put the search box of a service into all pages."""
        self.service = service
        # The pages were indexed at another address than that of this site.
        base = f'base="https://kestrel.example/docs/ {self.url}/docs/"'
        self.element = f"<pgrag-search {attributes} {base}>{inside}</pgrag-search>"

    def answer(self, path: str) -> tuple[str, str]:
        """The type and the text of what lies at a path."""
        if path == "/site.css":
            return "text/css", _STYLE
        if path == "/router.js":
            return "text/javascript", _ROUTER
        router = '<script src="/router.js" defer></script>' if self.has_router else ""
        return "text/html", _PAGE.format(
            language=self.language, service=self.service, element=self.element, path=path,
            router=router,
        )  # fmt: skip


@contextmanager
def foreign_site() -> Iterator[Site]:
    """Serve a site on a port of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            media_type, text = site.answer(self.path.partition("?")[0])
            body = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", f"{media_type}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site = Site(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def field(page: Page) -> Locator:
    """The field of the open search box."""
    return page.locator("pgrag-search [role=combobox]")


def rows(page: Page) -> Locator:
    """The rows of its list."""
    return page.locator("pgrag-search [role=option]")


def search(page: Page, words: str) -> Locator:
    """Open the box by its key, write words as a reader does, and wait for the passages."""
    page.keyboard.press("Control+k")
    field(page).press_sequentially(words)
    expect(rows(page).first).to_be_visible()
    return rows(page)
