"""Asking: an answer as it is written, its checks and sources; no language model."""

import re
import threading

import pytest
from llm_server import answer_from_context, break_off, hang_after, says, status
from playwright.sync_api import expect

from pgrag.service.access import Policy

QUESTION = "How do I restore a folder?"
RESTORE = "/ask?q=How+do+I+restore+a+folder%3F&library=kestrel"
HOSTILE = (
    "<img src=x onerror=window.__pwned=1> [link](javascript:window.__pwned=1) <b>bold</b>"
    " ![image](https://evil.example/x.png) <https://kestrel.example/safe>"
)


@pytest.fixture
def ask(open_page, answering_service, language_model):
    """Asks a question of a model that does as it is told: `page = ask(says("Yes [1]."))`."""

    def ask(*script, path=RESTORE, **options):
        language_model.script = list(script)
        language_model.requests.clear()
        language_model.left.clear()
        page = open_page(path, of=answering_service, **options)
        page.get_by_role("textbox", name=re.compile("Question|Frage")).press("Enter")
        return page

    yield ask
    language_model.script = [answer_from_context]


def written(page):
    return page.locator(".answer")


def number_of(page, service, words):
    """The number of the source that has these words, among those of an answer to the question."""
    asked = {"question": QUESTION, "library": "kestrel"}
    made = page.request.post(f"{service.url}/v1/answer", data=asked).json()
    return next(one["number"] for one in made["sources"] if words in one["content"])


def test_an_address_alone_costs_nothing(open_page, answering_service, language_model):
    language_model.requests.clear()
    page = open_page(RESTORE, of=answering_service)
    expect(page.get_by_role("textbox", name="Question")).to_have_value(QUESTION)
    expect(page.get_by_text("was not asked yet")).to_be_visible()
    assert language_model.requests == []
    page.get_by_role("main").get_by_role("button", name="Ask").click()
    expect(page.get_by_role("button", name="Copy with sources")).to_be_visible()
    assert len(language_model.requests) == 1
    page.reload()
    expect(page.get_by_text("was not asked yet")).to_be_visible()
    assert len(language_model.requests) == 1


def test_an_answer_appears_as_it_is_written(ask):
    gate = threading.Event()
    page = ask(says("", pieces=["Name **the day", "** and the folder [1", "]."], gate=gate))
    expect(written(page)).to_contain_text("Name the day")
    expect(written(page).locator("strong")).to_have_text("the day")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    gate.set()
    expect(written(page).locator("sup a")).to_have_text("1")
    expect(written(page)).to_contain_text("Name the day and the folder1.")
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)


def test_sentences_are_marked_by_what_they_are_worth(
    ask, answering_service, page, page_faults, check_axe, screenshot
):
    page_faults.allow(answering_service.url)
    n = number_of(page, answering_service, "never over them")
    text = (
        f"To restore a folder, name the day and the folder [{n}]. 😀 The files of that day are put"
        f" over the present ones [{n}].\n\nWhales sing at midnight. It is `--purple` [{n}][99]."
    )
    page = ask(says(text))
    expect(page.locator(".count")).to_contain_text("1 of 4 sentences supported")
    expect(page.locator(".count")).to_contain_text(re.compile(r"[\d,]+ tokens of sources"))
    assert page.locator(".lacking").all_inner_texts()[0] == "Whales sing at midnight."
    assert page.locator(".doubtful").all_inner_texts() == [
        f"😀 The files of that day are put over the present ones{n}."
    ]
    expect(page.locator(".lacking-badge").first).to_contain_text("not in the sources")
    expect(page.locator(".unknown")).to_contain_text("99")
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        screenshot(page, f"ask-{theme}")
        check_axe(page)


def test_a_citation_leads_to_its_place_in_the_source(ask, answering_service, page, page_faults):
    page_faults.allow(answering_service.url)
    n = number_of(page, answering_service, "never over them")
    page = ask(says(f"Present files stay: the copies are put beside the present ones [{n}]."))
    citation = written(page).get_by_role("link", name=f"Source {n}")
    citation.click()
    source = page.get_by_role("article", name=f"Source {n}")
    expect(source).to_be_focused()
    expect(source.locator("mark").first).to_contain_text("put beside the present ones")
    page.keyboard.press("Escape")
    expect(citation).to_be_focused()
    address = citation.get_attribute("href")
    assert re.search(r"[?&]page=\d+&document=\d+", address)
    assert "q=How+do+I" in address
    source.get_by_role("link", name="Open the page").click()
    expect(page).to_have_url(re.compile(r"/\?q=.*&document=\d+"))
    page.go_back()
    expect(citation).to_be_visible()


