"""Elements of HTML: code, formulas, links around blocks, terms, ids and XHTML as they are shown."""

import pytest

from pgrag.ingest.formats.formats import convert
from pgrag.ingest.page import PageOptions, read_page
from pgrag.ingest.values import NOWHERE, Origin, SourcePage


def markdown(body: str) -> str:
    page = f"<!DOCTYPE html><html><body><main>{body}</main></body></html>"
    text = convert("page.html", page.encode()).markdown
    return text.partition("---\n\n")[2].strip() if text.startswith("---") else text.strip()


def read(page: str, key: str = "page.html", origin: Origin = NOWHERE) -> SourcePage:
    return read_page(key, page.encode(), PageOptions(), origin=origin)


def sections(body: str) -> list[tuple[int | None, str | None, str | None]]:
    page = read(f"<html><body><main>{body}</main></body></html>")
    return [(c.heading_level, c.heading, c.anchor) for c in page.chunks if c.level == 1]


@pytest.mark.parametrize(("shown", "expected"), [
    ("<pre><code><div>a {</div><div>  b</div>\n<div>}</div></code></pre>", "a {\n  b\n}"),
    ("<pre><ol class='linenums'><li><span>a</span></li><li></li><li>c</li></ol></pre>", "a\n\nc"),
    ("<pre><code><div class='ec-line'><div class='gutter'><div class='ln'>1</div></div>"
     "<div class='code'>a</div></div><div class='ec-line'><div class='code'>\n</div></div>"
     "<div class='ec-line'><div class='code'>c</div></div></code></pre>", "a\n\nc"),
    ("<pre class='shiki'><code><span class='line'>a</span>\n<span class='line'></span>\n"
     "<span class='line'>c</span></code></pre>", "a\n\nc"),
    ("<pre><code style='display:grid'><span data-line>a</span><span data-line>b</span></code>"
     "</pre>", "a\nb"),
    ("<pre><span class='token-line' style='display:block'>a<br></span>"
     "<span class='token-line' style='display:block'>b<br></span></pre>", "a\nb"),
    ("<pre><span class='line'>a</span><br><span class='line'></span><br>"
     "<span class='line'>b</span><br></pre>", "a\n\nb"),
    ("<pre><div>a</div><br><div>b</div></pre>", "a\n\nb"),
    ("<pre>a<br>b<button class='copy'>Copy</button><span class='copy-btn'>Copied!</span></pre>",
     "a\nb"),
    ("<table class='hljs-ln'><tr><td class='hljs-ln-line hljs-ln-numbers'>1</td>"
     "<td class='hljs-ln-line hljs-ln-code'>42</td></tr></table>", "42"),
    ("<table><tr><td class='blob-num'>1</td><td class='blob-code'>a</td></tr>"
     "<tr><td class='blob-num'>2</td><td class='blob-code'>  b</td></tr></table>", "a\n  b"),
    ("<table class='lntable'><tr><td class='lntd'><pre><code><span class='lnt'>1\n</span></code>"
     "</pre></td><td class='lntd'><pre><code>a\n</code></pre></td></tr></table>", "a"),
    ("<div class='fragment'><div class='line'><span class='lineno'>  1</span>&#160;a;</div>"
     "<div class='line'><span class='lineno'>  2</span>&#160;  b;</div></div>", "a;\n  b;"),
    ("<code style='display: block'>a\n  b</code>", "a\n  b"),
    ("<p><code>a<br>b</code></p>", "a\nb"),
    ("<pre>2<sup>31</sup>\n<span aria-hidden='true'>x</span>b</pre>", "2³¹\nb"),
])  # fmt: skip
def test_code_is_read_line_by_line(shown, expected):
    assert markdown(shown) == f"```\n{expected}\n```"


