"""Edges (G4): every form of a link with its line, relations, callouts, tags; nothing in code."""

import time

import pytest

from pgrag.ingest.edges.edges import find_edges, with_defaults
from pgrag.ingest.matter.page_types import PageType, PageTypes
from pgrag.ingest.page import PageOptions, read_page
from pgrag.ingest.text.markdown import read


def page(text, *link_keys):
    types = PageTypes((PageType(link_keys=link_keys),))
    return read_page("folder/page.md", text.encode(), PageOptions(types=types))


def edges(text):
    return list(page(text).edges)


def written(text):
    return [(e.rule.removeprefix("explicit:"), e.target, e.fragment) for e in edges(text)]


def relations(text):
    return [(e.line, e.rule, e.kind, e.target, e.confidence) for e in edges(text)]


LINKS = {
    "[[note]]": ("wikilink", "note", None),
    "[[folder/My note.md|alias]]": ("wikilink", "folder/My note.md", None),
    "[[ note ]]": ("wikilink", "note", None),
    "[[note#Heading]]": ("wikilink", "note", "Heading"),
    "[[note#Heading#Below it]]": ("wikilink", "note", "Heading#Below it"),
    "[[#Heading]]": ("wikilink", "", "Heading"),
    "[[note#^block1]]": ("wikilink", "note", "^block1"),
    "![[note]]": ("embed", "note", None),
    "![[picture.png|300]]": ("embed", "picture.png", None),
    "[text](other.md)": ("link", "other.md", None),
    "[text](../a/other.md#part)": ("link", "../a/other.md", "part"),
    "[text](/docs/concepts/)": ("link", "/docs/concepts/", None),
    "[text](#part)": ("link", "", "part"),
    "[text](<My note.md>)": ("link", "My note.md", None),
    "[text](My%20note.md#A%20part)": ("link", "My%20note.md", "A%20part"),
    '[text](other.md "A title")': ("link", "other.md", None),
    "[text](other.md 'A (title)')": ("link", "other.md", None),
    "[`code` and **bold**](other.md)": ("link", "other.md", None),
    "[a [nested] text](other.md)": ("link", "other.md", None),
    "[text](a_(b).md)": ("link", "a_(b).md", None),
    r"[text](a\_b.md)": ("link", "a_b.md", None),
    "[text](https://example.org/a%20b?x=1&amp;y=2#z)": (
        "link", "https://example.org/a%20b?x=1&y=2", "z",
    ),
    "[text](\nother.md)": ("link", "other.md", None),
    "[[1]](other.md)": ("link", "other.md", None),
    "![alt](picture.png)": ("embed", "picture.png", None),
    "<https://example.org/>": ("link", "https://example.org/", None),
    '<a class="x" href="other.html#part">text</a>': ("link", "other.html", "part"),
    '<img src="picture.png" alt="x">': ("embed", "picture.png", None),
    '[text]({{< ref "/docs/page.md#part" >}})': ("link", "/docs/page.md", "part"),
    '[text]({{% relref "page" %}})': ("link", "page", None),
    '<a href="{{< ref "../a/page#part" >}}">text</a>': ("link", "../a/page", "part"),
    '{{domxref("Window.open()")}}': ("link", "Web/API/Window/open", None),
    '{{HTMLElement("input")}}': ("link", "Web/HTML/Element/input", None),
    '{{jsxref("Array.prototype.map()", "map")}}': (
        "link", "Web/JavaScript/Reference/Global_Objects/Array/map", None,
    ),
    '{{jsxref("Statements/for...in", "for...in")}}': (
        "link", "Web/JavaScript/Reference/Statements/for...in", None,
    ),
    '{{domxref("Document_Object_Model#nodes", "nodes")}}': (
        "link", "Web/API/Document_Object_Model", "nodes",
    ),
    "#project/alpha": ("tag", "project/alpha", None),
    "#2024-plan, and more": ("tag", "2024-plan", None),
    "#тег.": ("tag", "тег", None),
}  # fmt: skip


@pytest.mark.parametrize("source", LINKS)
def test_each_form_of_a_link_is_found_wherever_it_stands(source):
    expected = [LINKS[source]]
    assert written(source) == expected
    assert written(f"Words before, {source} and after.") == expected
    assert written(f"> - quoted {source}\n>   more") == expected
    if "\n" not in source:
        assert written(f"# Heading with {source}\n\nText.") == expected
    if "|" not in source and "\n" not in source:
        assert written(f"| a | b |\n|---|---|\n| x | {source} |\n") == expected


