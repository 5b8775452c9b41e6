"""The search box of other sites, on a site of another origin with a strict policy."""

import json
import re

import llm_server
import pytest
from foreign_site import field, foreign_site, rows, search
from mcp_service import eventually
from playwright.sync_api import expect

SECRET = "pgrag_sk_" + "0" * 72
FOLDER = "restore a folder"


@pytest.fixture(autouse=True, scope="module")
def patient():
    """A machine may be busy: what comes late has come."""
    expect.set_options(timeout=20_000)
    yield
    expect.set_options(timeout=5_000)


@pytest.fixture(scope="module")
def running_site():
    with foreign_site() as site:
        yield site


@pytest.fixture
def site(running_site, page_faults):
    page_faults.allow(running_site.url)
    running_site.has_router = False
    return running_site


@pytest.fixture
def open_site(site, new_page, page_faults, closed_service):
    """Opens a page of the site, whose box has a key that was made for it."""

    def open_site(*, of=closed_service, element=None, inside="", theme="light", language="en",
                  size=(1000, 700), key=None, **options):  # fmt: skip
        page_faults.allow(of.url)
        key = key or page_key(of, site)
        attributes = element or 'library="kestrel"'
        site.language = language
        site.put(of.url, f'key="{key}" {attributes}', inside)
        width, height = size
        viewport = {"width": width, "height": height}
        page = new_page(color_scheme=theme, viewport=viewport, **options)
        page.goto(f"{site.url}/docs/")
        page.locator("pgrag-search:defined").wait_for(state="attached")
        return page

    return open_site


def page_key(service, site, **options):
    options = {"libraries": ["kestrel", "attacks"]} | options
    limits = {"rate": 1000.0, "concurrency": 100}
    return service.make_key(kind="publishable", origins=[site.url], **limits, **options)


def note(page):
    return page.locator("pgrag-search .note").first


def recorded(service):
    query = "select query from pgrag.searches order by at"
    return [row["query"] for row in service.run(query)]


class TestSearching:
    def test_a_reader_writes_sees_and_opens(self, open_site, site, screenshot):
        page = open_site()
        found = search(page, FOLDER)
        expect(found.first.locator("b")).to_have_text("Restore a folder")
        expect(found.first.locator("mark").first).to_have_text(re.compile("restore", re.IGNORECASE))
        expect(page.locator("pgrag-search .group").first).to_have_text("Restore a folder")
        expect(page.locator("pgrag-search [role=status]")).to_have_text(
            re.compile(r"\d passages on \d pages")
        )
        screenshot(page, "widget")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{site.url}/docs/2.1/guide/restore#restore-a-folder")

    def test_letters_are_a_search_of_their_own_and_one_record_remains(
        self, open_site, closed_service
    ):
        page = open_site()
        closed_service.run("delete from pgrag.searches")
        search(page, "rest")
        with page.expect_response(lambda answer: "record=true" in answer.url):
            field(page).press_sequentially("ore a folder")
        expect(rows(page).first).to_contain_text("Restore a folder")
        page.keyboard.press("Escape")
        assert recorded(closed_service) == [FOLDER]

    def test_a_late_answer_never_shows(self, open_site):
        page = open_site()
        held = []
        # Playwright takes no method of a list.
        hold = lambda route: held.append(route)  # noqa: E731, PLW0108
        page.route(re.compile(r"/v1/search\?.*q=prune&"), hold)
        page.keyboard.press("Control+k")
        field(page).fill("prune")
        page.wait_for_timeout(100)
        field(page).fill(FOLDER)
        expect(rows(page).first).to_contain_text("Restore a folder")
        assert len(held) == 1
        late = {"pages": [], "resolved": [], "notices": [], "no_good_match": False}
        held[0].fulfill(json=late, headers={"Access-Control-Allow-Origin": "*"})
        page.wait_for_timeout(200)
        expect(rows(page).first).to_contain_text("Restore a folder")

    def test_what_an_input_method_composes_is_searched_but_no_command(self, open_site):
        page = open_site()
        search(page, FOLDER)
        input_method = page.context.new_cdp_session(page)
        field(page).fill("")
        compose = {"selectionStart": 7, "selectionEnd": 7, "text": FOLDER}
        input_method.send("Input.imeSetComposition", compose)
        expect(rows(page).first).to_contain_text("Restore a folder")
        for name in ("keyDown", "keyUp"):
            key = {"type": name, "key": "Process", "windowsVirtualKeyCode": 229, "code": "Enter"}
            input_method.send("Input.dispatchKeyEvent", key)
        expect(field(page)).to_be_visible()
        input_method.send("Input.insertText", {"text": FOLDER})
        page.keyboard.press("Enter")
        page.wait_for_url("**/restore#restore-a-folder")

    def test_tab_goes_through_the_versions(self, open_site, site):
        page = open_site()
        search(page, FOLDER)
        version = page.get_by_label("Version")
        expect(version).to_have_value("2.1")
        page.keyboard.press("Tab")
        expect(version).to_have_value("2.0")
        expect(rows(page).first).to_have_attribute("href", re.compile("/docs/2.0/"))
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        expect(version).to_have_value("2.1")
        version.select_option("1.4")
        expect(rows(page).first).to_have_attribute("href", re.compile("/docs/1.4"))

    def test_a_version_of_the_page_and_none_to_choose(self, open_site):
        page = open_site(element='library="kestrel" version="^1"')
        search(page, FOLDER)
        expect(page.get_by_label("Version")).to_have_value("1.4")
        page = open_site(element='library="kestrel" version="off"')
        search(page, FOLDER)
        expect(page.get_by_label("Version")).to_be_hidden()
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name="Close")).to_be_focused()


