"""Websites as sources: what is fetched, stored, linked and removed."""

import pytest
from website import Reply, Website, crawl_of, crawled, indexed, keys, opened, page, reasons

from pgrag.ground.errors import ForbiddenAddress, InvalidInput, SourceError
from pgrag.ground.settings import Settings
from pgrag.ingest.source.web import fetcher
from pgrag.ingest.source.web.crawl import CrawlLimits
from pgrag.ingest.source.web.site import SiteOptions

GUIDE = {
    "/docs/": page("Kestrel", "", "guide/", "guide/restore.html#restore", "/blog/", "logo.png"),
    "/docs/guide/": page("Guide", "", "restore.html", "../", "schedule"),
    "/docs/guide/restore.html": page("Restore", "", "./", "https://elsewhere.example/"),
    "/docs/guide/schedule": page("Schedule", "", "restore.html"),
    "/blog/": page("Blog"),
}
FILES = {"index.html", "guide/index.html", "guide/restore.html", "guide/schedule"}


@pytest.fixture
def site():
    with Website(GUIDE) as site:
        yield site


def texts(site):
    return {path: size for path, size in site.sent.items() if path in site.pages}


def test_the_pages_below_the_start_become_a_version_whose_links_resolve(site, database):
    report = crawled(database, f"{site.url}/docs/")
    assert keys(database) == FILES
    assert report.written == 4
    assert "/blog/" not in site.asked
    assert reasons(report) == {f"outside {site.url}/docs/": 2, "no page by its name": 1}
    assert report.links["fragment"] == report.links["ambiguous"] == 0
    found = database.call("search", query="restore everything", library="site")
    assert found[0]["url"].startswith(f"{site.url}/docs/guide/restore.html")
    backlinks = database.call("backlinks", page_id=found[0]["page_id"])
    assert {row["key"] for row in backlinks} == {"index.html", "guide/index.html", "guide/schedule"}


def test_what_is_fetched_is_told_without_documents(site, database, monkeypatch):
    monkeypatch.setattr("pgrag.ingest.source.web.site.LOOK_SECONDS", 0.001)
    told = []
    with opened(database, f"{site.url}/docs/", progress=lambda *at: told.append(at)):
        pass
    assert {documents for _, _, documents in told} == {None}
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    assert 1 <= told[-1][0] <= told[-1][1]


def test_only_what_changed_is_fetched_and_what_is_gone_is_removed(site, database):
    crawled(database, f"{site.url}/docs/")
    assert len(texts(site)) == 4
    site.forget()
    report = crawled(database, f"{site.url}/docs/")
    assert texts(site) == {}
    assert set(site.asked) >= {path for path in GUIDE if path != "/blog/"}
    assert (report.unchanged, report.written, report.removed) == (4, 0, 0)
    site.forget()
    site.pages["/docs/guide/"] = page("Guide", "Rewritten.", "restore.html", "../", "schedule")
    report = crawled(database, f"{site.url}/docs/")
    assert list(texts(site)) == ["/docs/guide/"]
    assert (report.unchanged, report.written) == (3, 1)
    # A page that does not answer does not take the pages behind it with it.
    site.pages["/docs/guide/"] = Reply("", 500)
    assert crawled(database, f"{site.url}/docs/").removed == 0
    assert keys(database) == FILES
    site.pages["/docs/guide/"] = page("Guide", "", "restore.html", "../")
    assert crawled(database, f"{site.url}/docs/").removed == 1
    site.pages["/docs/guide/"] = GUIDE["/docs/guide/"]
    crawled(database, f"{site.url}/docs/")
    site.pages["/docs/guide/schedule"] = Reply("", 410)
    site.pages["/docs/guide/restore.html"] = Reply("", 500)
    report = crawled(database, f"{site.url}/docs/")
    assert keys(database) == FILES - {"guide/schedule"}
    assert report.failed["guide/restore.html"].endswith("restore.html: HTTP 500.")
    site.pages["/docs/guide/restore.html"] = GUIDE["/docs/guide/restore.html"]
    report = crawled(database, f"{site.url}/docs/")
    assert not report.failed
    assert report.unchanged == 3


@pytest.mark.parametrize(("path", "reply", "told"), [
    ("/docs/", Reply("", 500), "HTTP 500"),
    ("/docs/", Reply("", 404), "HTTP 404"),
    ("/robots.txt", Reply("User-agent: *\nDisallow: /", media_type="text/plain"), "robots.txt"),
    ("/robots.txt", Reply("", 503, {"Retry-After": "0"}), "robots.txt"),
    ("/docs/", Reply("", 302, {"Location": "http://localhost:1/"}), "another site"),
])  # fmt: skip
def test_a_site_that_fails_as_a_whole_changes_nothing(site, database, path, reply, told):
    crawled(database, f"{site.url}/docs/")
    site.pages = dict.fromkeys(GUIDE, reply) if reply.status == 500 else GUIDE | {path: reply}
    with pytest.raises(SourceError, match=told):
        crawled(database, f"{site.url}/docs/")
    assert keys(database) == FILES
    site.pages = {**GUIDE}
    site.forget()
    assert crawled(database, f"{site.url}/docs/").unchanged == 4
    assert set(texts(site)) <= {path}, "what was known is not forgotten"


