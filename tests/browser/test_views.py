"""Every view in both themes and languages: axe, narrow, magnified, without motion, by Back."""

import re
from collections.abc import Iterator

import pytest
from browser_service import Service
from playwright.sync_api import Response, expect
from starlette.responses import PlainTextResponse
from views import ADDRESSES, VIEWS, address, hits, settle, words

#: Where a proxy has the service.
BELOW = "/tools/pgrag"


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


def test_the_first_load_is_small(new_page, page_faults, service):
    """At most 40 kB come for the search, each file once, and none of another view."""
    page_faults.allow(service.url)
    # A new browser: nothing is in its cache, and each request reaches the service.
    page = new_page(is_fresh=True)
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer))  # noqa: PLW0108
    page.goto(service.url)
    settle(page)
    files = [answer for answer in answers if "/v1/" not in answer.url]
    sizes = {answer.url: int(answer.headers["content-length"]) for answer in files}
    listed = "\n".join(f"{size:>6} {url}" for url, size in sizes.items())
    print(f"first load: {len(files)} files, {sum(sizes.values()):,} bytes\n{listed}")
    assert len(files) == len(sizes), [answer.url for answer in files]
    assert 10_000 < sum(sizes.values()) <= 40_000, listed
    assert not re.search(r"/(ask|compare|libraries|operations|widget|uplot|d3)", listed)
    assert all(
        answer.headers.get("content-encoding") == "gzip"
        for answer in files
        if answer.request.resource_type in {"script", "stylesheet"}
    )
    # Not from a cache, and all that the page itself knows of is among them.
    known = page.evaluate(
        """performance.getEntriesByType('resource').filter(each => !each.name.includes('/v1/'))
        .map(each => [each.name, each.encodedBodySize, each.transferSize])"""
    )
    assert all(sizes[url] == size < over_the_wire for url, size, over_the_wire in known), known


@pytest.fixture(scope="module")
def below_a_path(serve) -> Iterator[Service]:
    """A service behind a proxy that has it at /tools/pgrag/, and takes that off."""

    def proxy(app):
        async def passed_on(scope, receive, send):
            if scope["type"] == "http":
                if not scope["path"].startswith(f"{BELOW}/"):
                    return await PlainTextResponse("not ours", 404)(scope, receive, send)
                path = scope["path"].removeprefix(BELOW)
                prefix = (b"x-forwarded-prefix", BELOW.encode())
                headers = [*scope["headers"], prefix]
                scope = scope | {"path": path, "raw_path": path.encode(), "headers": headers}
            return await app(scope, receive, send)

        return passed_on

    with serve(around=proxy) as service:
        yield service


@pytest.mark.parametrize("name", [*VIEWS, "reader", "library"])
def test_a_view_works_below_a_path_of_a_proxy(open_page, below_a_path, name):
    """Nothing is asked for beside the path, and the links lead to addresses below it."""
    # Of what is not there, the browser says so in its console, which fails the test.
    path = BELOW + address(below_a_path, name)
    page = open_page(path, of=below_a_path)
    settle(page)
    shown = words(page)
    assert len(shown) > 20
    links = page.locator("a[href]").evaluate_all("all => all.map(each => each.href)")
    own = [link for link in links if link.startswith(below_a_path.url)]
    assert len(own) > 5
    assert all(link.startswith(f"{below_a_path.url}{BELOW}/") for link in own), own
    page.reload()
    settle(page)
    assert words(page) == shown


def test_a_browser_adds_the_search_below_a_path_of_a_proxy(page, below_a_path, page_faults):
    page_faults.allow(below_a_path.url)
    page.goto(f"{below_a_path.url}{BELOW}/")
    link = page.locator("link[rel=search]").evaluate("link => link.href")
    description = page.request.get(link).text()
    assert f'template="{below_a_path.url}{BELOW}/?q={{searchTerms}}"' in description
