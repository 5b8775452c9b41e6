"""HTML as Markdown: what a reader of the page sees, with the ids that it is published with."""

import pytest

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.formats import convert
from pgrag.ingest.page import PageOptions, read_page
from pgrag.ingest.values import NOWHERE, Origin, SourcePage


def html(body: str, head: str = "") -> bytes:
    page = f"<!DOCTYPE html><html lang='en'><head>{head}</head><body>{body}</body></html>"
    return page.encode()


def markdown(body: str, head: str = "", origin: Origin = NOWHERE) -> str:
    """The text of a page without its front matter."""
    text = convert("page.html", html(f"<main>{body}</main>", head), origin).markdown
    return text.partition("---\n\n")[2].strip()


def read(body: str, head: str = "", key: str = "page.html") -> SourcePage:
    return read_page(key, html(body, head), PageOptions())


def headings(page: SourcePage) -> list[tuple[int | None, str | None, str | None]]:
    return [(c.heading_level, c.heading, c.anchor) for c in page.chunks if c.level == 1]


PAGES = {
    "sphinx": """<div class="related"><nav>Next</nav></div><div class="documentwrapper">
        <div class="body" role="main"><section id="pumps"><span id="old-pumps"></span>
        <h1>Pumps<a class="headerlink" href="#pumps" title="Link">¶</a></h1>
        <div class="admonition note"><p class="admonition-title">Note</p><p>Prime it.</p></div>
        <div class="highlight-python3 notranslate"><div class="highlight"><pre><span></span>
<span class="linenos">1</span><span class="n">run</span>()
</pre></div></div>
        <section id="valves"><h2>Valves<a class="headerlink" href="#valves">¶</a></h2>
        <p>See <a class="reference internal" href="tides.html#ebb">ebb</a>.</p>
        </section></section></div></div><div class="sphinxsidebar">Other pages</div>""",
    "mkdocs": """<nav>Other pages</nav><main><article class="md-content__inner md-typeset">
        <a class="md-content__button" href="edit">Edit</a>
        <h1 id="pumps">Pumps<a class="headerlink" href="#pumps">&para;</a></h1>
        <div class="admonition note"><p class="admonition-title">Note</p><p>Prime it.</p></div>
        <div class="language-python highlight"><table class="highlighttable"><tr>
        <td class="linenos"><pre>1</pre></td><td class="code"><pre><code>run()
</code></pre></td></tr></table></div>
        <h2 id="valves">Valves<a class="headerlink" href="#valves">&para;</a></h2>
        <p>See <a href="../tides.html#ebb">ebb</a>.</p></article></main>""",
    "docusaurus": """<div id="__docusaurus"><main><article><nav>Docs / Pumps</nav>
        <div class="theme-doc-markdown markdown"><header><h1>Pumps</h1></header>
        <div class="theme-admonition theme-admonition-note alert alert--secondary">
        <div class="admonitionHeading_x"><span class="admonitionIcon_x"><svg></svg></span>note</div>
        <div class="admonitionContent_x"><p>Prime it.</p></div></div>
        <div class="language-python codeBlockContainer"><pre class="language-python"><code><span
        class="token-line">run()<br></span></code></pre><button>Copy</button></div>
        <h2 class="anchor" id="valves">Valves<a href="#valves" class="hash-link">\u200b</a></h2>
        <p>See <a href="/tides#ebb">ebb</a>.</p></div><footer>Edit this page</footer>
        </article></main></div>""",
    "vitepress": """<div class="VPDoc"><main class="main"><div class="vp-doc"><div>
        <h1 id="pumps" tabindex="-1">Pumps <a class="header-anchor" href="#pumps">\u200b</a></h1>
        <div class="note custom-block"><p class="custom-block-title">Note</p><p>Prime it.</p></div>
        <div class="language-python"><button class="copy"></button><span class="lang">python</span>
        <pre class="shiki"><code><span class="line">run()</span></code></pre></div>
        <h2 id="valves">Valves <a class="header-anchor" href="#valves">\u200b</a></h2>
        <p>See <a href="./tides.html#ebb">ebb</a>.</p></div></div></main>
        <footer class="VPDocFooter">Next page</footer></div>""",
    "docsy": """<main><div class="td-content"><h1>Pumps</h1>
        <div class="alert alert-info" role="alert"><h4 class="alert-heading">Note</h4>
        Prime it.</div><div class="highlight"><pre><code class="language-python">run()
</code></pre></div><h2 id="valves">Valves<a class="td-heading-self-link" href="#valves"></a></h2>
        <p>See <a href="/docs/tides/#ebb">ebb</a>.</p>
        <div class="td-page-meta">Edit this page</div></div></main>""",
    "docbook": """<div class="navheader">Prev</div><div class="chapter" id="pumps">
        <div class="titlepage"><div><div><h1 class="title">Pumps</h1></div></div></div>
        <div class="note"><h3 class="title">Note</h3><p>Prime it.</p></div>
        <pre class="programlisting language-python">run()</pre>
        <div class="sect1" id="valves"><div class="titlepage"><div><div><h2 class="title">Valves
        <a href="#valves" class="id_link">#</a></h2></div></div></div>
        <p>See <a class="xref" href="tides.html#ebb">ebb</a>.</p></div></div>
        <div class="navfooter">Next</div>""",
    "unknown": """<div class="menu"><a href="/a">Home</a><a href="/b">Prices and more</a></div>
        <div class="wrap"><div class="text"><h1>Pumps</h1><blockquote><p>[!note]</p></blockquote>
        <div class="note"><h3 class="title">Note</h3><p>Prime it.</p></div>
        <pre class="brush: python">run()</pre><a name="valves"></a><h2>Valves</h2>
        <p>See <a href="tides.html#ebb">ebb</a>.</p></div></div>
        <div id="cookie-banner">We use cookies, and so do all of our many partners.</div>""",
}


