"""What a site tells crawlers, in pages, headers and files, and that it is heeded."""

import gzip
import itertools
import zlib

import pytest
from website import Reply, Website, crawl_of, crawled, keys, page, reasons

from pgrag.ground.errors import SourceError
from pgrag.ground.outgoing import retry_after

UNFOLLOWED = '<a rel="nofollow" href="/unfollowed">x</a>'
ROBOTS = "User-agent: *\nDisallow: /private/\n"
INVENTORY = (
    b"# Sphinx inventory version 2\n# Project: Kestrel\n# Version: 1\n"
    b"# The remainder of this file is compressed using zlib.\n"
    + zlib.compress(
        b"kestrel.restore py:function 1 api/restore.html#$ -\n"
        b"a label std:label -1 guide.html#a-label A label with words\n"
    )
)


def text(body: str | bytes, media_type: str = "text/plain") -> Reply:
    return Reply(body, media_type=media_type)


def canonical(to: str) -> str:
    return f'<link rel="canonical" href="{to}">'


def urls(*paths: str, tag: str = "url", dates: str = "") -> str:
    entries = "".join(f"<{tag}><loc>{path}</loc>{dates}</{tag}>" for path in paths)
    kind = "urlset" if tag == "url" else "sitemapindex"
    return f'<{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{kind}>'


def test_robots_and_nofollow_and_noindex(database):
    pages = {
        "/robots.txt": text(ROBOTS),
        "/": page("Home", UNFOLLOWED, "/private/a", "/b", "/c", "/d"),
        "/private/a": page("Secret"),
        "/unfollowed": page("Unfollowed"),
        "/b": page("Not indexed", "", "/e", head='<meta name="robots" content="noindex">'),
        "/c": Reply(page("Not followed", "", "/f"), headers={"X-Robots-Tag": "nofollow"}),
        "/d": Reply(page("For others"), headers={"X-Robots-Tag": "otherbot: noindex"}),
        "/e": page("Behind"),
        "/f": page("Behind the unfollowed"),
    }  # fmt: skip
    with Website(pages) as site:
        report = crawled(database, f"{site.url}/")
        assert not {"/private/a", "/unfollowed", "/f"} & {*site.asked}
    assert keys(database) == {"index.html", "c", "d", "e"}
    assert reasons(report) == {"noindex": 1, "robots.txt forbids it": 1}


def test_the_crawl_delay_is_kept(database):
    pages = {
        "/robots.txt": text("User-agent: pgrag\nCrawl-delay: 0.3\n"),
        "/": page("Home", "", *"abcd"),
    } | {f"/{name}": page(name) for name in "abcd"}
    with Website(pages) as site:
        crawled(database, f"{site.url}/")
        times = [at for at, path in zip(site.times, site.asked, strict=True) if len(path) < 3]
        assert site.most_running == 1
    assert all(later - earlier > 0.28 for earlier, later in itertools.pairwise(times))


def test_several_are_fetched_at_a_time(database):
    pages = {"/": page("Home", "", *"abcdefgh")}
    pages |= {f"/{name}": Reply(page(name), seconds=0.1) for name in "abcdefgh"}
    with Website(pages) as site:
        crawled(database, f"{site.url}/")
        assert site.most_running > 3


def test_a_busy_site_is_asked_again_when_it_says(database):
    busy = iter([Reply("", 429, {"Retry-After": "1"}), Reply("", 503, {"Retry-After": "0"})])
    with Website({"/": page("Home", "", "a"), "/a": lambda _: next(busy, page("A"))}) as site:
        report = crawled(database, f"{site.url}/")
        times = [at for at, path in zip(site.times, site.asked, strict=True) if path == "/a"]
    assert report.written == 2
    assert times[1] - times[0] > 0.95
    assert retry_after("7") == 7
    assert retry_after("Mon, 01 Jan 2001 00:00:00 GMT") == 0
    assert retry_after("soon") is None


