"""Every view over real documentation, pgrag's own, in both themes: what axe finds, and pictures.

`make screenshots` keeps the pictures in docs/pictures.
"""

from pathlib import Path

import pytest
from llm_server import says
from views import settle

from pgrag.ground.settings import Settings
from pgrag.service.app import App

DOCS = Path(__file__).parents[2] / "docs"
QUERY = "how is a hybrid search ranked"
ANSWER = (
    "A hybrid search asks two retrievers, words and vectors, and puts both scores on one scale"
    " [1]. `alpha` is the share of the vector retriever [1]. It runs on the moon."
)
PICTURES = {
    "search": "/?q=how+is+a+hybrid+search+ranked&library=pgrag",
    "ask": "/ask?q=how+is+a+hybrid+search+ranked%3F&library=pgrag",
    "compare": "/compare?q=how+is+a+hybrid+search+ranked&library=pgrag",
    "libraries": "/libraries",
    "library": "/libraries?library=pgrag",
    "operations": "/operations",
    "sign-in": "/sign-in",
}
SEARCHED = (QUERY, "typo tolerance", "rotate a key", "kubernetes operator", "install on windows")


@pytest.fixture(scope="module")
def documented(serve, language_model):
    """A service over pgrag's documentation, of which something was searched on several days."""
    language_model.script = [says(ANSWER)]
    model = {"llm_url": language_model.url, "llm_model": "small-chat", "llm_retries": 0}
    with serve(**model) as service:
        with App(Settings(database_url=service.database_url, pool_size=2)) as app:
            app.index("pgrag", "0.1", str(DOCS), base_url="https://pgrag.example/docs/")
            for day in range(14):
                for query in SEARCHED[: 1 + day % len(SEARCHED)]:
                    app.searching_as("page").search(query, library="pgrag")
                service.run(
                    "update pgrag.searches set at = at - interval '1 day'"
                    " where at > now() - interval '30 days'"
                )
        yield service


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PICTURES)
def test_a_view_of_real_documentation(open_page, documented, check_axe, screenshot, name, theme):
    page = open_page(PICTURES[name], of=documented, theme=theme)
    settle(page)
    if name == "search":
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        settle(page)
    if name == "ask":
        page.get_by_role("main").get_by_role("button", name="Ask").click()
        settle(page)
    check_axe(page)
    screenshot(page, f"{name}-{theme}")


def test_a_narrow_screen(open_page, documented, check_axe, screenshot):
    page = open_page(PICTURES["search"], of=documented, width=360, height=760)
    settle(page)
    check_axe(page)
    screenshot(page, "search-narrow")
