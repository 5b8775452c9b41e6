"""Files become pages: title, url, hash, metadata, and the repair of bad input."""

import time
from collections import Counter
from pathlib import Path

import pytest

from pgrag.ingest.page import PageOptions, read_page, source_hash
from pgrag.ingest.source.source import digest_of
from pgrag.ingest.values import ChunkProfile, Origin

FIXTURES = Path(__file__).parents[1] / "fixtures"
SITE = PageOptions(base_url="https://docs.example.org/en/")


def read(text, key="docs/a.md", options=None):
    data = text.encode() if isinstance(text, str) else text
    return read_page(key, data, options or PageOptions())


def test_everything_that_front_matter_says_is_on_the_page_as_text():
    page = read((FIXTURES / "markdown" / "agoscript_overview.md").read_bytes())
    assert page.title == "agorum core agoscript"
    assert page.link == "https://wiki.example.org/pages/4711"
    assert page.path == ("agorum core für Entwickler", "agorum core agoscript")
    assert page.uuid == "6f9619ff-8b86-d011-b42d-00cf4fc964ff"
    assert (page.topic, page.type, page.language) == ("development", "reference", "de")
    assert (page.tags, page.created) == (("agoscript", "javascript"), "2024-11-05")
    assert page.front_matter["review"] == {"due": "2025-06-30", "open": True, "effort": 1.5}
    assert page.front_matter["reviewers"] == ["hanna", "jörg"]
    assert page.body.startswith("## Übersicht\n")
    assert page.warnings == ()
    evil = "'; drop table pgrag.pages; --"
    page = read(f'---\ntitle: "{evil}"\ntags: ["{evil}"]\n"{evil}": 1\n---\n# {evil}\n\n{evil}\n')
    assert (page.title, page.tags, page.chunks[1].heading) == (evil, (evil,), evil)
    assert page.front_matter[evil] == 1


@pytest.mark.parametrize(("text", "key", "title"), [
    ("---\ntitle: From fields\nname: N\n---\n# Heading", "a.md", "From fields"),
    ("---\nname: From name\n---\n# Heading", "a.md", "From name"),
    ("---\ntitle: [wrong]\n---\n## Two\n\n# X { #id }\n", "a.md", "X"),
    ("# `code` and *more*\n", "a.md", "code and more"),
    ("```\n# no\n```", "guides/getting_started-fast.md", "Getting started fast"),
    ("text", "blog/2024-01-31-new-release.md", "New release"),
    ("text", "guides/pumps/index.md", "Pumps"),
    ("text", "guides/_index.md", "Guides"),
    ("text", "index.md", "Index"),
    ("text", "Über uns.markdown", "Über uns"),
    ("text", "2024-01-31-.md", "2024-01-31-"),
])  # fmt: skip
def test_title(text, key, title):
    assert read(text, key).title == title


@pytest.mark.parametrize(("fields", "body", "slugs", "headings"), [
    ("title: Pumps | Guide", "# Pump types\n\n## Parts", None, ["Pump types", "Parts"]),
    ("title: Pumps", "# PUMPS\n\nText.\n\n## Parts", None, ["Pumps", "Parts"]),
    ("title: Pumps", "Text.\n\n# Parts\n\nText.", None, ["Pumps", "Parts"]),
    ("title: Pumps", "# Seals\n\n# Parts", None, ["Pumps", "Parts"]),
    ("title: Pumps", "# Pump types\n\n## Parts", "hugo", ["Pumps", "Pump types", "Parts"]),
    ("path: [A, B]", "# Pump types\n\n## Parts", None, ["A", "B", "Pump types", "Parts"]),
    ("title: Pumps", "", None, ["Pumps"]),
])  # fmt: skip
def test_the_heading_that_begins_a_page_stands_for_its_title(fields, body, slugs, headings):
    page = read_page("a.md", f"---\n{fields}\n---\n{body}".encode(), PageOptions(slugs=slugs))
    assert list(page.chunks[-1].path) == headings
    assert page.title == (page.front_matter.get("title") or "Pump types")