def test_sitemaps_list_pages_that_nothing_links(database):
    packed = gzip.compress(urls("/docs/a", "/other").encode())
    with Website({}) as site:
        site.pages = {
            "/robots.txt": text(f"Sitemap: {site.url}/maps/index.xml"),
            "/docs/": page("Home"),
            "/docs/a": page("A"),
            "/docs/b": page("B"),
            "/other": page("Other"),
            "/maps/index.xml": text(
                urls(f"{site.url}/maps/1.xml.gz", "/maps/2.xml", "/maps/index.xml", tag="sitemap"),
                "application/xml",
            ),
            "/maps/1.xml.gz": text(packed, "application/gzip"),
            "/maps/2.xml": text(urls("/docs/b"), "text/xml"),
        }  # fmt: skip
        crawled(database, f"{site.url}/docs/")
        assert keys(database) == {"index.html", "a", "b"}
        with pytest.raises(SourceError, match=r"no page to index: .*outside .*/maps/"):
            crawled(database, f"{site.url}/maps/index.xml", "map")
    pages = {
        "/sitemap.xml": text(urls("/a", "/docs/b"), "application/xml"),
        "/a": page("A", "", "/c"),
        "/docs/b": page("B"),
        "/c": page("C"),
    }
    with Website(pages) as site:
        crawled(database, f"{site.url}/sitemap.xml")
        assert "/c" not in site.asked
    assert keys(database) == {"a", "docs/b"}


def test_lastmod_spares_pages_without_validators(database):
    old = "<lastmod>2020-01-01</lastmod>"
    with Website({}, validates=False) as site:
        site.pages = {
            "/": page("Home", "", "a", "b"),
            "/a": page("A"),
            "/b": page("B"),
            "/sitemap.xml": text(urls(f"{site.url}/a", dates=old), "application/xml"),
        }
        crawled(database, f"{site.url}/")
        site.forget()
        report = crawled(database, f"{site.url}/")
        assert "/a" not in site.asked
        assert "/b" in site.asked
    assert report.unchanged == 3


def test_canonical_pages_and_copies_count_once(database):
    pages = {
        "/": page("Home", "", "print", "other"),
        "/print": page("Guide, printed", "", head=canonical("/guide")),
        "/guide": page("Guide"),
        "/other": page("Other", head=canonical("https://elsewhere.example/other")),
    }
    report = crawl_of(database, pages)
    assert keys(database) == {"index.html", "guide", "other"}
    assert reasons(report)["copy of another page"] == 1
    pages = {
        "/": page("Home", "", "/a", "/b", "/c"),
        "/a": page("A", head=canonical("/b")),
        "/b": page("B", head=canonical("/a")),
        "/c": page("C", head=canonical("/")),
    }
    crawl_of(database, pages)
    assert keys(database) == {"index.html", "a", "b"}
    names = [f"{first}{second}" for first in "abcde" for second in "abcde"]
    pages = {f"/{name}": page(name, head=canonical("/")) for name in names}
    pages["/"] = page("Home", "", *names)
    report = crawl_of(database, pages)
    assert report.written == 26
    home = page("Home", "", "index.html", "?view=1")
    report = crawl_of(database, {"/": home, "/index.html": home, "/?view=1": home})
    assert keys(database) == {"index.html"}
    assert reasons(report) == {"copy of another page": 2}


@pytest.mark.parametrize("is_declared", [True, False])
def test_markdown_is_taken_with_the_anchors_of_the_page(database, is_declared):
    head = '<link rel="alternate" type="text/markdown" href="guide.html.md">'
    html = '<h1 id="g">Guide</h1><h2 id="sec-7">How to <code>restore</code></h2><p>Do it.</p>'
    pages = {
        "/": page("Home", "", "guide.html"),
        "/guide.html": f"<html><head>{head if is_declared else ''}</head><main>{html}</main>",
        "/guide.html.md": text(
            "# Guide\n\n## How to `restore`\n\nTake it *back* from the Markdown.\n", "text/markdown"
        ),
    }
    if not is_declared:
        pages["/llms.txt"] = text("# Site\n")
    with Website(pages) as site:
        crawled(database, f"{site.url}/")
        found = database.call("search", query="from the markdown", library="site")
        assert found[0]["url"].startswith(f"{site.url}/guide.html")
    anchors = database.query("select anchor from pgrag.documents where anchor is not null")
    assert {row["anchor"] for row in anchors} >= {"g", "sec-7"}
    assert keys(database) == {"index.html", "guide.html"}


def test_inventories_and_llms_txt_list_pages(database):
    pages = {
        "/": page("Home"),
        "/objects.inv": Reply(INVENTORY, media_type=""),
        "/api/restore.html": page("restore"),
        "/guide.html": page("Guide"),
    }
    crawl_of(database, pages)
    assert keys(database) == {"index.html", "api/restore.html", "guide.html"}
    pages = {
        "/llms.txt": text("# Kestrel\n\n- [Guide](guide.md): all\n- [Page](/page)\n"),
        "/guide.md": text("# Guide\n\nRead [more](more.md).\n"),
        "/more.md": text("# More\n"),
        "/page": page("Page"),
    }
    crawl_of(database, pages, "/llms.txt")
    assert keys(database) == {"guide.md", "page"}


