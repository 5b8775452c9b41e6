"""Libraries: the tables, one library and its versions, the graph, sources, uploads and jobs."""

import re
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect
from views import field, settle

from pgrag.ingest.formats.formats import SUFFIXES
from pgrag.ingest.source import uploads

WEB = Path(__file__).parents[2] / "src" / "pgrag" / "web"


def row(page, name, table="Libraries"):
    """The row of a table that begins with a name."""
    return page.get_by_role("region", name=table).get_by_role("row").filter(has_text=name).first


def cells(page, name, table="Libraries"):
    return [text.strip() for text in row(page, name, table).get_by_role("cell").all_inner_texts()]


def page_of(service, library, key):
    [found] = service.run("select page_id from pgrag.find_page(%s, %s) as f", library, key)
    return found["page_id"]


def test_all_libraries_with_what_is_in_them(open_page, service, check_axe, screenshot):
    httpx.get(f"{service.url}/v1/search?q=restore&library=kestrel", trust_env=False, timeout=60)
    page = open_page("/libraries")
    settle(page)
    [told] = service.run(
        "select count(*) as libraries, sum(versions) as versions, sum(pages) as pages"
        " from pgrag.libraries()"
    )
    expect(page.locator("main")).to_contain_text(
        f"{told['libraries']} libraries, {told['versions']} versions, {told['pages']:,} pages"
    )
    name, versions, _, _, warnings, last, source = cells(page, "kestrel")
    assert (name, versions, warnings) == ("kestrel", "2.1 · 2.0 · 1.4", "0")
    assert re.fullmatch(r"this minute|\d+ minutes? ago", last)
    assert source.endswith("kestrel")
    searches = page.locator(".card").filter(has_text="Searches, 7 days").locator("b")
    assert int(searches.inner_text()) >= 1
    broken = page.locator(".card").filter(has_text="Broken links")
    assert int(broken.locator("b").inner_text()) >= 2
    expect(broken.get_by_role("link", name="garden")).to_be_visible()
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        check_axe(page)
        screenshot(page, f"libraries-{theme}")


def test_one_library_its_versions_and_their_pages(open_page, service):
    page = open_page("/libraries?library=kestrel")
    settle(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("kestrel")
    assert cells(page, "2.1", "Versions")[:2] == ["2.1 newest", "3"]
    expect(row(page, "Restore a folder", "Pages")).to_contain_text("guide/restore.md")
    page.get_by_role("link", name="1.4", exact=True).click()
    expect(page).to_have_url(re.compile("version=1.4"))
    settle(page)
    expect(page.get_by_role("region", name="Pages").get_by_text("restore.md")).to_have_count(0)
    page.go_back()
    page.get_by_label("Name").fill("RESTORE")
    expect(page).to_have_url(re.compile("name=RESTORE"))
    expect(page.get_by_role("region", name="Pages").get_by_role("row")).to_have_count(2)
    page.get_by_label("Only pages with warnings").check()
    expect(page.locator("main")).to_contain_text("No page has “RESTORE” in its path or title.")
    page.goto("/libraries?library=kestrel&version=9.9")
    expect(page.locator("main")).to_contain_text("There is no version 9.9; this is 2.1.")
    page.goto("/libraries?library=kestrel,garden")
    expect(page.get_by_role("heading", level=1)).to_have_text("Libraries")


def test_an_unknown_library_is_told(open_page, page_faults):
    page_faults.expect("404")
    page = open_page("/libraries?library=kestrl")
    expect(page.get_by_role("alert")).to_contain_text("There is no library 'kestrl'.")
    expect(page.get_by_role("alert")).to_contain_text("kestrel")


def test_many_pages_come_in_parts(open_page, service):
    pages = [f'{{"key": "p{n:03}.md", "content": "# Page {n}"}}' for n in range(60)]
    lines = "\n".join(pages)
    answer = httpx.post(
        f"{service.url}/v1/libraries/many/versions/-/pages", content=lines,
        headers={"Content-Type": "application/x-ndjson"}, trust_env=False, timeout=60,
    )  # fmt: skip
    page = open_page(f"/libraries?job={answer.json()['job_id']}")
    expect(page.locator("main")).to_contain_text("60 pages written", timeout=30_000)
    page.goto("/libraries?library=many")
    rows = page.get_by_role("region", name="Pages").locator("tbody tr")
    expect(rows).to_have_count(50)
    page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(60)
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)
    page.get_by_label("Name").fill("p05")
    expect(rows).to_have_count(10)


