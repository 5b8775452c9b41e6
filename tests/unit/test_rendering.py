"""A page as HTML: its blocks and their lines, the passage and the words that are marked."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from pgrag.rendering import window as windows
from pgrag.rendering.html import Sought, assembled, rendered_blocks
from pgrag.rendering.links import Links
from pgrag.rendering.marking import Marking, word_pattern
from pgrag.rendering.window import window

PAGE = "https://kestrel.example/guide/restore"
TARGETS = [
    {"target": "backup.md", "fragment": None, "target_page_id": 7,
     "url": "https://kestrel.example/guide/backup", "anchor": None},
    {"target": "Old notes", "fragment": "the end", "target_page_id": 8,
     "url": "/old-notes", "anchor": "the-end"},
    {"target": "", "fragment": "steps", "target_page_id": 9, "url": PAGE, "anchor": "steps"},
    {"target": "Web/API/Document/cookie", "fragment": None, "target_page_id": 10,
     "url": "/web/api/document/cookie", "anchor": None},
]  # fmt: skip
LIST = """\
# Restore

1. Stop the daemon.
2. Copy the spool back.
   - Keep the old one.
3. Start the daemon.

| day | copies |
|:----|-------:|
| Mon | 3 |
| Tue | 4 |

```sh
kestrel stop
kestrel restore /srv
kestrel start
```

