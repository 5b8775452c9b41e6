"""The search view and the search box for other sites in Firefox: typing, arrows, Enter, Esc."""

import os
import shutil

import pytest
from firefox import firefox as started
from foreign_site import foreign_site

COMMAND = os.environ.get("PGRAG_FIREFOX") or next(
    filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None
)
IS_REQUIRED = os.environ.get("PGRAG_REQUIRE_BROWSER") == "1"

CHOSEN = "document.querySelector('main [role=option][aria-selected=true]')?.innerText"


@pytest.fixture(scope="module")
def firefox():
    if COMMAND is None:
        missing = "no Firefox here: apt-get install firefox-esr, or name one by PGRAG_FIREFOX"
        (pytest.fail if IS_REQUIRED else pytest.skip)(missing)
    with started(COMMAND) as browser:
        yield browser


@pytest.fixture(autouse=True)
def without_errors(firefox):
    firefox.errors.clear()
    yield
    firefox.evaluate("0")
    assert firefox.errors == []


def test_the_search_view_by_keys(firefox, service):
    firefox.open(f"{service.url}/libraries")
    firefox.open(f"{service.url}/?library=kestrel")
    firefox.wait_for("document.querySelector('main input[role=combobox]')")
    firefox.evaluate("document.activeElement.blur()")
    firefox.press("/", "restore a folder")
    firefox.wait_for("document.activeElement.value === 'restore a folder'")
    firefox.wait_for(
        "document.querySelector('main [role=option]')?.innerText.includes('Restore a folder')"
    )
    firefox.press("ArrowDown", "ArrowDown", "ArrowUp")
    assert "Restore" in firefox.wait_for(CHOSEN)
    firefox.press("Enter")
    firefox.wait_for("document.querySelector('article')?.innerText.includes('name the day')")
    assert "hit=" in firefox.evaluate("location.search")
    firefox.press("Escape")
    firefox.wait_for("document.activeElement.matches('input[role=combobox]')")
    firefox.back()
    firefox.wait_for("!location.search.includes('hit=')")


def test_nothing_that_a_page_says_runs(firefox, service):
    """Firefox may read HTML otherwise than Chromium: all pages of attacks, one after the other."""
    pages = service.run(
        "select p.page_id from pgrag.pages as p join pgrag.libraries as l using (library_id)"
        " where l.name in ('attacks', 'addresses') order by p.page_id"
    )
    firefox.open(f"{service.url}/?q=wickedness&library=attacks")
    for row in pages:
        firefox.evaluate(
            f"history.pushState(null, '', '/?q=wickedness&page={row['page_id']}'),"
            " dispatchEvent(new PopStateEvent('popstate'))"
        )
        firefox.wait_for("document.querySelector('article')?.innerText.includes('wickedness')")
    assert firefox.evaluate("window.__pwned === undefined")


def test_the_search_box_of_another_site(firefox, closed_service):
    """Opened by a key, typed into, a hit chosen by arrows: the site's page comes."""
    box = "document.querySelector('pgrag-search').shadowRoot"
    with foreign_site() as site:
        key = closed_service.make_key(
            kind="publishable", origins=[site.url], libraries=["kestrel"], rate=1000.0
        )
        site.put(closed_service.url, f'key="{key}" library="kestrel"')
        firefox.open(f"{site.url}/docs/")
        firefox.wait_for("customElements.get('pgrag-search') !== undefined")
        firefox.press("/")
        firefox.wait_for(f"{box}.activeElement?.matches('input')")
        firefox.press("restore a folder")
        firefox.wait_for(f"{box}.querySelector('[role=option]')?.innerText.includes('Restore')")
        firefox.press("ArrowDown", "ArrowUp", "Enter")
        firefox.wait_for("location.pathname.startsWith('/docs/2.1/guide/restore')")
        firefox.wait_for("customElements.get('pgrag-search') !== undefined")
        firefox.press("/")
        firefox.wait_for(f"{box}.activeElement?.matches('input')")
        firefox.press("Escape")
        firefox.wait_for(f"!{box}.activeElement?.matches('input')")
