"""Watches the pages of a browser's context for what no test may cause without knowing it."""

import re
from collections.abc import Callable
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Request

#: Runs before the scripts of each page. What a policy of the page has refused, Trusted Types
#: included, is an error, which Chromium writes to the console only in part.
_WATCH = """
addEventListener('securitypolicyviolation', event => console.error(
    `refused by ${event.effectiveDirective}: ${event.blockedURI} ${event.sample}`));
"""


#: Requests without an answer yet, by the context of their page.
IN_FLIGHT: WeakKeyDictionary[BrowserContext, set[Request]] = WeakKeyDictionary()


class PageFaults:
    """Errors, violations of policies, requests to other hosts, dialogs, and scripts of attacks."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._expected: dict[str, bool] = {}
        self._origins: set[str] = set()
        self._contexts: dict[BrowserContext, dict[str, Callable[..., None]]] = {}

    def expect(self, *patterns: str) -> None:
        """Let faults that match one of these regular expressions pass; each must come."""
        self._expected |= dict.fromkeys(patterns, False)

    def allow(self, url: str) -> None:
        """Let requests go to the origin of an address, too."""
        self._origins.add(_origin(url))

    def watch(self, context: BrowserContext) -> None:
        """Note the faults of all pages of a context."""
        waiting = IN_FLIGHT.get(context)
        if waiting is None:
            waiting = IN_FLIGHT[context] = set()
            # Playwright takes no method of a set as a handler.
            context.on("request", lambda request: waiting.add(request))  # noqa: PLW0108
            for end in ("requestfinished", "requestfailed"):
                context.on(end, lambda request: waiting.discard(request))  # noqa: PLW0108
            context.add_init_script(_WATCH)
        self._contexts[context] = {
            "console": self._console,
            "weberror": lambda event: self._note(f"uncaught: {event.error}"),
            "request": self._request,
            "dialog": self._dialog,
        }
        for event, handler in self._contexts[context].items():
            context.on(event, handler)

    def stop(self) -> None:
        """Take a last look at the pages, and watch them no longer."""
        for context, handlers in self._contexts.items():
            for page in context.pages:
                if page.evaluate("window.__pwned !== undefined"):
                    self._note(f"a script of an attack ran at {page.url}")
            for event, handler in handlers.items():
                context.remove_listener(event, handler)
        self._contexts.clear()

    def check(self) -> None:
        """Fail if there was a fault, or if one that was expected did not come."""
        assert not self.found, "\n".join(self.found)
        missing = [pattern for pattern, came in self._expected.items() if not came]
        assert not missing, f"expected, but did not come: {missing}"

    def _note(self, fault: str) -> None:
        for pattern in self._expected:
            if re.search(pattern, fault):
                self._expected[pattern] = True
                return
        self.found.append(fault)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "assert"}:
            self._note(f"console: {message.text} ({message.location.get('url')})")

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in {"data", "blob"} and _origin(request.url) not in self._origins:
            self._note(f"request to another host: {request.url}")

    def _dialog(self, dialog: Dialog) -> None:
        self._note(f"dialog: {dialog.message}")
        dialog.dismiss()


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
