"""Sites that do not end, lie, or break: a crawl ends, says why, and goes on where it can."""

import gzip
import hashlib
import itertools
import socket
import threading
import time
import tracemalloc
from contextlib import suppress

import pytest
from website import Reply, Website, crawl_of, crawled, keys, page, reasons

from pgrag.ground.errors import InvalidInput, SourceError
from pgrag.ground.outgoing import guarded_client
from pgrag.ground.settings import Settings
from pgrag.ingest.source.web import fetcher, lists
from pgrag.ingest.source.web.crawl import CrawlLimits
from pgrag.ingest.source.web.fetcher import Fetcher, NoAnswer, Pace

WORD = "abcdefghijklmnopqrstuvwxyz"


def test_pages_without_end_end(database):
    def month(path: str) -> str | Reply:
        if not path.startswith("/plans/"):
            return Reply("", 404)
        year, number = int(path.split("/")[2]), int(path.split("/")[3])
        after = year * 12 + number
        following = f"/plans/{after // 12}/{after % 12 + 1}/"
        return page(f"{year} {number}", f"Plans of {path}", following)

    start, limits = {"/": page("Plans", "", "/plans/2026/1/")}, CrawlLimits(depth=100_000)
    report = crawl_of(database, start, otherwise=month, limits=limits)
    assert report.written == 101
    assert reasons(report)["more than 100 addresses that differ only in their numbers"] == 1
    numbers = itertools.count()

    def sorted_list(path: str) -> str:
        return page("List", f"Sorted by {path}", *(f"?sort={next(numbers)}" for _ in range(10)))

    report = crawl_of(database, {"/": page("Home", "", "list")}, otherwise=sorted_list)
    assert report.written == 22
    assert reasons(report)["more than 20 query strings of one path"] > 20

    def deeper(path: str) -> str:
        words = hashlib.sha256(path.encode()).hexdigest()
        return page(f"At {words[:8]}", f"Depth of {words}", "a/", "b/")

    report = crawl_of(database, {}, otherwise=deeper, limits=CrawlLimits(depth=5))
    assert reasons(report)["the path repeats itself"] > 0
    assert not any("a/a/a" in key for key in keys(database))
    visits = itertools.count()

    def visited(path: str) -> str:
        name = path.partition("?")[0]
        again = f"b?sid={next(visits)}&PHPSESSID={next(visits)}&utm_source=a"
        return page(f"Page {name}", "", again, f"a;jsessionid={next(visits)}")

    crawl_of(database, {"/robots.txt": Reply("", 404)}, otherwise=visited)
    assert keys(database) == {"index.html", "a", "b"}


def test_a_page_for_all_that_is_missing_is_no_page(database):
    everything = page("Kestrel", "The only page there is.", "more/", "other/")
    with Website({}, otherwise=everything) as site:
        report = crawled(database, f"{site.url}/")
    assert keys(database) == {"index.html"}
    assert len(site.asked) < 20
    assert reasons(report)["the site's page for what does not exist"] == 2

    def missing(path: str) -> str:
        return page("Page not found", f"There is no {path}; it is {time.monotonic()}.", "/")

    pages = {"/": page("Home", "", "guide", "lost"), "/guide": page("Guide")}
    crawl_of(database, pages, otherwise=missing)
    assert keys(database) == {"index.html", "guide"}


def test_redirects_that_loop_or_never_end(database):
    def on(path: str) -> Reply:
        if not path.startswith("/on/"):
            return Reply("", 404)
        return Reply("", 302, {"Location": f"/on/{int(path.rpartition('/')[2]) + 1}"})

    pages = {
        "/": page("Home", "", "/left", "/on/1", "/out", "/nowhere"),
        "/left": Reply("", 301, {"Location": "/right"}),
        "/right": Reply("", 301, {"Location": "/left"}),
        "/out": Reply("", 302, {"Location": "https://elsewhere.example/"}),
        "/nowhere": Reply("", 302, {"Location": "javascript:alert(1)"}),
    }
    with Website(pages, otherwise=on) as site:
        report = crawled(database, f"{site.url}/")
    assert keys(database) == {"index.html"}
    assert len(site.asked) < 50
    assert reasons(report)["redirect to where the crawl may not go"] == 1
    assert "nowhere" in report.failed


