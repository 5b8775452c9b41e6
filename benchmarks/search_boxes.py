"""A search box in a browser: what it loads, and how long a key waits for its hits."""

import gzip
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, Response, TimeoutError

from benchmarks.figures import Figure, judged
from benchmarks.timing import p50_p95

#: What is typed, letter by letter.
QUERIES = ("flex container", "array map", "css grid", "fetch abort")
#: A key that changes no hit is given up after so many milliseconds.
PATIENCE = 3_000

#: Times from a key to the first frame with changed hits, and until the field can be written in.
WATCH = """([field, hits]) => {
    Object.assign(window, {keyTimes: [], openedAt: 0, readyAfter: undefined});
    let pressed = null;
    addEventListener('keydown', () => { pressed = performance.now() }, true);
    const isHit = ({target}) => (target.closest ? target : target.parentElement)?.closest(hits);
    function changed(records) {
        if (pressed === null || !records.some(isHit)) return;
        const since = pressed;
        pressed = null;
        requestAnimationFrame(() => setTimeout(() => keyTimes.push(performance.now() - since)));
    }
    const watched = new Set();
    function watch(root) {
        if (watched.has(root)) return;
        watched.add(root);
        new MutationObserver(changed).observe(
            root, {subtree: true, childList: true, characterData: true});
    }
    watch(document);
    (function look() {
        let element = document.querySelector(field);
        for (const each of document.querySelectorAll('pgrag-search')) {
            if (!each.shadowRoot) continue;
            watch(each.shadowRoot);
            element ??= each.shadowRoot.querySelector(field);
        }
        if (element && !element.disabled) readyAfter ??= performance.now();
        requestAnimationFrame(look);
    })();
}"""


@dataclass(frozen=True, slots=True)
class Box:
    """A search box on a page: where it is, its field, its hits, and the script that opens it."""

    name: str
    address: str
    field: str
    hits: str
    opener: str | None = None

    def first_load(self, browser: Browser) -> tuple[dict[str, int], float]:
        """Bytes on the wire by file until the field takes letters, and the milliseconds."""
        with self._opened(browser) as (page, answers):
            ready = page.evaluate("readyAfter - openedAt")
            page.wait_for_load_state("networkidle")
            return {_name(each): _bytes(each) for each in answers}, ready

    def key_times(self, browser: Browser) -> list[float]:
        """Milliseconds from each key to the first hits that it brings."""
        with self._opened(browser) as (page, _):
            for query in (QUERIES[0], *QUERIES):
                field = page.locator(self.field).first
                field.fill("")
                page.wait_for_timeout(500)
                if query is QUERIES[0]:
                    page.evaluate("keyTimes.length = 0")
                for letter in query:
                    before = page.evaluate("keyTimes.length")
                    field.press(letter if letter != " " else "Space")
                    _wait(page, f"keyTimes.length > {before}")
            return page.evaluate("keyTimes")

    @contextmanager
    def _opened(self, browser: Browser) -> Iterator[tuple[Page, list[Response]]]:
        context = browser.new_context()
        page = context.new_page()
        answers: list[Response] = []
        # Playwright takes no method of a list as a handler.
        page.on("response", lambda answer: answers.append(answer))  # noqa: PLW0108
        page.add_init_script(f"({WATCH})({[self.field, self.hits]!r})")
        page.goto(self.address)
        if self.opener:
            page.evaluate(f"openedAt = performance.now(); readyAfter = undefined; {self.opener}")
        page.wait_for_function("readyAfter !== undefined")
        yield page, answers
        context.close()


def key_figures(box: Box, browser: Browser, most: float | None = None) -> list[Figure]:
    """From a key to its first hits."""
    times = box.key_times(browser)
    if not times:
        return [Figure(f"{box.name}: key to hits", "MDN", "no hits")]
    middle, slow = p50_p95(times)
    what = f"{box.name}: key to hits, {len(times)} keys"
    if most is None:
        return [Figure(what, "MDN", f"{middle:.1f} ms, 95 %: {slow:.1f} ms")]
    return [
        judged(what, "MDN, median", middle, most),
        Figure(what, "MDN, 95 %", f"{slow:.1f} ms"),
    ]


@contextmanager
def site(folder: Path) -> Iterator[str]:
    """A folder on loopback; gives its address."""
    folder.mkdir(exist_ok=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing of requests."""


def _name(answer: Response) -> str:
    """The path of a file, without the part that changes with each version."""
    path = urlsplit(answer.url).path.lstrip("/")
    return re.sub(r"^page/[0-9a-f]{16}/", "", path) or "index.html"


def _bytes(answer: Response) -> int:
    """The body as it comes compressed, also where this machine's simple server does not."""
    if answer.headers.get("content-encoding"):
        return int(answer.request.sizes()["responseBodySize"])
    body = answer.body()
    return min(len(body), len(gzip.compress(body)))


def _wait(page: Page, condition: str) -> None:
    """Wait for hits; a key may bring those that are there."""
    with suppress(TimeoutError):
        page.wait_for_function(condition, timeout=PATIENCE)
