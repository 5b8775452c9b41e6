"""The reader beside the search: a page, why it is a hit, what is around it, its versions."""

import re

import httpx
import pytest
from playwright.sync_api import expect
from views import address, hits

RESTORE = "/?q=restore+a+folder&library=kestrel"
TABS = {
    "page": "Restore a folder",
    "why": "In words",
    "neighbours": "Related",
    "versions": "This section",
    "copy": "Command line",
}
#: Pages of a shape that no fixture has.
ODD = {
    "names.md": "# Content\n\nFirst.\n\n#### Told\n\nSecond, see [below](#reader-panel).\n\n"
    + "Filler of the page.\n\n" * 60
    + "## Reader panel\n\nThird.\n",
    "long.md": "# Long\n\n"
    + "\n\n".join(f"## Part {n}\n\n" + "Many words make it long. " * 40 for n in range(300)),
    "rtl.md": "---\nlanguage: he\n---\n\n# שלום\n\nעולם.\n",
}


@pytest.fixture(scope="module")
def odd(service):
    """The ids of the odd pages, by their keys."""
    for key, body in ODD.items():
        address = f"{service.url}/v1/libraries/odd/versions/-/pages/{key}"
        sent = httpx.put(
            address, content=body, headers={"Content-Type": "text/markdown"}, trust_env=False,
            timeout=60,
        )  # fmt: skip
        assert sent.status_code < 300, sent.text
    rows = service.run("select key, page_id from pgrag.pages where key = any(%s)", list(ODD))
    return {row["key"]: row["page_id"] for row in rows}


@pytest.fixture
def panel():
    return lambda page: page.get_by_role("tabpanel")


def page_id(service, key, version="2.1"):
    rows = service.run(
        "select page_id from pgrag.pages join pgrag.versions using (library_id, version_id)"
        " where key = %s and label = %s",
        key, version,
    )  # fmt: skip
    return rows[0]["page_id"]


def open_tab(page, name):
    page.get_by_role("tab", name=name).click()


def test_the_passage_is_marked_and_in_view(open_page, panel):
    page = open_page(RESTORE)
    passage = page.locator(".passage").first
    expect(passage).to_contain_text("name the day and the folder")
    expect(passage.locator("mark").first).to_be_visible()
    expect(passage).to_be_in_viewport()
    expect(page.get_by_role("article")).to_have_attribute("lang", "en")
    expect(page.get_by_role("article").get_by_role("heading", level=1)).to_have_count(1)
    original = page.get_by_role("link", name="Open the original")
    expect(original).to_have_attribute("href", "https://kestrel.example/docs/2.1/guide/restore")
    assert page.evaluate("scrollY") == 0


def test_links_stay_in_the_reader_and_back_leads_back(open_page, service, panel):
    page = open_page(f"{RESTORE}&version=2.0")
    expect(page.get_by_role("article")).to_contain_text("name the day")
    page.get_by_role("tab", name="Neighbours").click()
    page.get_by_role("tab", name="Page").click()
    panel(page).locator("a[rel=next], a[rel=prev]").first.click()
    expect(page.get_by_role("article").get_by_role("heading", level=1)).not_to_contain_text(
        "Restore"
    )
    assert re.search(r"[?&]page=\d+", page.url)
    assert "q=restore" in page.url
    page.reload()
    expect(page.get_by_role("article").get_by_role("heading", level=1)).not_to_contain_text(
        "Restore"
    )
    page.go_back()
    expect(page.get_by_role("article")).to_contain_text("name the day")


def test_a_link_of_the_text_opens_its_page(open_page, service):
    start = page_id(service, "index.md", "")
    page = open_page(f"/?page={start}")
    link = page.locator("article a[data-page-id]").first
    expect(link).to_have_attribute("href", re.compile(r"page=\d+"))
    link.click()
    expect(page).to_have_url(re.compile(r"page=\d+"))
    expect(page).not_to_have_url(re.compile(f"page={start}"))
    expect(page.get_by_role("article")).to_be_visible()


