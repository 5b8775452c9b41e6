"""A service over own pages, and a real browser that opens it.

Without Chromium these tests are skipped; with PGRAG_REQUIRE_BROWSER=1 they fail. PGRAG_CHROMIUM
names the browser, PGRAG_SCREENSHOTS a folder for pictures of the views.

    def test_hits(open_page, check_axe):
        page = open_page("/?q=restore&library=kestrel", theme="dark", language="de")
        expect(page.get_by_role("option").first).to_contain_text("restore")
        check_axe(page)

A test fails at its end if a page wrote an error to the console, did not handle an exception, broke
a policy, asked another host or showed a dialog; `page_faults.expect("429")` lets one pass.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias

import llm_server
import pytest
from browser_service import Service, indexed, running
from page_faults import PageFaults
from playwright.sync_api import Browser, Page, sync_playwright
from views import go, sign_in

from pgrag.service.access import Policy

# Read here, because each test runs without variables of this name.
CHROMIUM = os.environ.get("PGRAG_CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
IS_REQUIRED = os.environ.get("PGRAG_REQUIRE_BROWSER") == "1"
SCREENSHOTS = os.environ.get("PGRAG_SCREENSHOTS")

#: Nothing leaves the machine, not even in a test that expects it to be tried.
ARGUMENTS = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--disable-gpu"]
LOCALES = {"en": "en-GB", "de": "de-DE"}

FIXTURES = Path(__file__).parents[1] / "fixtures"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser on a busy machine may be late: what fails twice is a fault."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.flaky(reruns=1))


Clones: TypeAlias = Callable[[], AbstractContextManager[str]]
OpenPage: TypeAlias = Callable[..., Page]


@pytest.fixture(scope="session")
def clone_of_pages(databases, template, tmp_path_factory) -> Iterator[Clones]:
    """Makes databases with the indexed pages: `with clone_of_pages() as url`."""
    origin = databases.create(template)
    indexed(databases.url(origin), FIXTURES, tmp_path_factory.mktemp("pages"))

    @contextmanager
    def fresh() -> Iterator[str]:
        name = databases.create(origin)
        yield databases.url(name)
        databases.done(name)

    yield fresh
    databases.done(origin)


@pytest.fixture(scope="module")
def serve(clone_of_pages, admin) -> Callable[..., AbstractContextManager[Service]]:
    """Runs services, each on a copy of the pages: `with serve(rate_limit=60) as service`; see
    `browser_service.running` for the options.
    """

    @contextmanager
    def served(**options) -> Iterator[Service]:
        with clone_of_pages() as url, running(url, admin, **options) as service:
            yield service

    return served


@pytest.fixture(scope="module")
def service(serve) -> Iterator[Service]:
    """A service on its own machine, which everybody may also write to; one for a file of tests."""
    with serve(mcp_roots=(FIXTURES,)) as service:
        yield service


@pytest.fixture(scope="module")
def closed_service(serve) -> Iterator[Service]:
    """A service that needs keys: `closed_service.make_key("admin")`."""
    with serve(policy=Policy(needs_key=True), mcp_roots=(FIXTURES,)) as service:
        yield service


@pytest.fixture(scope="module")
def language_model() -> Iterator[llm_server.Server]:
    """The scripted language model of `answering_service`: `language_model.script = [says("…")]`."""
    with llm_server.serving() as server:
        yield server


@pytest.fixture(scope="module")
def answering_service(serve, language_model) -> Iterator[Service]:
    """A service with a language model, which by default answers from the sources."""
    model = {"llm_url": language_model.url, "llm_model": llm_server.MODEL, "llm_retries": 0}
    with serve(mcp_roots=(FIXTURES,), **model) as service:
        yield service


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium. It ends with each file of tests: while it runs, no other test of this process can
    begin an event loop.
    """
    if CHROMIUM is None:
        missing = "no Chromium here: apt-get install chromium, or name one by PGRAG_CHROMIUM"
        (pytest.fail if IS_REQUIRED else pytest.skip)(missing)
    own = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS + own)
        yield browser
        browser.close()


@pytest.fixture
def page_faults(browser) -> Iterator[PageFaults]:
    """What goes wrong in the pages of a test; asked at its end."""
    faults = PageFaults()
    yield faults
    faults.check()