def test_other_things_than_pages(database):
    pages = {
        "/": page("Home", "", "picture", "huge", "broken", "nested", "empty", "mail", "guide"),
        "/picture": Reply(b"\x89PNG\r\n\x1a\n" * 1000, media_type="image/png"),
        "/huge": Reply("<p>" + "x" * 6_000_000),
        "/broken": Reply(b"<html><h1>\xff\xfe\x00 broken <a href='http://[::1'>x</a> <a href=//>y"),
        "/nested": Reply("<div>" * 15_000 + "<h1>Nested</h1><p>Deep down.</p>"),
        "/empty": Reply(b""),
        "/guide": page("Guide", "", "mailto:a@b.example", "javascript:void(0)", "data:text/html,x"),
    }
    with Website(pages) as site:
        report = crawled(database, f"{site.url}/")
    assert {"index.html", "guide"} <= keys(database)
    assert reasons(report)["no page, but image/png"] == 1
    assert "/picture" not in site.sent or site.sent["/picture"] == 8000
    assert report.failed["huge"].endswith("larger than PGRAG_MAX_PAGE_BYTES allows.")


@pytest.mark.parametrize("body", [
    '<div id="root"></div><script src="/app.js"></script>',
    '<div id="app"></div><a href="#/guide">Guide</a><script>go()</script>',
])  # fmt: skip
def test_a_site_made_by_scripts_says_so(database, body):
    shell = f"<!doctype html><html><head><title>App</title></head><body>{body}</body></html>"
    with pytest.raises(SourceError, match="made by scripts in the browser"):
        crawl_of(database, {"/": shell})
    assert database.call("libraries") == []


def test_hash_routes_are_counted(database):
    text = "The start page has text of its own. " * 20
    shell = page("Home", text, "#/guide", "#/install", head="<script>go()</script>")
    assert reasons(crawl_of(database, {"/": shell}))["hash routes, which only scripts follow"] == 1


def test_a_slow_answer_costs_one_page(database, monkeypatch):
    monkeypatch.setattr(fetcher, "ANSWER_SECONDS", 0.3)
    pages = {
        "/": page("Home", "", "slow", "guide"),
        "/slow": Reply(page("Slow", "x" * 200_000), seconds=0.5),
        "/guide": page("Guide"),
    }
    report = crawl_of(database, pages)
    assert keys(database) == {"index.html", "guide"}
    assert "takes more than" in report.failed["slow"]


@pytest.mark.parametrize("begins", [b"HTTP/1.1 200 OK\r\nX-Long: ", b"HTTP/1.1 200 OK\r\n\r\n<p>"])
def test_an_answer_byte_by_byte_has_an_end(begins, monkeypatch):
    """A server that never falls silent, in its headers or in its body."""
    monkeypatch.setattr(fetcher, "ANSWER_SECONDS", 0.4)
    is_over = threading.Event()

    def answer(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection, suppress(OSError):
            connection.recv(65536)
            connection.sendall(begins)
            while not is_over.wait(0.05):
                connection.sendall(b"x")

    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        guarded_client(Settings(), timeout=5, allow_private=True) as client,
    ):
        server = threading.Thread(target=answer, args=[listening])
        server.start()
        try:
            with pytest.raises(NoAnswer, match="takes more than"):
                Fetcher(client, Pace(0.0)).get(
                    f"http://127.0.0.1:{listening.getsockname()[1]}/", room=lambda _: 5_000_000
                )
        finally:
            is_over.set()
            server.join()


class _Cancelled(Exception):
    pass


@pytest.mark.parametrize(("path", "slow"), [
    ("/a", Reply(drip=0.05)),
    ("/robots.txt", Reply(seconds=60.0)),
    ("/sitemap.xml", Reply("", 503, {"Retry-After": "100"})),
])  # fmt: skip
def test_a_crawl_that_waits_can_be_ended_and_continued(database, path, slow):
    told = 0

    def cancel(*_: int) -> None:
        nonlocal told
        told += path in site.asked
        if told > 3:
            raise _Cancelled

    pages = {"/": page("Home", "", "a"), "/a": page("A")}
    with Website(pages | {path: slow}) as site:
        with pytest.raises(_Cancelled):
            crawled(database, f"{site.url}/", progress=cancel)
        assert site.asked.count(path) == 1
        assert site.asked[-1] == path, "it waited on"
        site.end_waiting()
        site.pages = pages
        assert crawled(database, f"{site.url}/").written == 2


