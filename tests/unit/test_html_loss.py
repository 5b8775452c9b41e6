"""The measure of what the readers of HTML keep, without a browser."""

from benchmarks.browser import Shown
from benchmarks.html_loss import Tally, _followed, _pages


def test_shares_headings_and_words_that_are_not_shown():
    tally = Tally()
    shown = Shown("Pumps Note Prime the pump first Valves", ["Pumps", "Note", "Valves"])
    tally.add("a.html", shown, "# *Pumps* {#p}\n\n> [!note]\n>\n> Prime the [pump](first.html)\n")
    tally.add("b.html", Shown("One two", []), "One two menu three")
    assert tally.shares == {"a.html": 5 / 7, "b.html": 1.0}
    assert tally.lost["a.html"] == ["first", "valves"]
    row = tally.row("kit", "pgrag")
    assert row[:4] == ("kit", "pgrag", "2", "0.714")
    assert row[6] == "1"
    assert row[8:] == ("2 of 3", "—")
    assert tally.surplus[1] == 0.5


def test_links_between_pages_are_followed_to_their_ids(tmp_path):
    pages = {
        "a.html": '<h1 id="top">A</h1><p>See <a href="b.html#valve">v</a>, <a href="b.html">b</a>,'
        ' <a href="b.html#no">not there</a>, <a href="c.html">no page</a>, <a href="#top">t</a>.',
        "b.html": '<h1>B</h1><h2 id="valve">Valve</h2><p>x</p>',
        "old.html": '<meta http-equiv="refresh" content="0; url=b.html">',
    }
    for name, body in pages.items():
        (tmp_path / name).write_text(f"<!DOCTYPE html><html>{body}</html>", "utf-8")
    read = _pages(tmp_path, is_all=True)
    assert [page.name for page in read] == ["a.html", "b.html"]
    assert _followed(read, tmp_path) == {True: 3}
