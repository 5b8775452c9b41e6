"""Which part of a page of HTML is its text, whatever published it."""

import pytest

from pgrag.ingest.formats.formats import convert
from pgrag.ingest.formats.loss import Words, count_words


def text_of(body: str, head: str = "") -> str:
    """The text of a page without its front matter."""
    page = f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>"
    markdown = convert("page.html", page.encode()).markdown
    return markdown.removeprefix("---\n").rpartition("---\n\n")[2].strip()


#: What each page shows beside its text contains "menu", all other words are its text.
PAGES = {
    "articles with a title before them": """<header>menu</header><main><h1>News</h1>
        <article><h2>Ebb</h2><p>one</p></article><article><h2>Flow</h2><p>two</p></article>
        </main>""",
    "articles without main": """<div id="sidebar"><a href="/">menu</a></div><h1>News</h1>
        <article><h2>Ebb</h2><p>one</p></article><article><h2>Flow</h2><p>two</p></article>""",
    "chapters of DocBook": """<div class="book"><div class="titlepage"><h1>News</h1></div>
        <div class="toc"><dl><dt><a href="#e">menu</a></dt><dt><a href="#f">menu</a></dt></dl></div>
        <div class="chapter" id="e"><h2>Ebb</h2><p>one</p></div>
        <div class="appendix" id="f"><h2>Flow</h2><p>two</p></div></div>""",
    "a large part in the middle": f"""<h1>News</h1><h2>Ebb</h2><p>one</p><div><h2>Flow</h2>
        <p>{"two " * 90}</p></div><p>End.</p>""",
    "several main": "<main><h1>News</h1><h2>Ebb</h2>one</main><main><h2>Flow</h2>two</main>",
    "an empty main": "<main id='main-content'></main><h1>News</h1><h2>Ebb</h2>one<h2>Flow</h2>two",
    "pandoc": """<header id="title-block-header"><h1 class="title">News</h1></header>
        <nav id="TOC"><a href="#e">menu</a></nav><h2 id="e">Ebb</h2><p>one</p><h2>Flow</h2>
        <p>two</p>""",
    "Texinfo": """<div class="header"><p>Next: <a href="b.html" accesskey="n" rel="next">menu</a>,
        Up: <a href="t.html" accesskey="u" rel="up">menu</a> &nbsp; [<a href="i.html">Index</a>]
        </p></div><h1>News</h1><h2>Ebb</h2><p>one</p><h2>Flow</h2><p>two</p>""",
    "Texinfo without rel": """<div class="header"><p>Next: <a href="b.html">menu</a>, Previous: <a
        href="a.html">menu</a>, Up: <a href="t.html">menu</a> [<a href="c.html">Contents</a>]</p>
        </div><h1>News</h1><h2>Ebb</h2><p>one</p><h2>Flow</h2><p>two</p><hr><div><p>
        Next: <a href="b.html">menu</a></p></div>""",
    "LaTeX2HTML": """<div class="navigation"><a href="b.html"><img alt="next"></a> <b>Next:</b>
        <a href="b.html">menu</a> <b>Up:</b> <a href="t.html">menu</a></div><h1>News</h1>
        <h2>Ebb</h2><p>one</p><h2>Flow</h2><p>two</p>""",
    "neighbours without a name": """<p>[<a href="a">Previous</a>] [<a href="b">Next</a>]</p>
        <h1>News</h1><h2>Ebb</h2><p>one</p><h2>Flow</h2><p>two</p>
        <table><tr><td><a href="a">Prev</a></td><td><a href="t">Up</a></td></tr></table>""",
    "MediaWiki": """<div id="content" role="main"><h1>News</h1><div class="mw-parser-output">
        <div id="toc" class="toc"><h2>menu</h2><ul><li><a href="#E">Ebb</a></ul></div>
        <h2><span id="E">Ebb</span><span class="mw-editsection">[<a href="e">menu</a>]</span></h2>
        <p>one</p><h2>Flow</h2><p>two</p></div><div class="printfooter">menu</div></div>""",
    "GitBook": """<nav>menu</nav><main><header><h1>News</h1></header><div><h2>Ebb</h2><p>one</p>
        <h2>Flow</h2><p>two</p></div></main><aside>menu</aside>""",
    "Starlight": """<div class="page"><header>menu</header><nav class="sidebar">menu</nav><main>
        <div class="content-panel"><h1>News</h1></div><div class="content-panel"><h2>Ebb</h2>
        <p>one</p><h2>Flow</h2><p>two</p></div></main></div>""",
    "mdBook": """<nav id="sidebar">menu</nav><div id="page"><div id="menu-bar"><h1>menu</h1></div>
        <main><h1>News</h1><h2>Ebb</h2><p>one</p><h2>Flow</h2><p>two</p></main></div>""",
    "Antora": """<main class="article"><div class="toolbar"><nav>menu</nav></div><div
        class="content"><aside class="toc sidebar"><a href="#e">menu</a></aside><article
        class="doc"><h1>News</h1><h2 id="e">Ebb</h2>one<h2>Flow</h2>two</article></div></main>""",
    "YARD": """<div id="main"><div id="header"><div id="menu"><a href="i">menu</a></div></div><div
        id="content"><h1>News</h1><h2>Ebb</h2><p>one</p><h2>Flow</h2><p>two</p></div></div>""",
    "Confluence": """<div id="main"><div id="main-header"><div id="breadcrumb-section"><ol
        id="breadcrumbs"><li><a href="i">menu</a></li></ol></div><h1>News</h1></div><div
        id="content"><h2>Ebb</h2><p>one</p><h2>Flow</h2><p>two</p></div></div>""",
    "Javadoc": """<header><nav>menu</nav></header><main role="main"><div class="header"><h1>News
        </h1></div><h2>Ebb</h2><p>one</p><h2>Flow</h2><p>two</p></main>""",
    "rustdoc": """<div class="rustdoc"><nav class="sidebar">menu</nav><main><section
        id="main-content"><h1>News</h1><a class="srclink" href="s">menu</a><h2>Ebb</h2><p>one</p>
        <h2>Flow</h2><p>two</p></section></main></div>""",
    "pdoc": """<nav class="pdoc"><a href="i">menu</a></nav><main class="pdoc"><section><h1>News
        </h1><h2>Ebb</h2>one</section><section><h2>Flow</h2>two</section></main>""",
    "a foot without the tag": """<h1>News</h1><h2>Ebb</h2><p>one</p><h2>Flow</h2><p>two</p>
        <div class="footer">menu <a href="c">of copyrights</a></div>""",
}