@pytest.mark.parametrize(("encoding", "times", "told"), [
    ("gzip", 1, "larger than PGRAG_MAX_PAGE_BYTES"),
    ("gzip, gzip", 2, "its encoding 'gzip, gzip' is not read"),
    ("br", 0, "its encoding 'br' is not read"),
    ("gzip", 0, "cannot be decompressed"),
])  # fmt: skip
def test_a_body_that_unpacks_to_far_more_costs_one_page(database, encoding, times, told):
    body = b"<html><h1>Zeros</h1>" + b"0" * 60_000_000
    for _ in range(times):
        body = gzip.compress(body, 1)
    packed = Reply(body[:1_000_000], headers={"Content-Encoding": encoding})
    with Website({"/": page("Home", "", "/bomb", "/a"), "/a": page("A"), "/bomb": packed}) as site:
        tracemalloc.start()
        report = crawled(database, f"{site.url}/")
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert keys(database) == {"index.html", "a"}
    assert told in report.failed["bomb"]
    assert most < 30_000_000


def test_packed_pages_are_unpacked(database):
    body = gzip.compress(page("Packed", "Squeezed kestrels.").encode())
    with Website({"/": Reply(body, headers={"Content-Encoding": "gzip"})}) as site:
        crawled(database, f"{site.url}/")
    assert database.call("search", query="squeezed kestrels", library="site")


def test_what_robots_txt_forbids_is_not_asked_for(database):
    rules = "User-agent: *\nDisallow: /secret\n" + "# a comment\n" * 60_000
    pages = {
        "/robots.txt": Reply(rules, media_type="text/plain"),
        "/": page("Home", "", "secret"),
        "/secret": page("Secret"),
    }
    with Website(pages) as site:
        crawled(database, f"{site.url}/")
        assert "/secret" not in site.asked
    pages = {
        "/robots.txt": Reply("User-agent: *\nDisallow: /secret\n", media_type="text/plain"),
        "/docs/": page("Home", "", "/docs/%2e%2e/secret/x", "%2E%2e%2Fsecret/x", "a"),
        "/docs/a": page("A"),
        "/secret/x": page("Secret"),
    }
    with Website(pages) as site:
        crawled(database, f"{site.url}/docs/")
        assert not any("secret" in path for path in site.asked)
    assert keys(database) == {"index.html", "a"}


@pytest.mark.parametrize("rule", ["Crawl-delay: 86400", "Request-rate: 1/1d"])
def test_a_site_that_wants_a_day_between_requests_is_refused(database, rule):
    rules = Reply(f"User-agent: *\n{rule}\n", media_type="text/plain")
    with pytest.raises(SourceError, match="seconds between two requests"):
        crawl_of(database, {"/": page("Home"), "/robots.txt": rules})


def test_lists_and_links_without_end_fill_no_database(database, monkeypatch):
    def linking(path: str) -> str:
        words = hashlib.sha256(path.encode()).hexdigest()
        pairs = itertools.product(WORD, repeat=2)
        return page(words, "", *(f"{words[:9]}{letter}{other}/" for letter, other in pairs))

    start, limits = {"/robots.txt": Reply("", 404)}, CrawlLimits(pages=5)
    report = crawl_of(database, start, otherwise=linking, limits=limits)
    [row] = database.query("select count(*) from pgrag.fetched_pages")
    assert row["count"] <= 1001
    assert reasons(report)["beyond 1,000 addresses"] > 1000
    whole = "".join(f"# {n}\nSource: https://docs.example/{n}\n\nPage {n}.\n" for n in "abcdef")
    pages = {"/llms-full.txt": Reply(whole, media_type="text/plain")}
    report = crawl_of(database, pages, "/llms-full.txt", limits=CrawlLimits(pages=4))
    assert keys(database) == {"a", "b", "c", "d"}
    assert reasons(report) == {"beyond 4 pages": 2}
    monkeypatch.setattr(lists, "MOST_ENTRIES", 3)
    entries = "".join(f"<url><loc>/{name}</loc></url>" for name in "abcde")
    found, _ = lists.parse_sitemap("https://h/sitemap.xml", f"<urlset>{entries}</urlset>".encode())
    assert [*found] == ["https://h/a", "https://h/b", "https://h/c"]