@pytest.mark.parametrize("generator", PAGES)
def test_every_generator_gives_the_same_page(generator):
    page = read(PAGES[generator])
    found = headings(page)
    assert [heading[:2] for heading in found] == [(1, "Pumps"), (2, "Valves")]
    assert found[1][2] == "valves"
    assert found[0][2] in ("pumps", "")
    assert page.title == "Pumps"
    assert "> [!note]\n>\n> Prime it." in page.body
    assert "```python\nrun()\n```" in page.body
    [edge] = page.edges
    assert (edge.target.strip("/").split("/")[-1][:5], edge.fragment) == ("tides", "ebb")
    for word in ("Next", "Edit", "Other pages", "Home", "cookies", "Copy", "¶"):
        assert word not in page.body


def test_sections_have_the_ids_of_their_signatures_and_permalinks():
    page = read(
        """<main><section id="paths"><h1>Paths</h1><p>Before.</p><dl class="py function">
        <dt class="sig sig-object py" id="os.join"><span class="descname">join</span>(<em>path</em>,
        <em>*paths</em>)<a class="headerlink" href="#os.join">¶</a></dt><dd><p>Join them.</p>
        </dd></dl><p>After.</p></section></main>"""
    )
    paths = (1, "Paths", "paths")
    assert headings(page) == [paths, (2, "join(path, *paths)", "os.join"), paths]
    texts = {chunk.content: chunk.anchor for chunk in page.chunks if chunk.level == 2}
    assert texts == {"Before.": "paths", "Join them.": "os.join", "After.": "paths"}
    page = read("""<div class="documentwrapper"><div class="body" role="main"><section id="id10">
        <span id="54"></span><h2>5.4<a class="headerlink" href="#id10">¶</a></h2><p>Faster.</p>
        </section></div></div>""")
    assert headings(page) == [(2, "5.4", "id10")]


@pytest.mark.parametrize(("table", "expected"), [
    (
        "<thead><tr><th>A</th><th>B</th></tr></thead><tr><td>1 | 2</td><td><b>x</b></td></tr>",
        "| A | B |\n| --- | --- |\n| 1 \\| 2 | **x** |",
    ),
    (
        "<tr><th>A<th>B<th>C<tr><td rowspan=2>1<td>2<td>3<tr><td colspan=2>4",
        "| A | B | C |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| 1 | 4 |  |",
    ),
    ("<tr><td>a</td><td>b</td></tr>", "|  |  |\n| --- | --- |\n| a | b |"),
    ("<tr><td><h2>A</h2><p>one</p></td><td><p>two</p></td></tr>", "## A\n\none\n\ntwo"),
])  # fmt: skip
def test_tables(table, expected):
    assert markdown(f"<table>{table}</table>") == expected