@pytest.mark.parametrize(("body", "expected"), [
    ("2<sup>31</sup> 10<sup>-3</sup> H<sub>2</sub>O x<sup><i>n</i></sup>", "2³¹ 10⁻³ H₂O xⁿ"),
    ("1<sup>st</sup> word<sup><a href='#f'>1</a></sup> word<sup>[2]</sup>",
     "1st word[1](#f) word[2]"),
    ("e<sup>x/2</sup> v<sub>max</sub> <code>2<sup>8</sup></code>", "e^(x/2) v_(max) `2⁸`"),
    ("<math><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math>", "E = mc²"),
    ("<math><mfrac><mrow><mo>-</mo><mi>a</mi><mo>+</mo><mn>1</mn></mrow><mn>2</mn></mfrac><mo>≤</mo>"
     "<msqrt><mi>x</mi></msqrt></math>", "(-a + 1)/2 ≤ √(x)"),
    ("<math><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr><mtr><mtd><mi>a</mi></mtd>"
     "<mtd><mover><mi>x</mi><mo>¯</mo></mover></mtd></mtr></mtable></math>", "[1, 0; a, x̄]"),
    ("<math><semantics><mi>a</mi><annotation encoding='application/x-tex'>a_{1}</annotation>"
     "</semantics></math>", "$a_{1}$"),
    ("<math alttext='{\\displaystyle a_{1}}'><mi>a</mi></math>", "$a_{1}$"),
    ("<span class='mwe-math-element'><span style='display: none'><math alttext='a^2'></math></span>"
     "<img alt='a^2'></span>", "$a^2$"),
    ("<img class='math' src='a.png' alt='a_1'>", "$a_1$"),
    ("<span class='MathJax'>a1</span><script type='math/tex'>a_1</script>", "$a_1$"),
    ("<script type='math/tex; mode=display'>a_1</script>", "$$a_1$$"),
    ("so \\(a_1 + \\beta\\) and $x_1*y*$, \\(foo\\) of sed for $5",
     "so $a_1 + \\beta$ and $x_1*y*$, \\\\(foo\\\\) of sed for $5"),
    ("<ruby>漢<rt>kan</rt></ruby> <ruby>字<rp>(</rp><rt>ji</rt><rp>)</rp></ruby>",
     "漢(kan) 字(ji)"),
])  # fmt: skip
def test_formulas_and_raised_text_are_readable(body, expected):
    assert markdown(f"<p>{body}</p>") == expected


@pytest.mark.parametrize(("body", "expected"), [
    ("<a href='i.html'><h2 id='in'>Install</h2><p>Get it.</p></a>",
     "## [Install](i.html) {#in}\n\nGet it."),
    ("<a href='i.html'><div>Install</div><div>Get it.</div></a>",
     "[Install](i.html)\n\nGet it."),
    ("<ul><li><a href='i.html'><h3>Install</h3></a></li></ul>", "### [Install](i.html)"),
    ("<a href='i.html'><pre>x</pre></a>", "```\nx\n```\n\n[i.html](i.html)"),
])  # fmt: skip
def test_a_link_around_blocks_is_kept(body, expected):
    assert markdown(body) == expected


@pytest.mark.parametrize(("body", "expected"), [
    ("<ol><li>one</li><p>between</p><li>two</li></ol>", "1. one\n\n   between\n2. two"),
    ("<ul><li>one</li>stray</ul>", "- one\n\n  stray"),
    ("<dl><dt>a</dt><dd>b</dd>stray<p>more</p></dl>", "**a**\nb\n\nstray\n\nmore"),
    ("<dl><div><dt>a</dt><dd>b</dd></div><div>note</div></dl>", "**a**\nb\n\nnote"),
    ("<table><tr><td>one <b>cell</b></td></tr></table>", "one **cell**"),
    ("<table><tr><td><ul><li>a</li></ul></td><td>b</td></tr></table>", "- a\n\nb"),
    ("<table><tr><th>In</th></tr><tr><td><pre>a\nb</pre></td></tr></table>",
     "In\n\n```\na\nb\n```"),
    ("<div class='math'>\\[a\\]</div><div class='math'><p><img alt='b'></p></div>",
     "$$a$$\n\n$$b$$"),
    ("<font><b><h2>A</h2></b></font>", "## A"),
    ("<div role='heading' aria-level='3'>A</div>", "### A"),
    ("<div hidden='until-found'><p>a</p></div><div hidden><p>b</p></div>", "a"),
    ("<noscript><p>a</p></noscript><div id='app'></div>", "a"),
    ("<noscript><p>a</p></noscript><p>b</p>", "b"),
    ("<ul><li>a<dl><dt id='t'>T</dt><dd>b</dd></dl></li><li>c</li></ul>",
     '- a\n\n  <a id="t"/>\n\n  **T**\n  b\n- c'),
])  # fmt: skip
def test_nothing_is_lost_in_lists_and_layouts(body, expected):
    assert markdown(body) == expected


def test_headings_in_quotes_and_boxes_are_sections_and_what_follows_is_not():
    text = markdown("""<h2>A</h2><blockquote><h3>B</h3><p>b</p></blockquote><p>a</p>
        <div class="note"><p>n</p><h4>C</h4><p>c</p></div><p>a</p>""")
    assert text == "## A\n\n### B\n\nb\n\n## A\n\na\n\n> [!note]\n\nn\n\n#### C\n\nc\n\n## A\n\na"


def test_a_page_without_headings_has_its_bold_lines():
    assert markdown("<p><b>Oil</b></p><p>Grease it.</p>") == "## Oil\n\nGrease it."
    assert markdown("<h1>A</h1><p><b>Oil</b></p><p>b</p>") == "# A\n\n**Oil**\n\nb"
    assert markdown("<p><b>It is so.</b></p>") == "**It is so.**"