def test_broken_links_and_pages_without_a_link_to_them(open_page, service, check_axe):
    page = open_page("/libraries?library=garden&show=links")
    settle(page)
    links = service.run("select * from pgrag.links('garden', state => 'broken')")
    expect(page.get_by_role("region", name="Broken links").locator("tbody tr")).to_have_count(
        len(links)
    )
    expect(row(page, "worms.md", "Broken links")).to_contain_text("hedgehogs")
    check_axe(page)
    page.get_by_label("Which links").select_option("orphan")
    expect(page).to_have_url(re.compile("state=orphan"))
    orphans = service.run("select * from pgrag.links('garden', state => 'orphan')")
    region = page.get_by_role("region", name="Pages that nothing links to")
    expect(region.locator("tbody tr")).to_have_count(len(orphans))


@pytest.mark.parametrize(
    ("tab", "words"),
    [
        ("Health", "Nothing is inconsistent."), ("Properties", "tags"),
        ("Texts of models", "Summaries of pages and sections"),
    ],
)  # fmt: skip
def test_what_else_is_known_of_a_version(open_page, check_axe, tab, words):
    page = open_page("/libraries?library=garden")
    page.get_by_role("tab", name=tab).click()
    expect(page.get_by_role("tabpanel")).to_contain_text(words)
    settle(page)
    check_axe(page)


def test_two_versions_compared(open_page, check_axe, screenshot):
    page = open_page("/libraries?library=kestrel&show=changes&from=2.0&to=2.1")
    summary = page.locator("summary").filter(has_text="guide/restore.md")
    expect(summary).to_contain_text("changed")
    expect(page.locator("summary").filter(has_text="reference/commands.md")).to_contain_text(
        "removed"
    )
    summary.click()
    diff = page.get_by_role("region", name="Differences of the page")
    expect(diff.locator(".plus").filter(has_text="A copy that nobody has read")).to_be_visible()
    expect(page.locator(".sections")).to_contain_text("From a phone")
    check_axe(page)
    screenshot(page, "changes")
    page.get_by_role("button", name="removed").click()
    expect(page).to_have_url(re.compile("only=removed"))
    expect(page.locator("summary")).to_have_count(1)
    page.get_by_label("From").select_option("1.4")
    expect(page).to_have_url(re.compile("from=1.4"))


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_the_graph_around_a_page(open_page, service, check_axe, screenshot, motion):
    compost = page_of(service, "garden", "compost.md")
    page = open_page(f"/libraries?graph={compost}", reduced_motion=motion, theme="dark")
    near = service.run("select * from pgrag.neighbourhood(%s, depth => 2)", compost)
    nodes = page.locator(".graph a")
    expect(nodes).to_have_count(len(near))
    expect(page.get_by_role("region", name="Pages around it").locator("tbody tr")).to_have_count(
        len(near)
    )
    # It stands still in the end; at once for whoever wants no motion.
    places = (
        "[...document.querySelectorAll('.graph g')].map(each => each.getAttribute('transform'))"
    )
    before = page.evaluate(places)
    page.wait_for_timeout(300)
    if motion == "no-preference":
        page.wait_for_function(
            f"""() => {{ const now = JSON.stringify({places}); const same = now === window.last;
            window.last = now; return same; }}""",
            polling=300,
        )
    else:
        assert page.evaluate(places) == before
    drawn = [tuple(map(float, re.findall(r"[\d.]+", place))) for place in page.evaluate(places)]
    assert len(set(drawn)) == len(near) + 1
    assert all(0 < x < 1000 and 0 < y < 560 for x, y in drawn)
    check_axe(page)
    screenshot(page, "graph")
    page.get_by_label("Steps").focus()
    page.keyboard.press("Tab")
    name = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert name in {each["title"] for each in near}
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Around “{name}”")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Around “Compost”")