NO_LINKS = [
    "[text](<address>more)",
    "`[[note]]` and ``[text](other.md) ` ``",
    "```\n[[note]] #tag\n```",
    "Text:\n\n    [[note]] #tag\n",
    "- item\n\n      [[note]]\n",
    "<!-- [[note]] [text](other.md)\n\n#tag -->",
    "words <!-- [[note]] --> words",
    "%%[[note]]%% and %%\nover lines\n\n[text](other.md)\n%%",
    "$x_{[[note]]}$",
    "$$\n[[note]]\n$$",
    "[[]] [[|x]] []() [text] [text][nothing]",
    r"\[[note]] \[text](other.md)",
    "#1 # not#a-tag #! C# a#b",
    "## Title { #anchor }\n\nText.",
    "![x](data:image/png;base64,AAAA)",
    '[x]({{ user.url }}) <a href="{{ site }}/x">y</a>',
    "- [ ] open\n- [x] done",
    '<pre>\n<a href="x.html">x</a>\n</pre>',
    "{{< highlight yaml >}}\na: [[note]]\n{{< /highlight >}}",
    "{/* [[note]] */}",
]


def test_links_are_found_behind_code_by_reference_and_around_pictures_alone():
    for text, targets in {
        "`a` [[b]] ``c`` [[d]] ` [[e]]": ["b", "d", "e"],
        "100% of [[a]], 50%% [[b]]": ["a", "b"],
        "$5 for [one](a.md) and $6 for [two](b.md)": ["a.md", "b.md"],
    }.items():
        assert [edge.target for edge in edges(text)] == targets
    text = (
        "[one][Label] [two][] [three] [no]\n\n"
        "[label]: a.md#x\n[two]: <b c.md> 'T'\n\n> [three]: /c\n"
    )
    assert written(text) == [("link", "a.md", "x"), ("link", "b c.md", None), ("link", "/c", None)]
    assert written("A note[^1].\n\n[^1]: [text](a.md)\n") == [("link", "a.md", None)]
    assert written("[![alt](a.png)](b.md) [x [y](c.md)](d.md)") == [
        ("link", "b.md", None), ("embed", "a.png", None), ("link", "c.md", None),
    ]  # fmt: skip
    for source in NO_LINKS:
        assert edges(source) == []


def test_lines_are_those_of_the_source_file():
    text = (
        "---\ntitle: T\n---\n\n# H [[3]]\n\nOne [[4]]\ntwo [x](5.md) and\n[[6]]\n\n"
        "- item [[7]]\n  more\n  [[8]]\n- [[9]]\n\n"
        "| a | b |\n|---|---|\n| [[10\\|x]] | [[11]] |\n| [[12]] | |\n\n"
        "> [!note]\n> [[13]]\n> > [[14]]\n\n"
        "<div>\n<p>\n<a href='15'>x</a>\n</div>\n\n[[16]] #tag\n"
    )
    assert [(edge.target, edge.line) for edge in edges(text)] == [
        ("3", 5), ("4", 7), ("5.md", 8), ("6", 9), ("7", 11), ("8", 13), ("9", 14), ("10", 18),
        ("11", 18), ("12", 19), ("13", 22), ("14", 23), ("15", 27), ("16", 30), ("tag", 30),
    ]  # fmt: skip


def test_inline_relations():
    text = (
        "It [[rel:depends_on]] [[A]] and [[B]], [[C|c]] but [[D]].\n"
        "rel: part-of [[E#part]] [[F]]\n"
        "[[G]]\n"
        "[[rel:Uses H|h]], [I](i.md) and rel: uses [[J]], [k](k.md)\n"
    )
    assert relations(text) == [
        (1, "inline:rel", "depends_on", "A", 0.95),
        (1, "inline:rel", "depends_on", "B", 0.95),
        (1, "inline:rel", "depends_on", "C", 0.95),
        (1, "explicit:wikilink", "references", "D", 1.0),
        (2, "inline:rel", "part_of", "E", 0.95),
        (2, "inline:rel", "part_of", "F", 0.95),
        (3, "explicit:wikilink", "references", "G", 1.0),
        (4, "inline:rel", "uses", "H", 0.95),
        (4, "explicit:link", "references", "i.md", 1.0),
        (4, "inline:rel", "uses", "J", 0.95),
        (4, "inline:rel", "uses", "k.md", 0.95),
    ]
    for text in ("[[rel:depends_on A]] and [[B]]", "[[rel:depends_on A]], [b](B)"):
        found = [(edge.kind, edge.target) for edge in edges(text)]
        assert found == [("depends_on", "A"), ("references", "B")]
    text = (
        "It needs [[rel:depends_on backup]] at night. All else waits.\n\n"
        "> [!edge] related_to: [[reading]]\n> [!edge] supports: [[calm]]\n"
    )
    sentences = ["It needs backup at night.", "related_to: reading", "supports: calm"]
    assert [edge.sentence for edge in edges(text)] == sentences