class TestKeys:
    def test_the_keyboard_suffices(self, open_site):
        page = open_site()
        page.locator("#notes").press("/")
        expect(field(page)).to_have_count(0)
        page.locator("h1").click()
        page.keyboard.press("/")
        field(page).press_sequentially(FOLDER)
        options = rows(page)
        expect(options.first).to_have_attribute("aria-selected", "true")
        last = options.count() - 1
        page.keyboard.press("ArrowUp")
        expect(options.nth(last)).to_have_attribute("aria-selected", "true")
        expect(field(page)).to_have_attribute("aria-activedescendant", f"option-{last}")
        page.keyboard.press("ArrowDown")
        expect(field(page)).to_have_attribute("aria-activedescendant", "option-0")
        expect(field(page)).to_have_attribute("aria-expanded", "true")
        page.keyboard.press("Shift+Tab")
        expect(field(page)).not_to_be_focused()
        page.keyboard.press("Escape")
        expect(field(page)).not_to_be_visible()

    def test_focus_returns_and_the_query_is_kept(self, open_site):
        page = open_site()
        page.get_by_role("button", name="Search").click()
        field(page).press_sequentially(FOLDER)
        expect(rows(page).first).to_be_visible()
        # What is kept is what was found, so the answer to the last letter is awaited.
        expect(page.locator("pgrag-search dialog")).to_have_attribute("aria-busy", "false")
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="Search")).to_be_focused()
        page.keyboard.press("Enter")
        expect(field(page)).to_have_value(FOLDER)
        expect(rows(page).first).to_be_visible()
        field(page).fill("")
        expect(rows(page)).to_have_text([FOLDER])
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(field(page)).to_have_value(FOLDER)
        assert page.evaluate("Object.keys(localStorage).concat(Object.keys(sessionStorage))") == []

    def test_another_key_or_none(self, open_site):
        page = open_site(element='library="kestrel" hotkey="j"')
        page.keyboard.press("Control+j")
        expect(field(page)).to_be_focused()
        page = open_site(element='library="kestrel" hotkey="off"')
        page.keyboard.press("/")
        page.keyboard.press("Control+k")
        expect(field(page)).to_have_count(0)
        page.get_by_role("button", name="Search").click()
        expect(field(page)).to_be_focused()

    @pytest.mark.parametrize("has_watcher", [True, False])
    def test_back_closes_on_touch(self, open_site, has_watcher):
        page = open_site(has_touch=True, is_mobile=True, size=(360, 700))
        if has_watcher:
            page.get_by_role("button", name="Search").tap()
            page.get_by_role("button", name="Close").tap()
        else:
            page.evaluate("delete window.CloseWatcher")
            page.get_by_role("button", name="Search").tap()
            expect(field(page)).to_be_visible()
            page.go_back()
        expect(field(page)).not_to_be_visible()
        assert page.url.endswith("/docs/")
        page.get_by_role("button", name="Search").tap()
        field(page).fill(FOLDER)
        rows(page).first.tap()
        page.wait_for_url("**/restore#restore-a-folder")
        page.go_back()
        expect(page).to_have_url(re.compile("/docs/$"))


