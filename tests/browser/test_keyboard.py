"""The search by keys alone, with an input method, and with answers that come late."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect
from views import VIEWS, address, field, hits, settle


def searched(page):
    """The queries of the searches that a page sends from now on."""
    queries = []

    def note(request):
        parts = urlsplit(request.url)
        if parts.path == "/v1/search":
            queries.extend(parse_qs(parts.query).get("q", []))

    page.on("request", note)
    return queries


def test_from_the_field_to_the_page_and_back_by_keys(open_page):
    page = open_page("/?library=kestrel")
    page.locator("body").press("/")
    expect(field(page)).to_be_focused()
    page.keyboard.type("restore a folder")
    expect(hits(page).first).to_contain_text("Restore a folder")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    chosen = page.locator("main [role=option][aria-selected=true]")
    expect(chosen).to_have_count(1)
    expect(field(page)).to_have_attribute("aria-activedescendant", chosen.get_attribute("id"))
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator("article")).to_contain_text("name the day and the folder")
    expect(page).to_have_url(re.compile(r"[?&]hit=\d+"))
    page.keyboard.press("Escape")
    expect(field(page)).to_be_focused()


def test_the_keys_are_told(open_page):
    page = open_page("/?library=kestrel")
    page.locator("h1, body").first.click(position={"x": 1, "y": 1})
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    field(page).focus()
    page.keyboard.type("?")
    expect(dialog).to_have_count(0)
    expect(field(page)).to_have_value("?")


@pytest.mark.parametrize("name", VIEWS)
def test_every_control_is_reached_in_order_and_seen(open_page, service, name):
    page = open_page(address(service, name))
    settle(page)
    # A view may begin in its field; the head of the page comes before it.
    page.get_by_text("Skip to the content").focus()
    seen, places = [], []
    for _ in range(250):
        page.keyboard.press("Tab")
        at = page.evaluate(
            """() => {
                const element = document.activeElement;
                if (!element || element === document.body) return null;
                element.number ??= ++window.numbers || (window.numbers = 1);
                const {left, top, width, height} = element.getBoundingClientRect();
                const above = document.elementFromPoint(left + width / 2, top + height / 2);
                return {
                    number: element.number, html: element.outerHTML.slice(0, 150),
                    top: top + scrollY, isSeen: width > 0 && height > 0
                        && !!above && (element.contains(above) || above.contains(element)),
                    outline: getComputedStyle(element).outlineStyle !== 'none'
                        || element.matches('.field input'),
                };
            }"""
        )
        if at is None or at["number"] in seen:
            break
        seen.append(at["number"])
        places.append(at["html"])
        assert at["isSeen"], at["html"]
        assert at["outline"], at["html"]
    else:
        pytest.fail(f"no end of controls: {places[-5:]}")
    reachable = page.evaluate(
        """[...document.querySelectorAll('a[href], button:not([disabled]), input, select, summary')]
            .filter(each => each.tabIndex >= 0 && each.checkVisibility() && !each.number
                && !each.matches('.skip')).map(each => each.outerHTML.slice(0, 150))"""
    )
    assert reachable == []


def test_skip_leads_to_the_content(open_page):
    page = open_page("/libraries")
    settle(page)
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Skip to the content")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")


def test_nothing_is_searched_while_a_word_is_composed(open_page):
    page = open_page("/?library=kestrel")
    settle(page)
    queries = searched(page)
    field(page).click()
    keyboard = page.context.new_cdp_session(page)
    for text in ("r", "re", "res"):
        keyboard.send(
            "Input.imeSetComposition",
            {"text": text, "selectionStart": len(text), "selectionEnd": len(text)},
        )
    expect(field(page)).to_have_value("res")
    # Enter and arrows belong to the input method.
    for key in ("ArrowDown", "Enter"):
        keyboard.send(
            "Input.dispatchKeyEvent",
            {"type": "rawKeyDown", "key": "Process", "code": key, "windowsVirtualKeyCode": 229},
        )
    settle(page)
    assert queries == []
    assert "hit=" not in page.url
    keyboard.send("Input.insertText", {"text": "restore"})
    expect(field(page)).to_have_value("restore")
    expect(hits(page).first).to_contain_text("Restore")
    assert set(queries) == {"restore"}


def test_an_answer_that_comes_late_does_not_show(open_page):
    page = open_page("/?library=kestrel")
    settle(page)
    held = []

    def hold(route):
        asked = parse_qs(urlsplit(route.request.url).query).get("q") == ["restore"]
        (held.append if asked else lambda each: each.continue_())(route)

    page.route("**/v1/search?*", hold)
    field(page).fill("restore")
    page.wait_for_timeout(100)
    assert held
    field(page).fill("self-test")
    expect(hits(page).first).to_contain_text("Checking the build")
    for route in held:
        route.continue_()
    settle(page)
    expect(hits(page).first).to_contain_text("Checking the build")
    expect(field(page)).to_have_value("self-test")


def test_typing_adds_no_letter_to_the_history(open_page):
    page = open_page("/libraries")
    settle(page)
    page.get_by_role("link", name="Search", exact=True).click()
    field(page).fill("")
    page.keyboard.type("restore a folder")
    expect(hits(page).first).to_contain_text("Restore a folder")
    expect(page).to_have_url(re.compile(r"q=restore(\+|%20)a(\+|%20)folder"))
    page.go_back()
    expect(page).to_have_url(re.compile("/libraries$"))
    page.go_forward()
    expect(field(page)).to_have_value("restore a folder")
