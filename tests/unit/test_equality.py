"""How a benchmark compares a site with its sources."""

from benchmarks.equality import ReadPage, compare, pairs


def page(
    key: str, *sections: tuple[tuple[str, ...], str], text: str = "", title: str = ""
) -> ReadPage:
    read = ReadPage(key, title)
    for headings, anchor in sections:
        read.add(1, headings, anchor, "")
    read.add(2, (), "", text)
    return read


def by_key(*pages: ReadPage) -> dict[str, ReadPage]:
    return {each.key: each for each in pages}


def test_pages_belong_together_by_name_or_title():
    written = by_key(
        page("guide/_index.md"), page("guide/GettingStarted.md"), page("A.md", title="T")
    )
    crawled = by_key(
        page("guide/index.html"),
        page("guide/getting-started/index.html"),
        page("b.html", title="T"),
        page("search.html"),
    )
    assert pairs(written, crawled) == {
        "guide/_index.md": "guide/index.html",
        "guide/GettingStarted.md": "guide/getting-started/index.html",
        "A.md": "b.html",
    }


def test_what_differs_is_told_apart():
    written = by_key(page("a.md", (("What's new",), "new"), (("Old",), "old"), (("Gone",), "gone")))
    crawled = by_key(page("a.html", (("What’s new",), "new"), (("Old",), "old-1"), (("More",), "")))
    found = compare(written, crawled)
    assert (found.sections, found.equal) == (3, 1)
    assert found.differences == {
        "other anchor": ["a.md: Old #old"],
        "only in the sources": ["a.md: Gone #gone"],
        "only on the site": ["a.html: More #"],
    }


def test_words_code_and_rows_count_as_shown():
    written = by_key(page("a.md", text=(
        "See [it](b.md).\n\n```python hl_lines='1'\nrun()\n```\n\n```{note}\nPrime it.\n```\n\n"
        "| a | b |\n|---|:--|\n| 1 | [2](x) |\n"
    )))  # fmt: skip
    crawled = by_key(page("a.html", text=(
        "See [it](https://x/b).\n\n> ```python\n> run()\n> ```\n\n> [!note]\n> Prime\n\n"
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n"
    )))  # fmt: skip
    found = compare(written, crawled)
    assert (found.code, found.rows, found.words) == ((1, 1), (2, 2), (8, 9))