def test_every_page_has_its_url_paths_and_language_or_those_of_the_library():
    page = "---\ntitle: Pumps (4.2)\n---\n# Pump types\n\nText.\n\n## Parts\n\nText.\n"
    html = (
        "<html><head><title>Pumps (4.2) | Kestrel</title></head><body><main>"
        "<h1>Pump types</h1><p>Text.</p><h2>Parts</h2><p>Text.</p></main></body></html>"
    )
    written, published = read(page), read(html, "a.html")
    assert [chunk.path for chunk in written.chunks] == [chunk.path for chunk in published.chunks]
    assert read("---\nlang: no\n---\ntext").language == "no"
    assert read("text").language is None
    for key, url in [("a/b.md", "/a/b"), ("index.md", "/"), ("a/README.md", "/a")]:
        assert read("text", key).url == url
    for text in ["", "\n\n", "---\n---\n", "#", "<!-- comment -->", "{{APIRef}}", "[a]: b", "***"]:
        page = read(text, "docs/empty-page.md")
        assert page.title == "Empty page"
        assert [chunk.content for chunk in page.chunks] == ["Empty page"]
        assert 1 <= page.chunks[0].line_start <= page.chunks[0].line_end


@pytest.mark.parametrize(("key", "fields", "url"), [
    ("guides/pumps.md", "", "https://docs.example.org/en/guides/pumps"),
    ("guides/index.md", "", "https://docs.example.org/en/guides"),
    ("guides/_index.md", "", "https://docs.example.org/en/guides"),
    ("guides/README.md", "", "https://docs.example.org/en/guides"),
    ("index.mdx", "", "https://docs.example.org/en"),
    ("My notes/Über.md", "", "https://docs.example.org/en/My%20notes/Über"),
    ("a.md", "url: https://other.org/x", "https://other.org/x"),
    ("a.md", "url: /root/x", "https://docs.example.org/root/x"),
    ("b/a.md", "permalink: bases/views", "https://docs.example.org/en/bases/views"),
    ("b/a.md", "permalink: /", "https://docs.example.org/"),
    ("web/api/x/index.md", "slug: Web/API/X", "https://docs.example.org/en/Web/API/X"),
    ("blog/2024-01-31-long.md", "slug: short", "https://docs.example.org/en/blog/short"),
    ("blog/long/index.md", "slug: short", "https://docs.example.org/en/blog/short"),
    ("a.md", "url: 5", "https://docs.example.org/en/5"),
    ("a.md", "url: [x]", "https://docs.example.org/en/a"),
])  # fmt: skip
def test_url(key, fields, url):
    assert read(f"---\n{fields}\n---\ntext", key, SITE).url == url


def test_the_hash_changes_with_the_file_and_with_what_it_is_read_with():
    data = b"# Title\n"
    digest = digest_of(data)
    known = source_hash("a.md", digest, PageOptions())
    assert read(data).source_hash == known
    assert len(known) == 64
    others = {
        source_hash("a.md", digest_of(b"# Title"), PageOptions()),
        source_hash("a.md", digest, SITE),
        source_hash("a.md", digest, PageOptions(language="de")),
        source_hash("a.md", digest, PageOptions(profile=ChunkProfile(preferred=600))),
        source_hash("a.md", digest, PageOptions(overlap_size=60)),
        source_hash("a.md", digest, PageOptions(overlap_strategy="sentences")),
        source_hash("a.md", digest, PageOptions(), origin=Origin("text/markdown")),
        source_hash("a.md", digest, PageOptions(), origin=Origin(None, "https://a.example/")),
    }
    assert len(others | {known}) == 9
    origin = Origin("text/html", "https://a.example/")
    digest = digest_of(b"<h1>Stored")
    page = read_page("a.md", b"# Stored", PageOptions(), origin=origin, digest=digest)
    assert page.source_hash == source_hash("a.md", digest, PageOptions(), None, origin)


