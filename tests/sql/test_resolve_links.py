"""Where a link leads: each way of resolution, ties, and how links heal and break."""

import random

import pytest
from library import page, run, value
from psycopg.types.json import Jsonb

STATE = """
select
    s.key as source, e.target, e.fragment, e.state, e.how, t.key as goes_to, e.fragment_found,
    d.content as section,
    array(
        select c.key from pgrag.pages as c where c.page_id = any (e.candidates) order by c.key
    ) as candidates
from pgrag.edges as e
join pgrag.pages as s on s.library_id = e.library_id and s.page_id = e.source_page_id
left join pgrag.pages as t on t.library_id = e.library_id and t.page_id = e.target_page_id
left join pgrag.documents as d
    on d.library_id = e.library_id and d.document_id = e.target_document_id
join pgrag.versions as v on v.library_id = e.library_id and v.version_id = e.version_id
where v.label = %s
order by s.key, e.place
"""


def link(target, **fields):
    return {"target": target, "rule": "explicit:link", **fields}


def wiki(target, **fields):
    return {"target": target, "rule": "explicit:wikilink", **fields}


def write(connection, *pages, version="", library="vault", **options):
    run(
        connection, "ingest_pages",
        library=library, version=version, pages=Jsonb(list(pages)), **options,
    )  # fmt: skip


def state(connection, version=""):
    return connection.execute(STATE, [version]).fetchall()


def goes_to(connection, source, *edges, **fields):
    """Write the page `source` with these edges; where each of them leads, or its state."""
    write(connection, page(source, "Text.", edges=list(edges), **fields))
    return [
        f"{row['goes_to']} by {row['how']}" if row["goes_to"] else row["state"]
        for row in state(connection)
        if row["source"] == source
    ]


def test_a_page_is_reached_by_the_id_in_its_front_matter(connection):
    write(
        connection,
        page("docs/ManualMocks.md", "x", front_matter={"id": "manual-mocks"}),
        page("zettel/On valves.md", "x", front_matter={"id": 202401311805}),
    )
    edges = (link("manual-mocks"), wiki("202401311805"))
    assert goes_to(connection, "docs/a.md", *edges) == [
        "docs/ManualMocks.md by slug", "zettel/On valves.md by slug",
    ]  # fmt: skip


def test_markdown_links(connection):
    write(
        connection,
        page("guide/install.md", "x", url="docs/setup/install"),
        page("guide/_index.md", "x", url="docs/setup"),
        page("guide/deep/install.md", "x", url="docs/deep-install", title="Deep"),
        page("other/install.md", "x", url="https://elsewhere.example/other"),
        page("api/fetch/index.md", "x", url="Web/API/Fetch", title="fetch()"),
        page("api/index.md", "x", url="Web/API"),
        page("deep/unique.md", "x", title="A page of its own", aliases=["Also known"]),
        page("notes/50%.md", "x", url="notes/50%25"),
        page("Ärger über.md", "x"),
    )
    cases = {
        "install.md": "guide/install.md by path",
        "./install": "guide/install.md by path",
        "INSTALL.MD?raw=1": "guide/install.md by path",
        "deep/install.md": "guide/deep/install.md by path",
        "../other/install.md": "other/install.md by path",
        "/guide/install.md": "guide/install.md by path",
        "guide/deep/install.html": "guide/deep/install.md by path",
        "../guide/": "guide/_index.md by path",
        "..": "guide/_index.md by url",
        "./": "guide/_index.md by path",
        "_index.md": "guide/_index.md by path",
        "/docs/setup/install/": "guide/install.md by url",
        "../deep-install": "guide/deep/install.md by url",
        "/en-US/docs/Web/API/Fetch": "api/fetch/index.md by url",
        "/en-US/docs/Web/API": "api/index.md by url",
        "https://elsewhere.example/other#x": "other/install.md by url",
        "https://elsewhere.example/nothing": "external",
        "//cdn.example/x": "external",
        "mailto:a@example.org": "external",
        "unique": "deep/unique.md by name",
        "../a/unique.md": "unresolved",
        "A%20page%20of%20its%20own": "deep/unique.md by title",
        "also known": "deep/unique.md by alias",
        "../notes/50%25.md": "notes/50%.md by path",
        "/A\u0308RGER%20u%CC%88ber.md": "Ärger über.md by path",
        "../images/a.PNG": "asset",
        "missing.md": "unresolved",
        "%FF%00": "unresolved",
        "": "guide/here.md by self",
    }
    found = goes_to(
        connection, "guide/here.md",
        *[link(target.partition("#")[0]) for target in cases],
        url="docs/setup/here",
    )  # fmt: skip
    assert dict(zip(cases, found, strict=True)) == cases