The end.
"""


def render(
    text, *, words=(), passage=None, level=2, content="", anchors=None, first_line=1, markdown=True
):
    part = window(text, first_line, wanted=None, is_start=False)
    marking = Marking(Links(PAGE, TARGETS), word_pattern(words))
    sought = passage and Sought(level, passage, content)
    return assembled(rendered_blocks(part, is_markdown=markdown), marking, anchors or {}, sought)


def shown(text, **options):
    return render(text, **options)[0]


def tree(html):
    return LexborHTMLParser(f"<body>{html}</body>")


def texts(html, selector):
    return [node.text(strip=True) for node in tree(html).css(selector)]


@pytest.mark.parametrize(
    ("written", "html"),
    [
        ("Words *and* **more**, ~~gone~~", "<p>Words <em>and</em> <strong>more</strong>, "
         "<s>gone</s></p>"),
        (r"\<b> &lt;i&gt; \*x\* &copy; &#35;", "<p>&lt;b&gt; &lt;i&gt; *x* © #</p>"),
        ("```c++ title\nint <x>;\n```", '<pre><code class="language-c++">int &lt;x&gt;;\n'
         "</code></pre>"),
        ("    kept\n", "<pre><code>kept\n</code></pre>"),
        ("| a | b |\n|--:|---|\n| 1 | 2 |", '<table><thead><tr><th class="align-right">a</th>'
         '<th>b</th></tr></thead><tbody><tr><td class="align-right">1</td><td>2</td></tr></tbody>'
         "</table>"),
        ("A claim[^1].\n\n[^1]: Its source.", '<p>A claim<sup><a href="#fn-1">1</a></sup>.</p>'
         '<p><sup id="fn-1">1</sup> Its source.</p>'),
        ("- [x] done\n- [ ] open", "<ul><li>☑ done</li><li>☐ open</li></ul>"),
        ("> [!WARNING]\n> Hot.", "<blockquote><p><strong>Warning</strong><br>Hot.</p>"
         "</blockquote>"),
        ("!!! note\n    Boxed.", "<p><strong>Note</strong>Boxed.</p>"),
        ("Press <kbd>F1</kbd> <font color=red>now</font>", "<div><p>Press <kbd>F1</kbd> now</p>"
         "</div>"),
        ("<div align=center>\n<p>Middle</p>\n</div>", "<div><div><p>Middle</p></div></div>"),
        ("# Title {#custom .big}", "<h1>Title</h1>"),
        ("<details><summary>More</summary>Text</details>", '<div><details open=""><summary>More'
         "</summary>Text</details></div>"),
        ("<div>\n\nopen *for* good", "<div><div></div></div><p>open <em>for</em> good</p>"),
        ("{{< note >}}\nCareful\n{{< /note >}}", "<p><strong>Note</strong>Careful</p>"),
    ],
)  # fmt: skip
def test_markdown_and_harmless_html_are_rendered(written, html):
    rendered = tree(shown(written))
    for node in rendered.css("[data-lines]"):
        del node.attrs["data-lines"]
    assert rendered.body.html.replace("\n", "") == f"<body>{html}</body>".replace("\n", "")


@pytest.mark.parametrize(
    ("written", "link"),
    [
        ("[Backup](backup.md)", '<a href="https://kestrel.example/guide/backup" data-page-id="7">'),
        ("[b]\n\n[b]: <backup.md>", 'guide/backup" data-page-id="7">b</a>'),
        ("<a href='backup.md' onclick='x()'>B</a>", 'guide/backup" data-page-id="7">B</a>'),
        ("[[Old notes#the end|old]]", '<a href="/old-notes#the-end" data-page-id="8">old</a>'),
        ("[[Nobody]]", "<a>Nobody</a>"),
        ("[Steps](#steps)", f'<a href="{PAGE}#steps" data-page-id="9">'),
        ("[Note](#nowhere)", '<a href="#nowhere">'),
        ("[x](https://x.example/?a=1&b=2 \"T\")",
         '<a href="https://x.example/?a=1&amp;b=2" rel="noopener noreferrer" title="T">'),
        ("See https://x.example/a(b). Then", 'See <a href="https://x.example/a(b" rel='),
        ("`https://x.example`", "<code>https://x.example</code>"),
        ("[gone](other.md)", '<a href="https://kestrel.example/guide/other.md" rel='),
        ("[mail](mailto:a@x.example)", '<a href="mailto:a@x.example" rel='),
        ('{{domxref("Document.cookie")}}',
         '<a href="/web/api/document/cookie" data-page-id="10"><code>Document.cookie</code></a>'),
        ("![The dial](dial.png)", '<a href="https://kestrel.example/guide/dial.png" rel='
         '"noopener noreferrer">The dial</a>'),
        ("[![The dial](dial.png)](backup.md)", 'data-page-id="7">The dial</a>'),
        ("<img src=/dial.png>", '<a href="https://kestrel.example/dial.png" rel='
         '"noopener noreferrer">dial.png</a>'),
        ("![Inline](data:image/png;base64,AAAA)", "Inline</p>"),
    ],
)  # fmt: skip
def test_links_lead_to_indexed_pages_or_out(written, link):
    html = shown(written)
    assert link in html
    assert "<img" not in html


def test_a_page_without_an_address_sends_nobody_to_this_service():
    part = window("[gone](other.md) ![i](i.png)", 1, wanted=None, is_start=False)
    marking = Marking(Links("/guide/restore", []), None)
    html, _ = assembled(rendered_blocks(part, is_markdown=True), marking, {}, None)
    assert "href" not in html


def test_blocks_say_their_lines_in_the_source_and_headings_have_their_anchor():
    html = shown(LIST, first_line=5, anchors={5: 'a"b'})
    assert [node.attrs["data-lines"] for node in tree(html).css("body > *")] == [
        "5-5", "7-10", "12-15", "17-21", "23-23",
    ]  # fmt: skip
    assert tree(html).css_first("h1").attrs["id"] == 'a"b'
    mixed = shown("# A <a name=x></a> heading", anchors={1: "a"})
    assert tree(mixed).css_first("h1").attrs["id"] == "a"


@pytest.mark.parametrize(
    ("lines", "marked"),
    [
        ((19, 19), ["The end."]),
        ((13, 19), ["kestrel stop\nkestrel restore /srv\nkestrel start\n\nThe end."]),
        ((4, 5), ["Copy the spool back.\nKeep the old one."]),
        ((5, 5), ["Keep the old one."]),
        ((10, 10), ["Mon\n3"]),
        ((11, 15), ["Tue\n4", "kestrel stop\nkestrel restore /srv"]),
        ((15, 15), ["kestrel restore /srv"]),
        ((18, 18), []),
    ],
)
def test_a_passage_is_marked_also_where_it_is_a_part_of_a_block(lines, marked):
    html, found = render(LIST, passage=lines)
    parts = tree(html).css(".passage")
    words = ["\n".join(part.text(separator="\n", strip=True).split("\n")) for part in parts]
    assert ["".join(w.split()) for w in words] == ["".join(m.split()) for m in marked]
    assert found == ("lines" if marked else "nothing")
    assert [part.attrs.get("id") for part in parts] == ["passage", None][: len(parts)]


def test_the_summary_of_a_page_marks_nothing_and_a_heading_keeps_its_id():
    assert render(LIST, passage=(1, 19), level=0)[1] == "page"
    assert "passage" not in shown(LIST, passage=(1, 19), level=0)
    html = shown("# Passage\n\nText.", passage=(3, 3), anchors={1: "passage"})
    assert [node.tag for node in tree(html).css("#passage")] == ["h1"]
    assert texts(html, ".passage") == ["Text."]
    # What a page says about classes is text.
    code = shown('`a class="passage"`\n\nText.', passage=(3, 3))
    assert texts(code, "#passage") == ["Text."]


def test_a_passage_of_unknown_lines_is_found_by_its_text():
    content = "Copy the spool back, then start *the daemon*.\n\nNobody waits here."
    text = f"# One\n\nNothing to see in here.\n\n{content}\n\nThe end of the page."
    html, found = render(text, passage=(0, 0), content=content)
    assert found == "text"
    assert texts(html, ".passage > p") == [
        "Copy the spool back, then startthe daemon.", "Nobody waits here.",
    ]  # fmt: skip
    assert render(text, passage=(0, 0), content="Quite another text of words.")[1] == "nothing"


def test_words_are_marked_in_text_and_code_only_and_whole():
    text = (
        "Restore a _folder_: folders, refolder, FOLDER. `folder` [folder](folder.md)\n\n"
        "![folder](folder.png) R&D & amp <b title='folder'>x</b> folder_name\n\n"
        "```folder\nfolder <folder>\n```\n\n文書を検索する"
    )
    html = shown(text, words=["folder", "R&D", "amp", "検索"])
    marks = [node.text() for node in tree(html).css("mark")]
    assert marks == [
        "folder", "FOLDER", "folder", "folder", "folder", "R&D", "amp", "folder", "folder",
        "folder", "検索",
    ]  # fmt: skip
    plain = shown(text)
    assert tree(html).body.text() == tree(plain).body.text()
    assert [node.attributes for node in tree(html).css("a, code")] == [
        node.attributes for node in tree(plain).css("a, code")
    ]


def test_of_another_format_marks_of_dialects_are_words():
    text = "See [[this]], %%that%% and [!NOTE]."
    assert texts(shown(text, markdown=False), "p") == [text]
    assert texts(shown(text), "p") == ["Seethis,  and [!NOTE]."]


def test_a_long_page_is_shown_in_parts_that_follow_each_other(monkeypatch):
    monkeypatch.setattr(windows, "MOST", 2_000)
    code = "\n".join(f"row {number}" for number in range(500))
    chapters = "\n\n".join(f"## Chapter {n}\n\nSee [notes]. Text {n}." for n in range(200))
    body = f"# Long\n\n```\n{code}\n```\n\n{chapters}\n\n[notes]: backup.md\n"
    line, pieces = 4, []
    while line <= 3 + body.count("\n") + 1:
        part = window(body, 4, wanted=line, is_start=True)
        assert part.first == line
        html, _ = assembled(
            rendered_blocks(part, is_markdown=True),
            Marking(Links(PAGE, TARGETS), None), {}, None,
        )  # fmt: skip
        pieces.append(html)
        line = part.last + 1
    assert len(pieces) > 5
    assert "".join("".join(texts(piece, "pre")) for piece in pieces).count("row") == 500
    rows = [word for piece in pieces for word in "\n".join(texts(piece, "pre")).split("\n")]
    assert [row for row in rows if row] == code.split("\n")
    chapters = [text for piece in pieces for text in texts(piece, "h2")]
    assert chapters == [f"Chapter {n}" for n in range(200)]
    assert all('data-page-id="7"' in piece for piece in pieces[-3:-1])
    last = 4 + body.split("\n").index("See [notes]. Text 199.")
    assert tree(pieces[-1]).css("p")[-1].attrs["data-lines"] == f"{last}-{last}"
    around = window(body, 4, wanted=900, is_start=False)
    assert around.first < 900 < around.last
    assert len(around.text) < 2_100


def test_a_paragraph_that_takes_long_to_parse_is_shown_as_written():
    text = "*a **b " * 5_000
    assert shown(text).count("*") == 15_000