def test_the_outline_leads_through_the_page(open_page, odd, panel):
    page = open_page(f"/?page={odd['names.md']}")
    outline = page.locator("details.outline")
    outline.locator("summary").click()
    outline.get_by_role("button", name="Reader panel").click()
    heading = page.get_by_role("heading", name="Reader panel")
    expect(heading).to_be_in_viewport()
    expect(heading).to_be_focused()
    expect(outline.locator("summary")).to_contain_text("Reader panel")
    panel(page).evaluate("element => element.scrollTop = 0")
    expect(outline.locator("summary")).not_to_contain_text("Reader panel")
    page.get_by_role("link", name="below").click()
    expect(heading).to_be_in_viewport()
    assert page.evaluate("scrollY") == 0


def elsewhere(route):
    """Give a page an address that runs, which the database refuses to keep."""
    answer = route.fetch()
    route.fulfill(response=answer, json={**answer.json(), "url": "javascript:alert(1)"})


def test_a_page_takes_no_name_of_the_frame(open_page, odd, check_axe):
    """Headings called as elements of the frame are, and an address that would run."""
    page = open_page("/")
    page.route("**/v1/pages/*/rendered*", elsewhere)
    page.goto(f"/?page={odd['names.md']}")
    expect(page.get_by_role("article")).to_contain_text("Third.")
    for name in ("content", "told", "reader-panel"):
        assert page.locator(f"#{name}").count() == 1
    expect(page.locator("#told")).to_have_text("Content is shown.")
    expect(page.get_by_role("link", name="Open the original")).to_have_count(0)
    # Level 4 below level 1 is told as level 2.
    expect(page.get_by_role("heading", name="Told")).to_have_attribute("aria-level", "2")
    check_axe(page)


def test_a_long_page_comes_in_parts(open_page, odd):
    page = open_page(f"/?page={odd['long.md']}")
    expect(page.get_by_text("This is a part of a long page.")).to_be_visible()
    page.get_by_role("link", name="Read on").click()
    expect(page.get_by_role("heading", name="Part 0", exact=True)).to_have_count(0)
    expect(page.get_by_role("heading", name=re.compile(r"Part 1\d\d")).first).to_be_attached()
    page.get_by_role("link", name="Show its beginning").click()
    expect(page.get_by_role("heading", name="Part 0", exact=True)).to_be_visible()


def test_text_runs_in_its_own_direction(open_page, odd):
    page = open_page(f"/?page={odd['rtl.md']}")
    article = page.get_by_role("article")
    expect(article).to_have_css("direction", "rtl")
    expect(article).to_have_attribute("lang", "he")


def test_the_parts_of_a_score_add_up(open_page, panel):
    page = open_page(f"{RESTORE}&tab=why")
    expect(panel(page).get_by_role("table")).to_contain_text("restor")
    values = [float(text.replace("−", "-")) for text in page.locator(".key dd").all_inner_texts()]
    *parts, total = values
    assert len(parts) >= 3
    assert sum(parts) == pytest.approx(total, abs=0.005 * len(parts) + 0.001)
    rows = panel(page).locator("tbody tr td:last-child").all_inner_texts()
    words = sum(float(text) for text in rows if text != "–")
    assert words == pytest.approx(parts[0], abs=0.005 * len(rows) + 0.006)
    expect(panel(page)).to_contain_text(re.compile(r"Words: rank \d"))
    expect(panel(page)).to_contain_text("Its text has")


def test_the_words_of_a_score_are_shown_on_a_narrow_screen(open_page, panel, service):
    hit = open_page(RESTORE).locator("main [role=option]").first.get_attribute("id")
    page = open_page(f"{RESTORE}&hit={hit.removeprefix('hit-')}&tab=why", width=800)
    expect(panel(page).get_by_role("table")).to_be_visible()


