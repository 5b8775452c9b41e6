"""The search view: what an address says, counts and hits, what is typed, what is found and not."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect
from views import field, go, hits, settle

FOLDER = "/?q=restore+a+folder&library=kestrel"


def pages(page):
    """The pages of the hits."""
    return page.locator("main [role=listbox]#hits > [role=group]")


def facet(page, name):
    return page.get_by_role("group", name=name, exact=True)


def unfold(page):
    """Show the weak hits, too."""
    if (weak := page.locator(".weak").get_by_role("button", name="show")).count():
        weak.click()
        settle(page)


def state(page):
    """What the address says."""
    return {name: value for name, [value] in parse_qs(urlsplit(page.url).query).items()}


def asked(page, path):
    """The arguments of the requests to a route from now on."""
    requests = []

    def note(request):
        parts = urlsplit(request.url)
        if parts.path == path:
            requests.append({name: value for name, [value] in parse_qs(parts.query).items()})

    page.on("request", note)
    return requests


# What an address says.


def test_the_hits_of_an_address_are_those_of_the_service(open_page, service):
    page = open_page(FOLDER)
    settle(page)
    told = page.request.get(
        f"{service.url}/v1/search?q=restore+a+folder&library=kestrel&group=page&top_k=20"
    ).json()
    best = told["pages"][0]["score"]
    strong = [each for each in told["pages"] if each["score"] >= best / 2]
    ids = [f"hit-{hit['document_id']}" for each in strong for hit in each["hits"]]
    assert [hit.get_attribute("id") for hit in hits(page).all()] == ids
    expect(hits(page).first.locator("mark").first).to_have_text(re.compile("restore", re.I))


def test_a_bar_shows_the_parts_of_a_score(open_page):
    page = open_page(FOLDER)
    bar = hits(page).first.get_by_role("img", include_hidden=True)
    label = bar.get_attribute("aria-label")
    score, parts = label.removeprefix("Score ").split(": ")
    assert re.match(r"words \.\d\d, meaning \.\d\d, page and titles \.\d\d", parts)
    total = sum(float(number) for number in re.findall(r"-?\.\d\d", parts))
    assert total == pytest.approx(float(score), abs=0.021)
    widths = bar.evaluate("bar => [...bar.children].map(part => parseFloat(part.style.width))")
    assert sum(widths) == pytest.approx(100 * float(score), abs=0.6)
    assert widths[0] == pytest.approx(100 * float(parts.split(",")[0].split()[1]), abs=0.6)


def test_badges_say_since_when_there_is_a_section(open_page):
    page = open_page("/?q=from+a+phone&library=kestrel")
    expect(hits(page).filter(has_text="single files").first).to_contain_text("new in 2.1")
    page = open_page("/?q=name+the+day+and+the+folder&library=kestrel")
    expect(hits(page).first).to_contain_text("changed in 2.1")


def test_the_version_is_said_with_its_reason_and_changed(open_page):
    page = open_page(FOLDER)
    note = page.locator("main .note").first
    expect(note).to_contain_text("kestrel 2.1, the newest release.")
    versions = page.get_by_role("button", name="Version", exact=True)
    expect(versions).to_contain_text("2.1 the newest release")
    versions.click()
    page.locator(".drop").get_by_role("option", name="1.4").click()
    expect(note).to_contain_text("kestrel 1.4, as chosen.")
    assert state(page)["version"] == "1.4"
    note.get_by_role("link", name="all versions").click()
    expect(hits(page).filter(has_text="2.0").first).to_be_visible()
    assert state(page)["version"] == "*"
    page.go_back()
    expect(note).to_contain_text("kestrel 1.4")


def test_everything_is_restored_by_back_and_reload(open_page):
    page = open_page("/?q=copies&library=kestrel&count=20&type=guide")
    settle(page)
    last = hits(page).last
    last.click()
    chosen = last.get_attribute("id")
    expect(page).to_have_url(re.compile(f"hit={chosen.removeprefix('hit-')}"))
    page.reload()
    settle(page)
    opened = page.locator("main [role=option][aria-current=true]")
    expect(opened).to_have_attribute("id", chosen)
    expect(opened).to_be_in_viewport()
    expect(facet(page, "Type").get_by_role("button", name="guide")).to_have_attribute(
        "aria-pressed", "true"
    )
    facet(page, "Type").get_by_role("button", name="guide").click()
    assert "type" not in state(page)
    page.go_back()
    expect(opened).to_have_attribute("id", chosen)
    page.go_back()
    assert "hit" not in state(page)
    assert state(page)["type"] == "guide"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [("mode=loud", "mode=loud"), ("count=many", "count=many"), ("hit=-1", "hit=-1"),
     ("graph=perhaps", "graph=perhaps"), ("page=guide.md", "page=guide.md")],
)  # fmt: skip
def test_what_means_nothing_in_an_address_is_told_and_does_not_count(open_page, wrong, told):
    page = open_page(f"{FOLDER}&{wrong}")
    expect(page.locator("main .note").first).to_contain_text(told)
    expect(hits(page).first).to_contain_text("Restore")


@pytest.mark.parametrize(
    "address", ["/?q=restore&library=kestrl", "/?q=restore&library=kestrel&version=banana"]
)
def test_an_unknown_place_is_told_with_a_way_out(open_page, page_faults, address):
    page_faults.expect("404")
    page = open_page(address)
    expect(page.locator("main [role=alert]").first).to_contain_text("kestrel")
    page.get_by_role("link", name="Search all libraries").click()
    expect(hits(page).filter(has_text="Restore a folder").first).to_be_visible()


def test_a_hit_that_is_gone_is_told(open_page):
    page = open_page(f"{FOLDER}&hit=77")
    expect(page.locator("main .note").first).to_contain_text("not among these results")
    expect(hits(page).first).to_contain_text("Restore")


# Counts and scope.


def test_counts_equal_the_hits_and_what_is_chosen_stays(open_page):
    page = open_page("/?q=days+copies+folder&library=kestrel&version=2.0&count=20")
    settle(page)
    kinds = facet(page, "Type").get_by_role("button")
    before = dict(kind.inner_text().split("\n") for kind in kinds.all())
    assert len(before) > 1
    for kind, count in before.items():
        kinds.filter(has_text=kind).click()
        settle(page)
        assert state(page)["type"] == kind
        unfold(page)
        expect(pages(page)).to_have_count(int(count))
        chosen = facet(page, "Type").get_by_role("button", name=kind)
        expect(chosen).to_have_attribute("aria-pressed", "true")
        # The others stay, too, with what choosing them would add.
        assert dict(each.inner_text().split("\n") for each in kinds.all()) == before
        page.go_back()
        settle(page)


def test_the_total_says_what_was_found(open_page, service):
    page = open_page("/?q=days+copies+folder&library=kestrel&version=2.0")
    settle(page)
    query = "q=days+copies+folder&library=kestrel&version=2.0"
    total = page.request.get(f"{service.url}/v1/facets?{query}").json()["total"]
    told = f"{total['passages']} passages on {total['pages']} pages · "
    expect(page.locator(".scope .count")).to_have_text(re.compile(rf"^{told}\d+ ms$"))


def test_a_section_is_a_folder_of_the_documentation(open_page):
    page = open_page("/?q=restore+a+folder&library=kestrel&version=2.0")
    facet(page, "Section").get_by_role("button", name="guide").click()
    settle(page)
    assert state(page)["path"] == "/guide"
    expect(hits(page).first).to_contain_text("Restore")
    expect(facet(page, "Section").get_by_role("button", name="reference")).to_be_visible()


def test_values_of_one_filter_are_alternatives(open_page):
    page = open_page("/?q=days+copies+folder&library=kestrel&version=2.0&count=20&type=guide")
    settle(page)
    guides = pages(page).count()
    facet(page, "Type").get_by_role("button", name="reference").click()
    settle(page)
    assert state(page)["type"] == "guide,reference"
    unfold(page)
    assert pages(page).count() > guides


def test_a_value_may_hold_what_the_address_gives_a_meaning(open_page, service):
    awkward = ["a, b", "back\\slash", '"quoted"', "ä+ö&c=d"]
    service.run(
        "update pgrag.pages set tags = %s::text[] where title = 'Restore a folder'", awkward
    )
    page = open_page(f"{FOLDER}&version=2.1")
    for value in awkward:
        facet(page, "Tags").get_by_role("button", name=value).click()
        settle(page)
    page.reload()
    settle(page)
    for value in awkward:
        expect(facet(page, "Tags").get_by_role("button", name=value)).to_have_attribute(
            "aria-pressed", "true"
        )
    expect(hits(page).first).to_contain_text("Restore a folder")
    # Without words the filters alone list what has them.
    field(page).fill("")
    settle(page)
    expect(hits(page).first).to_contain_text("Restore a folder")
    expect(pages(page)).to_have_count(1)
    page.get_by_role("button", name="Without what narrows it down").click()
    assert "tags" not in state(page)


def test_filters_alone_browse(open_page):
    page = open_page("/?library=kestrel")
    facet(page, "Type").get_by_role("button", name="guide").click()
    expect(hits(page).first).to_be_visible()
    expect(page.locator("main [role=alert]")).to_have_count(0)


def test_only_what_changed_since_a_version(open_page):
    page = open_page("/?q=restore+a+folder+from+a+phone&library=kestrel&count=20")
    settle(page)
    before = hits(page).count()
    page.get_by_label("Changed since").select_option("2.0")
    settle(page)
    assert 0 < hits(page).count() < before
    assert state(page)["changed_since"] == "2.0"


@pytest.mark.parametrize("mode", ["words alone", "meaning alone"])
def test_one_retriever_alone(open_page, mode):
    page = open_page(f"{FOLDER}&graph=true")
    page.get_by_role("button", name="How to search").click()
    page.get_by_role("option", name=mode).click()
    settle(page)
    expect(hits(page).first).to_contain_text("Restore")
    label = hits(page).first.get_by_role("img", include_hidden=True).get_attribute("aria-label")
    assert ("meaning" in label) == (mode == "meaning alone")
    expect(page.get_by_role("button", name="links count")).to_have_count(0)
    field(page).press_sequentially(" pho")
    settle(page)
    expect(hits(page).first).to_be_visible()
    expect(page.locator("main [role=alert]")).to_have_count(0)


def test_links_count_if_wanted(open_page):
    page = open_page(FOLDER)
    settle(page)
    searches = asked(page, "/v1/search")
    page.get_by_role("button", name="links count").click()
    settle(page)
    assert searches[-1]["graph"] == "true"
    expect(page.get_by_role("button", name="links count")).to_have_attribute("aria-pressed", "true")


def test_among_many_libraries_one_is_found_by_keys(open_page, service):
    try:
        many = (
            "insert into pgrag.libraries (name) select 'lib-' || n from generate_series(1, 200) n"
        )
        service.run(many)
        page = open_page("/?q=restore")
        settle(page)
        libraries = page.get_by_role("button", name="Library", exact=True)
        libraries.focus()
        page.keyboard.press("Enter")
        sought = page.get_by_role("combobox", name="Library")
        expect(sought).to_be_focused()
        expect(page.locator(".drop")).to_contain_text("more: write to find them")
        page.keyboard.type("estr")
        expect(page.locator(".drop [role=option]")).to_have_count(1)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator(".drop")).to_have_count(0)
        expect(libraries).to_be_focused()
        assert state(page)["library"] == "kestrel"
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Escape")
        expect(libraries).to_be_focused()
        assert state(page)["library"] == "kestrel"
    finally:
        service.run("delete from pgrag.libraries where name like 'lib-%%'")


# What is typed.


def test_keys_leave_no_record_and_a_pause_leaves_one(open_page, service):
    service.run("delete from pgrag.searches")
    page = open_page("/?library=kestrel")
    settle(page)
    searches = asked(page, "/v1/search")
    field(page).press_sequentially("rest")
    expect(hits(page).first).to_be_visible()
    field(page).press_sequentially("ore")
    page.wait_for_url(re.compile("q=restore"))
    settle(page)
    quick = [each for each in searches if each.get("record") == "false"]
    whole = [each["q"] for each in searches if "record" not in each]
    assert quick
    assert all(each["prefix"] == "true" for each in quick)
    recorded = [row["query"] for row in service.run("select query from pgrag.searches order by at")]
    assert recorded == whole
    assert whole[-1] == "restore"


def test_half_a_word_finds_and_enter_searches_it_as_it_is(open_page):
    page = open_page("/?library=kestrel")
    field(page).press_sequentially("resto")
    expect(hits(page).first).to_contain_text("Restore")
    expect(page).to_have_url(re.compile("prefix=true"))
    settle(page)
    length = page.evaluate("history.length")
    page.keyboard.press("Enter")
    settle(page)
    assert state(page) == {"library": "kestrel", "q": "resto"}
    assert page.evaluate("history.length") == length
    # What was looked for before stays a step of the history.
    field(page).fill("retention")
    page.wait_for_url(re.compile("q=retention"))
    page.go_back()
    expect(field(page)).to_have_value("resto")


def test_the_arrows_go_round(open_page):
    page = open_page(FOLDER)
    settle(page)
    marked = page.locator("main [role=option][aria-selected=true]")
    field(page).press("ArrowUp")
    expect(marked).to_have_attribute("id", hits(page).last.get_attribute("id"))
    field(page).press("ArrowDown")
    expect(marked).to_have_attribute("id", hits(page).first.get_attribute("id"))
    field(page).press("Escape")
    expect(marked).to_have_count(0)
    expect(field(page)).to_have_value("restore a folder")
    field(page).press("Escape")
    expect(field(page)).to_have_value("")


def test_arrows_in_the_reader_scroll_it(open_page):
    page = open_page(FOLDER, height=500)
    hits(page).first.click()
    reader = page.locator("#reader")
    expect(reader).to_be_focused()
    page.keyboard.press("ArrowDown")
    marked = page.locator("main [role=option][aria-selected=true]")
    expect(marked).to_have_attribute("id", hits(page).first.get_attribute("id"))
    page.locator(".list").get_by_role("listbox").focus()
    page.keyboard.press("ArrowDown")
    expect(marked).to_have_attribute("id", hits(page).nth(1).get_attribute("id"))


def test_hits_stay_while_what_follows_is_on_its_way(open_page):
    page = open_page("/?library=kestrel")
    field(page).press_sequentially("resto")
    expect(hits(page).first).to_contain_text("Restore")
    page.evaluate(
        """() => {
            window.gaps = 0;
            const look = () => (window.gaps += !document.querySelector("main [role=option]"));
            new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
        }"""
    )
    page.wait_for_url(re.compile("q=resto"))
    settle(page)
    field(page).press_sequentially("re")
    page.wait_for_url(re.compile("q=restore"))
    settle(page)
    assert page.evaluate("window.gaps") == 0


def test_a_hit_of_half_a_word_stays_open(open_page):
    page = open_page("/?library=kestrel")
    field(page).press_sequentially("resto")
    expect(hits(page).first).to_contain_text("Restore")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("hit="))
    assert state(page)["prefix"] == "true"
    settle(page)
    expect(page.locator("main [role=option][aria-current=true]")).to_have_count(1)


def test_letters_that_a_touch_keyboard_composes_are_searched_after_a_pause(open_page):
    page = open_page("/?library=kestrel", has_touch=True, is_mobile=True, width=400)
    settle(page)
    searches = asked(page, "/v1/search")
    field(page).click()
    keyboard = page.context.new_cdp_session(page)
    for text in ("r", "re", "restore"):
        keyboard.send(
            "Input.imeSetComposition",
            {"text": text, "selectionStart": len(text), "selectionEnd": len(text)},
        )
    expect(hits(page).first).to_contain_text("Restore")
    assert {each["q"] for each in searches} == {"restore"}


def test_a_key_and_its_hits_are_measured(open_page):
    page = open_page("/?library=kestrel")
    field(page).press_sequentially("restore")
    settle(page)
    measures = page.evaluate(
        "performance.getEntriesByType('measure').map(({name, duration}) => [name, duration])"
    )
    assert [name for name, _ in measures].count("pgrag:interactive") == 1
    assert any(name == "pgrag:key-to-hits" and 0 < each < 10_000 for name, each in measures)


def test_leaving_the_view_gives_up_what_is_typed(open_page):
    page = open_page("/?library=kestrel")
    settle(page)
    field(page).press_sequentially("res")
    page.get_by_role("link", name="Sign in", exact=True).click()
    page.wait_for_timeout(400)
    expect(page).to_have_url(re.compile("sign-in"))


# What is found and not.


def test_weak_hits_are_folded(open_page):
    page = open_page("/?q=restore+a+folder")
    settle(page)
    strong = pages(page).count()
    weak = page.locator("main .weak")
    expect(weak).to_contain_text("Below half of the best score")
    weak.get_by_role("button", name="show").click()
    expect(pages(page).nth(strong)).to_be_visible()
    assert int(state(page)["count"]) > strong
    page.reload()
    expect(pages(page).nth(strong)).to_be_visible()


def test_more_pages_follow_by_the_cursor(open_page, page_faults):
    page = open_page("/?q=wickedness&library=attacks&count=20")
    settle(page)
    searches = asked(page, "/v1/search")
    first = [each.get_attribute("id") for each in hits(page).all()]
    page.get_by_role("button", name="More pages").click()
    expect(pages(page)).to_have_count(40)
    assert [(each["top_k"], "after" in each) for each in searches] == [("20", True)]
    every = [each.get_attribute("id") for each in hits(page).all()]
    assert every[: len(first)] == first
    assert len(set(every)) == len(every)
    page_faults.expect("ERR_FAILED")
    page.route("**/v1/search?*", lambda route: route.abort())
    page.get_by_role("button", name="More pages").click()
    expect(page.locator("main [role=alert]")).to_contain_text("does not answer")
    expect(pages(page)).to_have_count(40)
    page.unroute("**/v1/search?*")
    page.get_by_role("button", name="Try again").click()
    expect(pages(page)).to_have_count(60)


def test_no_good_match_is_said_with_ways_out(open_page):
    page = open_page("/?q=xylophone+zebra&library=kestrel&version=2.0&type=guide")
    none = page.locator("main .none")
    expect(none).to_contain_text(re.compile("No good match|Nothing found"))
    none.get_by_role("link", name="Search all libraries").click()
    settle(page)
    assert state(page) == {"q": "xylophone zebra"}


def test_misspelt_words_have_suggestions(open_page):
    page = open_page("/?q=%2Bresotre&library=kestrel")
    page.locator("main .none").get_by_role("link", name="restore").click()
    expect(field(page)).to_have_value(re.compile("restore"))
    expect(hits(page).first).to_be_visible()


def test_nothing_found_is_announced(open_page):
    page = open_page("/?q=%2Bqwertzuiop&library=kestrel")
    expect(page.locator("#told")).to_have_text("Nothing found.")
    field(page).fill("restore")
    expect(page.locator("#told")).to_have_text(re.compile(r"^\d+ pages?$"))


def test_a_hit_is_rated(open_page, service):
    page = open_page(FOLDER)
    hits(page).first.click()
    page.get_by_role("button", name="No", exact=True).click()
    expect(page.locator(".rating")).to_contain_text("Thank you.")
    [row] = service.run("select rating, document_id from pgrag.feedback")
    assert row["rating"] == 1
    assert f"hit={row['document_id']}" in page.url


def test_a_hit_opens_in_a_tab_of_its_own(open_page):
    page = open_page(FOLDER)
    with page.context.expect_page() as opened:
        hits(page).first.click(modifiers=["ControlOrMeta"])
    expect(hits(opened.value).first).to_have_attribute("aria-current", "true")
    assert "hit=" in opened.value.url
    assert "hit=" not in page.url


def test_below_1100_pixels_the_reader_takes_the_place_of_the_list(open_page):
    page = open_page(FOLDER, width=800)
    expect(page.locator(".preview")).to_be_hidden()
    hits(page).first.click()
    expect(page.locator(".reader")).to_be_visible()
    expect(hits(page).first).to_be_hidden()
    page.get_by_role("button", name="Back to the results").click()
    expect(hits(page).first).to_be_visible()
    assert "hit" not in state(page)


# Before there are words.


def test_the_start_leads_into_a_library(open_page):
    page = open_page("/")
    page.locator(".start").get_by_role("link", name=re.compile("^kestrel")).click()
    assert state(page) == {"library": "kestrel"}
    go(page, "/?q=restore+a+folder&library=kestrel")
    settle(page)
    go(page, "/")
    page.get_by_role("link", name="restore a folder", exact=True).first.click()
    expect(hits(page).first).to_contain_text("Restore")


def test_an_empty_database_says_how_to_fill_it(open_page, service):
    page = open_page("/?q=restore")
    settle(page)
    page.route("**/v1/libraries", lambda route: route.fulfill(json={"libraries": []}))
    go(page, "/")
    page.reload()
    expect(page.locator(".start")).to_contain_text("pgrag index")
    expect(page.locator(".start").get_by_role("button", name="Copy")).to_be_visible()
    expect(page.locator(".start").get_by_role("link", name="add a source")).to_be_visible()
    expect(page.locator(".scope")).not_to_contain_text("·")
    # Words change nothing about that: other words would not help.
    page.route(
        "**/v1/search?**",
        lambda route: route.fulfill(
            json={"pages": [], "resolved": [], "notices": [], "no_good_match": True}
        ),
    )
    field(page).press_sequentially("restore")
    page.wait_for_url(re.compile("q=restore"))
    settle(page)
    expect(page.locator(".start")).to_contain_text("pgrag index")
    expect(page.locator(".none")).to_have_count(0)


def test_the_only_library_is_chosen_by_itself(open_page):
    page = open_page("/sign-in")

    def one(route):
        answer = route.fetch()
        libraries = [each for each in answer.json()["libraries"] if each["library"] == "kestrel"]
        route.fulfill(json={"libraries": libraries})

    page.route("**/v1/libraries", one)
    searches = asked(page, "/v1/search")
    go(page, "/?q=restore+a+folder")
    expect(page.locator(".note").first).to_contain_text("kestrel 2.1")
    settle(page)
    assert [each["library"] for each in searches] == ["kestrel"]
    assert "library" not in state(page)


def test_the_place_in_the_list_stays_where_its_hit_does_not(open_page):
    page = open_page("/?q=days&library=garden")
    settle(page)
    second = hits(page).nth(1).get_attribute("id")
    field(page).press("ArrowDown")
    field(page).press("ArrowDown")
    marked = page.locator("main [role=option][aria-selected=true]")
    expect(marked).to_have_attribute("id", second)
    go(page, "/?q=restore&library=kestrel")
    expect(hits(page).first).to_contain_text("Restore")
    expect(marked).to_have_attribute("id", hits(page).nth(1).get_attribute("id"))
