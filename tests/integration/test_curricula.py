"""R1: whoever asks where a person worked gets every employer, from one, 17 or 61 curricula vitae.

A curriculum names its person under "Angaben zur Person" only, and its employers elsewhere.
"""

import json
from random import Random

import pytest
from api_client import serving
from mcp_client import connected

from pgrag.ground.settings import Settings
from pgrag.service.app import App

NAME = "Peter Kühne"
SIZES = (1, 17, 61)
WORDINGS = (
    "Wo hat Peter Kühne gearbeitet?",
    "Welche Stationen hat Peter Kühne durchlaufen?",
    "Kühne Arbeitgeber",
    "Für welche Firmen war Peter Kühne tätig?",
    "Beruflicher Werdegang von Peter Kühne",
    "What companies did Peter Kühne work for?",
    "Where has Peter Kühne worked?",
    "List the employers of Peter Kühne",
    "Peter Kühne career history",
    "Где работал Peter Kühne?",
    "В каких компаниях работал Peter Kühne?",
)
FIRST = (
    "Anna",
    "Bernd",
    "Clara",
    "Dirk",
    "Eva",
    "Frank",
    "Greta",
    "Hans",
    "Ida",
    "Jan",
    "Karin",
    "Lars",
    "Maria",
    "Nils",
    "Olga",
    "Paul",
)
LAST = (
    "Albers",
    "Brandt",
    "Conrad",
    "Dietz",
    "Ebert",
    "Fuchs",
    "Gerlach",
    "Hofer",
    "Ihle",
    "Jung",
    "Krause",
    "Lenz",
    "Maurer",
)
FIRMS = (
    "Nordwerk",
    "Havelbau",
    "Elbtal",
    "Rheinquell",
    "Isarsoft",
    "Weserstahl",
    "Neckartech",
    "Moselglas",
    "Saalekraft",
    "Spreenet",
    "Lahnbau",
    "Donaumed",
    "Fuldalog",
    "Werrapack",
    "Kochertal",
    "Ilmdata",
    "Unstrut",
    "Oderblick",
    "Warnow",
)
TASKS = (
    "leitete die Einführung eines Warenwirtschaftssystems",
    "entwickelte Steuerungen für Förderanlagen",
    "betreute Kunden im Außendienst",
    "verantwortete Einkauf und Qualitätssicherung",
)


def curriculum(name, firms, chance):
    jobs = "\n\n".join(
        f"### {2022 - 3 * nth} bis {2025 - 3 * nth}: {firm}\n\nBei {firm}: {chance.choice(TASKS)}"
        f" und {chance.choice(TASKS)}."
        for nth, firm in enumerate(firms)
    )
    return (
        f"# Lebenslauf\n\n## Angaben zur Person\n\nName: {name}\n\nGeboren in Kassel.\n\n"
        f"## Beruflicher Werdegang\n\n{jobs}\n\n## Ausbildung\n\nStudium in Ulm, Diplom.\n\n"
        "## Kenntnisse\n\nEnglisch fließend, Grundkenntnisse in SQL.\n\n"
        "## Interessen\n\nRudern, Schach und Fotografie.\n"
    )


@pytest.fixture(scope="module")
def employers():
    return [f"{firm} GmbH" for firm in FIRMS[:10]]


@pytest.fixture(scope="module")
def url(clone, tmp_path_factory, employers):
    """Libraries of one, 17 and 61 curricula, the person's among them."""
    with clone() as url, App(Settings(database_url=url)) as app:
        for size in SIZES:
            chance = Random(size)
            names = {NAME}
            while len(names) < size:
                names.add(f"{chance.choice(FIRST)} {chance.choice(LAST)}")
            folder = tmp_path_factory.mktemp(f"vitae-{size}")
            for nth, name in enumerate(sorted(names)):
                firms = [f"{firm} KG" for firm in chance.sample(FIRMS, chance.randint(3, 10))]
                text = curriculum(name, employers if name == NAME else firms, chance)
                key = "kuehne.md" if name == NAME else f"person-{nth}.md"
                (folder / key).write_text(text, "utf-8")
            app.index(f"vitae-{size}", "", str(folder), language="de")
        yield url


@pytest.fixture(scope="module")
def app(url):
    with App(Settings(database_url=url)) as app:
        yield app


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("question", WORDINGS)
def test_every_employer_comes_and_no_other_page_is_expanded(app, employers, size, question):
    library = f"vitae-{size}"
    rows = app.database.call("context", query=question, library=library)
    assert missing(employers, "".join(row["block"] for row in rows)) == []
    expanded = {row["page_id"] for row in rows if row["relation"] == "expansion"}
    whole = {row["page_id"] for row in rows if missing(employers, row["content"]) != employers}
    assert expanded <= whole, "no other person's page"
    [row] = app.database.call("answer_context", question=question, library=library)
    assert row["is_answerable"]
    assert missing(employers, row["messages"][1]["content"]) == []
    # One hit is enough, and scores on another scale do not matter.
    for given in (
        {"top_k": 1}, {"options": json.dumps({"fusion": "rrf"})},
        {"options": json.dumps({"graph": True})},
    ):  # fmt: skip
        rows = app.database.call("context", query=question, library=library, **given)
        assert missing(employers, "".join(row["block"] for row in rows)) == []


def test_over_rest_and_for_agents(url, employers):
    asked = {"q": WORDINGS[0], "library": "vitae-61"}
    with serving(url) as client:
        found = client.ok("/v1/context", **asked)
        assert missing(employers, found["text"]) == []
        assert not found["no_good_match"]
        alone = client.ok("/v1/context", **asked, top_k=1, expand=False)
        assert len(alone["blocks"]) == 1
    with connected(url) as mcp:
        arguments = {"question": WORDINGS[0], "library": "vitae-61"}
        [message] = mcp.portal.call(mcp.client.get_prompt, "answer_from_docs", arguments).messages
        assert missing(employers, message.content.text) == []
        _, found = mcp.ok("search_docs", library="vitae-61", query=WORDINGS[0])
        best = found["passages"][0]["id"]
        text, _ = mcp.ok("read_document", id=best, expand="page")
        assert missing(employers, text) == []


def test_what_nothing_answers_expands_no_page(app):
    rows = app.database.call("context", query="zzzqqq xyzzyplugh", library="vitae-61")
    assert {row["relation"] for row in rows} == {"hit"}
    given = {"query": "zzzqqq xyzzyplugh", "library": "vitae-61", "expansion_threshold": 0.0}
    rows = app.database.call("context", **given, top_k=1)
    assert "expansion" in {row["relation"] for row in rows}


def missing(employers, text):
    return [name for name in employers if name not in text]