def test_edge_callouts():
    text = (
        "> [!edge] related_to: [[A]] [[B]]\n> and [c](c.md)\n> Part of: [[D]]\n\n"
        "> [!EDGE]- supports\n> - [[E]]\n> - [[F]]\n>\n> ![[G]]\n\n> [!note] uses: [[H]]\n"
    )
    assert relations(text) == [
        (1, "callout:edge", "related_to", "A", 0.9),
        (1, "callout:edge", "related_to", "B", 0.9),
        (2, "callout:edge", "related_to", "c.md", 0.9),
        (3, "callout:edge", "part_of", "D", 0.9),
        (6, "callout:edge", "supports", "E", 0.9),
        (7, "callout:edge", "supports", "F", 0.9),
        (9, "callout:edge", "supports", "G", 0.9),
        (11, "explicit:wikilink", "references", "H", 1.0),
    ]
    text = (
        "> [!edge] related_to: [[M]]\n> [!edge] depends_on: [[N]] [[O]]\n> [!EDGE]- near [[P]]\n"
        ">\n> [!edge]\n> part of: [[Q]]\n>\n> - [!edge] uses: [[R]]\n> - [[S]]\n"
    )
    assert [(edge.line, edge.kind, edge.target) for edge in edges(text)] == [
        (1, "related_to", "M"),
        (2, "depends_on", "N"),
        (2, "depends_on", "O"),
        (3, "near", "P"),
        (6, "part_of", "Q"),
        (8, "uses", "R"),
        (9, "uses", "S"),
    ]
    assert page("> [!edge] uses: [[A]]\n> [!edge]\n> [[B]]\n> [!edge] near:\n").warnings == (
        "folder/page.md: the callout [!edge] names no kind in line 2",
        "folder/page.md: the callout [!edge] names no target in line 4",
    )
    found = page("One\n\ntwo [[rel:depends_on]], three\n[[rel:uses]] [[A]]\n\n> [!edge] uses:\n")
    assert found.warnings == (
        "folder/page.md: the relation [[rel:depends_on]] names no target in line 3",
        "folder/page.md: the callout [!edge] names no target in line 6",
    )
    assert [(edge.kind, edge.target) for edge in found.edges] == [("uses", "A")]
    assert page("> [!edge]\n> [[A]]\n").warnings == (
        "folder/page.md: the callout [!edge] names no kind in line 1",
    )


FRONT_MATTER = """\
---
title: T
related:
  - "[[A|a]]"
  - folder/b.md#part
  - C# basics
Up: [[D]]
next: "[[E#h]] and [[F]]"
my key: https://example.org/x
other: "[[G]]"
prev: false
tags: [x, y/z]
---

[[H]] #Y/z #w
"""