@pytest.mark.parametrize(
    "tabs",
    [
        """<div class="tabbed-set"><input><input><div class="tabbed-labels"><label>Linux</label>
        <label>macOS</label></div><div class="tabbed-content"><div class="tabbed-block"><p>apt</p>
        </div><div class="tabbed-block"><p>brew</p></div></div></div>""",
        """<div class="tabs-container"><ul role="tablist"><li role="tab">Linux</li>
        <li role="tab">macOS</li></ul><div><div role="tabpanel"><p>apt</p></div>
        <div role="tabpanel" hidden><p>brew</p></div></div></div>""",
        """<ul class="nav nav-tabs"><li><a class="nav-link">Linux</a></li><li>
        <a class="nav-link">macOS</a></li></ul><div class="tab-content"><div class="tab-pane">
        <p>apt</p></div><div class="tab-pane"><p>brew</p></div></div>""",
    ],
)
def test_tabs_are_their_labels_with_their_content(tabs):
    assert markdown(tabs) == "**Linux**\n\napt\n\n**macOS**\n\nbrew"


@pytest.mark.parametrize(("body", "expected"), [
    ("<p>a_b *c* _d_ `e` {{ f }} #g [[h]] &lt;i&gt;</p>",
     r"a_b \*c\* \_d\_ \`e\` \{{ f }} \#g \[[h]] \<i>"),
    ("<p>1. x</p><p># y</p><p>- z</p>", "1\\. x\n\n\\# y\n\n\\- z"),
    ("<p>a<em> b </em>c <code>x`y</code> <b></b></p>", "a *b* c ``x`y``"),
    ("<p><code><a href='l.html'>List</a>&lt;E&gt;</code></p>", "[`List`](l.html)`<E>`"),
    ("<p><a href='a b.html'>x</a> <a href='javascript:f()'>y</a></p>", "[x](a%20b.html) y"),
    ("<p><img src='a.png' alt='A pump'><img src='b.png'></p>", "![A pump](a.png)"),
    ("<ul><li><p>a</p><ol start=3><li>b</li></ol></li><li>c</li></ul>", "- a\n  3. b\n- c"),
    ("<ul><li><input type=checkbox checked> done</li></ul>", "- [x] done"),
    ("<dl><dt>ebb</dt><dt>low</dt><dd><p>Out.</p><p>Then in.</p></dd></dl>",
     "**ebb**\n**low**\nOut.\n\nThen in."),
    ('<div id="toc">On this page<ul><li><a href="#x">Parts of it</a></li></ul></div>ok', "ok"),
    ("<details><summary>More</summary><p>x</p></details>", "**More**\n\nx"),
    ('<p>so <span class="math">\\(a_1 < b\\)</span></p>', "so $a_1 < b$"),
    ("<blockquote><p>a</p><pre>b\n\nc</pre></blockquote>",
     "> a\n>\n> ```\n> b\n>\n> c\n> ```"),
    ("<p>x <a id='there'></a></p><p>y <a href='#there'>z</a></p>",
     '<a id="there"/>\n\nx\n\ny [z](#there)'),
])  # fmt: skip
def test_text_links_lists_and_signs(body, expected):
    assert markdown(body) == expected


def test_links_are_relative_in_a_file_and_resolved_at_an_address():
    body = "<p><a href='b.html#x'>b</a> <a href='?q#y'>self</a> <a href='#z'>z</a></p>"
    origin = Origin("text/html", "https://a.example/docs/a.html")
    assert markdown(body) == "[b](b.html#x) [self](?q#y) [z](#z)"
    assert markdown(body, origin=origin) == (
        "[b](https://a.example/docs/b.html#x) [self](https://a.example/docs/a.html?q#y) [z](#z)"
    )
    based = markdown(body, "<base href='/other/'>", origin)
    assert based.startswith("[b](https://a.example/other/b.html#x)")


