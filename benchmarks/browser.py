"""What Chromium shows of a page, without its scripts: asked over the DevTools protocol."""

import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
    "--blink-settings=imagesEnabled=false",
)  # fmt: skip
MARKED = (
    "nav, header, footer, aside, [role=navigation], [role=banner], [role=contentinfo],"
    " [role=complementary]"
)
"""What HTML itself says to be navigation, and the head and foot of the page."""

CHROME = {
    "controls, what needs scripts": "button, select, noscript",
    "tables of contents": (
        "#toc, #TOC, #table-of-contents, .toc, .table-of-contents, .contents.topic, nav.contents,"
        " .contents-heading + .contents"
    ),
    "Sphinx": ".sphinxsidebar, .related, .footer, .headerlink",
    "DocBook, Texinfo, LaTeX2HTML": (
        ".navheader, .navfooter, :is(.header, .nav-panel):has(a[accesskey], a[rel=contents]),"
        " .navigation,"
        " :is(h1, h2, h3, h4, h5, h6) a[aria-hidden=true]"
    ),
    "AsciiDoc, Apache, SQLite": "#footer, #page-header, p.menu, .mainmenu",
    "Doxygen": "#titlearea, #nav-path, .navpath, .tabs, .qindex",
    "rustdoc, mdBook": ("#menu-bar, .out-of-band, .rightside, .srclink, .collapse-toggle, .hideme"),
    "numbers of lines": ".lineno, .linenos, .lnum, .line-numbers",
}
"""What generators that do not mark it put beside the text, by generator."""

SCRIPT = """(() => {
    for (const each of document.querySelectorAll(%s))
        if (!each.querySelector('main, article')) each.remove();
    const headings = [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')];
    return JSON.stringify({
        text: document.body ? document.body.innerText : '',
        headings: headings.filter(each => each.checkVisibility()).map(each => each.innerText),
    });
})()"""


@dataclass(frozen=True, slots=True)
class Shown:
    """The text that a reader of a page sees outside navigation, and its headings."""

    text: str
    headings: list[str]


class Browser:
    """A page of a running Chromium."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._calls = 0
        self._call("Page.enable")
        self._call("Emulation.setScriptExecutionDisabled", value=True)

    def shown(self, path: Path) -> Shown:
        """Open a file and return what it shows."""
        self._call("Page.navigate", url=path.absolute().as_uri())
        while self._receive().get("method") != "Page.loadEventFired":
            pass
        script = SCRIPT % json.dumps(", ".join((MARKED, *CHROME.values())))
        answer = self._call("Runtime.evaluate", expression=script, returnByValue=True)
        return Shown(**json.loads(answer["result"]["value"]))

    def _call(self, method: str, **params: Any) -> Any:
        self._calls += 1
        self._socket.send(json.dumps({"id": self._calls, "method": method, "params": params}))
        while (answer := self._receive()).get("id") != self._calls:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _receive(self) -> dict[str, Any]:
        received: dict[str, Any] = json.loads(self._socket.recv(timeout=60))
        return received


@contextmanager
def chromium(command: str) -> Iterator[Browser]:
    """Start Chromium for the time of a block. It needs the package websockets."""
    from websockets.sync.client import connect  # noqa: PLC0415  (an optional package)

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        arguments = [command, *OPTIONS, f"--user-data-dir={profile}", "about:blank"]
        process = subprocess.Popen(
            arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )  # fmt: skip
        try:
            port = _port(Path(profile) / "DevToolsActivePort")
            opened = Request(f"http://127.0.0.1:{port}/json/new?about:blank", method="PUT")
            with urlopen(opened) as answer:
                address = json.load(answer)["webSocketDebuggerUrl"]
            with connect(address, max_size=None, ping_interval=None) as socket:
                yield Browser(socket)
        finally:
            process.terminate()
            process.wait()


def _port(written: Path) -> str:
    for _ in range(600):
        if written.exists() and (lines := written.read_text().splitlines()):
            return lines[0]
        time.sleep(0.1)
    raise RuntimeError("Chromium did not start within a minute.")