def test_posts_with_a_date(connection):
    write(
        connection,
        page("blog/_posts/2024-05-01-News.md", "x", created="2024-05-02"),
        page("blog/2016-07-27-jest-14/index.md", "x", front_matter={"slug": "fourteen"}),
        page("blog/_posts/2020-12-02-faq.md", "x", title="Questions: & answers"),
        page(
            "blog/2021-07-14-big-news/index.md", "x",
            front_matter={"date": "2021-07-15T10:00:00-08:00", "slug": "news"},
        ),
        page("blog/_posts/undated.md", "x"),
    )  # fmt: skip
    cases = {
        "/blog/2024/05/02/news/": "blog/_posts/2024-05-01-News.md by url",
        "/2024/05/news": "blog/_posts/2024-05-01-News.md by url",
        "/blog/2024/05/01/news": "unresolved",
        "/blog/2016/07/27/jest-14": "blog/2016-07-27-jest-14/index.md by url",
        "/en/blog/2016/07/27/fourteen": "blog/2016-07-27-jest-14/index.md by url",
        "/en/blog/2016/07/27/fifteen": "unresolved",
        "/blog/2020/12/02/faq/": "blog/_posts/2020-12-02-faq.md by url",
        "/blog/2020/12/02/questions-answers": "blog/_posts/2020-12-02-faq.md by url",
        "/blog/2021/07/15/news/": "blog/2021-07-14-big-news/index.md by url",
        "/blog/2021/07/15/big-news.html": "blog/2021-07-14-big-news/index.md by url",
        "/blog/2021/07/14/faq/": "unresolved",
    }
    found = goes_to(connection, "a.md", *[link(target) for target in cases])
    assert dict(zip(cases, found, strict=True)) == cases


def test_wikilinks(connection):
    write(
        connection,
        page("Plugins/Templates.md", "x"),
        page("Sync/Templates.md", "x"),
        page("Web/Plugins/Templates.md", "x"),
        page("Sync/Notes/Deep.md", "x"),
        page("Search.md", "x"),
        page("Areas/Search.md", "x"),
        page("Node.js.md", "x", title="Node"),
        page("Renamed.md", "x", title="TODO: call", aliases=["Old name"],
             front_matter={"permalink": "sync/renamed", "slug": "brandnew"}),
    )  # fmt: skip
    cases = {
        "Templates": "Sync/Templates.md by name",
        "Plugins/Templates": "Plugins/Templates.md by path",
        "web/plugins/templates.md": "Web/Plugins/Templates.md by path",
        "Deep": "Sync/Notes/Deep.md by name",
        "Search": "Search.md by name",
        "Areas/Search": "Areas/Search.md by path",
        "Node.js": "Node.js.md by name",
        "picture.webp": "asset",
        "TODO: call": "Renamed.md by title",
        "OLD NAME": "Renamed.md by alias",
        "sync/renamed": "Renamed.md by slug",
        "brandnew": "Renamed.md by slug",
        "https://example.org": "external",
        "Nothing": "unresolved",
    }
    found = goes_to(connection, "Sync/here.md", *[wiki(target) for target in cases])
    assert dict(zip(cases, found, strict=True)) == cases


def test_what_a_type_adds_leads_where_its_link_leads(connection):
    write(connection, page("guide/b.md", "x", url="site/setup"), page("x.md", "x"))
    added = {"rule": "edge_defaults:note", "confidence": 0.7}
    assert goes_to(
        connection, "a.md",
        link("../site/setup?x=1"), link("../site/setup?x=1", **added), wiki("x", **added),
        url="area/here",
    ) == ["guide/b.md by url", "guide/b.md by url", "x.md by name"]  # fmt: skip


