"""Comparing: two sides of one query, how alike they are, grades, and a whole evaluation."""

import re

import pytest
from playwright.sync_api import expect

QUERY = "restore a folder"
VERSIONS = "/compare?q=restore+a+folder&library=kestrel&left=version%3A2.0&right=version%3A2.1"
SETTINGS = "/compare?q=restore+a+folder&library=kestrel&right=mode%3Akeyword%2Clevels%3A2"


@pytest.fixture
def numbers(open_page):
    """Calls functions of the page: `numbers("overlap", pairs)`."""
    page = open_page("/compare")
    module = page.evaluate(
        """performance.getEntriesByType('resource').map(each => each.name)
            .find(each => each.endsWith('compare/numbers.mjs'))"""
    )

    def call(name, *arguments):
        return page.evaluate(
            "([module, name, given]) => import(module).then(found => found[name](...given))",
            [module, name, arguments],
        )

    return call


def pairs_of(left, right):
    """Pairs of two lists of letters."""
    pairs = [(n, right.index(one) if one in right else None) for n, one in enumerate(left)]
    pairs += [(None, n) for n, one in enumerate(right) if one not in left]
    return [{"left": one, "right": other} for one, other in pairs]


#: Pairs of lists, and their overlap by hand.
BY_HAND = [
    # 0.1 / 0.9 · (0 / 1 · 0.9 + 2 / 2 · 0.81) + 2 / 2 · 0.81
    ("ab", "ba", 0.9),
    # 0.1 / 0.9 · (1 · 0.9 + 1 / 2 · 0.81 + 2 / 3 · 0.729) + 2 / 3 · 0.729
    ("abc", "acd", 0.685),
    # s = 1, l = 2: 0.1 / 0.9 · (0.9 + 0.405 + 1 · 1 / (1 · 2) · 0.81) + (0 / 2 + 1 / 1) · 0.81
    ("a", "ab", 1.0),
    # s = 1, l = 2: 0.1 / 0.9 · (0 + 1 / 2 · 0.81 + 0) + ((1 - 0) / 2 + 0 / 1) · 0.81
    ("b", "ab", 0.45),
    ("abcdefghij", "abcdefghij", 1.0),
    ("abc", "xyz", 0.0),
    ("", "ab", 0.0),
]


def test_rank_biased_overlap_is_that_of_webber_and_others(numbers):
    for left, right, by_hand in BY_HAND:
        for pairs in (pairs_of(left, right), pairs_of(right, left)):
            assert numbers("overlap", pairs) == pytest.approx(by_hand), (left, right)
    assert numbers("overlap", []) is None


def test_jaccard_and_ndcg_are_those_of_the_books(numbers, service):
    assert numbers("jaccard", pairs_of("abc", "bcd")) == pytest.approx(2 / 4)
    assert numbers("jaccard", []) is None
    grades, judged = [0, 2, 1, 0], [2, 2, 1, 0]
    [row] = service.run("select pgrag.ranking_metric('ndcg@10', %s, %s) as ndcg", grades, judged)
    assert numbers("ndcg", grades, judged) == pytest.approx(row["ndcg"])
    assert numbers("ndcg", [0, 0], [0]) == 0


def test_hits_are_paired_by_passage_then_by_section(numbers):
    def hit(document_id, key, heading, content="x"):
        return {
            "document_id": document_id, "library": "kestrel", "key": key, "path": ["Guide"],
            "heading": heading, "content": content,
        }  # fmt: skip

    left = [
        hit(1, "a.md", "A"),
        hit(2, "a.md", "B", "old"),
        hit(3, "b.md", "B"),
        hit(9, "a.md", "B"),
    ]
    right = [
        hit(4, "a.md", "B", "new"),
        hit(1, "a.md", "A"),
        hit(5, "c.md", "B"),
        hit(6, "a.md", "B"),
    ]
    found = numbers("paired", left, right)
    assert {(pair["left"], pair["right"]) for pair in found} == {
        (0, 1), (1, 0), (2, None), (3, 3), (None, 2),
    }  # fmt: skip


def rows(page, side):
    return page.locator(f"[data-side={side}] li")