@pytest.fixture(scope="module")
def tabs(browser) -> dict[str, list[Page]]:
    """Pages that tests have left, by the options of their contexts: a new one takes four times as
    long to show a view.
    """
    return {}


@pytest.fixture
def new_page(browser, tabs, page_faults) -> Iterator[Callable[..., Page]]:
    """Makes empty pages, each in a context of its own; takes the options of a context.

    What a test does to its context stays there: one that adds a script to all pages, or needs an
    empty cache, asks for a context that nobody had: `new_page(is_fresh=True)`.
    """
    used: list[tuple[str, Page]] = []

    def new_page(*, is_fresh: bool = False, **options) -> Page:
        kind = "" if is_fresh else json.dumps(options, sort_keys=True)
        page = tabs[kind].pop() if tabs.get(kind) else browser.new_context(**options).new_page()
        used.append((kind, page))
        page_faults.watch(page.context)
        if "viewport" in options:
            page.set_viewport_size(options["viewport"])
        page.emulate_media(
            media="null",
            color_scheme=options.get("color_scheme", "light"),
            reduced_motion=options.get("reduced_motion", "no-preference"),
        )
        return page

    yield new_page
    page_faults.stop()
    for kind, page in used:
        if kind and page.context.pages == [page] and not page_faults.found:
            tabs.setdefault(kind, []).append(_emptied(page))
        else:
            page.context.close()


def _emptied(page: Page) -> Page:
    """The page without what a test left in it, in its stores and in its history."""
    page.unroute_all()
    page.context.set_offline(False)
    origin = page.evaluate("location.origin")
    page.goto("about:blank")
    page.mouse.move(0, 0)
    session = page.context.new_cdp_session(page)
    if origin.startswith("http"):
        stores = {"origin": origin, "storageTypes": "cookies,local_storage,indexeddb"}
        session.send("Storage.clearDataForOrigin", stores)
    session.send("Page.resetNavigationHistory")
    session.detach()
    return page


@pytest.fixture
def page(new_page) -> Page:
    """An empty page."""
    return new_page()


@pytest.fixture
def open_page(request, new_page, page_faults) -> OpenPage:
    """Opens an address of the service: `open_page("/?q=days", theme="dark", language="de")`.

    With a `key` it signs in first. `of` is another service than `service`; further options are
    those of a context, such as reduced_motion="reduce".
    """

    def open_page(
        path: str = "/",
        *,
        theme: str = "light",
        language: str = "en",
        key: str | None = None,
        width: int = 1440,
        height: int = 900,
        of: Service | None = None,
        **options,
    ) -> Page:
        service = of or request.getfixturevalue("service")
        page_faults.allow(service.url)
        page = new_page(
            base_url=service.url,
            color_scheme=theme,
            locale=LOCALES[language],
            viewport={"width": width, "height": height},
            **options,
        )
        if key is None:
            page.goto(path)
            page.locator("main > *").first.wait_for(state="attached")
        else:
            sign_in(page, key)
            go(page, path)
        return page

    return open_page


@pytest.fixture(scope="session")
def check_axe() -> Callable[[Page], None]:
    """Fails if axe finds a fault of WCAG 2.2 AA, or against its best practices, in a page."""
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]

    def check_axe(page: Page) -> None:
        # A colour halfway through a transition is nobody's fault.
        page.emulate_media(reduced_motion="reduce")
        page.evaluate("document.getAnimations().forEach(each => each.cancel())")
        page.evaluate(axe)
        found = page.evaluate("tags => axe.run({runOnly: tags}).then(run => run.violations)", tags)
        assert not found, "\n".join(
            f"{fault['id']}: {node['html'][:200]}\n  {node['failureSummary']}"
            for fault in found
            for node in fault["nodes"]
        )

    return check_axe


@pytest.fixture(scope="session")
def screenshot() -> Callable[[Page, str], None]:
    """Keeps a picture of a page where pictures are wanted; see `make screenshots`."""

    def screenshot(page: Page, name: str) -> None:
        if SCREENSHOTS is not None:
            page.screenshot(path=Path(SCREENSHOTS) / f"{name}.png")

    return screenshot