def test_ties(connection):
    write(connection, page("a/Topic.md", "x"), page("b/Topic.md", "x"), page("b/c/Topic.md", "x"))
    assert goes_to(connection, "b/z/here.md", wiki("Topic")) == ["b/Topic.md by name"]
    assert goes_to(connection, "d/here.md", wiki("Topic"), wiki("c/Topic")) == [
        "ambiguous", "b/c/Topic.md by path",
    ]  # fmt: skip
    [first, _] = [row for row in state(connection) if row["source"] == "d/here.md"]
    assert first["candidates"] == ["a/Topic.md", "b/Topic.md"]
    assert first["how"] is None


def test_what_is_written_like_the_link_wins_over_other_cases_and_queries(connection):
    site = "https://wiki.example/w/"
    write(
        connection,
        page("guide/case.md", "x"), page("guide/CASE.md", "x"), page("far/Case.md", "x"),
        page("c.html", "x"), page("C.html", "x"), page("C.md", "x"), page("Guide/case.md", "x"),
        page("one.md", "x", title="Ebb", aliases=["tide"]),
        page("two.md", "x", title="ebb", aliases=["Tide"]),
        page("p1", "x", url=f"{site}index.php?title=A"),
        page("p2", "x", url=f"{site}index.php?title=a"),
        page("p3", "x", url=f"{site}index.php"),
    )  # fmt: skip
    cases = {
        "guide/case.md": "guide/case.md by path",
        "guide/CASE.md": "guide/CASE.md by path",
        "./guide/CASE": "guide/CASE.md by path",
        "guide/cAse.md": "ambiguous",
        "c.html": "c.html by path",
        "C.html": "C.html by path",
        "C.md": "C.md by path",
        f"{site}index.php?title=A": "p1 by url",
        f"{site}index.php?title=a": "p2 by url",
        f"{site}index.php": "p3 by url",
        f"{site}index.php?title=Other": "p3 by url",
    }
    found = goes_to(connection, "start.md", *map(link, cases))
    assert dict(zip(cases, found, strict=True)) == cases
    cases = {"Ebb": "one.md by title", "ebb": "two.md by title", "tide": "one.md by alias",
             "Tide": "two.md by alias", "Case": "far/Case.md by name",
             "CASE": "guide/CASE.md by name"}  # fmt: skip
    found = goes_to(connection, "names.md", *map(wiki, cases))
    assert dict(zip(cases, found, strict=True)) == cases
    assert goes_to(connection, "Guide/here.md", link("case.md")) == ["Guide/case.md by path"]
    assert goes_to(connection, "guide/here.md", link("case.md")) == ["guide/case.md by path"]


def test_base_url(connection):
    run(
        connection, "open_version",
        library="vault", source={"base_url": "https://docs.example/guide/"},
    )  # fmt: skip
    write(connection, page("install.md", "x", url="https://docs.example/guide/setup"))
    assert goes_to(
        connection, "deep/here.md",
        link("https://docs.example/guide/setup/"),
        link("http://DOCS.example/guide/install.md?x=1"),
        link("/guide/setup"),
        link("https://docs.example/guide/gone"),
        link("https://docs.example/guideline"),
        wiki("https://docs.example/guide/setup"),
    ) == [
        "install.md by url",
        "install.md by path",
        "install.md by url",
        "unresolved",
        "external",
        "install.md by url",
    ]  # fmt: skip