@pytest.mark.parametrize("name", PAGES)
def test_all_of_the_text_is_read_and_no_navigation(name):
    text = text_of(PAGES[name])
    lines = [line.split(" {#")[0] for line in text.split("\n") if line.startswith("#")]
    assert lines == ["# News", "## Ebb", "## Flow"]
    for word in ("one", "two"):
        assert word in text
    for word in ("menu", "Previous", "Next", "Index"):
        assert word not in text


@pytest.mark.parametrize("body", [
    # Texinfo lists the parts of a chapter in a menu
    """<h2>Pumps</h2><ul class="menu"><li><a href="v.html">Valves</a></li></ul>""",
    # Doxygen names the text of every page "contents"
    """<div class="header"><div class="headertitle">Pumps</div></div><div class="contents">
    <ul><li><a href="v.html#a">Valves</a></li><li><a href="v.html#b">Seals</a></li></ul></div>""",
    # a page of links
    """<h1>Pumps</h1><ul><li><a href="v.html">Valves</a></li><li><a href="#s">Seals</a></li></ul>
    """,
    """<div class="nav"><a href="v.html">Valves</a> <a href="s.html">Seals</a></div>""",
    # a part of the page that is named like navigation
    """<h1>Pumps</h1><div class="menu"><p>The menu Valves opens and closes them one by one; press
    <a href="k.html">its key</a>.</p></div>""",
    # commands that are called like the neighbours of a page
    """<h1>Pumps</h1><ul><li><a href="n.html">next</a></li><li><a href="v.html">Valves</a></ul>""",
    """<p>x</p><footer class="p">menu</footer><article><footer>Valves</footer></article>""",
    """<h1>Pumps</h1><aside>Valves are described with all of their seals in the next part.</aside>
    """,
    """<h1>Pumps</h1><pre class="src src-sh">Valves</pre>""",
    """<h1>Pumps</h1><svg><title>x</title><text>Open</text><text>Valves</text></svg>""",
])  # fmt: skip
def test_what_only_resembles_navigation_stays(body):
    assert "Valves" in text_of(body)


def test_main_leaves_out_what_is_no_text():
    """A title before `<main>`, or much prose around it, is text, too."""
    outside = "<div>Share this page with the people whom you know.</div>"
    assert text_of(f"{outside}<main><h1>Ebb</h1>one</main>") == "# Ebb\n\none"
    assert text_of("<h1>Ebb</h1><main>one</main>") == "# Ebb\n\none"
    prose = "<p>Every pump has a valve.</p>" * 9
    assert text_of(f"{prose}<main><h2>Ebb</h2>one</main>").count("valve") == 9


def test_words_count_what_a_reader_sees():
    page = """<div class="td-content"><h1>Two words</h1><p hidden>not seen</p></div>
        <div>lost words <a href="/">navigation</a></div><nav>menu</nav><footer>foot</footer>"""
    assert convert("a.html", f"<!DOCTYPE html>{page}".encode()).words == Words(4, 2)
    cells = "<!DOCTYPE html><table><tr><td>a</td><td>b</td></tr></table>c<br>d<b>e</b>"
    assert convert("a.html", cells.encode()).words == Words(4, 4)
    numbered = "<table><tr><td class=gutter><pre>1\n2</pre><td class=code><pre>a\nb</pre></table>"
    assert convert("a.html", f"<!DOCTYPE html>{numbered}".encode()).words == Words(2, 2)


def test_marks_and_addresses_are_no_words():
    assert count_words("printf를 a*b [x]", "`printf`를 a\\*b [\\[x]](printf.html)") == Words(3, 3)
    assert count_words("one two two", "[three](two.html) one") == Words(3, 1)


@pytest.mark.parametrize("piece", [
    "<div class=nav>", "<article>", "<div class=toc>", "<header>",
    "<div><p><a rel=next href=x>y</a></p>",
])  # fmt: skip
def test_nested_navigation_ends(piece):
    assert "text" in text_of(f"{piece * 1500}text")
