"""What a reader sees when the service is slow, is gone, refuses or no longer knows the key."""

import re

import pytest
from playwright.sync_api import expect
from views import VIEWS, address, field, go, hits, settle, sign_in

FAILURES = {
    "search": "/?q=restore&library=kestrel",
    "compare": "/compare?q=restore&library=kestrel",
    "libraries": "/libraries",
    "operations": "/operations",
}


def alert(page):
    return page.locator("main [role=alert]").first


def test_a_slow_database_blocks_neither_the_field_nor_the_other_views(open_page, service):
    page = open_page("/?library=kestrel")
    settle(page)
    with service.slow():
        field(page).fill("restore")
        page.keyboard.press("Enter")
        expect(page.locator("main [aria-busy=true]").first).to_be_attached()
        field(page).fill("restore a folder")
        expect(field(page)).to_have_value("restore a folder")
    expect(hits(page).first).to_contain_text("Restore a folder")
    expect(page.locator("main [aria-busy=true]")).to_have_count(0)


@pytest.mark.parametrize("name", FAILURES)
def test_a_database_that_fails_is_told_and_tried_again(open_page, service, page_faults, name):
    page_faults.expect("503")
    page = open_page("/sign-in")
    settle(page)
    with service.down():
        go(page, FAILURES[name])
        expect(alert(page)).to_contain_text("database")
        expect(alert(page)).not_to_contain_text(re.compile("Traceback|psycopg|undefined|null"))
        expect(alert(page).get_by_role("button", name="Try again")).to_be_visible()
    # Each part of a view asks again for itself; the pool needs a moment to connect anew.
    for _ in range(50):
        again = page.locator("main").get_by_role("button", name="Try again")
        if not again.count():
            break
        again.first.click()
        settle(page)
    expect(alert(page)).to_have_count(0)


def test_a_network_that_fails_keeps_what_is_shown(open_page, page_faults):
    page_faults.expect("ERR_FAILED|ERR_INTERNET_DISCONNECTED")
    page = open_page("/?q=restore&library=kestrel")
    expect(hits(page).first).to_contain_text("Restore")
    page.route("**/v1/**", lambda route: route.abort())
    field(page).fill("restore a folder from")
    expect(alert(page)).to_contain_text("The service does not answer.")
    page.unroute("**/v1/**")
    alert(page).get_by_role("button", name="Try again").click()
    expect(hits(page).first).to_contain_text("Restore")


def test_who_asks_too_often_is_told_when_to_ask_again(serve, open_page, page_faults):
    page_faults.expect("429")
    with serve(rate_limit=30, rate_limit_burst=6) as limited:
        page = open_page("/?library=kestrel", of=limited)
        field(page).click()
        page.keyboard.type("restore a folder from another machine", delay=30)
        expect(alert(page)).to_contain_text(re.compile(r"\d+ seconds?"))
        page.context.close()


def test_a_service_that_needs_a_key_says_where_to_give_it(closed_service, open_page, page_faults):
    page_faults.expect("401")
    path = "/?q=restore&library=kestrel"
    page = open_page(path, of=closed_service)
    page.locator("main").get_by_role("link", name="Sign in").click()
    page.locator("input[type=password]").fill(closed_service.make_key("search"))
    page.keyboard.press("Enter")
    expect(hits(page).first).to_contain_text("Restore")
    expect(page).to_have_url(re.compile("q=restore"))


def test_a_wrong_key_is_refused_and_an_ended_one_asked_for_anew(
    closed_service, open_page, page_faults
):
    page_faults.expect("401")
    page = open_page("/sign-in", of=closed_service)
    page.locator("input[type=password]").fill("pgrag_sk_wrong")
    page.keyboard.press("Enter")
    expect(alert(page)).to_be_visible()
    sign_in(page, closed_service.make_key("search"))
    go(page, "/?q=restore&library=kestrel")
    expect(hits(page).first).to_contain_text("Restore")
    closed_service.run("update pgrag.keys set expires_at = now() - interval '1 second'")
    field(page).fill("restore a folder")
    page.keyboard.press("Enter")
    expect(alert(page)).to_contain_text("expired")
    expect(page.locator("main").get_by_role("link", name="Sign in")).to_be_visible()
    expect(field(page)).to_have_value("restore a folder")


@pytest.mark.parametrize("name", VIEWS)
def test_a_key_is_kept_nowhere(closed_service, open_page, page_faults, name):
    if name != "sign-in":  # after the reload the view asks without a key
        page_faults.expect("401")
    key = closed_service.make_key("admin")
    page = open_page(address(closed_service, name), of=closed_service, key=key)
    settle(page)
    kept = "[document.cookie, {...localStorage}, {...sessionStorage}, location.href, history.state]"
    assert key not in page.evaluate(f"JSON.stringify({kept})")
    assert key not in page.content()
    assert key not in str(page.context.storage_state(indexed_db=True))
    page.reload()
    settle(page)
    expect(page.get_by_role("banner").get_by_text("Sign in")).to_be_visible()