def test_addresses_of_this_machine_or_with_a_key_are_refused(site, database):
    with pytest.raises(InvalidInput, match="no key in it") as caught:
        crawled(database, f"{site.url}/docs/?access_token=hunter2")
    assert "hunter2" not in str(caught.value)
    assert site.asked == []
    assert database.query("select from pgrag.crawls") == []
    with pytest.raises(ForbiddenAddress, match="--allow-private"):
        crawled(database, f"{site.url}/docs/", allow_private=False)
    assert site.asked == []
    allowed = Settings(allow_private=True)
    report = crawled(database, f"{site.url}/docs/", allow_private=False, settings=allowed)
    assert report.written == 4


def test_nobody_answers(database, monkeypatch):
    monkeypatch.setattr(fetcher, "RETRY_DELAYS", (0.1, 0.1))
    with Website({}) as site:
        address = site.url
    with pytest.raises(SourceError, match="cannot be read"):
        crawled(database, f"{address}/")


def test_include_exclude_depth_and_number_limit_a_crawl(site, database):
    address = f"{site.url}/docs/"
    report = crawled(database, address, "a", exclude=("guide/sched*",))
    assert keys(database, "a") == FILES - {"guide/schedule"}
    assert reasons(report)["left out by include and exclude"] == 1
    crawled(database, address, "i", include=("guide/**",))
    assert keys(database, "i") == FILES - {"index.html"}, "the start leads there"
    report = crawled(database, address, "b", limits=CrawlLimits(depth=1))
    assert keys(database, "b") == FILES - {"guide/schedule"}
    assert reasons(report)["more than 1 links from the start"] == 1
    report = crawled(database, address, "c", limits=CrawlLimits(pages=2))
    assert keys(database, "c") == {"index.html", "guide/index.html"}
    assert reasons(report)["beyond 2 pages or 2,000,000,000 bytes"] == 2
    crawled(database, address, "d", limits=CrawlLimits(bytes=1))
    assert "index.html" in keys(database, "d")
    assert len(keys(database, "d")) < 4
    crawled(database, address, exclude=("guide/sched*",))
    crawled(database, address)
    assert keys(database) == FILES


def test_what_others_queued_outside_the_scope_is_not_asked_for(site, database):
    address = f"{site.url}/docs/"
    names = {"library": "site", "version": ""}
    arguments = SiteOptions(allow_private=True).arguments(address)
    database.call("_pgrag.begin_crawl", **names, arguments=arguments)
    with Website({"/docs/": page("Another")}) as other:
        outside = [f"{site.url}/blog/", f"{other.url}/docs/"]
        database.call("_pgrag.queue_addresses", **names, urls=outside)
        crawled(database, address)
        assert "/blog/" not in site.asked
        assert other.asked == []
    rows = database.query(
        "select url, outcome, reason from pgrag.fetched_pages where not url like %s",
        [f"{address}%"],
    )
    assert {row["url"] for row in rows} == {*outside}
    assert {(row["outcome"], row["reason"]) for row in rows} == {("skipped", f"outside {address}")}
    assert keys(database) == FILES


def test_a_crawl_is_forgotten_with_its_version_and_its_bodies_with_the_run(site, database):
    crawled(database, f"{site.url}/docs/", "1.0")
    crawled(database, f"{site.url}/docs/", "2.0")
    database.call("remove_version", library="site", version="1.0")
    assert [row["version"] for row in database.query("select version from pgrag.crawls")] == ["2.0"]
    database.call("remove_library", library="site")
    assert database.query("select from pgrag.fetched_pages") == []
    address = f"{site.url}/docs/"
    crawled(database, address)
    assert database.query("select from pgrag.fetched_pages where body is not null") == []
    with opened(database, address) as source:
        site.forget()
        assert indexed(database, source, language="de").written == 4
    assert len(texts(site)) == 4


def test_a_crawled_pdf_may_be_as_large_as_one_in_a_folder(database):
    pdf = b"%PDF-1.7 is cut" + b" " * 1500
    pages = {
        "/": page("Home", "", "small.pdf", "large"),
        "/small.pdf": Reply(pdf, media_type="application/pdf"),
        "/large": page("Large", "x" * 1500),
    }
    report = crawl_of(database, pages, settings=Settings(max_page_bytes=1000))
    assert "larger than PGRAG_MAX_PAGE_BYTES" in report.failed["large"]
    assert "larger than" not in report.failed["small.pdf"], "it is read, and found to be damaged"


def test_a_page_that_is_read_again_after_a_304_is_that_of_a_fresh_crawl(database):
    html = """<!doctype html><html lang=en><head><title>Pumps</title></head><body><main>
        <h1 id="pumps-1">Pumps</h1><p>All of them.</p><h2>Without an id</h2><p>Prime it.</p>
        <h2 id="valves">Valves</h2><p>Open <code>a_b</code> first.</p></main></body></html>"""
    with Website({"/": page("Home", "", "pumps"), "/pumps": html}) as site:
        crawled(database, f"{site.url}/", "again")
        site.forget()
        for version in ("again", "fresh"):
            with opened(database, f"{site.url}/", version) as source:
                assert (site.sent.get("/pumps") is None) == (version == "again")
                assert indexed(database, source, version, overlap_size=20).written == 2
    again, fresh = (passages(database, version) for version in ("again", "fresh"))
    assert again == fresh
    assert {row["anchor"] for row in fresh if row["key"] == "pumps"} >= {"", "pumps-1", "valves"}


def passages(database, version):
    return database.query(
        "select p.key, p.body, d.level, d.anchor, d.path, d.content, d.overlap, d.line_start"
        " from pgrag.documents as d join pgrag.pages as p using (library_id, page_id)"
        " join pgrag.versions as v on v.version_id = d.version_id"
        " where v.label = %s order by p.key, d.sort_order",
        [version],
    )