def test_links_of_the_front_matter_which_stays_in_the_source():
    found = page(FRONT_MATTER, "My-Key")
    assert {edge.document for edge in found.edges[:10]} == {0}
    assert [(e.line, e.rule, e.kind, e.target, e.fragment) for e in found.edges[:10]] == [
        (4, "front_matter:related", "related", "A", None),
        (5, "front_matter:related", "related", "folder/b.md", "part"),
        (6, "front_matter:related", "related", "C# basics", None),
        (7, "front_matter:Up", "up", "D", None),
        (8, "front_matter:next", "next", "E", "h"),
        (8, "front_matter:next", "next", "F", None),
        (9, "front_matter:my key", "my_key", "https://example.org/x", None),
        (10, "front_matter:other", "references", "G", None),
        (12, "tag", "tagged", "x", None),
        (12, "tag", "tagged", "y/z", None),
    ]
    assert [edge.target for edge in found.edges[10:]] == ["H", "Y/z", "w"]
    assert found.tags == ("x", "y/z", "w")
    odd = "---\npeople: [\"[[A]]\", B]\nauthor: [[C]]\nsee: {also: '[d](d.md)'}\nurl: e.md\n---\n"
    assert [(e.line, e.rule, e.kind, e.target) for e in page(odd).edges] == [
        (2, "front_matter:people", "references", "A"),
        (3, "front_matter:author", "references", "C"),
        (4, "front_matter:see", "references", "d.md"),
    ]
    odd = ["\n\n---\na: 1\n---\n\n\nText", "+++\na = 1\n+++\nText", "Text", ""]
    for source in (FRONT_MATTER, *odd):
        found = page(source)
        assert found.head + found.body == source
    assert page("---\naliases: [A, B]\n---\n").aliases == ("A", "B")
    assert page("---\nalias: A, B\n---\n").aliases == ("A", "B")


def test_an_edge_knows_its_words_and_its_chunk():
    text = "# One\n\nFirst sentence. See [the *other*\npage](a.md) here. Last.\n\n# Two\n\n[[b]]\n"
    found = page(text)
    first, second = found.edges
    assert (first.text, first.sentence) == ("the other page", "See the other page here.")
    assert (second.text, second.sentence) == ("b", "b")
    for edge in found.edges:
        chunk = found.chunks[edge.document]
        assert chunk.level == 2
        assert chunk.line_start <= edge.line <= chunk.line_end
    row = edges("| a | b |\n|---|---|\n| [[n\\|name]] | what it is |\n")[0]
    assert row.sentence == "name what it is"
    found = page(" ".join(f"Some words about the [[note {number}]]." for number in range(300)))
    assert len(found.chunks) > 5
    for edge in found.edges:
        assert edge.text in found.chunks[edge.document].content
    found = page(
        "".join(f"- [[note {number}|words]] and #tag{number}\n" for number in range(10_000))
    )
    assert (len(found.edges), found.edges[-2].target) == (20_000, "note 9999")
    assert found.edges[-2].line == 10_000


def test_defaults_of_a_type_follow_each_link():
    found = with_defaults(edges("[[A]] [[rel:uses B]] #tag"), "guide", ["mentions", "near"])
    assert [(e.rule, e.kind, e.target, e.confidence) for e in found] == [
        ("explicit:wikilink", "references", "A", 1.0),
        ("edge_defaults:guide", "mentions", "A", 0.7),
        ("edge_defaults:guide", "near", "A", 0.7),
        ("inline:rel", "uses", "B", 0.95),
        ("tag", "tagged", "tag", 1.0),
    ]


def grows_less(factor, text, count):
    """Whether four times as much takes less than so many times as long.

    A machine that is busy for a moment makes one comparison wrong, a square of the length makes all
    of them wrong.
    """

    def seconds(count):
        started = time.process_time()
        find_edges("page.md", read(text(count))[1])
        return time.process_time() - started

    return any(seconds(4 * count) < factor * max(seconds(count), 0.02) for _ in range(4))


@pytest.mark.parametrize("unit", [
    "[[note]] ", "[x](y.md) ", "[[note]]\n", "- [[note]]\n", "[[rel:a b]] ", "[x] ", "[[a|",
    "[", "![", "<a href='", "`", "$", "<!-- ", "%% ", "{{", "[a](", "[x][y] ", "[![", "``` `",
])  # fmt: skip
def test_many_links_take_linear_time(unit):
    assert grows_less(10, lambda count: unit * count, 1000)


def test_pictures_within_pictures_and_a_tag_that_never_ends_take_linear_time():
    # each picture was read with all that it holds: four times as many took fifteen times as long
    assert grows_less(8, lambda count: "![" * count + "](x.png)" * count, 800)
    assert grows_less(8, lambda count: "<" + "x" * count, 4000)


@pytest.mark.parametrize("unit", ['![(.*)](<a href="[">"</a>)', "![}](https://example.org/[?#))"])
def test_pictures_with_brackets_in_their_addresses_take_no_time(unit):
    # each could begin with its "!" or without it: twice as long for each picture of a sentence
    started = time.process_time()
    find_edges("page.md", read(unit * 160)[1])
    assert time.process_time() - started < 1