def test_llms_full_txt_has_pages(database):
    whole = (
        "# Guide\nSource: https://docs.example/guide\n\nAll about it.\n\n# Own part\n\nMore.\n"
        "# Restore\nSource: https://docs.example/restore\n\nTake it back.\n"
    )
    with Website({"/llms-full.txt": text(whole)}) as site:
        crawled(database, f"{site.url}/llms-full.txt")
        again = crawled(database, f"{site.url}/llms-full.txt")
    assert keys(database) == {"guide", "restore"}
    assert again.unchanged == 2
    found = database.call("search", query="take it back", library="site")
    assert found[0]["url"].startswith("https://docs.example/restore")


def test_other_versions_of_a_site_are_told_and_left(database):
    pages = {
        "/docs/4.2/": page("Home", "", "guide", "../4.1/", "../next/guide", "../../blog/"),
        "/docs/4.2/guide": page("Guide"),
        "/docs/versions.json": Reply(
            '[{"version": "4.2", "title": "4.2"}, {"version": "3.x", "aliases": ["old"]}]',
            media_type="application/json",
        ),
    }
    with Website(pages) as site:
        report = crawled(database, f"{site.url}/docs/4.2/")
    assert keys(database) == {"index.html", "guide"}
    [group] = [each for each in report.skipped if each.reason == "of another version of the site"]
    assert group.examples == tuple(f"{site.url}/docs/{each}/" for each in ("3.x", "4.1", "next"))
    assert reasons(report)[f"outside {site.url}/docs/4.2/"] == 1

    def versioned(title: str, version: str, *links: str) -> str:
        return page(title, "", *links, head=f'<meta name="docusaurus_version" content="{version}">')

    pages = {
        "/docs/intro": versioned("Intro", "4.2", "/docs/4.1/intro", "/docs/next/intro"),
        "/docs/4.1/": versioned("Start", "4.1", "intro"),
        "/docs/4.1/intro": versioned("Intro", "4.1", "/docs/4.1/more"),
        "/docs/4.1/more": versioned("More", "4.1"),
        "/docs/next/intro": versioned("Intro", "current"),
        "/docs/": versioned("Start", "4.2", "intro"),
    }
    with Website(pages) as site:
        report = crawled(database, f"{site.url}/docs/")
        assert keys(database) == {"index.html", "intro"}
        assert reasons(report)["of another version of the site"] == 2
        crawled(database, f"{site.url}/docs/4.1/", "4.1")
    assert keys(database, "4.1") == {"index.html", "intro", "more"}


def test_a_page_that_only_leads_on_is_a_redirect(database):
    def leading(refresh: str, text: str = "Redirecting.") -> str:
        meta = f'<meta http-equiv="Refresh" content="{refresh}">'
        return f"<html><head>{meta}</head><body><p>{text}</p></body></html>"

    pages = {
        "/": leading("0; url=4.2/"),
        "/4.2/": page("Kestrel", "", "old", "later", "again", "news", "out"),
        "/4.2/old": f"<noscript>{leading('1;URL=/4.2/new')}</noscript><script>go()</script>",
        "/4.2/new": page("New"),
        "/4.2/later": leading("60; url=/4.2/unseen", "Read this first."),
        "/4.2/again": leading("2"),
        "/4.2/news": leading("5; url=/4.2/unseen", "All the news of the day. " * 20),
        "/4.2/out": leading("0; url=https://elsewhere.example/"),
    }
    report = crawl_of(database, pages)
    assert keys(database) == {"4.2/index.html", "4.2/new", "4.2/later", "4.2/again", "4.2/news"}
    assert reasons(report)["redirect"] == 2
    assert reasons(report)["redirect to where the crawl may not go"] == 1


def test_the_header_says_how_a_page_is_encoded(database):
    start = page("Начало", "Сначала установите сервер.", "/сеть", head="<meta charset=koi8-r>")
    reply = Reply(start.encode("cp1251"), media_type="text/html; Charset='windows-1251'")
    with Website({"/": reply, "/%D1%81%D0%B5%D1%82%D1%8C": page("Сеть")}) as site:
        report = crawled(database, f"{site.url}/")
    assert report.pages == 2
    bodies = database.query("select title, body from pgrag.pages order by title desc")
    assert [row["title"] for row in bodies] == ["Сеть", "Начало"]
    assert "Сначала установите сервер." in bodies[1]["body"]
    assert report.warnings == []