class TestSites:
    def test_a_router_navigates_without_a_load(self, open_site, site):
        site.has_router = True
        page = open_site()
        page.evaluate("window.isSame = true")
        search(page, FOLDER)
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text("/docs/2.1/guide/restore")
        assert page.evaluate("window.isSame")
        assert page.url.endswith("#restore-a-folder")

    def test_a_site_may_navigate_itself(self, open_site):
        page = open_site()
        page.evaluate("""
            document.addEventListener('pgrag:open', () => { window.opened = true });
            document.addEventListener('pgrag:select', event => {
              event.preventDefault();
              window.selected = event.detail;
            });""")
        search(page, FOLDER)
        page.keyboard.press("Enter")
        eventually(lambda: page.evaluate("window.selected"))
        selected = page.evaluate("selected")
        assert selected["url"].endswith("/docs/2.1/guide/restore#restore-a-folder")
        assert (selected["query"], selected["hit"]["title"]) == (FOLDER, "Restore a folder")
        assert page.evaluate("opened")
        assert page.url.endswith("/docs/")

    def test_a_button_of_ones_own_and_a_call(self, open_site):
        page = open_site(inside="<button>Look it up</button>")
        page.get_by_role("button", name="Look it up").click()
        expect(field(page)).to_be_focused()
        page.keyboard.press("Escape")
        page.evaluate("document.querySelector('pgrag-search').open('restore a folder')")
        expect(rows(page).first).to_contain_text("Restore a folder")
        page.keyboard.press("Escape")
        # The element itself need not be shown.
        page.evaluate("document.querySelector('nav').style.display = 'none'")
        page.keyboard.press("Control+k")
        expect(page.get_by_role("combobox", name="Search the documentation")).to_be_focused()

    def test_the_site_cannot_spoil_it_but_may_style_it(self, open_site):
        page = open_site()
        page.evaluate("""
            const sheet = new CSSStyleSheet();
            sheet.replaceSync('pgrag-search { --pgrag-accent: rgb(1, 2, 3) }'
              + 'pgrag-search::part(title) { font-size: 21px }');
            document.adoptedStyleSheets = [sheet];""")
        search(page, FOLDER)
        title = page.locator("pgrag-search .title").first
        style = "each => [getComputedStyle(each).fontSize, getComputedStyle(each).textTransform]"
        assert title.evaluate(style) == ["21px", "none"]
        row = "each => getComputedStyle(each).borderInlineStartColor"
        assert rows(page).first.evaluate(row) == "rgb(1, 2, 3)"

    def test_hostile_pages_are_text(self, open_site):
        page = open_site(element='library="attacks"')
        for words in ("script", "onerror", "img", "javascript", "alert"):
            page.evaluate("words => document.querySelector('pgrag-search').open(words)", words)
            expect(page.locator("pgrag-search dialog")).to_have_attribute("aria-busy", "false")
            page.wait_for_timeout(200)
        tags = page.evaluate("""
            [...document.querySelector('pgrag-search').shadowRoot.querySelectorAll('.list *')]
              .map(each => each.localName)""")
        assert {"a", "b"} <= set(tags) <= {"a", "b", "div", "span", "mark", "code"}

    def test_other_schemes_are_no_addresses(self, open_site):
        page = open_site()
        hit = {"title": "Bait", "path": [], "heading": "Bait", "url": "javascript:alert(1)"}
        found = {"pages": [hit | {"hits": [hit]}], "resolved": [], "no_good_match": False}
        page.route("**/v1/search?**", lambda route: route.fulfill(
            json=found, headers={"Access-Control-Allow-Origin": "*"}))  # fmt: skip
        search(page, "bait")
        expect(rows(page).first).not_to_have_attribute("href", re.compile("."))
        page.keyboard.press("Enter")
        expect(note(page)).to_have_text("This page has no address on the web.")