@pytest.mark.parametrize(("data", "fragments"), [
    (b"---\ntitle: [open\n---\n# H\n\ntext", ["broken YAML in line 2"]),
    (b"---\n- a\n---\n# H\n\ntext", ["must be fields with values, got a list"]),
    (b"---\n7\n---\n# H\n\ntext", ["must be fields with values, got 7"]),
    (b"---\ndate: 2024-13-45\n---\n# H\n\ntext", ["\"date\" must be a date, got '2024-13-45'"]),
    (b"---\npath: 5\n---\n# H\n\ntext", ['"path" must be a list of strings, got 5']),
    (b"# H\n\nte\0xt", ["1 NUL characters removed"]),
    (b"# H\n\nK\xf6ln text", ["is not UTF-8; read as windows-1252"]),
    (
        b"---\ntitle: K\xf6ln\ntitle: {a\ndate: x\n---\n# H\n\n\0text",
        ["is not UTF-8; read as windows-1252", "NUL", "broken YAML", '"date" must be a date'],
    ),
])  # fmt: skip
def test_bad_input_is_repaired_and_reported_with_the_file(data, fragments):
    page = read(data)
    assert len(page.warnings) == len(fragments)
    for warning, fragment in zip(page.warnings, fragments, strict=True):
        assert warning.startswith("docs/a.md: ")
        assert fragment in warning
    assert page.body.startswith("# H\n\n")
    assert page.chunks[-1].content.endswith(("text", "ext"))
    assert "\0" not in repr(page)


@pytest.mark.parametrize("text", [
    "Lorem ipsum dolor sit amet, consetetur sadipscing elitr. " * 90_000,
    "x" * 5_000_000,
    "# Log\n\n" + "A line of a log that goes on and on, without an end.\n" * 95_000,
    "".join(f"## Heading {n}\n\nSome text below it.\n\n" for n in range(10_000)),
], ids=["one paragraph", "one word", "one section", "ten thousand headings"])  # fmt: skip
def test_a_huge_page_is_read_in_reasonable_time(text):
    begin = time.process_time()
    page = read(text)
    assert time.process_time() - begin < 60
    assert max(len(chunk.content) for chunk in page.chunks) <= 1200
    texts = [chunk for chunk in page.chunks if chunk.level == 2]
    sections = Counter(chunk.parent for chunk in texts)
    assert all(len(each.content) >= 150 or sections[each.parent] == 1 for each in texts)


@pytest.mark.parametrize(("name", "shown", "hidden"), [
    (
        "lantern_property.md",
        [
            "property of Lantern tells",
            "a finite number between",
            "`<meter>` element, styled with accent-color",
            "Lantern-Level header (RFC 9999)",
            'Write `{{domxref("Lantern")}}` to link',
            "```html\n{{ lantern.brightness }}\n<!-- stays, it is code -->\n```",
        ],
        ["APIRef", "EmbedLiveSample", "Compat", "Specifications", "Glossary"],
    ),
    (
        "drain_task.md",
        [
            "drain a basin of version\nversion without",
            "**Note**\nClose the inlet first.",
            "**Steel**\nTurn the wheel",
            "```bash\n# this is a comment, not a heading\nbasinctl",
            "A valve seen from above",
            "* Read [about basins](basins.md).",
        ],
        ["{{", "overview", "Remove this section", "#open-valve"],
    ),
    (
        "install_tabs.mdx",
        ["**With npm**\n\n```bash\nimport x from 'y'\n", "**Before you upgrade**\n\nVersion 3"],
        ["@theme", "toolVersion", "TabItem", ":::", "TODO"],
    ),
    (
        "tutorial_blocks.md",
        [
            "docs_src/gauge/level.py",
            "**Do you use two gauges?**",
            "**Python 3.12+**",
            "**Pressure**",
        ],
        ["///", "hl[9]", "!!!", "{ .step }", "#query"],
    ),
    (
        "vault_note.md",
        [
            "> [!warning] Vorsicht\n> Der Boden",
            "[[Haus#Dach|das Dach]] und ![[Plan.png]]. #wasser",
            "\t- Sicherung liegt im [[Werkzeugkasten]]",
        ],
        ["aliases"],
    ),
    (
        "kiln_cards.mdx",
        [
            "**Gas, Wood**\n**With gas** Open the valve first.\n**wood**\n\nStack the logs",
            "crosswise:\n\n- oak\n  - split in four\n\n"
            "```jsx\n<Card title=\"kept\">{cone}</Card>\nimport x from 'y'\n```",
            "[Cones & temperatures](/cones)\n\nBelow 1 < 2 bars, and `{x}` stays. {braces}",
            "Cool it slowly. Then open.",
            "Don't fire outdoors.",
            "**Keep notes**\n\nThe formula is $a_{i}^{2}$.",
        ],
        ["../", "export", "className", "style", "children", "TODO", "isWinter", "Tab", ":::", "/*"],
    ),
    (
        "lantern_readme.md",
        [
            "[![Build](https://ci.example.org/badge.svg)](https://ci.example.org)",
            "Press `Ctrl`+`L`.",
            "2³¹ times, 10⁻³ s apart, in H₂O vapour. The\n1st lamp was x_(n+1);",
            "`2<sup>3</sup>` and <your-name> are as written, m² too.",
            "Turn **left**.",
            "| key word | meaning |",
            "| `a \\| b` | H₂O |",
            "Inside.",
            "<h2>Code</h2>",
        ],
        ["align", "Old", "<br>", "summary", "**\n"],
    ),
    (
        "pump_note.md",
        [
            "Visible again.",
            "Status: done\nPrice: 12.5",
            "Check due: 2024-05-01 and [[Five]]  `a:: b` `%%kept%%`",
            "Es nutzt [[Qdrant]] und [[Ollama]]; [[Keller]].",
            "> [!tip] Ein Rat\n> Erst lesen.\n\n> uses: [[Oil]]",
            "std::vector and a::b are no fields, 5 %% 2 is one. $x_{i=1}$",
        ],
        ["secret", "Hidden", "^", "rel:", "depends_on", "edge"],
    ),
])  # fmt: skip
def test_pages_of_other_generators(name, shown, hidden):
    data = (FIXTURES / "markdown" / name).read_bytes()
    page = read(data, name)
    content = "\n\n".join(chunk.content for chunk in page.chunks if chunk.level == 2)
    for text in shown:
        assert text in content
    for text in hidden:
        assert text not in content
    assert page.body in data.decode() or name.endswith(".mdx")
    assert page.warnings == ()