def test_files_are_sent_indexed_and_found(open_page, service, tmp_path, check_axe):
    folder = tmp_path / "notes"
    (folder / "guide").mkdir(parents=True)
    (folder / "guide" / "tide.md").write_text("# Tide\n\nThe quokka sleeps at high tide.")
    (folder / "fees.md").write_text("# Fees\n\nA berth costs 14 coins.")
    (folder / "photo.png").write_bytes(b"\x89PNG")
    (folder / ".hidden.md").write_text("# Hidden")
    page = open_page("/libraries")
    page.get_by_role("link", name="Upload files").click()
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#files-wrong")).to_have_text("Choose at least one file that can be read.")
    page.get_by_label("Choose a folder").set_input_files(folder)
    expect(page.locator("main")).to_contain_text("2 files")
    expect(page.locator("main")).to_contain_text("2 files are left out")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_label("Library")).to_be_focused()
    check_axe(page)
    page.get_by_label("Library").fill("notes")
    page.get_by_label("Version").fill("1.0")
    page.get_by_role("button", name="Send").click()
    expect(page).to_have_url(re.compile(r"job=\d+"))
    expect(page.locator(".standing")).to_contain_text("succeeded", timeout=30_000)
    expect(page.locator("main")).to_contain_text("2 pages written")
    check_axe(page)
    keys = {each["key"] for each in service.run("select key from pgrag.pages('notes')")}
    assert keys == {"guide/tide.md", "fees.md"}
    page.get_by_role("link", name="Search in it").click()
    field(page).fill("quokka")
    expect(page.locator("main [role=option]").first).to_contain_text("Tide")


def test_what_is_dropped_may_be_a_folder(open_page, tmp_path):
    (tmp_path / "notes" / "guide").mkdir(parents=True)
    for name in ("fees.md", "guide/tide.md", "guide/tide.exe"):
        (tmp_path / "notes" / name).write_text("# Text")
    page = open_page("/libraries?show=upload")
    box = page.locator(".dropzone").bounding_box()
    place = {"x": box["x"] + 40, "y": box["y"] + 40}
    data = {"items": [], "files": [str(tmp_path / "notes")], "dragOperationsMask": 1}
    session = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, **place, "data": data})
    expect(page.locator(".files li")).to_have_text(["fees.md", "guide/tide.md"])
    expect(page.locator("main")).to_contain_text("1 file is left out")


def test_the_page_knows_the_files_that_the_service_reads():
    script = (WEB / "libraries" / "files.mjs").read_text()
    listed = re.search(r"SUFFIXES = `(.*?)`", script, re.DOTALL)
    assert listed is not None
    assert set(listed[1].split()) == set(SUFFIXES)
    archives = re.search(r"ARCHIVES = \[(.*?)\]", script)
    assert archives is not None
    assert all(uploads.is_known_upload(f"x{each}") for each in re.findall(r'"(.+?)"', archives[1]))
    assert set(re.findall(r'"(.+?)"', archives[1])) == {*uploads._ARCHIVES, ".ndjson"}


