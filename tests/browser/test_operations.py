"""Operations: searches, what was not found, feedback, answers, evaluations, the audit, rights."""

import csv
import io
import re
from datetime import UTC, datetime

import httpx
import pytest
from playwright.sync_api import expect
from views import settle

TABS = {
    "searches": "Searches", "gaps": "Not found", "feedback": "Feedback", "answers": "Answers",
    "evaluations": "Evaluations", "jobs": "Jobs", "settings": "Settings", "audit": "Audit",
}  # fmt: skip
LOST = "+zeppelin +hangar"


def table(page, name):
    return page.get_by_role("region", name=name).locator("tbody tr")


def card(page, name):
    return page.locator(".card").filter(has_text=name)


@pytest.fixture(scope="module")
def searched(service):
    """The service after searches of two days, one of them in vain and rated."""
    with httpx.Client(base_url=service.url, trust_env=False, timeout=60) as client:

        def search(query):
            told = client.get("/v1/search", params={"q": query, "library": "kestrel"})
            return told.raise_for_status().json()["search_id"]

        for query in ("restore", "restore", "days"):
            search(query)
        service.run("update pgrag.searches set at = at - interval '2 days'")
        lost, *_ = (search(LOST) for _ in range(3))
        rating = {"search_id": lost, "rating": 1, "comment": "<b>no</b> zeppelin"}
        client.post("/v1/feedback", json=rating).raise_for_status()
        queries = [
            {"id": "1", "text": "restore a folder", "judgements": {"guide/restore.md": 2}},
            {"id": "2", "text": "install", "judgements": {"guide/install.md": 2}},
        ]
        body = {"library": "kestrel", "queries": queries}
        client.put("/v1/evaluations/folders", json=body).raise_for_status()
        for name in ("keyword", "semantic"):
            client.post("/v1/evaluations/folders/runs", json={"name": name}).raise_for_status()
    return service


def test_searches_in_numbers_a_chart_and_a_table(open_page, searched, check_axe, screenshot):
    page = open_page("/operations?library=kestrel&days=7")
    settle(page)
    # Other tests of this file search, too, but not in this library.
    expect(card(page, "Searches").locator("b")).to_have_text("6")
    expect(card(page, "Without a hit").locator("b")).to_have_text("50%")
    expect(card(page, "Rated").locator("b")).to_have_text("16.7%")
    expect(card(page, "Rated")).to_contain_text("1.0 of 5 on average")
    expect(page.locator(".chart canvas")).to_be_visible()
    expect(page.locator(".chart .u-series")).to_have_count(4)
    page.get_by_text("As a table").click()
    expect(table(page, "Searches over time")).to_have_count(2)
    expect(table(page, "Most frequent queries").first).to_contain_text(LOST)
    expect(table(page, "Queries without a hit")).to_have_count(1)
    expect(table(page, "Slowest searches")).to_have_count(6)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        check_axe(page)
        screenshot(page, f"operations-{theme}")
    page.get_by_label("Library").select_option("garden")
    expect(page).to_have_url(re.compile("library=garden"))
    expect(page.locator("main")).to_contain_text("No search was recorded in this period.")
    page.go_back()
    expect(card(page, "Searches").locator("b")).to_have_text("6")


def test_a_single_day_is_that_day_on_the_axis_and_in_the_table(open_page, searched):
    """West of Greenwich, too, and without hours between days."""
    written = """
      window.written = new Set();
      const fill = CanvasRenderingContext2D.prototype.fillText;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
        window.written.add(text);
        return fill.call(this, text, ...place);
      };"""
    day = datetime.now(UTC).date()
    metric = {
        "starts_on": day.isoformat(),
        "library_name": "kestrel",
        "searches": 2,
        "empty_share": 0,
        "p50_ms": 1,
        "p95_ms": 2,
        "max_ms": 2,
        "mean_hits": 1,
        "mean_top_score": 0.5,
        "mean_rating": None,
        "feedback_share": 0,
    }
    page = open_page("/sign-in", timezone_id="America/Los_Angeles", is_fresh=True)
    page.add_init_script(written)
    page.route("**/v1/metrics/searches?**", lambda route: route.fulfill(json={"metrics": [metric]}))
    page.goto("/operations?library=kestrel")
    expect(page.locator(".chart canvas")).to_be_visible()
    page.wait_for_function("written.size > 5")
    texts = page.evaluate("[...written]")
    assert f"{day:%b} {day.day}" in texts
    assert not [text for text in texts if ":" in text]
    page.get_by_text("As a table").click()
    shown = table(page, "Searches over time").first
    expect(shown).to_contain_text(f"{day:%b} {day.day}, {day.year}")


def test_a_chart_is_drawn_in_the_colours_of_the_theme(open_page, searched):
    page = open_page("/operations?library=kestrel", theme="light")
    expect(page.locator(".chart canvas")).to_be_visible()
    line = ".chart .u-series:nth-child(2) .u-marker"
    colour = f"getComputedStyle(document.querySelector('{line}')).borderColor"
    light = page.evaluate(colour)
    page.get_by_role("button", name="Light or dark").click()
    page.wait_for_function(f"{colour} !== '{light}'")


