"""The views of the page by their addresses, and what tests of all of them do in the same way."""

import time
from urllib.parse import urlsplit

from browser_service import Service
from page_faults import IN_FLIGHT
from playwright.sync_api import Locator, Page, expect

#: Addresses of every view and state that can be linked to; {page} and {document} are of a passage.
ADDRESSES = {
    "start": "/",
    "search": "/?q=restore+a+folder&library=kestrel",
    "search-nothing": "/?q=xylophone+zebra&library=kestrel",
    "reader": "/?q=restore&library=kestrel&page={page}&hit={document}",
    "why": "/?q=restore&library=kestrel&page={page}&hit={document}&tab=why",
    "neighbours": "/?q=restore&library=kestrel&page={page}&hit={document}&tab=neighbours",
    "versions": "/?q=restore&library=kestrel&page={page}&hit={document}&tab=versions",
    "copy": "/?q=restore&library=kestrel&page={page}&hit={document}&tab=copy",
    "ask": "/ask?q=How+do+I+restore+a+folder%3F&library=kestrel",
    "compare": "/compare?q=restore+a+folder&library=kestrel",
    "libraries": "/libraries",
    "library": "/libraries?library=kestrel",
    "operations": "/operations",
    "sign-in": "/sign-in",
}
#: Milliseconds without a request after which a view has all that it shows.
QUIET = 150
#: Seconds that a view may take on a busy machine.
PATIENCE = 30
#: One of each script of the page.
VIEWS = ("search", "ask", "compare", "libraries", "operations", "sign-in")


def address(service: Service, name: str) -> str:
    """The address of a view, with a page and a passage of this service."""
    [row] = service.run(
        """
        select p.page_id as page, d.document_id as document
        from pgrag.pages as p
        join pgrag.documents as d on d.page_id = p.page_id and d.library_id = p.library_id
        where p.title = 'Restore a folder' and d.content like 'To restore%%'
        order by p.page_id desc limit 1
        """
    )
    return ADDRESSES[name].format(**row)


def sign_in(page: Page, key: str) -> None:
    """Sign in by a key, which the page keeps until it is left."""
    page.goto("/sign-in")
    page.locator("input[type=password]").fill(key)
    with page.expect_response(lambda answer: urlsplit(answer.url).path == "/v1/service") as told:
        page.keyboard.press("Enter")
    assert told.value.ok, told.value.text()


def go(page: Page, path: str) -> None:
    """Go to another address of the page without leaving it, as its links do."""
    page.evaluate(
        """path => {
            history.pushState(null, '', path);
            dispatchEvent(new PopStateEvent('popstate'));
        }""",
        path,
    )


def field(page: Page) -> Locator:
    """The search field of the page."""
    return page.locator("main input[role=combobox]").first


def hits(page: Page) -> Locator:
    """The hits of the search view."""
    return page.locator("main [role=listbox] [role=option]")


def settle(page: Page) -> None:
    """Wait until a view has asked for all that it shows, and shows it."""
    quiet, deadline = 0, time.monotonic() + PATIENCE
    while quiet < QUIET:
        page.wait_for_timeout(50)
        # A stream of events ends with the view.
        waits = [each.url for each in IN_FLIGHT[page.context] if not each.url.endswith("/events")]
        assert time.monotonic() < deadline, waits
        quiet = 0 if waits else quiet + 50
    expect(page.locator("main [aria-busy=true]")).to_have_count(0)


def words(page: Page) -> str:
    """What the view says, without what changes by itself: times and durations."""
    return page.evaluate(
        r"""document.querySelector('main').innerText
            .replace(/\d+([.,]\d+)? (ms|s|seconds?|Sekunden?)\b.*$/gm, '')"""
    )