def test_what_just_missed_is_shown_with_what_it_lacks(open_page, panel):
    query = "q=kestrel&library=kestrel&version=*"
    page = open_page(f"/?{query}&tab=why")
    page.get_by_text("What just missed the list").click()
    expect(panel(page)).to_contain_text("Nothing: the list has all hits.")
    page.route("**/v1/search?*top_k=25*", lambda route: route.fulfill(json=made_up(25)))
    page.reload()
    page.get_by_text("What just missed the list").click()
    expect(panel(page).locator(".missed li")).to_have_count(5)
    expect(panel(page).locator(".missed li").first).to_contain_text("lacks .010")


def made_up(count):
    hits = [
        {"document_id": n, "page_id": n, "title": f"Page {n}", "heading": "", "score": 1 - n / 100}
        for n in range(count)
    ]
    return {"hits": [], "pages": [{"page_id": hit["page_id"], "hits": [hit]} for hit in hits]}


def test_neighbours(open_page, service, panel):
    page = open_page(f"/?page={page_id(service, 'guide/install.md')}&at=from-source&tab=neighbours")
    around = panel(page).locator(".around")
    expect(around).to_contain_text("Checking the build")
    expect(around.get_by_role("link", name="From a package").first).to_be_visible()
    for title in ("Linked from", "Links to", "Related"):
        expect(panel(page).get_by_role("heading", name=title, exact=True)).to_be_visible()
    graph = panel(page).get_by_role("link", name="Show the graph around this page")
    expect(graph).to_have_attribute("href", re.compile(r"libraries\?.*graph=\d+"))
    around.get_by_role("link", name="Checking the build").first.click()
    expect(page.get_by_role("heading", name="Checking the build")).to_be_in_viewport()


def test_versions_show_what_changed(open_page, service, panel):
    page = open_page(f"{RESTORE}&tab=versions")
    newest = panel(page).locator(".plain-list > li").first
    expect(newest).to_contain_text("2.1")
    expect(newest.locator("ins").first).to_have_text(re.compile(r"^\+.*--day"))
    expect(newest.locator("del").first).to_have_text(re.compile("^-"))
    other = panel(page).get_by_role("heading", name="This page in other versions")
    expect(other).to_be_visible()
    panel(page).get_by_role("link", name="2.0").last.click()
    expect(page).to_have_url(re.compile(f"page={page_id(service, 'guide/restore.md', '2.0')}"))
    expect(page.get_by_role("article")).to_contain_text("kestrel restore 2025-02-01")


def test_tabs_by_keys_have_addresses(open_page):
    page = open_page(RESTORE)
    page.get_by_role("tab", name="Page").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Why this hit")).to_be_focused()
    expect(page).to_have_url(re.compile("tab=why"))
    page.keyboard.press("Tab")
    expect(page.get_by_role("tabpanel")).to_be_focused()
    page.reload()
    expect(page.get_by_role("tab", name="Why this hit")).to_have_attribute("aria-selected", "true")
    page.go_back()
    expect(page.get_by_role("tab", name="Page")).to_have_attribute("aria-selected", "true")


def test_a_page_without_a_search_has_no_why(open_page, service):
    page = open_page(f"/?page={page_id(service, 'guide/install.md')}")
    expect(page.get_by_role("article")).to_contain_text("Every distribution")
    expect(page.get_by_role("tab", name="Why this hit")).to_have_count(0)
    page.get_by_role("tab", name="Copy as").click()
    expect(page.get_by_role("region", name="Link in Markdown")).to_contain_text(
        "[Install Kestrel](https://kestrel.example/docs/2.1/guide/install)"
    )
    expect(page.get_by_role("region", name="SQL")).to_have_count(0)


def test_a_page_that_is_gone_says_so(open_page, page_faults):
    page_faults.expect("404")
    page = open_page("/?page=999999999&q=restore&library=kestrel")
    expect(page.get_by_role("alert")).to_contain_text("no longer in the index")
    again = page.get_by_role("alert").get_by_role("link", name="Search again")
    expect(again).to_have_attribute("href", "./?q=restore&library=kestrel")