def test_two_versions_are_side_by_side(open_page, check_axe, screenshot):
    page = open_page(VERSIONS)
    expect(page.get_by_role("heading", name="version 2.0")).to_be_visible()
    expect(page.get_by_role("heading", name="version 2.1")).to_be_visible()
    expect(page.locator(".count")).to_contain_text(re.compile(r"\d in common · Jaccard .* · RBO"))
    same = rows(page, "right").filter(has_text="Restore a folder").first
    expect(same).to_contain_text("text differs")
    expect(rows(page, "right").filter(has_text="From a phone")).to_contain_text("only here")
    lines = page.locator(".lines path")
    expect(lines.first).to_be_attached()
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        screenshot(page, f"compare-{theme}")
        check_axe(page)


def test_a_line_joins_the_middles_of_its_rows(open_page):
    page = open_page(VERSIONS)
    expect(page.locator(".lines path").first).to_be_attached()
    far = page.evaluate(
        """() => {
            const top = document.querySelector('.lines').getBoundingClientRect().top;
            const middles = side => [...document.querySelectorAll(`[data-side=${side}] li`)]
                .map(row => row.getBoundingClientRect()).map(box => box.top + box.height / 2 - top);
            const [left, right] = ['left', 'right'].map(middles);
            const near = (all, y) => Math.min(...all.map(each => Math.abs(each - y)));
            return [...document.querySelectorAll('.lines path')].map(path => {
                const places = path.getAttribute('d').match(/[\\d.]+/g).map(Number);
                return Math.max(near(left, places[1]), near(right, places.at(-1)));
            });
        }"""
    )
    assert far
    assert max(far) < 1


def test_settings_are_chosen_and_stay_in_the_address(open_page):
    page = open_page("/compare?library=kestrel")
    expect(page.get_by_role("textbox", name="Query")).to_be_focused()
    page.keyboard.type(QUERY)
    page.keyboard.press("Enter")
    expect(page.locator(".count")).to_contain_text("RBO 1.00")
    page.get_by_role("button", name="defaults").last.click()
    form = page.get_by_role("group", name="Settings")
    form.get_by_label("fusion").select_option("rrf")
    form.get_by_label("alpha").fill("0.6")
    form.get_by_label("alpha").press("Tab")
    form.get_by_label("links").select_option("false")
    expect(page).to_have_url(re.compile(r"right=alpha%3A0\.6%2Cfusion%3Arrf%2Cgraph%3Afalse"))
    expect(page.get_by_role("heading", name="alpha 0.6, fusion rrf, no links")).to_be_visible()
    form.get_by_label("alpha").fill("7")
    form.get_by_label("alpha").press("Tab")
    expect(page).to_have_url(re.compile(r"alpha%3A0\.6"))
    page.reload()
    expect(page.get_by_role("heading", name="alpha 0.6, fusion rrf, no links")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="alpha 0.6, fusion rrf", exact=True)).to_be_visible()


def test_a_broken_address_says_what_is_wrong(open_page):
    page = open_page(
        "/compare?q=folder&library=kestrel&left=alpha:9,colour:red,mode:keyword,%25:%25"
    )
    expect(page.get_by_role("alert")).to_contain_text("alpha:9, colour:red, %:%")
    expect(page.get_by_role("heading", name="mode keyword")).to_be_visible()
    expect(rows(page, "left").first).to_be_visible()


def test_all_libraries_are_compared_at_once(open_page):
    page = open_page("/compare?q=compost+folder&right=mode:keyword")
    expect(rows(page, "left").filter(has_text="kestrel · ").first).to_be_visible()
    expect(rows(page, "left").filter(has_text="garden · ").first).to_be_visible()


def test_a_set_that_no_set_can_be_called_is_not_asked_for(open_page):
    page = open_page(f"{SETTINGS}&set=%C3%9Cn%C3%AF%20/x")
    expect(page.get_by_role("alert")).to_contain_text("Ünï /x is no name of a set")
    expect(page.get_by_role("button", name="Evaluate both on the set")).to_be_disabled()
    field = page.get_by_role("combobox", name="Set")
    field.fill("manual")
    field.press("Enter")
    expect(page).to_have_url(re.compile("set=manual"))
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_side_that_fails_leaves_the_other(open_page, page_faults):
    page_faults.expect("501")
    page = open_page("/compare?q=folder&library=kestrel&right=rerank:true")
    expect(page.get_by_role("alert")).to_contain_text("reranker")
    expect(rows(page, "left").first).to_be_visible()