def test_fragments(connection):
    sections = [
        {"content": "Intro.", "level": 0, "covers": 0, "path": ["Install"]},
        {"content": "All of Linux", "level": 1, "heading": "On Linux & BSD", "anchor": "on-linux",
         "path": ["Install", "On Linux & BSD"]},
        {"content": "First.", "heading": "On Linux & BSD", "anchor": "on-linux",
         "path": ["Install", "On Linux & BSD"]},
        {"content": "Words ^block-1", "heading": "Notes", "anchor": "notes",
         "path": ["Install", "On Linux & BSD", "Notes"]},
        {"content": 'See <a id="Deep_part"></a> here', "heading": "Notes", "anchor": "notes-1",
         "path": ["Install", "On Mac", "Notes"]},
    ]  # fmt: skip
    write(connection, page("install.md", *sections))
    cases = {
        "on-linux": "All of Linux",
        "On Linux & BSD": "All of Linux",
        "on_linux__bsd": "All of Linux",
        "On%20Linux%20BSD": "All of Linux",
        "notes": "Words ^block-1",
        "notes-1": 'See <a id="Deep_part"></a> here',
        "On Mac#Notes": 'See <a id="Deep_part"></a> here',
        "On Linux#Nothing": None,
        "^block-1": "Words ^block-1",
        "^block": None,
        "install": "Intro.",
        "top": None,
        "Deep_part": 'See <a id="Deep_part"></a> here',
        "deep": None,
    }
    write(
        connection, page("here.md", "x", edges=[wiki("install", fragment=cased) for cased in cases])
    )
    rows = [row for row in state(connection) if row["source"] == "here.md"]
    assert {row["fragment"]: row["section"] for row in rows} == cases
    assert {row["fragment"] for row in rows if not row["fragment_found"]} == {
        "On Linux#Nothing", "^block", "deep",
    }  # fmt: skip
    assert {row["state"] for row in rows} == {"resolved"}


def test_fragments_follow_their_page(connection):
    def section(heading):
        return {"content": f"On {heading}.", "heading": heading, "anchor": heading.lower()}

    write(
        connection,
        page("a.md", section("One"), section("Two")),
        page("b.md", "x", edges=[wiki("a", fragment="Two"), wiki("", fragment="here")]),
    )
    found = [(row["fragment_found"], row["section"]) for row in state(connection)]
    assert found == [(True, "On Two."), (False, None)]
    write(connection, page("a.md", section("One")))
    assert [row["fragment_found"] for row in state(connection)] == [False, False]
    write(connection, page("a.md", section("Two"), section("Three")))
    assert [row["section"] for row in state(connection)] == ["On Two.", None]


def test_links_heal_and_break(connection):
    def first():
        [row, *_] = state(connection)
        return row["goes_to"] or row["state"]

    write(connection, page("a/source.md", "x", edges=[wiki("Goal")]))
    assert first() == "unresolved"
    write(connection, page("far/goal.md", "x"))
    assert first() == "far/goal.md"
    write(connection, page("a/goal.md", "x"))
    assert first() == "a/goal.md"
    run(connection, "remove_pages", library="vault", keys=["a/goal.md"])
    assert first() == "far/goal.md"
    write(connection, page("near/goal.md", "x"))
    assert first() == "ambiguous"
    run(connection, "remove_pages", library="vault", keys=["far/goal.md", "near/goal.md"])
    assert first() == "unresolved"
    write(connection, page("b.md", "x", aliases=["goal"]))
    assert first() == "b.md"
    write(connection, page("b.md", "x", title="Goal"))
    assert first() == "b.md"
    write(connection, page("b.md", "x", aliases=["goals"]))
    assert first() == "unresolved"


def test_cyclic_aliases(connection):
    write(
        connection,
        page("A.md", "x", aliases=["B"], edges=[wiki("B"), wiki("A")]),
        page("B.md", "x", aliases=["A"], edges=[wiki("A"), wiki("B")]),
    )
    assert [row["goes_to"] for row in state(connection)] == ["B.md", "A.md", "A.md", "B.md"]
    run(connection, "remove_pages", library="vault", keys=["A.md"])
    assert [row["goes_to"] for row in state(connection)] == ["B.md", "B.md"]


def test_versions_do_not_mix(connection):
    for version in ("1", "2"):
        write(connection, page("a.md", "x", edges=[wiki("b")]), version=version)
    write(connection, page("b.md", "x"), version="2")
    assert [row["state"] for row in state(connection, "1")] == ["unresolved"]
    assert [row["goes_to"] for row in state(connection, "2")] == ["b.md"]
    run(connection, "remove_version", library="vault", version="2")
    assert state(connection, "2") == []
    run(connection, "remove_library", library="vault")
    for table in ("edges", "page_names", "pending_names", "pending_pages"):
        assert value(connection, f"select count(*) from pgrag.{table}") == 0, table