def test_what_was_not_found_with_the_nearest_pages_to_copy(open_page, searched, check_axe):
    page = open_page("/operations?show=gaps", permissions=["clipboard-read", "clipboard-write"])
    row = table(page, "Not found").filter(has_text=LOST)
    expect(row).to_contain_text("3 without a hit")
    expect(row).to_contain_text("1 rated badly")
    check_axe(page)
    gaps = httpx.get(f"{searched.url}/v1/metrics/gaps", trust_env=False, timeout=60).json()["gaps"]
    [gap] = [each for each in gaps if each["topic"] == LOST]
    expect(row.locator("li")).to_have_count(len(gap["pages"]))
    page.get_by_role("button", name="Copy as Markdown").click()
    expect(page.get_by_role("status")).to_have_text("Copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "## No such page" in copied
    assert f"- [ ] **{LOST}** (3 searches)" in copied
    page.get_by_role("button", name="Copy as CSV").click()
    expect(page.get_by_role("status")).to_have_text("Copied.")
    lines = list(csv.DictReader(io.StringIO(page.evaluate("navigator.clipboard.readText()"))))
    # What begins like a formula is none in the programs that open it.
    [line] = [each for each in lines if each["topic"] == f"'{LOST}"]
    assert (line["searches"], line["found_nothing"]) == ("3", "3")
    row.get_by_role("link", name=LOST).click()
    expect(page).to_have_url(re.compile(r"/\?q=%2Bzeppelin"))


def test_what_readers_said_of_a_search(open_page, searched, check_axe):
    page = open_page("/operations?show=feedback")
    summary = page.locator("summary")
    expect(summary).to_have_count(1)
    expect(summary).to_contain_text("1 of 5")
    summary.click()
    expect(page.locator("main")).to_contain_text("“<b>no</b> zeppelin”")
    check_axe(page)
    page.get_by_label("Also searches that nobody rated").check()
    expect(page).to_have_url(re.compile("all=1"))
    page.locator("summary").filter(has_text="restore").first.click()
    expect(page.locator("main")).to_contain_text("guide/restore.md")


def test_runs_of_a_set_over_time_and_two_of_them_compared(open_page, searched, check_axe):
    page = open_page("/operations?show=evaluations")
    expect(table(page, "Runs")).to_have_count(2)
    expect(page.locator(".chart canvas")).to_be_visible()
    runs = httpx.get(
        f"{searched.url}/v1/evaluations/folders/runs", trust_env=False, timeout=60
    ).json()["runs"]
    for run in runs:
        row = table(page, "Runs").filter(has_text=f"{run['run_id']} {run['name']}")
        expect(row).to_contain_text(f"{run['averages']['ndcg@10']:.3f}")
    expect(page.locator("main")).to_contain_text("The difference may be chance.")
    check_axe(page)
    page.get_by_label("Metric").select_option("mrr@10")
    expect(page).to_have_url(re.compile("metric=mrr"))
    expect(page.locator("main p").filter(has_text="mrr@10:")).to_be_visible()


def test_the_audit_is_for_administrators(open_page, closed_service, check_axe):
    writer = closed_service.make_key("write")
    admin = closed_service.make_key("admin")
    headers = {"Authorization": f"Bearer {writer}"}
    refused = httpx.get(
        f"{closed_service.url}/v1/audit", headers=headers, trust_env=False, timeout=60
    )
    assert refused.status_code == 403
    page = open_page("/operations?show=audit", of=closed_service, key=admin)
    rows = table(page, "Audit").filter(has_text="audit").filter(has_text="refused")
    expect(rows.first).to_contain_text("write")
    check_axe(page)
    page.get_by_label("What").select_option("false")
    expect(page).to_have_url(re.compile("refused=false"))
    expect(page.locator(".badge.is-failed")).to_have_count(0)
    page.get_by_label("Caller").fill("nobody")
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("Nothing is in the audit.")


@pytest.mark.parametrize(("role", "allowed"), [("search", set()), ("write", {"jobs"})])
def test_each_part_says_what_it_needs(open_page, closed_service, role, allowed):
    page = open_page("/operations", of=closed_service, key=closed_service.make_key(role))
    for name, label in TABS.items():
        page.get_by_role("tab", name=label, exact=True).click()
        needs = page.locator(".needs")
        if name in allowed:
            expect(page.get_by_role("tabpanel")).to_contain_text("There is no such job.")
            expect(needs).to_have_count(0)
        else:
            wanted = "may write" if name == "jobs" else "an administrator"
            expect(needs).to_contain_text(wanted)
            expect(needs.get_by_role("link", name="Sign in with one")).to_be_visible()


def test_a_part_that_fails_hides_no_other(open_page, searched, page_faults):
    page_faults.expect("503")
    page = open_page("/")
    page.route(
        "**/v1/metrics/popular-queries*",
        lambda route: route.fulfill(
            status=503, headers={"Retry-After": "2"}, content_type="application/problem+json",
            body='{"title": "Busy", "detail": "Others are in the way.", "hint": "Try again."}',
        ),
    )  # fmt: skip
    page.get_by_role("link", name="Operations").click()
    alert = page.locator("main").get_by_role("alert")
    expect(alert).to_contain_text("Others are in the way.")
    expect(table(page, "Slowest searches").first).to_be_visible()
    page.unroute("**/v1/metrics/popular-queries*")
    alert.get_by_role("button", name="Try again").click()
    expect(table(page, "Most frequent queries").first).to_be_visible()
    expect(alert).to_have_count(0)


@pytest.mark.parametrize("tab", ["answers", "jobs", "settings"])
def test_what_is_empty_says_so(open_page, check_axe, tab):
    words = {
        "answers": "No answer was recorded in this period.", "jobs": "There is no such job.",
        "settings": "This library was never tuned.",
    }  # fmt: skip
    page = open_page("/operations")
    page.get_by_role("tab", name=TABS[tab], exact=True).click()
    expect(page.get_by_role("tabpanel")).to_contain_text(words[tab])
    settle(page)
    check_axe(page)


def test_a_service_that_records_nothing_says_how_to_begin(open_page, serve):
    with serve(record_searches=False) as silent:
        page = open_page("/operations", of=silent)
        expect(page.locator(".needs")).to_contain_text("PGRAG_RECORD_SEARCHES=true")
        page.goto("about:blank")