def test_stopping_ends_the_request_to_the_model(ask, language_model):
    page = ask(hang_after("The answer ", "begins"))
    expect(written(page)).to_contain_text("The answer begins")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("main").get_by_text("Stopped. What came is kept.")).to_be_visible()
    expect(written(page)).to_contain_text("The answer begins")
    assert language_model.left.wait(20)


def test_what_came_is_kept_when_the_model_fails(ask):
    page = ask(break_off("The answer ", "begins"), says("All of it [1]."))
    expect(page.get_by_role("alert")).to_be_visible()
    expect(written(page)).to_contain_text("The answer begins")
    page.get_by_role("button", name="Try again").click()
    expect(written(page)).to_contain_text("All of it1.")
    page = ask(status(500))
    expect(page.get_by_role("alert")).to_be_visible()


def test_it_says_that_nothing_answers(ask):
    page = ask(says("NOT_IN_DOCUMENTATION\n\nOf whales there is nothing."))
    expect(page.get_by_text("Nothing in the documentation answers this.")).to_be_visible()
    expect(page.get_by_text("Of whales there is nothing.")).to_be_visible()
    expect(page.get_by_role("link", name="Search for it")).to_be_visible()
    expect(page.get_by_role("button", name="Copy with sources")).to_have_count(0)


def test_hostile_words_stay_words(ask):
    page = ask(says(f"{HOSTILE} [1]. `<i>`\n\n```html\n{HOSTILE}\n```\n"))
    expect(page.get_by_role("button", name="Copy with sources")).to_be_visible()
    expect(written(page)).to_contain_text("<img src=x onerror=window.__pwned=1>")
    expect(written(page)).to_contain_text("<b>bold</b>")
    assert written(page).locator("img, b, i, script").count() == 0
    links = written(page).locator("a:not(sup a)")
    assert [link.get_attribute("href") for link in links.all()] == ["https://kestrel.example/safe"]


def test_markdown_is_shown_as_it_is_meant(ask):
    page = ask(
        says("# Steps\n\n1. Name *the day* [1].\n   - then `kestrel restore`\n2. Wait.\n\n"
             "| option | use |\n|---|---|\n| `--day` | the day |\n\n> Read it.\n\n```sh\nls *\n```")
    )  # fmt: skip
    expect(written(page).locator("ol > li > em")).to_have_text("the day")
    expect(written(page).locator("ol > li ul > li code")).to_have_text("kestrel restore")
    expect(written(page).locator("th").first).to_have_text("option")
    expect(written(page).locator("td code")).to_have_text("--day")
    expect(written(page).locator("blockquote")).to_contain_text("Read it.")
    expect(written(page).locator("pre code")).to_have_text("ls *")


def test_an_answer_is_rated_and_copied_with_its_sources(ask, answering_service):
    page = ask(says("Name the day [1]."), permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Not helpful").click()
    expect(page.get_by_text("Thank you, noted.").first).to_be_visible()
    [rated] = answering_service.run("select rating from pgrag.feedback")
    assert rated["rating"] == 1
    page.get_by_role("button", name="Copy with sources").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert re.fullmatch(
        r"Name the day \[1\]\.\n\n\[1\]: kestrel 2\.1 › .+ <https://kestrel\.example/docs/2\.1/.+>",
        copied,
    )


def test_without_a_language_model_the_sources_are_shown(open_page, check_axe, screenshot):
    page = open_page("/ask?library=kestrel", language="de")
    field = page.get_by_role("textbox", name="Frage")
    expect(field).to_be_focused()
    # It is said before somebody has written a question.
    expect(page.locator(".card")).to_contain_text("PGRAG_LLM_URL")
    field.fill(QUESTION)
    field.press("Enter")
    expect(page.get_by_text("Hier ist kein Sprachmodell eingerichtet.")).to_be_visible()
    expect(page.locator(".card")).to_contain_text("PGRAG_LLM_URL")
    expect(page.get_by_role("article").first).to_contain_text("name the day and the folder")
    expect(page.locator(".answer")).to_contain_text(re.compile(r"\d Token an Quellen"))
    expect(page).to_have_url(re.compile(r"/ask\?library=kestrel&q=How"))
    screenshot(page, "ask-without-model")
    check_axe(page)


def test_a_key_without_answers_gets_the_sources(open_page, serve, language_model):
    model = {"llm_url": language_model.url, "llm_model": "small-chat"}
    with serve(policy=Policy(needs_key=True), **model) as closed:
        key = closed.make_key("search", answers_per_hour=0)
        page = open_page(RESTORE, of=closed, key=key)
        expect(page.get_by_text("This key may not ask for answers.")).to_be_visible()
        expect(page.get_by_role("article").first).to_contain_text("name the day and the folder")


def test_the_view_fits_a_narrow_screen(ask):
    page = ask(says("Name the day [1]. `" + "kestrel-" * 30 + "` [1]."), width=320)
    expect(page.get_by_role("button", name="Copy with sources")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
