"""Every view in both themes and languages: axe, narrow, magnified, without motion, by Back."""

import re

import pytest
from playwright.sync_api import expect
from views import ADDRESSES, VIEWS, address, hits, settle, words


@pytest.mark.parametrize("name", ADDRESSES)
def test_axe_finds_nothing(open_page, service, check_axe, name):
    page = open_page(address(service, name))
    settle(page)
    for language in ("en", "de"):
        page.get_by_label(re.compile("^(Language|Sprache)$")).select_option(language)
        expect(page.locator("html")).to_have_attribute("lang", language)
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            check_axe(page)


@pytest.mark.parametrize("name", ADDRESSES)
def test_nothing_is_cut_off_on_a_narrow_screen_or_magnified(open_page, service, name):
    # 200 % of 640 pixels, and the narrowest screen.
    for options in ({"width": 640, "height": 400, "device_scale_factor": 2}, {"width": 320}):
        page = open_page(address(service, name), **options)
        settle(page)
        assert (
            page.evaluate(
                """() => [...document.querySelectorAll('body *')].filter(each => {
                const box = each.getBoundingClientRect();
                const around = each.closest('.wide, pre, dialog, .unseen, .skip, svg, .tabs');
                return box.width && box.right > innerWidth + 1 && !around
                    && getComputedStyle(each.parentElement).overflowX === 'visible';
            }).map(each => each.outerHTML.slice(0, 150))"""
            )
            == []
        )
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


@pytest.mark.parametrize("name", VIEWS)
def test_who_wants_no_motion_gets_none(open_page, service, name):
    page = open_page(address(service, name), reduced_motion="reduce")
    settle(page)
    assert (
        page.evaluate(
            """document.getAnimations().map(each => each.effect.getComputedTiming())
            .filter(({duration}) => duration > 1).length"""
        )
        == 0
    )


@pytest.mark.parametrize("name", ADDRESSES)
def test_an_address_is_the_state_of_its_view(open_page, service, name):
    """Reload and Back show the same; a script or a stylesheet is not fetched twice."""
    path = address(service, name)
    page = open_page(path)
    settle(page)
    before, shown = page.url, words(page)
    page.reload()
    settle(page)
    assert (page.url, words(page)) == (before, shown)
    other = "Search" if name in {"libraries", "library"} else "Libraries"
    page.get_by_role("navigation", name="Views").get_by_role("link", name=other).click()
    settle(page)
    assert page.url != before
    page.go_back()
    expect(page).to_have_url(before)
    settle(page)
    assert words(page) == shown


def test_two_tabs_know_nothing_of_each_other(open_page, service):
    first = open_page("/?q=restore&library=kestrel")
    second = first.context.new_page()
    second.goto("/?q=worms&library=garden")
    expect(hits(second).first).to_contain_text("Worms")
    expect(hits(first).first).to_contain_text("Restore")
    second.get_by_label("Language").select_option("de")
    second.go_back()
    expect(hits(first).first).to_contain_text("Restore")
    first.reload()
    expect(hits(first).first).to_contain_text("Restore")
    # What is kept is the language alone.
    assert first.evaluate("JSON.stringify({...localStorage})") == '{"language":"de"}'


def test_the_first_load_is_small(open_page):
    """At most 40 kB come for the search, all of them at once, and none of another view."""
    sizes = {}
    page = open_page("/")
    settle(page)
    page.context.on("response", lambda answer: sizes.setdefault(answer.url, answer))
    page.context.new_cdp_session(page).send("Network.setCacheDisabled", {"cacheDisabled": True})
    page.reload()
    settle(page)
    files = {url: answer for url, answer in sizes.items() if "/v1/" not in url}
    total = sum(int(answer.headers["content-length"]) for answer in files.values())
    listed = "\n".join(files)
    assert 10_000 < total <= 40_000, listed
    assert not re.search(r"/(ask|compare|libraries|operations|widget|uplot|d3)", listed)
    assert all(
        answer.headers.get("content-encoding") == "gzip"
        for answer in files.values()
        if answer.request.resource_type in {"script", "stylesheet"}
    )