def test_pages_in_many_batches_are_connected_at_the_end(connection):
    write(connection, page("a.md", "x", edges=[wiki("b")]), resolve=False)
    write(connection, page("b.md", "x", edges=[wiki("a")]), resolve=False)
    assert state(connection) == []  # they wait for the pages to come
    run(connection, "finish_version", library="vault")
    assert [row["goes_to"] for row in state(connection)] == ["b.md", "a.md"]
    assert value(connection, "select max(e.xmax::text::bigint) from pgrag.edges as e") == 0, (
        "each edge is written once"
    )
    assert value(connection, "select pgrag.resolve_links('vault')") == 0
    assert value(connection, "select pgrag.resolve_links('vault', whole => true)") == 0


@pytest.mark.parametrize("seed", range(3))
def test_what_changed_gives_the_same_as_everything(connection, seed):
    """After any changes the links that were looked at are those that had to be."""
    chance = random.Random(seed)
    folders = ["", "a/", "a/b/", "c/"]
    names = ["one", "two", "index", "readme", "Three"]
    targets = [*names, "a/one", "../two", "./", "..", "b/", "/a/one", "four", "x.png", "a", "/",
               "../b/three.md", "index.md", "https://site.example/a/one"]  # fmt: skip
    for _ in range(25):
        pages = []
        for key in {
            f"{chance.choice(folders)}{chance.choice(names)}.md"
            for _ in range(chance.randint(1, 4))
        }:
            headings = chance.sample(["P", "Q", "R"], 2)
            pages.append(
                page(
                    key,
                    *[{"content": h, "heading": h, "anchor": h.lower()} for h in headings],
                    title=chance.choice(["Four", "one", key]),
                    aliases=chance.sample(["four", "two", "b"], chance.randint(0, 2)),
                    url=chance.choice([key.removesuffix(".md"), "a/one", f"site/{key}"]),
                    edges=[
                        chance.choice([link, wiki])(
                            chance.choice(targets), fragment=chance.choice([None, "P", "q"])
                        )
                        for _ in range(chance.randint(0, 6))
                    ],
                )
            )
        write(connection, *pages, resolve=chance.random() < 0.7)
        if chance.random() < 0.4:
            gone = f"{chance.choice(folders)}{chance.choice(names)}.md"
            run(connection, "remove_pages", library="vault", keys=[gone])
        stored = sorted(
            row["key"] for row in run(connection, "_pgrag.stored_pages", library="vault")
        )
        if len(stored) > 1 and chance.random() < 0.4:
            old, other = chance.sample(stored, 2)
            new = f"{chance.choice(folders)}{chance.choice(names)}.md"
            keys = {old: other, other: old} if new in stored else {old: new}
            run(connection, "rename_pages", library="vault", new_keys=keys)
    run(connection, "resolve_links", library="vault")
    before = state(connection)
    assert len(before) > 20
    assert value(connection, "select pgrag.resolve_links('vault', whole => true)") == 0
    assert state(connection) == before


def test_ten_thousand_links_on_one_page(connection):
    targets = [f"note {number}" for number in range(5_000)]
    write(connection, *[page(f"{name}.md", "x", documents=[]) for name in targets[:500]])
    edges = [wiki(name) for name in targets] + [wiki("note 1", line=n) for n in range(5_000)]
    connection.execute("set local statement_timeout = '60s'")
    write(connection, page("moc.md", "x", edges=edges))
    assert value(connection, "select count(*) from pgrag.edges where state = 'resolved'") == 5_500


def test_a_thousand_pages_of_one_title(connection):
    """Each links to the title: what it can mean is found once for a folder, not once for a page."""
    notes = [
        page(f"{number % 2}/{number}.md", "x", title="Daily note", edges=[wiki("Daily note")])
        for number in range(1000)
    ]
    connection.execute("set local statement_timeout = '60s'")
    write(connection, *[note | {"documents": []} for note in notes])
    rows = run(connection, "links", library="vault", top_k=2)
    assert [row["state"] for row in rows] == ["ambiguous"] * 2
    assert all(len(row["candidates"]) == 100 for row in rows)
    assert {key[:2] for row in rows for key in row["candidates"]} == {"0/"}
