"""Sixty attacks by titles, paths, addresses, texts, tags, names and queries: nothing runs."""

import pytest
from hostile import ATTACKS, WORD
from playwright.sync_api import expect
from views import field, go, hits, settle

#: What no view may hold, whatever the pages say.
UNSAFE = r"""[...document.querySelectorAll('body, body *')].filter(each =>
    !each.matches('body, #app, #app *')
    || each.matches('main :is(script, iframe, object, embed, base, meta, link, style)')
    || [...each.attributes].some(({name, value}) => name.startsWith('on')
        || ['href', 'src', 'action', 'formaction', 'xlink:href'].includes(name)
            && !['http:', 'https:', 'mailto:'].includes(new URL(value, location).protocol))
).map(each => each.outerHTML.slice(0, 200))"""


def check_safe(page):
    """Nothing of the view runs, loads from elsewhere or leads to a script."""
    assert page.evaluate(UNSAFE) == []


@pytest.mark.parametrize("view", ["/", "/ask", "/compare", "/libraries", "/operations"])
def test_an_attack_as_query_is_shown_as_text(open_page, page_faults, view):
    page_faults.expect("40[0-9]|422")
    page = open_page(view)
    settle(page)
    page.evaluate("fetch('/v1/libraries/none').then(answer => answer.text())")
    for attack in ATTACKS:
        query = " ".join(attack.split())
        address = page.evaluate(
            "([view, q]) => `${view}?${new URLSearchParams({q, library: q, version: q, hit: q})}`",
            [view, query],
        )
        go(page, address)
        page.wait_for_timeout(30)
        check_safe(page)
        page.evaluate("() => scrollTo(0, 0)")
    settle(page)
    check_safe(page)
    if view == "/":
        expect(field(page)).to_have_value(query)


@pytest.mark.parametrize("library", ["attacks", "addresses"])
def test_hits_show_attacks_as_text(open_page, library):
    page = open_page(f"/?q={WORD}&library={library}")
    expect(hits(page).first).to_contain_text(WORD)
    shown = 0
    while (more := page.get_by_role("button", name="More")).count() and shown < 10:
        more.first.click()
        settle(page)
        shown += 1
    check_safe(page)
    for hit in hits(page).all():
        hit.hover()
    check_safe(page)


@pytest.mark.parametrize("library", ["attacks", "addresses"])
def test_pages_are_shown_without_what_would_run(open_page, service, library):
    numbers = service.run(
        """
        select p.page_id from pgrag.pages as p join pgrag.libraries as l using (library_id)
        where l.name = %s order by p.page_id
        """,
        library,
    )
    page = open_page(f"/?q={WORD}&library={library}")
    for row in numbers:
        go(page, f"/?q={WORD}&library={library}&page={row['page_id']}")
        expect(page.locator("article")).to_contain_text(WORD)
        check_safe(page)
    for tab in ("why", "neighbours", "versions", "copy"):
        go(page, f"/?q={WORD}&library={library}&page={row['page_id']}&tab={tab}")
        settle(page)
        check_safe(page)


@pytest.mark.parametrize("library", ["attacks", "addresses"])
def test_other_views_show_attacks_as_text(open_page, library):
    page = open_page(f"/libraries?library={library}")
    settle(page)
    check_safe(page)
    for address in (f"/compare?q={WORD}&library={library}", f"/ask?q={WORD}&library={library}"):
        go(page, address)
        settle(page)
        check_safe(page)
