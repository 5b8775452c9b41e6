"""The search as a call in other languages: what is copied finds the same hits."""

import json
import os
import re
import subprocess

import httpx
import psycopg
import pytest
from playwright.sync_api import expect
from typer.testing import CliRunner

from pgrag.cli.program import program

#: All that means something to a shell, to SQL, to Python or to JSON.
AWKWARD = (
    "restore a folder it's \"as it's\" $HOME $(exit 3) `exit 3` \\ \\n ${x} !! %s :name /* -- ;\n"
    "#* second line — день 日 🙂 \u2028 ' or '1'='1"
)
FILTERS = '{"not": {"tags": ["o\'clock", "$x", "\\\\ \\"", "\\ud83d\\ude42", "\\/", "день\\n"]}}'
REQUESTS = [
    {"q": AWKWARD, "library": "kestrel", "filters": FILTERS},
    {"q": "restore", "library": "kestrel", "version": "^2", "levels": "1,2", "top_k": "3"},
    {"q": "-hope restore", "mode": "keyword", "exclude": "page:guide/install.md"},
    {"q": "lost files", "mode": "semantic", "min_score": "0.1", "library": "kestrel"},
    {"q": "water", "library": "garden", "version": "-", "graph": "false"},
    {"q": "water", "library": "garden", "graph": "true", "filters": {"tags": {"!=": None}}},
    {"q": "folder", "fusion": "rrf", "rrf_weights": "1,2", "rrf_k": "10", "candidate_count": "9"},
    {"q": "restore", "prefix": "true", "group": "page", "library": "kestrel", "version": "*"},
]

EACH = pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request["q"][:12])


@pytest.fixture(scope="module")
def calls(browser, service):
    """Calls a function of the module with a request: `calls("sql", request)`."""
    page = browser.new_page()
    page.goto(service.url)

    def calls(name, request, *arguments):
        return page.evaluate(
            """async ([name, request, given]) => {
                const main = document.querySelector("script[type=module]").src;
                const module = await import(main.replace("main.mjs", "reader/calls.mjs"));
                return module[name](request, ...given);
            }""",
            [name, request, arguments],
        )

    return calls


def found(service, request, **own):
    """The ids of the hits that the service finds, in their order."""
    sent = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in {**request, **own}.items()
    }
    answer = httpx.get(f"{service.url}/v1/search", params=sent, trust_env=False)
    assert answer.status_code == 200, answer.text
    return ids(answer.json())


def ids(answer):
    hits = [hit for page in answer["pages"] for hit in page["hits"]] or answer["hits"]
    assert hits, "a search without hits shows nothing"
    return [hit["document_id"] for hit in hits]