class TestRefusals:
    def test_nothing_found_reaches_the_authors(self, open_site, closed_service):
        page = open_site()
        closed_service.run("delete from pgrag.searches")
        page.keyboard.press("Control+k")
        field(page).press_sequentially("zeppelin mooring")
        expect(note(page)).to_contain_text(re.compile("Nothing found|No good match"))
        page.get_by_role("button", name="Tell the authors that this is missing").click()
        expect(page.locator("pgrag-search .note").last).to_have_text(
            "Thank you. The authors see it."
        )
        [gap] = closed_service.run("select * from pgrag.gaps(1, 'kestrel')")
        assert (gap["topic"], gap["rated_badly"]) == ("zeppelin mooring", 1)
        page.keyboard.press("Escape")
        assert recorded(closed_service) == ["zeppelin mooring"]

    def test_a_vote(self, open_site, closed_service):
        page = open_site()
        closed_service.run("delete from pgrag.feedback")
        search(page, FOLDER)
        page.get_by_role("button", name="Helpful? Yes").click()
        expect(page.locator("pgrag-search .vote")).to_have_text("Thank you. The authors see it.")
        assert closed_service.run("select rating from pgrag.feedback") == [{"rating": 5}]

    def test_a_slip_is_mended(self, open_site):
        page = open_site()
        nothing = {"pages": [], "resolved": [], "no_good_match": False}
        page.route("**/v1/search?*q=kestrle&**", lambda route: route.fulfill(
            json=nothing, headers={"Access-Control-Allow-Origin": "*"}))  # fmt: skip
        page.keyboard.press("Control+k")
        field(page).fill("kestrle")
        page.get_by_role("button", name="kestrel").click()
        expect(field(page)).to_have_value("kestrel")
        expect(rows(page).first).to_be_visible()

    @pytest.mark.parametrize(("spoil", "status", "words"), [
        ("update pgrag.keys set expires_at = now()", 401, "not valid"),
        ("update pgrag.keys set revoked_at = now()", 401, "not valid"),
        ("update pgrag.keys set libraries = '{garden}'", 404, "not indexed"),
    ])  # fmt: skip
    def test_a_key_that_does_not_open_it(
        self, open_site, closed_service, page_faults, spoil, status, words
    ):
        page_faults.expect(str(status))
        page = open_site()
        closed_service.run(spoil)
        page.keyboard.press("Control+k")
        field(page).fill(FOLDER)
        expect(note(page)).to_contain_text(words)

    def test_a_page_that_the_key_was_not_made_for(self, open_site, closed_service, page_faults):
        page_faults.expect("403")
        options = {"kind": "publishable", "origins": ["https://docs.example"]}
        page = open_site(key=closed_service.make_key(**options))
        page.keyboard.press("Control+k")
        field(page).fill(FOLDER)
        expect(note(page)).to_contain_text("may not be used on this site")

    def test_a_secret_key_is_never_sent(self, open_site, page_faults):
        page_faults.expect("secret one")
        page = open_site(key=SECRET)
        sent = []
        page.on("request", lambda request: "/v1/" in request.url and sent.append(request.url))
        page.keyboard.press("Control+k")
        expect(note(page)).to_contain_text("secret key")
        expect(field(page)).to_be_disabled()
        assert sent == []

    def test_too_many_searches_wait_by_themselves(self, open_site, page_faults):
        page_faults.expect("429")
        page = open_site()
        refusals = iter([True, False])

        def answer(route):
            if next(refusals, False):
                told = {"type": "/problems/too-many-requests", "status": 429}
                headers = {"Access-Control-Allow-Origin": "*", "Retry-After": "1",
                           "Access-Control-Expose-Headers": "Retry-After"}  # fmt: skip
                route.fulfill(status=429, json=told, headers=headers)
            else:
                route.continue_()

        page.route("**/v1/search?**", answer)
        page.keyboard.press("Control+k")
        field(page).fill(FOLDER)
        expect(note(page)).to_have_text(re.compile(r"Trying again in 1 s\."))
        expect(rows(page).first).to_contain_text("Restore a folder")
        expect(note(page)).to_be_empty()

    def test_a_database_that_fails_and_a_network_that_is_away(
        self, open_site, closed_service, page_faults
    ):
        page_faults.expect("503", "ERR_INTERNET_DISCONNECTED")
        page = open_site()
        search(page, "kes")
        with closed_service.down():
            field(page).fill(FOLDER)
            expect(note(page)).to_contain_text("not available")
        page.get_by_role("button", name="Try again").click()
        expect(rows(page).first).to_be_visible()
        page.context.set_offline(True)
        field(page).fill("kestrel")
        expect(note(page)).to_contain_text("offline")
        page.context.set_offline(False)
        page.get_by_role("button", name="Try again").click()
        expect(rows(page).first).to_be_visible()

    def test_a_dialog_that_cannot_be_loaded(self, open_site, page_faults):
        page_faults.expect("pgrag-search", "ERR_FAILED")
        page = open_site()
        page.route("**/widget/box.mjs*", lambda route: route.abort())
        page.get_by_role("button", name="Search").click()
        expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
        page.unroute("**/widget/box.mjs*")
        page.get_by_role("button", name="Search").click()
        expect(field(page)).to_be_focused()
        expect(page.locator("pgrag-search [role=alert]")).to_be_empty()

    def test_an_unknown_version(self, open_site, page_faults):
        page_faults.expect("404")
        page = open_site(element='library="kestrel" version="nope"')
        page.keyboard.press("Control+k")
        field(page).fill(FOLDER)
        page.get_by_role("button", name="Search the newest version").click()
        expect(rows(page).first).to_contain_text("Restore a folder")