def test_published_terms_are_sections_by_any_way_to_write_an_id():
    body = """<h2 id="opt">Options</h2><dl><dt class="hdlist1"><a id="core.autocrlf"></a>
        core.autocrlf</dt><dd>Line ends.<dl><dt><span id="in"></span>input</dt><dd>LF.</dd></dl>
        </dd><dt id="no-verify"><code>--no-verify</code></dt><dt id="n"><code>-n</code></dt>
        <dd>Skip hooks.</dd><a name="last"></a><dt>--last</dt><dd>It.</dd></dl><p>After.</p>"""
    assert sections(body) == [
        (2, "Options", "opt"),
        (3, "core.autocrlf", "core.autocrlf"),
        (4, "input", "in"),
        (3, "--no-verify", "no-verify"),
        (3, "--last", "last"),
        (2, "Options", "opt"),
    ]
    assert '<a id="n"/>' in markdown(body)
    assert "\n> " not in markdown(f"<ul><li>{body}</li></ul>")
    assert "# core.autocrlf {#core.autocrlf}" in markdown(f"<ul><li>{body}</li></ul>")
    summary = "<h2>A</h2><details id='why'><summary>Why?</summary><p>So.</p></details>"
    assert sections(summary) == [(2, "A", ""), (3, "Why?", "why")]


def test_ids_that_other_pages_link_to_are_kept():
    text = markdown("""<p id="p1">a <span id="s"></span>b</p><p id="ab">c <b><a name="n">d</a></b>
        <a id="id3" href="x.html">e</a></p><table><tr id="row"><td><a id="cell"></a>f</td><td>g</td>
        </tr></table><div id="wrap"><p>h <code><a id="co"></a>i</code></p></div>""")
    assert text.count("<a id=") == 7
    for name in ("p1", "s", "ab", "n", "row", "cell", "co"):
        assert f'<a id="{name}"/>' in text


PAGE = """<?xml version="1.0" encoding="UTF-8"?><?xml-stylesheet href="a.css"?>
<!DOCTYPE html [<!ENTITY maker "Wombat &amp; Co">]>
<html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="nav.js"/></head><body>
<h1>Turbine</h1><p>Of &maker;<br></br><![CDATA[a <b> & c]]></p><!-- <p/> --><textarea/>
<a id="oil"/><h2>Oil</h2><p>Grade <i/>68.</p></body></html>"""


def test_xhtml_is_read_as_xml_is():
    page = read(PAGE, "turbine.xhtml")
    assert page.title == "Turbine"
    text = page.body
    assert "# Turbine\n\nOf Wombat & Co\na \\<b> & c\n\n## Oil {#oil}\n\nGrade 68." in text
    served = Origin("application/xhtml+xml; charset=utf-8")
    bare = "<html xmlns:h='http://www.w3.org/1999/xhtml'><h:body><h:a id='x'/><h:p>a</h:p><h:p>b"
    assert read(f"{bare}</h:p></h:body></html>", "page", served).body.strip().endswith("a\n\nb")
    assert read(f"<!-- <?xml -->{PAGE[PAGE.index('<html') :]}").title != "Turbine"  # HTML as it is


@pytest.mark.parametrize(("body", "title"), [
    ("<h1>1. Overview</h1><p>x</p><h1>2. Use</h1><p>y</p>", "SELECT"),
    ("<h1>Choosing rows</h1><p>x</p><pre># comment</pre>", "Choosing rows"),
    ("<h2>News</h2><h1>Choosing rows</h1>", "SELECT"),
    ("<p>x</p>", "SELECT"),
    ("<h1><img src='l.png' alt='logo'> Kettle</h1>", "Kettle"),
])  # fmt: skip
def test_the_title_of_a_page_is_its_only_large_heading_or_that_of_its_head(body, title):
    page = f"<html><head><title>SELECT — Manual</title></head><body>{body}</body></html>"
    assert read(page).title == title


def test_xhtml_without_ends_takes_linear_time():
    for part in ("<!--", "<![CDATA[", "<?x", '<a "', "<script>", "<!DOCTYPE [", "<a x='"):
        page = f"<?xml version='1.0'?><html><body><p>top</p>{part * 20_000}"
        assert "top" in convert("a.xhtml", page.encode()).markdown


def test_a_page_of_frames_is_their_links():
    text = read("""<html><head><title>API</title></head><frameset><frame src="a.html" title="All">
        <frame src="b.html"><noframes>See <a href="c.html">plain</a></noframes></frameset>""")
    assert text.title == "API"
    assert text.body.strip() == "- [All](a.html)\n- [b.html](b.html)\n- [plain](c.html)"


def test_a_notice_that_asks_for_scripts_is_no_text():
    app = "<noscript>You need JavaScript to run this app.</noscript><div id=app></div>"
    assert markdown(app) == ""