def words(text):
    """The command that a shell makes of a text, as the words of it."""
    script = f"""{text.split()[0]}() {{ printf '%s\\0' "$@"; }}\n{text}"""
    ran = subprocess.run(
        ["bash", "-euc", script],
        env={**os.environ, "PGRAG_KEY": "a key"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.split("\0")[:-1]


@EACH
def test_sql_finds_the_same(calls, service, request_):
    statement = calls("sql", request_)
    with psycopg.connect(service.database_url) as connection:
        rows = connection.execute(statement.encode()).fetchall()
    assert [row[0] for row in rows] == found(service, request_)


@EACH
def test_python_finds_the_same(calls, service, request_, monkeypatch):
    monkeypatch.setenv("PGRAG_DATABASE_URL", service.database_url)
    names = {}
    exec(calls("python", request_), names)
    assert [hit.document_id for hit in names["result"]] == found(service, request_)


@EACH
def test_curl_finds_the_same(calls, service, request_):
    given = {"base": f"{service.url}/", "needs_key": False}
    get, address, *data = words(calls("curl", request_, given))
    assert (get, address) == ("-G", f"{service.url}/v1/search")
    assert set(data[::2]) == {"--data-urlencode"}
    sent = dict(part.split("=", 1) for part in data[1::2])
    answer = httpx.get(address, params=sent, trust_env=False)
    assert ids(answer.json()) == found(service, request_)


def test_a_key_is_only_named(calls):
    text = calls("curl", REQUESTS[0], {"base": "https://docs.example/", "needs_key": True})
    assert "$PGRAG_KEY" in text
    assert words(text)[2:4] == ["-H", "Authorization: Bearer a key"]


@EACH
def test_the_command_line_finds_the_same(calls, service, request_):
    command, *arguments = words(calls("cli", request_))
    assert command == "search"
    variables = {"PGRAG_DATABASE_URL": service.database_url}
    ran = CliRunner().invoke(program(["search"]), ["search", "--json", *arguments], env=variables)
    assert ran.exit_code == 0, ran.output
    assert ids(json.loads(ran.stdout)) == found(service, request_)


@EACH
def test_agents_find_the_same(calls, service, request_):
    call = calls("mcp", request_)
    message = json.loads(call["text"])
    answer = httpx.post(
        f"{service.url}/mcp",
        json=message,
        headers={"Accept": "application/json, text/event-stream"},
        trust_env=False,
        timeout=60,
    )
    text = answer.text.partition("data: ")[2] or answer.text
    result = json.loads(text)["result"]
    assert not result.get("isError"), result
    shown = re.findall(r'^<passage id="(\d+)">$', result["content"][0]["text"], re.M)
    same = {name: value for name, value in request_.items() if name not in call["without"]}
    # Page by page, as a text is read.
    assert sorted(int(each) for each in shown) == sorted(found(service, same))


def test_what_mcp_cannot_say_is_named(calls):
    call = calls("mcp", {"q": "x", "library": "a", "alpha": "0.5", "group": "none"})
    assert call["without"] == ["alpha"]
    assert json.loads(calls("mcp", {"q": "x", "top_k": "900", "library": "a"})["text"])["params"][
        "arguments"
    ] == {"query": "x", "library": "a", "top_k": 50, "min_confidence": 0, "token_budget": 20000}


def test_values_of_the_wrong_kind_stay_texts(calls, service):
    """An address may hold anything; copied, it must not become another statement."""
    evil = "1); drop table pgrag.pages; --"
    request = {"q": "x", "alpha": evil, "top_k": evil, "levels": evil, "x); --": "y"}
    statement = calls("sql", request)
    assert f"'{evil}'" in statement
    assert "x); --" not in statement.replace(evil, "")
    with (
        psycopg.connect(service.database_url) as connection,
        pytest.raises(psycopg.ProgrammingError),
    ):
        connection.execute(statement.encode())
    python = calls("python", request)
    assert f'alpha="{evil}"' in python
    compile(python, "copied", "exec")


def test_numbers_of_filters_stay_as_they_are(calls):
    request = {"q": "x", "library": "a", "filters": '{"front_matter.n": 12345678901234567890}'}
    for form in ("sql", "python", "cli"):
        assert "12345678901234567890" in calls(form, request)
    assert "12345678901234567890" in calls("mcp", request)["text"]


def test_an_address_with_a_password_loses_it(calls):
    text = calls("curl", {"q": "x"}, {"base": "https://me:secret@docs.example/it's/"})
    assert "secret" not in text
    assert "'https://docs.example/it'\\''s/v1/search'" in text


def test_links_in_markdown_hold_any_title(calls):
    link = {"title": "a [b](c) `d`\n*e*", "heading": "", "address": "https://x.example/a_(b)?c d"}
    assert calls("markdown", link) == (
        r"[a \[b\](c) \`d\` \*e\*](https://x.example/a_%28b%29?c%20d)"
    )


def test_copying_tells_that_it_copied(open_page, service, check_axe):
    page = open_page("/?q=restore&library=kestrel&tab=copy", permissions=["clipboard-write"])
    sql = page.get_by_role("region", name="SQL")
    expect(sql).to_contain_text("pgrag.search(")
    sql.get_by_role("button", name="Copy SQL").click()
    expect(page.locator("#told")).to_have_text("Copied.")
    check_axe(page)
