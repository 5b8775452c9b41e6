"""Addresses that readers are given are http, https, mailto or relative, whoever wrote them."""

import psycopg
import pytest
from library import document, ingest, page, refused, run
from psycopg.types.json import Jsonb

GOOD = [
    "https://docs.example/a?b=c#d", "HTTP://docs.example", "http://[::1]:8000/x",
    "mailto:a@b.example",
    "guide/install.md", "/guide", "//cdn.example/x", "#top", "?q=a:b", "a/b:c", "Note 1: plan.md",
    "guide\\install.md", "AT&T.md", "path?u=https://x", "https://fa.example/نامه\u200cای", "",
    "Help:Contents.md", "https://docs.example/a@b", "./javascript:x",
]  # fmt: skip
BAD = [
    "javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\tscript:alert(1)", "java\nscript:alert(1)",
    "\x01javascript:alert(1)", " javascript:alert(1)", "\u00a0javascript:alert(1)",
    "\u3000javascript:x", "javascript:alert(1)//.md", "javascript:a.md", "vbscript:x",
    "data:text/html,x",
    "DATA:text/html;base64,PHNjcmlwdD4=", "file:///etc/passwd", "blob:https://x/y", "ftp://x/y",
    "tel:+123", "intent://x#Intent;end", "view-source:https://x", "javascript&colon;alert(1)",
    "java&Tab;script:alert(1)", "&#106;avascript:alert(1)", "&#x6a;avascript:x",
    "http:\\\\evil.example",
    "\\\\evil.example\\x", "/\\evil.example", "\\/evil.example", "///\\evil", "https:///x",
    "https:x", "https:",
    "https://user:secret@host/x", "https://good.example\\@evil.example/", "//user@host/x",
    "https://x/\u202egpj.exe", "https://x/\u200b", "https://x/a\x7f", "https://x/\r\nSet-Cookie:a",
    "jav\u00adascript\u2028:x", "https://x/\U000e0041", "x-javascript:alert(1)", "C:\\docs",
    "ms-msdt:/id PCWDiagnostic /skip force.md", "search-ms:query.md", "jar:x.md", "calculator://x.md",
]  # fmt: skip


def edge(target, rule="explicit:link"):
    return {"target": target, "rule": rule, "line": 1, "text": "x"}


def test_an_address_is_judged_as_browsers_read_it(connection):
    faults = {
        row["a"]: row["fault"]
        for row in connection.execute(
            "select a, _pgrag.address_fault(a) as fault from unnest(%s::text[]) as a", [GOOD + BAD]
        )
    }
    assert [address for address in GOOD if faults[address] is not None] == []
    assert [address for address in BAD if faults[address] is None] == []


def test_a_page_is_written_without_its_bad_addresses_and_says_so(connection):
    pages = [
        page(f"{n}.md", "Close the valve.", url=address, link=address, edges=[edge(address)])
        for n, address in enumerate(BAD)
    ]
    pages.append(page("good.md", "Open it.", url=GOOD[0], link=GOOD[0], edges=[*map(edge, GOOD)]))
    rows = ingest(connection, "manual", pages)
    for n, row in enumerate(rows[:-1]):
        told = [each for each in row["warnings"] if "left out" in each]
        assert len(told) == 3, row
        assert all(each.startswith(f"{n}.md: the ") for each in told)
    assert rows[-1]["warnings"] == []
    stored = connection.execute(
        "select key, url, link from pgrag.pages order by page_id"
    ).fetchall()
    assert [each["url"] for each in stored[:-1]] == [each["key"] for each in stored[:-1]]
    assert {each["link"] for each in stored[:-1]} == {None}
    assert (stored[-1]["url"], stored[-1]["link"]) == (GOOD[0], GOOD[0])
    targets = {row["target"] for row in run(connection, "links", library="manual", top_k=1000)}
    assert targets & set(BAD) == set()
    assert {"guide/install.md", "mailto:a@b.example", "//cdn.example/x"} <= targets


def test_names_of_pages_are_no_addresses_and_keys_none_either(connection):
    names = ["JavaScript: The Good Parts", "Data: an overview", "Meeting: plan", "std::vector"]
    bad = ["javascript:alert(1)", "ftp://x/y", "\x01vbscript:x", "data:text/html,x"]
    made = page("a.md", "x", edges=[edge(each, "explicit:wikilink") for each in names + bad])
    odd = page("javascript:alert(1).md", "y")
    hidden = page("a\u202eb.md", document("z", anchor="x\u202e\ny"))
    ingest(connection, "manual", [made, odd | {"url": None}, hidden | {"url": None}])
    targets = {row["target"] for row in run(connection, "links", library="manual", top_k=1000)}
    assert targets == set(names)
    urls = [
        row["url"] for row in connection.execute("select url from pgrag.pages order by page_id")
    ]
    assert urls[1:] == ["./javascript:alert(1).md", "./ab.md"]
    anchors = connection.execute("select anchor from pgrag.documents where anchor <> ''").fetchall()
    assert anchors == [{"anchor": "xy"}]


@pytest.mark.parametrize("base", [*BAD[:10], *BAD[22:30], "mailto:a@b.example"])
def test_a_base_address_is_refused_with_the_way_out(connection, base):
    with refused(connection, "PGR01", "The base_url ", "https://docs.example"):
        run(connection, "open_version", library="manual", source=Jsonb({"base_url": base}))
    with refused(connection, "PGR01", "The base_url "):
        given = Jsonb({"source": "/docs", "base_url": base})
        run(connection, "create_job", library="manual", arguments=given)


def test_the_location_of_a_source_runs_nothing(connection):
    for location in ("/docs", "C:\\docs", "ssh://git@host/x.git", "https://docs.example/"):
        run(connection, "open_version", library="manual", source=Jsonb({"location": location}))
    for location in (" JavaScript:alert(1)", "data:text/html,x"):
        with refused(connection, "PGR01", "location"):
            run(connection, "open_version", library="manual", source=Jsonb({"location": location}))


def test_tables_refuse_what_the_functions_would(connection):
    ingest(connection, "manual", [page("a.md", "x", edges=[edge("b.md")])])
    run(connection, "open_version", library="manual", source=Jsonb({"base_url": "https://x/y"}))
    for statement in (
        "update pgrag.pages set url = %s",
        "update pgrag.pages set link = %s",
        "update pgrag.versions set source = jsonb_build_object('base_url', %s::text)",
        "update pgrag.edges set target = %s",
    ):
        for address in ("javascript:alert(1)", " JaVascript:alert(1)", "\x01data:text/html,x"):
            with pytest.raises(psycopg.errors.CheckViolation), connection.transaction():
                connection.execute(statement, [address])