def test_a_source_is_added_and_what_is_wrong_is_said_at_its_field(open_page, page_faults):
    page_faults.expect("422")
    page = open_page("/libraries?show=add&library=plants")
    source = Path(__file__).parents[1] / "fixtures" / "garden"
    page.get_by_text("More options").click()
    page.get_by_label("At most this many pages").fill("many")
    page.get_by_text("More options").click()
    expect(page.get_by_label("Source")).to_have_js_property("spellcheck", False)
    page.get_by_label("Source").fill(str(source))
    page.get_by_role("button", name="Start").click()
    wrong = page.get_by_label("At most this many pages")
    expect(wrong).to_be_focused()
    expect(wrong).to_have_attribute("aria-describedby", "max_pages-wrong")
    expect(page.locator("#max_pages-wrong")).to_contain_text("integer")
    wrong.fill("")
    page.get_by_label("Source").fill("/etc")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("alert")).to_contain_text("/etc is outside the folders")
    page.get_by_label("Source").fill(str(source))
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".standing")).to_contain_text("succeeded", timeout=30_000)
    page.get_by_role("button", name="Run it again").click()
    expect(page.locator("main")).to_contain_text("unchanged", timeout=30_000)


def test_jobs_wait_where_no_worker_runs_and_can_be_cancelled(open_page, serve, check_axe):
    source = Path(__file__).parents[1] / "fixtures"
    with serve(works=False, mcp_roots=(source,)) as idle:
        page = open_page("/libraries?show=add", of=idle)
        expect(page.locator("main")).to_contain_text("This service works on no jobs itself")
        page.get_by_label("Library").fill("later")
        page.get_by_label("Source").fill(str(source / "garden"))
        page.get_by_role("button", name="Start").click()
        expect(page.locator(".standing")).to_contain_text("waits")
        expect(page.locator("main")).to_contain_text("pgrag worker")
        idle.run(
            "update pgrag.jobs set state = 'running', attempts = 1, worker = 'w',"
            " leased_until = now() + interval '1 hour', started_at = now(),"
            """ progress = '{"done": 10, "total": 40, "documents": 9}'"""
        )
        bar = page.get_by_role("progressbar")
        expect(bar).to_have_attribute("value", "10")
        idle.run("""update pgrag.jobs set progress = '{"done": 20, "total": 40, "documents": 9}'""")
        expect(page.locator(".standing")).to_contain_text(re.compile(r"50%, \d+ (sec|min) left"))
        check_axe(page)
        other = open_page("/libraries", of=idle)
        other.goto("/libraries?show=jobs")
        expect(row(other, "later", "Jobs")).to_contain_text("runs")
        page.get_by_role("button", name="Cancel the job").click()
        expect(page.locator(".standing")).to_contain_text("It ends within seconds.")
        for each in (page, other):
            each.goto("about:blank")


def test_who_may_not_write_is_told_how(open_page, closed_service):
    key = closed_service.make_key("search")
    page = open_page("/libraries?show=upload", of=closed_service, key=key)
    expect(page.locator(".needs")).to_contain_text("This needs a key that may write.")
    expect(page.locator(".needs")).to_contain_text("pgrag keys create NAME --role write")
    expect(page.get_by_role("button", name="Send")).to_have_count(0)
    page.get_by_role("link", name="All libraries").click()
    expect(row(page, "kestrel")).to_be_visible()
    expect(page.locator(".card")).to_have_count(0)


def test_an_empty_service_says_how_to_begin(open_page, serve):
    with serve() as empty:
        empty.run("select pgrag.remove_library(library) from pgrag.libraries()")
        page = open_page("/libraries", of=empty)
        expect(page.locator("main")).to_contain_text("There is no library yet.")
        expect(page.get_by_role("link", name="Add a source")).to_be_visible()


def test_a_page_is_removed_once_that_is_confirmed(open_page, service):
    address = f"{service.url}/v1/libraries/drafts/versions/-/pages/a/old one.md"
    sent = {"content": "# Old", "headers": {"Content-Type": "text/markdown"}}
    httpx.put(address, **sent, trust_env=False, timeout=60).raise_for_status()
    page = open_page("/libraries?library=drafts")
    button = page.get_by_role("button", name="Remove a/old one.md")
    button.click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(button).to_be_focused()
    button.click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("status")).to_have_text("a/old one.md is removed.")
    expect(page.get_by_role("tabpanel")).to_contain_text("There is no such page.")
    assert service.run("select key from pgrag.pages('drafts')") == []