def test_a_service_that_is_back_is_asked_again(open_page, service, page_faults):
    page = open_page("/compare?library=kestrel")
    page_faults.expect("503")
    with service.down():
        page.keyboard.type(QUERY)
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_have_count(3)
    for again in page.get_by_role("button", name="Try again").all()[::-1]:
        again.click()
    expect(rows(page, "left").first).to_be_visible()
    expect(rows(page, "left").first).to_be_visible()
    expect(rows(page, "right").first).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_keys_lead_through_both_sides_and_grade(open_page, service):
    page = open_page(SETTINGS)
    expect(rows(page, "left").first).to_be_visible()
    expect(rows(page, "right").first).to_be_visible()
    page.get_by_role("textbox", name="Query").focus()
    page.keyboard.press("ArrowDown")
    link = rows(page, "left").first.get_by_role("link")
    expect(link).to_be_focused()
    title = link.inner_text()
    page.keyboard.press("ArrowDown")
    expect(rows(page, "left").nth(1).get_by_role("link")).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("2")
    pressed = page.get_by_role("button", name="2: answers", pressed=True)
    expect(rows(page, "left").first.get_by_role("button", pressed=True)).to_have_text("2")
    expect(page).to_have_url(re.compile("set=kestrel-graded"))
    expect(page.get_by_role("status")).to_have_text(f"{title}: 2")
    expect(page.locator(".col h2 small").first).to_contain_text("nDCG@10 1.00 on 1 judgement")
    page.keyboard.press("ArrowRight")
    partner = page.evaluate("document.activeElement.closest('[data-side]').dataset.side")
    assert partner == "right"
    shown = pressed.count()
    assert shown >= 1
    page.reload()
    expect(rows(page, "left").first.get_by_role("button", pressed=True)).to_have_text("2")
    expect(pressed).to_have_count(shown)
    [kept] = service.run("select target, grade from pgrag.evaluation_judgements('kestrel-graded')")
    assert kept["grade"] == 2
    rows(page, "left").first.get_by_role("link").focus()
    page.keyboard.press("Delete")
    expect(pressed).to_have_count(0)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/\?q=restore\+a\+folder&.*page=\d+&document=\d+"))
    page.go_back()
    expect(page.get_by_role("link", name=title).first).to_be_visible()


def test_both_sides_are_evaluated_on_the_set(open_page, service, check_axe, screenshot):
    queries = [
        {"id": f"q{n}", "text": text, "judgements": {key: 2}}
        for n, (text, key) in enumerate(
            {"restore a folder": "guide/restore.md", "install from source": "guide/install.md",
             "first copy": "guide/install.md"}.items()
        )
    ]  # fmt: skip
    body = {"library": "kestrel", "queries": queries}
    page = open_page(f"{SETTINGS}&set=manual")
    assert page.request.put(f"{service.url}/v1/evaluations/manual", data=body).ok
    page.get_by_role("button", name="Evaluate both on the set").click()
    expect(page.get_by_text("Mean nDCG@10 of 3 queries")).to_be_visible(timeout=20_000)
    expect(page.locator(".figures")).to_contain_text("95 % interval")
    runs = page.request.get(f"{service.url}/v1/evaluations/manual/runs").json()["runs"]
    assert [run["configuration"]["arguments"] for run in runs] == [
        {"mode": "keyword", "levels": [2]}, {},
    ]  # fmt: skip
    screenshot(page, "compare-evaluated")
    check_axe(page)


def test_without_the_right_to_grade_it_says_which_key_has_it(open_page, closed_service):
    key = closed_service.make_key("search")
    page = open_page(SETTINGS, of=closed_service, key=key, language="de")
    expect(rows(page, "left").first).to_be_visible()
    expect(page.get_by_text("Schlüssel der Rolle admin")).to_be_visible()
    expect(page.get_by_role("button", name="2: antwortet")).to_have_count(0)


def test_a_grade_that_is_refused_is_taken_back(open_page, service, page_faults):
    page_faults.expect("422")
    body = {
        "library": "garden",
        "queries": [{"id": "q", "text": "bees", "judgements": {"index.md": 1}}],
    }
    page = open_page(f"{SETTINGS}&set=bees")
    kept = page.request.put(f"{service.url}/v1/evaluations/bees", data=body)
    assert kept.ok, kept.text()
    rows(page, "left").first.get_by_role("button", name="1: helps").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("button", pressed=True)).to_have_count(0)


def test_the_view_fits_a_narrow_screen(open_page):
    page = open_page(VERSIONS, width=320)
    expect(rows(page, "left").first).to_be_visible()
    expect(rows(page, "right").first).to_be_visible()
    expect(page.locator(".lines")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
