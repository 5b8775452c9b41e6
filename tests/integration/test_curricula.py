"""R1: whoever asks where a person worked gets every employer, from one, 17 or 61 curricula vitae.

A curriculum names its person under "Angaben zur Person" only, and its employers elsewhere.
"""

import json

import pytest
from api_client import serving
from benchmarks.expansion import EMPLOYERS, SIZES, WORDINGS, curricula
from mcp_client import connected

from pgrag.ground.settings import Settings
from pgrag.service.app import App


@pytest.fixture(scope="module")
def url(clone, tmp_path_factory):
    """Libraries of one, 17 and 61 curricula, the person's among them."""
    with clone() as url, App(Settings(database_url=url)) as app:
        for size in SIZES:
            folder = tmp_path_factory.mktemp(f"vitae-{size}")
            for key, text in curricula(size).items():
                (folder / key).write_text(text, "utf-8")
            app.index(f"vitae-{size}", "", str(folder), language="de")
        yield url


@pytest.fixture(scope="module")
def app(url):
    with App(Settings(database_url=url)) as app:
        yield app


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("question", WORDINGS)
def test_every_employer_comes_and_no_other_page_is_expanded(app, size, question):
    library = f"vitae-{size}"
    rows = app.database.call("context", query=question, library=library)
    assert missing("".join(row["block"] for row in rows)) == []
    expanded = {row["page_id"] for row in rows if row["relation"] == "expansion"}
    whole = {row["page_id"] for row in rows if missing(row["content"]) != EMPLOYERS}
    assert expanded <= whole, "no other person's page"
    [row] = app.database.call("answer_context", question=question, library=library)
    assert row["is_answerable"]
    assert missing(row["messages"][1]["content"]) == []
    # One hit is enough, and scores on another scale do not matter.
    for given in (
        {"top_k": 1}, {"options": json.dumps({"fusion": "rrf"})},
        {"options": json.dumps({"graph": True})},
    ):  # fmt: skip
        rows = app.database.call("context", query=question, library=library, **given)
        assert missing("".join(row["block"] for row in rows)) == []


def test_over_rest_and_for_agents(url):
    asked = {"q": WORDINGS[0], "library": "vitae-61"}
    with serving(url) as client:
        found = client.ok("/v1/context", **asked)
        assert missing(found["text"]) == []
        assert not found["no_good_match"]
        alone = client.ok("/v1/context", **asked, top_k=1, expand=False)
        assert len(alone["blocks"]) == 1
        asked["q"] = "zzzqqq xyzzyplugh"
        for route in ("/v1/search", "/v1/search/pages", "/v1/context"):
            found = client.ok(route, **asked)
            assert found["no_good_match"], route
            [notice] = [each for each in found["notices"] if each.startswith("No good match")]
            assert notice == "No good match; nearest: " + notice.partition(": ")[2]
            found = client.ok(route, **asked, min_confidence=0)
            assert not found["no_good_match"], "the caller decides"
        assert client.ok("/v1/search", **asked, min_confidence=0.15)["hits"] == []
    with connected(url) as mcp:
        arguments = {"question": WORDINGS[0], "library": "vitae-61"}
        [message] = mcp.portal.call(mcp.client.get_prompt, "answer_from_docs", arguments).messages
        assert missing(message.content.text) == []
        _, found = mcp.search(library="vitae-61", query=WORDINGS[0])
        best = found[0].id
        text = mcp.read("read_docs", ids=[best], expand="page")
        assert missing(text) == []


def test_what_nothing_answers_expands_no_page(app):
    rows = app.database.call("context", query="zzzqqq xyzzyplugh", library="vitae-61")
    assert {row["relation"] for row in rows} == {"hit"}
    given = {"query": "zzzqqq xyzzyplugh", "library": "vitae-61", "expansion_threshold": 0.0}
    rows = app.database.call("context", **given, top_k=1)
    assert "expansion" in {row["relation"] for row in rows}


def missing(text):
    return [name for name in EMPLOYERS if name not in text]