SITEMAP = "<urlset><url><loc>{}/lost</loc></url></urlset>"


@pytest.mark.parametrize("sitemap", [
    "<urlset>" + "<url><loc>/x</loc></url>" * 40,
    "<urlset>" + " " * 3000 + "<url><loc>/x</loc></url></urlset>",
    '<?xml version="1.0" encoding="UTFX"?><urlset/>',
    "<!DOCTYPE x><urlset/>",
    b"\x1f\x8b no gzip",
])  # fmt: skip
def test_a_bad_sitemap_is_told_and_costs_nothing_else(database, monkeypatch, sitemap):
    monkeypatch.setattr(lists, "LARGEST_LIST", 2000)
    monkeypatch.setattr(fetcher, "LARGEST_LIST", 2000)
    both = "".join(f"<sitemap><loc>/{each}.xml</loc></sitemap>" for each in ("bad", "good"))
    index = f"<sitemapindex>{both}</sitemapindex>"
    pages = {"/sitemap.xml": index, "/good.xml": SITEMAP.format(""), "/lost": page("Lost")}
    with Website(pages | {"/bad.xml": Reply(sitemap)}) as site:
        report = crawled(database, f"{site.url}/sitemap.xml")
    assert keys(database) == {"lost"}
    assert [f"{site.url}/bad.xml" in warning for warning in report.warnings] == [True]


@pytest.mark.parametrize(
    "named", ["http://10.0.0.1:3000/map.xml", "http://localhost:{port}/map.xml"]
)
def test_sitemaps_of_other_hosts_are_not_asked_for(database, named):
    with Website({}) as site:
        place = named.format(port=site.url.rpartition(":")[2])
        site.pages = {
            "/robots.txt": Reply(f"Sitemap: {place}\n", media_type="text/plain"),
            "/": page("Home"),
            "/sitemap.xml": SITEMAP.format(site.url),
            "/lost": page("Lost"),
        }
        crawled(database, f"{site.url}/")
        assert "/map.xml" not in site.asked
    assert keys(database) == {"index.html", "lost"}


def test_passwords_are_refused_and_cookies_not_kept(database):
    with Website({"/": page("Home")}) as site:
        address = site.url.replace("http://", "http://bob:hunter2@")
        with pytest.raises(InvalidInput, match="logs in to no website") as told:
            crawled(database, f"{address}/")
        assert site.asked == []
    assert "hunter2" not in str(told.value)
    assert database.query("select from pgrag.crawls") == []
    cookie = {"Set-Cookie": "visit=1; Path=/"}
    with Website({"/": Reply(page("Home", "", "a"), headers=cookie), "/a": page("A")}) as site:
        crawled(database, f"{site.url}/")
        assert "/a" in site.asked
        assert site.cookies == []


def test_a_site_that_stops_answering_is_continued(database, monkeypatch):
    monkeypatch.setattr(fetcher, "RETRY_DELAYS", ())
    names = [f"page-{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(120)]
    whole = {"/robots.txt": Reply("", 404), "/": page("Home", "", *names)} | {
        f"/{name}": page(name) for name in names
    }
    with Website(whole) as site:
        site.pages = dict(list(whole.items())[:30])
        site.otherwise = Reply("", 503)
        with pytest.raises(SourceError, match=r"stopped answering after \d+ pages: HTTP 503"):
            crawled(database, f"{site.url}/")
        assert database.call("libraries") == []
        site.pages, known = whole, {path for path, size in site.sent.items() if size}
        site.forget()
        report = crawled(database, f"{site.url}/")
    assert report.written == 121
    assert len(known & {*site.asked}) <= 16, "what was fetched is not fetched again"