class TestAnswers:
    def test_an_answer_with_its_sources(self, open_site, answering_service, site, language_model):
        text = "Name the day and the folder [1]. It flies to the moon [1]."
        language_model.script = [llm_server.says(text)]
        key = page_key(answering_service, site, answers_per_hour=5)
        page = open_site(of=answering_service, key=key, element='library="kestrel" ask')
        search(page, FOLDER)
        page.get_by_role("option", name=f"Ask: {FOLDER}").click()
        answer = page.locator("pgrag-search .answer")
        expect(answer).to_have_text(text)
        expect(answer.locator(".doubt")).to_have_text("It flies to the moon [1].")
        expect(answer.locator("a").first).to_have_attribute("href", re.compile("/docs/2.1/"))
        expect(page.locator("pgrag-search .sources li")).to_have_count(1)
        page.get_by_role("button", name="Back to the results").click()
        expect(rows(page).first).to_contain_text("Restore a folder")

    def test_only_where_the_key_may(self, open_site, answering_service, closed_service, site):
        for service, answers in ((answering_service, 0), (closed_service, 5)):
            key = page_key(service, site, answers_per_hour=answers)
            page = open_site(of=service, key=key, element='library="kestrel" ask')
            with page.expect_response("**/v1/service?**"):
                search(page, FOLDER)
            page.wait_for_timeout(200)
            expect(page.get_by_role("option", name=re.compile("^Ask"))).to_have_count(0)

    def test_no_more_answers(self, open_site, answering_service, site, page_faults):
        page_faults.expect("429")
        key = page_key(answering_service, site, answers_per_hour=1)
        page = open_site(of=answering_service, key=key, element='library="kestrel" ask')
        answering_service.run(
            "update pgrag.keys set answers_per_hour = 1;"
            " insert into pgrag.key_usage (key_id, full_at, answers, answers_since)"
            " select key_id, now(), 1, now() from pgrag.keys"
            " on conflict (key_id) do update set answers = 1, answers_since = now()"
        )
        search(page, FOLDER)
        page.get_by_role("option", name=re.compile("^Ask")).click()
        expect(page.locator("pgrag-search .note").last).to_contain_text("No more answers")


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everybody_can_use_it(open_site, check_axe, screenshot, theme, language):
    page = open_site(theme=theme, language=language)
    check_axe(page)
    page.keyboard.press("Control+k")
    check_axe(page)
    search_words = {"en": "Search the documentation", "de": "Dokumentation durchsuchen"}
    expect(field(page)).to_have_accessible_name(search_words[language])
    field(page).press_sequentially(FOLDER)
    expect(rows(page).first).to_be_visible()
    check_axe(page)
    screenshot(page, f"widget-{theme}-{language}")
    field(page).fill("zeppelin")
    expect(note(page)).not_to_be_empty()
    check_axe(page)


def test_it_fits_a_narrow_screen(open_site, check_axe, screenshot):
    page = open_site(size=(320, 568))
    search(page, FOLDER)
    box = page.locator("pgrag-search dialog").bounding_box()
    assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, 320, 568)
    wide = "document.documentElement.scrollWidth > 320"
    assert not page.evaluate(wide)
    assert not page.locator("pgrag-search .body").evaluate("each => each.scrollWidth > 320")
    check_axe(page)
    screenshot(page, "widget-narrow")


def test_it_is_mirrored_where_the_site_is(open_site, site):
    page = open_site()
    page.evaluate("document.documentElement.dir = 'rtl'")
    search(page, FOLDER)
    glass = page.locator("pgrag-search .glass").bounding_box()
    assert glass["x"] > field(page).bounding_box()["x"]


def test_nothing_is_loaded_before_it_is_touched(open_site):
    page = open_site()
    names = "performance.getEntriesByType('resource').map(each => each.name)"
    loaded = [name.rsplit("/", 1)[1] for name in page.evaluate(names)]
    assert loaded == ["site.css", "widget.js"]
    page.get_by_role("button", name="Search").hover()
    eventually(lambda: len(page.evaluate(names)) == 4)
    assert json.dumps(page.evaluate(names)).count("/widget/") == 2
