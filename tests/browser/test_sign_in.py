"""Signing in by a key: what it is for, what the key may, and the way back."""

import os
import re
import shlex

import pytest
from playwright.sync_api import expect
from typer.testing import CliRunner
from views import field, hits, settle, sign_in

from pgrag.cli.program import program


def may(page, head):
    """What the caller may, or may not."""
    return page.locator(".account .card").filter(has=page.get_by_role("heading", name=head))


def test_where_a_key_is_needed_every_view_leads_to_signing_in_and_back(
    closed_service, open_page, page_faults
):
    page_faults.expect("401")
    page = open_page("/?q=restore&library=kestrel&type=guide", of=closed_service)
    # It is said once, and to a reader, who sends no headers.
    expect(page.locator("main [role=alert]")).to_contain_text("This service wants a key.")
    expect(page.locator("main")).not_to_contain_text("Authorization")
    expect(page.locator("main")).not_to_contain_text("counts are missing")
    page.locator("main [role=alert]").get_by_role("link", name="Sign in").click()
    expect(page.locator("main")).to_contain_text("This service wants a key.")
    key = page.get_by_label("Key", exact=True)
    expect(key).to_be_focused()
    expect(key).to_have_attribute("autocomplete", "off")
    key.fill(f"  {closed_service.make_key('search')} ")
    page.keyboard.press("Enter")
    expect(hits(page).first).to_contain_text("Restore")
    expect(page).to_have_url(re.compile(r"/\?q=restore&library=kestrel&type=guide$"))
    # The view that was left for signing in is no place to come back to.
    page.go_back()
    expect(field(page)).to_have_value("restore")


def test_the_command_for_a_key_makes_one(closed_service, open_page):
    page = open_page("/sign-in", of=closed_service)
    command = page.locator("main code").inner_text()
    pgrag, *words = shlex.split(command)
    assert pgrag == "pgrag"
    variables = {**os.environ, "PGRAG_DATABASE_URL": closed_service.database_url}
    made = CliRunner().invoke(program(words[:1]), words, env=variables)
    assert made.exit_code == 0, made.output
    sign_in(page, re.search(r"pgrag_sk_\w+", made.output)[0])
    expect(page.locator("main")).to_contain_text("Signed in as name")


@pytest.mark.parametrize(
    ("key", "told"),
    [("", "Paste a key."), ("pgrag_sk_nobody", "key"), ("Schlüssel „ä“\u2028", "key")],
)
def test_what_is_no_key_is_refused_in_words(closed_service, open_page, page_faults, key, told):
    if key:
        page_faults.expect("401")
    page = open_page("/sign-in", of=closed_service)
    page.get_by_label("Key", exact=True).fill(key)
    page.locator("main").get_by_role("button", name="Sign in").click()
    alert = page.locator("main [role=alert]")
    expect(alert).to_contain_text(told)
    # The way out is the field above.
    expect(alert.get_by_role("link")).to_have_count(0)
    expect(page.get_by_label("Key", exact=True)).to_be_focused()


def test_the_page_shows_what_a_key_may(closed_service, open_page):
    key = closed_service.make_key("search", libraries=["kestrel"])
    page = open_page("/sign-in", of=closed_service)
    expect(may(page, "May not")).to_contain_text("search")
    sign_in(page, key)
    main = page.locator("main")
    expect(main).to_contain_text("Signed in as search")
    expect(main.locator(".facts")).to_contain_text(re.compile("search.*kestrel.*without end", re.S))
    expect(may(page, "May").first).to_contain_text("rate what was found")
    expect(may(page, "May not")).to_contain_text("read the audit")
    main.get_by_role("link", name="To the search").click()
    field(page).fill("restore")
    expect(hits(page).first).to_contain_text("Restore")
    page.get_by_role("banner").get_by_role("link", name=re.compile("^search")).click()
    main.get_by_role("button", name="Sign out").click()
    expect(main).to_contain_text("This service wants a key.")


def test_an_administrator_may_all_and_until_when(closed_service, open_page):
    key = closed_service.make_key("admin", expires_in="1 day")
    page = open_page("/sign-in", of=closed_service, key=key, language="de")
    expect(page.locator(".facts")).to_contain_text(re.compile(r"alle.*\d{4}, \d\d:\d\d", re.S))
    expect(page.locator(".account .card")).to_have_count(1)
    expect(page.locator(".account .card")).to_contain_text("das Protokoll lesen")


def test_an_open_service_says_that_it_needs_no_key(open_page):
    page = open_page("/sign-in?to=https://evil.example/")
    expect(page.locator("main")).to_contain_text("answers without a key")


def test_one_signs_in_though_the_service_was_not_there_before(
    closed_service, open_page, page_faults
):
    page_faults.expect("503")
    key = closed_service.make_key("search")
    page = open_page("/sign-in", of=closed_service)
    settle(page)
    with closed_service.down():
        page.get_by_label("Key", exact=True).fill(key)
        page.keyboard.press("Enter")
        expect(page.locator("main [role=alert]")).to_contain_text("database")
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("Signed in as")