@pytest.mark.parametrize(("title", "expected"), [
    ("Ebb — Tides 3.1 documentation", "Ebb"),
    ("Ebb | Tides", "Ebb"),
    ("Client - Server", "Client - Server"),
    ("A — B — Site", "A — B"),
    ("Ebb", "Ebb"),
])  # fmt: skip
def test_a_title_is_without_the_name_of_the_site(title, expected):
    assert read("<p>x</p>", f"<title>{title}</title>").title == expected


def test_the_head_gives_description_language_and_encoding():
    page = read("<h1>A</h1>", '<meta name="description" content="All about A">')
    assert page.front_matter == {"title": "A", "description": "All about A", "language": "en"}
    assert page.language == "en"
    page = "<html><head><meta charset='iso-8859-5'></head><body><p>насос</p></body></html>"
    assert "насос" in convert("a.html", page.encode("iso-8859-5")).markdown
    sent = Origin("text/html; charset=koi8-r")
    assert "насос" in convert("a", page.encode("koi8-r"), sent).markdown
    for key, url in [("a/guide.html", "/a/guide.html"), ("a/index.html", "/a"), ("index.htm", "/")]:
        assert read("<p>x</p>", key=key).url == url


@pytest.mark.parametrize("contents", [
    '<h2 id="table-of-contents">Contents<a class="headerlink" href="#table-of-contents">¶</a>'
    "</h2><p>How to write one.</p>",
    '<section id="table-of-contents"><h2>Contents</h2><p>How to write one, so that it lists'
    ' every part, see below.</p><ul><li><a href="#x">X</a></li></ul></section>',
])  # fmt: skip
def test_a_section_about_contents_is_no_table_of_contents(contents):
    assert headings(read(f"<main>{contents}</main>")) == [(2, "Contents", "table-of-contents")]


def test_what_readers_do_not_see_is_left_out_or_told():
    text = markdown("""<div class="td-content"><p>Pumps.</p>
        <div class="section-index"><hr>
        <div class="entry"><h5><a href="/x/">Valves</a></h5><p>About.</p></div></div></div>""")
    assert text == "Pumps."
    converted = convert("a.html", html('<div id="app"></div><script src="app.js"></script>'))
    told = "a.html: shows no text; a page that scripts write cannot be read"
    assert converted.warnings == (told,)


@pytest.mark.parametrize("table", [
    ("<tr>" + "<td colspan=1000 rowspan=1000>x" * 100) + "<tr><td>y" * 100,
    f"<tr><td rowspan=100>{'word ' * 2000}" + "<tr><td>y" * 100,
    "<tr>" + "<td>x" * 2000 + "<tr><td>y" * 2000,
    "<thead>" + "<tr><td>x" * 2000 + "<tr>" + "<td>y" * 2000 + "</thead>",
])  # fmt: skip
def test_a_small_table_makes_no_large_one(table):
    written = markdown(f"<table>{table}</table>")
    assert "x" in written or "word" in written
    assert "y" in written
    assert len(written) < 20 * len(table) + 2000


def test_spans_and_nesting_are_followed_within_limits():
    table = f"<tr><td rowspan=999>{'pump ' * 40}<td>a<tr><td>b<tr><td>c"
    lines = markdown(f"<table>{table}</table>").splitlines()
    assert [line.count("pump") for line in lines] == [0, 0, 40, 40, 40]
    assert [line[-5:] for line in lines[2:]] == ["| a |", "| b |", "| c |"]
    table = "<table><tr><td colspan=60 rowspan=9>x<td>" + "<tr>" * 8 + "</table>"
    page = html(table * 2)
    assert len(page) < 400
    with pytest.raises(
        SourceError, match=rf"^a\.html: has {len(page)} bytes, but becomes \d,\d+ .* 1,600\."
    ):
        read_page("a.html", page, PageOptions(), limit=400)
    assert len(read_page("a.html", page, PageOptions(), limit=4000).body) > 1600
    for tag in ["div", "ul><li", "blockquote", "section"]:
        with pytest.raises(SourceError, match=r"^page\.html: nests more than 5,000 elements"):
            markdown(f"<{tag}>" * 100_000)
    for tag in ["b", "span", "a href=x", "div", "ul><li", "table><tr><td", "dl><dd"]:
        assert "deep" in markdown(f"<p>top</p>{f'<{tag}>' * 1500}deep")