def test_html_headings_are_sections_with_their_anchors_and_the_title():
    page = read((FIXTURES / "markdown" / "lantern_readme.md").read_bytes(), "README.md")
    assert page.title == "Lantern A bright light"
    found = [(c.heading, c.line_start, c.anchor) for c in page.chunks if c.level == 1]
    assert found[1:] == [("Usage", 17, "usage"), ("More", 25, "more")]
    for text, headings in [
        ("<h1>A</h1>\n<p>b</p>\n<H2 class=x>C <img src=x alt='D'></H2>\n", ["A", "C D"]),
        ("<div>\n<h1>A</h1>\n</div>\n\nText\n\n<h3><a id='x'></a>B</h3>\n", ["A", "B"]),
        ("<h1>A</h1><p>b</p>\n\nText", ["A"]),
        ("<h1>A</h1><p>b</p><h2>C</h2>", []),
        ("<h1>never closed\n\n# B\n\nText</h1>", ["B"]),
        ("<pre>\n<h1>A</h1>\n</pre>\n", []),
        ("<h1><img src='x.png'></h1>\n\n# B", ["B"]),
    ]:
        shown = read(text.encode(), "a.md").chunks
        assert list(dict.fromkeys(c.heading for c in shown if c.heading)) == headings
        words = " ".join(chunk.content for chunk in shown)
        assert all(word in words for word in ("b", "Text") if word in text)


def test_fields_of_a_note_are_properties_beside_those_of_its_front_matter():
    page = read((FIXTURES / "markdown" / "pump_note.md").read_bytes(), "pump.md")
    assert page.front_matter == {
        "status": "draft",
        "people": ["[[amuratov]]"],
        "Price": 12.5,
        "due": "2024-05-01",
        "rating": "[[Five]]",
    }
    for mark in ("rel:", "edge", "%%secret", "depends_on", "[!"):
        assert mark not in page.chunks[0].content
    text = "a:: 1\na:: two\n**Big key**:: true\n> c:: x\n\n```\nd:: 1\n```\n\nstd::vector\n"
    assert read(text.encode(), "a.md").front_matter == {"a": [1, "two"], "Big key": True, "c": "x"}
