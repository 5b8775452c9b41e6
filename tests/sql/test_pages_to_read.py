"""What a reader of a page needs: the pages beside it and in other versions, its words and links."""

import pytest
from changes import write
from library import refused, run, value

SITE = {
    "_index.md": "# Home\n",
    "start.md": "---\nweight: 1\n---\n# Start\n",
    "about.md": "# About\n",
    "part10/one.md": "# One\n",
    "part9/_index.md": "# Nine\n",
    "part9/b.md": "---\nsidebar_position: 1\n---\n# B\n",
    "part9/a.md": "---\nnav_order: 2.5\n---\n# A\n",
    "part9/c.md": "---\nsidebar: {order: 2}\n---\n# C\n",
    "part9/0.md": "---\nweight: 0\norder: first\n---\n# Unplaced\n",
    "part9/deep/er/leaf.md": "# Leaf\n",
    "tools.md": "# Tools\n",
    "tools/saw.md": "# Saw\n",
    "tools/2.1/notes.rst.md": "# Notes\n",
}
ORDER = [
    "_index.md", "start.md", "about.md", "part9/_index.md", "part9/b.md", "part9/c.md",
    "part9/a.md",
    "part9/0.md", "part9/deep/er/leaf.md", "part10/one.md", "tools.md", "tools/2.1/notes.rst.md",
    "tools/saw.md",
]  # fmt: skip


def page_id(connection, library, version, key):
    return value(
        connection, "select page_id from pgrag.find_page(%s, %s, %s)", library, key, version
    )


def test_pages_follow_each_other_as_the_documentation_does(connection):
    write(connection, "site", "1", SITE)
    for nth, key in enumerate(ORDER):
        rows = run(connection, "adjacent_pages", page_id=page_id(connection, "site", "1", key))
        beside = {row["relation"]: row["key"] for row in rows}
        expected = {"previous": ORDER[nth - 1] if nth else None, "next": (*ORDER, None)[nth + 1]}
        assert beside == {name: other for name, other in expected.items() if other}, key


def test_without_index_pages_the_first_is_first_and_other_versions_do_not_count(connection):
    write(connection, "site", "1", SITE)
    write(connection, "site", "2", {"b/x.md": "# X\n", "b/y.md": "# Y\n", "a.html/z.md": "# Z\n"})
    following = []
    at = page_id(connection, "site", "2", "a.html/z.md")
    while at:
        following.append(value(connection, "select key from pgrag.pages where page_id = %s", at))
        rows = {r["relation"]: r for r in run(connection, "adjacent_pages", page_id=at)}
        at = rows["next"]["page_id"] if "next" in rows else None
    assert following == ["a.html/z.md", "b/x.md", "b/y.md"]
    with refused(connection, "PGR04", "There is no page -1"):
        run(connection, "adjacent_pages", page_id=-1)


def test_a_page_in_the_versions_that_have_it(connection):
    text = "---\nuuid: 5f\n---\n# Restore\n\nCopy back.\n"
    write(connection, "copies", "1.9", {"restore.md": text, "other.md": "# Other\n"})
    write(connection, "copies", "1.10", {"guide/restore.md": text.replace("back", "it back")})
    write(connection, "copies", "next", {"restore.md": text})
    write(connection, "copies", "2.0", {"other.md": "# Other\n"})
    old = page_id(connection, "copies", "1.9", "restore.md")
    rows = run(connection, "page_versions", page_id=old)
    assert [(row["version"], row["key"], row["text_changed"]) for row in rows] == [
        ("next", "restore.md", False),
        ("1.10", "guide/restore.md", True),
        ("1.9", "restore.md", False),
    ]
    assert rows[2]["page_id"] == old
    moved = run(connection, "page_versions", page_id=rows[1]["page_id"])
    assert [row["page_id"] for row in moved] == [row["page_id"] for row in rows]
    assert [row["text_changed"] for row in moved] == [True, False, True]


@pytest.fixture
def harbour(connection):
    files = {
        "tides.md": "---\ntitle: T\n---\n# Tides\n\n"
        "Drying: the sill dries; it **dried** by C++.\n\n"
        "## Häfen\n\nDer Häfen dry-dock, drydock. [Sill](sill.md#top) [[Sill|s]] [S](sill#gone)"
        " [out](https://x.example) [own](#tides)\n",
        "sill.md": "# Sill\n\n## Top\n\nText.\n",
    }
    for version in ("", "2"):
        write(connection, "harbour", version, files)
    return page_id(connection, "harbour", "2", "tides.md")


@pytest.mark.parametrize(
    ("query", "options", "words"),
    [
        ("dry", {}, ["dried", "dries", "dry", "Drying"]),
        ("dry type:none -sill", {}, ["dried", "dries", "dry", "Drying"]),
        ("c++", {}, ["C++"]),
        ("hafen", {}, ["Häfen"]),
        ("dri", {"prefix": True}, ["dried", "dries", "dry", "Drying"]),
        ("sill", {"line_start": 7}, ["Sill"]),
        ("sill", {"line_end": 6}, ["sill"]),
        ("type:guide", {}, []),
        ("nowhere", {}, []),
    ],
)
def test_the_words_that_a_query_matches_as_they_are_written(
    connection, harbour, query, options, words
):
    rows = run(connection, "matched_words", page_id=harbour, query=query, **options)
    found = {row["word"] for row in rows}
    assert {*words} <= found if query.startswith("dr") else found == {*words}
    unversioned = page_id(connection, "harbour", "", "tides.md")
    assert run(connection, "matched_words", page_id=unversioned, query=query, **options) == rows


def test_where_links_lead_that_are_to_indexed_pages(connection, harbour):
    run(connection, "resolve_links", library="harbour")
    rows = run(connection, "link_targets", page_id=harbour)
    sill = page_id(connection, "harbour", "2", "sill.md")
    assert [
        (row["target"], row["fragment"], row["target_page_id"], row["anchor"]) for row in rows
    ] == [
        ("", "tides", harbour, "tides"),
        ("Sill", None, sill, None),
        ("sill", "gone", sill, None),
        ("sill.md", "top", sill, "top"),
    ]
    assert {row["url"] for row in rows} == {"/tides", "/sill"}