def test_a_passage_that_is_gone_leaves_its_page(open_page, page_faults, service):
    page_faults.expect("404")
    page = open_page(f"/?page={page_id(service, 'guide/install.md')}&document=999999999")
    expect(page.get_by_text("The passage has changed since it was found.")).to_be_visible()
    expect(page.get_by_role("article")).to_contain_text("Every distribution")


def test_the_page_before_stays_while_the_next_loads(open_page, service):
    page = open_page(f"/?page={page_id(service, 'guide/install.md')}")
    expect(page.get_by_role("article")).to_contain_text("Every distribution")
    held = []

    def hold(route):
        held.append(route)

    page.route("**/v1/pages/*/rendered*", hold)
    page.locator("a[rel=next], a[rel=prev]").first.click()
    expect(page.get_by_role("tabpanel")).to_have_attribute("aria-busy", "true")
    expect(page.locator(".reader-wait")).to_be_visible()
    expect(page.get_by_role("article")).to_contain_text("Every distribution")
    held[0].continue_()
    expect(page.get_by_role("tabpanel")).to_have_attribute("aria-busy", "false")
    expect(page.get_by_role("article")).not_to_contain_text("Every distribution")


def test_a_failure_can_be_tried_again(open_page, page_faults, service):
    page_faults.expect("503")
    page = open_page(f"/?page={page_id(service, 'guide/install.md')}")
    expect(page.get_by_role("article")).to_be_visible()
    with service.down():
        open_tab(page, "Versions")
        expect(page.get_by_role("tabpanel").get_by_role("alert").first).to_be_visible()
    page.get_by_role("tabpanel").get_by_role("button", name="Try again").first.click()
    expect(page.get_by_role("tabpanel")).to_contain_text("first version")


@pytest.mark.parametrize(("theme", "language"), [("light", "en"), ("dark", "de")])
def test_axe_finds_nothing_in_any_tab(open_page, check_axe, theme, language):
    page = open_page(RESTORE, theme=theme, language=language)
    for number, text in enumerate(TABS.values()):
        page.get_by_role("tab").nth(number).click()
        if language == "en":
            expect(page.get_by_role("tabpanel")).to_contain_text(text)
        page.wait_for_load_state("networkidle")
        check_axe(page)


def test_a_narrow_screen_scrolls_one_way(open_page, odd):
    page = open_page(f"/?page={odd['names.md']}&at=reader-panel", width=320, height=700)
    expect(page.get_by_role("heading", name="Reader panel")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_print_has_the_page_alone(open_page, service):
    page = open_page(address(service, "reader"))
    expect(page.get_by_role("article")).to_contain_text("name the day")
    expect(hits(page).first).to_be_visible()
    page.emulate_media(media="print")
    expect(page.get_by_role("article")).to_be_visible()
    expect(page.get_by_role("tab").first).to_be_hidden()
    expect(hits(page).first).to_be_hidden()
    expect(page.get_by_text("Did it help?")).to_be_hidden()
    # Paper does not scroll: nothing around the text may cut it off.
    cut_off = """article => {
        const found = [];
        for (let each = article; each !== document.body; each = each.parentElement)
            if (each.scrollHeight > each.clientHeight + 1) found.push(each.className);
        return found;
    }"""
    assert page.get_by_role("article").evaluate(cut_off) == []
    expect(page.get_by_role("searchbox").or_(page.get_by_role("combobox")).first).to_be_hidden()


def test_pictures(open_page, screenshot):
    for theme in ("light", "dark"):
        page = open_page(f"{RESTORE}&tab=why", theme=theme)
        expect(page.get_by_role("tabpanel")).to_contain_text("In words")
        screenshot(page, f"reader-why-{theme}")
        open_tab(page, "Versions")
        expect(page.get_by_role("tabpanel").locator("ins").first).to_be_visible()
        screenshot(page, f"reader-versions-{theme}")
