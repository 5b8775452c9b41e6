"""The constructs of each format that files are made of.

`…` stands for other constructs or a word, `§` for a number that differs each time, `¤` for a number
from `NUMBERS`. `FORMATS` names by suffix the constructs, and what stands before and after them.
"""

from dataclasses import dataclass

from campaign.pages import BLOCKS, INLINES, MATTER

NUMBERS = [
    "0", "1", "2", "7", "-1", "100", "1000", "65535", "1048576", "2147483647", "99999999999999",
    "1e9", "x",
]  # fmt: skip
WORDS = [
    "word", "Close the valve.", "", "a", "a b c", "x" * 40, "Größe", "泵阀门", "#a", "a.md", "*",
    "_", "`", "[", "]", "<", "&amp;", "\\", "'", "1.", "-", "|", ":", "=", "@", "{", "}", "$", "~",
]  # fmt: skip
#: Words that stay well-formed in XML and JSON.
PLAIN = ["word", "Close the valve.", "", "a", "a b c", "x" * 40, "Größe", "泵阀门", "&amp;", "#a"]


@dataclass(frozen=True, slots=True)
class Constructs:
    """What a format is made of; `is_strict` formats are refused as a whole when a part is open."""

    units: list[str]
    before: str = ""
    after: str = ""
    is_strict: bool = False


def _templates(formats: list[str]) -> list[str]:
    return [each.format(*["…"] * each.count("{}")) for each in formats]


_MARKDOWN = [
    *_templates(BLOCKS), *_templates(INLINES), "## …§\n\n", "[x](#…§) ", "[^§] ", "[^§]: …\n\n",
    "[§]: x\n", "[x][§] ", "<b id=x§>…</b>", "``` {#x§}\n…\n```\n", "> …", "* ", "  ", "**", "![",
    "](", "<!--", "\\", "[[…", "<…", "`" * 9, "|",
]  # fmt: skip
_HTML = [
    "<p>…</p>", "<p>…", "<div>…</div>", "<div class='c§'>…</div>", "<b>…</b>", "<b a§=1>…",
    "<font a§=1>…", "<p><font a§=1>…", "<p><x a§=1>…</x>", "<a href='#x§'>…</a>", "<p><a href=x>…",
    "<a href=§>…", "<a id=x></a>…", "<a id=x§>…</a>", "<p id=same>…</p>", "<h2 id=x>…</h2>",
    "<h2>…</h2>", "<h1>…", "<ul><li>…</ul>", "<li>…", "<ol start=¤><li value=¤>…</ol>",
    "<table><tr><td>…</table>", "<td colspan=¤ rowspan=¤>…", "<tr>…", "<th colspan=§>…</th>",
    "<tr><td rowspan=¤>…</tr>", "<pre>…</pre>", "<pre><code class=language-§>…</code></pre>",
    "<details><summary>…</summary>…</details>", "<dl><dt>…<dd>…</dl>", "<dt>…", "<blockquote>…",
    "<select><option>…", "<svg><g>…</g></svg>", "<svg><foreignObject>…", "<script>…</script>",
    "<math><mrow><mi>…</mi></mrow></math>", "<math><mfrac><mn>1</mn>…</mfrac></math>", "<mi>…",
    "<msup><mi>x</mi>…</msup>", "<style>…", "<!--…-->", "<!--", "<![CDATA[…]]>", "&amp;", "&#x§;",
    "&not§", "<img src=x§ alt='…'>", "<template>…</template>", "<iframe>…</iframe>", "<nav>…</nav>",
    "<x-y§>…</x-y§>", "<p x§=1 y>…", "<button>…", "<form>…", "<input value='…'>", "<span>…</span>",
    "<ruby>…<rt>x</ruby>", "<br>…", "<hr>", "<noscript>…</noscript>", "<frameset><frame src=x§>",
    "<body a§=1>…", "<html a§=1>…", "<object><param>…", "<caption>…", "<col span=¤>…", "<kbd>…",
    "<sup>…</sup>", "<sup><a href='#f§'>…</a></sup>", "<section><h2>…</h2>…</section>", "</p>",
    "<aside role=note>…", "<p style='display:none'>…", "<input type=radio id=t§>…", "</x>", "</b>",
    "<label for=t§>…</label>", "$$…$$", "\\(…\\)", "<em>…</i>", "<b><p>…</b>", "<td>…", "</table>",
    "<table>…", "<nobr>…", "<tbody>…", "<a name=x§>…", "<footer>…</footer>", "<main>…</main>",
    "<meta name=x§ content='…'>", "<link rel=x href=§>", "<base href=§>", "<title>…</title>",
    "<div class='highlight'><pre>…</pre></div>", "<div class='tab-§ tabs'>…</div>", "<q>…</q>",
    "<figure><figcaption>…</figcaption>…</figure>", "a§=1 ", "a§='…' ", "<p a='…'>", "<p …>x",
    "<area>", "<textarea>…", "<plaintext>", "<xmp>…", "<title>", "<", "</", "<a ", "'", '"', "<p ",
    "<span class='katex'><annotation encoding='application/x-tex'>…</annotation></span>", "</div>",
]  # fmt: skip
_RST = [
    "T…\n=========\n\n", "T§\n====\n\n…\n\n", "Same\n~~~~\n\n", "* …\n", "#. …\n", "…\n  …\n",
    ".. _l§:\n\n", ".. _same:\n\n", ".. |s§| replace:: …\n", "|s§| ", "`x`_ ", "`x <y§>`_ ", "x__ ",
    "[#]_ ", ".. [#] …\n\n", ".. [§] …\n\n", "[§]_ ", "[#a§]_ ", ".. [#a§] …\n\n", "*…*", "**…**",
    "``…``", ":ref:`x§` ", ":func:`x§` ", ".. note:: …\n\n", ".. note::\n\n   …\n\n", "__ x\n\n",
    ".. code-block:: x\n\n   …\n\n", ".. function:: f§(…, b)\n\n   …\n\n", ".. math::\n\n   …\n\n",
    ".. toctree::\n\n   x§\n\n", "+---+---+\n| … | b |\n+---+---+\n\n", "=== ===\n… b\n=== ===\n\n",
    ".. list-table::\n\n   * - …\n     - b\n\n", ".. csv-table::\n\n   …,b\n\n", ":field§: …\n",
    "| …\n", "::\n\n   …\n\n", "..\n", ">>> …\n", "-a§  …\n", ".. contents::\n\n", "\\", "|", "_ ",
    ".. default-role:: x§\n\n", ".. include:: x§\n\n", ".. image:: x§\n\n", "   …", "…\n\n", "`",
    ".. only:: html\n\n   …\n\n", ".. glossary::\n\n   t§\n      …\n\n", ":term:`t§` ", "*", "``",
    ".. tabs::\n\n   .. tab:: …\n\n      x\n\n",
    ".. class:: C§\n\n   .. method:: m§\n\n      …\n\n", ".. versionadded:: §\n   …\n\n",
    ".. index:: …\n\n", ".. rubric:: …\n\n", "   .. note:: …\n\n", "`…`:x§: ", ":x§:`…` ",
    ".. role:: r§(x)\n\n", ".. unknown§:: …\n\n", "+---", "| ", "====\n", "https://x.org/§ ", "a_ ",
    ".. _a: b_\n\n", "|a|_ ", "- …\n", "  - …\n\n", "§. …\n", ":ref:`",
]  # fmt: skip
_ASCIIDOC = [
    "== T§\n\n…\n\n", "= T\n", "== Same\n\n", "* …\n", "** …\n", ". …\n", "t§:: …\n", "t:::: …\n",
    "|===\n|… |b\n|===\n\n", "a|…\n", ".¤+|…\n", "¤*|…\n", "----\n…\n----\n", "====\n…\n====\n",
    "NOTE: …\n\n", "[[x§]]\n", "[[x§]] ", "<<x§>> ", "xref:x§[…] ", "link:x§[…] ", "|…", "+\n",
    "https://x.org/§[…] ", "*…*", "_…_", "`…`", "+…+", "{a}", "{a§}", ":a§: …\n", ":a: {a}{a}\n",
    "footnote:[…] ", "image::x§[…]\n", "image:x§[…] ", "include::x§[]\n", "ifdef::x§[]\n…\n",
    "endif::[]\n", "[source,x§]\n", ".T§\n", "+\n--\n…\n--\n", "<§> …\n", "'''\n", "kbd:[…] ",
    "stem:[…] ", "pass:[…] ", "^…^", "~…~", "((…))", "////\n…\n////\n", "btn:[…] ", '"`…`"',
    '[%header,cols="¤*,¤*"]\n', "term;; …\n", "[quote]\n____\n…\n____\n", "++++\n…\n++++\n", "--\n",
    "[.x§]#…#", "…\n====\n", "[#x§]\n", "// …\n", "--\n…\n--\n", "|===\n", "====\n", "{", "<<", "[",
    "[NOTE]\n====\n…\n====\n", "menu:a[…] ", "…\n\n", "…\n----\n\n", "…::\n", '[x="…"]\n', "*", "`",
    ":a: …\n", "anchor:x§[] ", "bibliography::[]\n", "[[[x§]]] ", "- …\n", "!===\n!…\n!===\n", "\\",
]  # fmt: skip
_MAN = [
    ".SH …\n", ".SS …\n", ".PP\n…\n", ".TP\n…\n…\n", ".IP … 4\n", ".B …\n", "\\fB…\\fR", ".RE\n",
    ".nf\n…\n.fi\n", ".RS\n…\n.RE\n", ".RS\n", ".ds s§ …\n", ".ds a \\*a\\*a\n", "\\*[s§]", "\\*a",
    ".de m§\n…\n..\n", ".m§\n", ".de m\n.m\n..\n.m\n", ".if n …\n", ".TS\nl l.\n…\tb\n.TE\n", "…\n",
    ".EQ\n…\n.EN\n", ".Sh …\n", ".It …\n", ".Bl -tag\n", ".Bl\n.It …\n.El\n", ".Fl …\n", "\\&",
    '.\\" …\n', "\\h'¤'", "\\s¤", "\\(co", "\\[u§]", ".ft B\n", ".UR x§\n…\n.UE\n", ".ig\n…\n..\n",
    ".while 1 \\{\\\n.}\n", ".in +¤\n", ".ll ¤\n", ".sp ¤\n", ".ti ¤\n", ".BR … x\n", ".Xr … 1\n",
    ".Bd -literal\n…\n.Ed\n", ".Nm …\n", ".Op …\n", ".Ar …\n", ".Sx …\n", ".Bo …\n", ".nr x§ ¤\n",
    ".rm x§\n", ".so x\n", ".tr …\n", ".ta ¤\n", "\\w'…'", ".EX\n…\n", ".SY …\n.OP …\n.YS\n", "\t",
    ".TS\nl.\nT{\n…\nT}\n.TE\n", ".ce ¤\n", ".Bl -column … …\n", ".Em …\n", "…", ".Ql …\n",
    ".Pf …\n",
]  # fmt: skip
_QUARTO = [
    *_MARKDOWN, "::: {.callout-note}\n…\n:::\n", "```{r}\n#| label: x§\n…\n```\n", "@fig-§ ",
    "{{< include x§ >}}\n", "`r …` ", "::: {#fig-§}\n…\n:::\n", "^[…]", "[…]{.x§}", ":::\n",
    "::: {.panel-tabset}\n## …\n:::\n", "::::: {.x§}\n", "```{python}\n", "#| x§: …\n", "<!-- …\n",
]  # fmt: skip
_TEXT = [
    "…\n", "… …", "====\n", "* …\n", "\t…\n", "1. …\n", "TITLE§\n=====\n", "    …\n", "…\n\n",
    "…  …\n", "- …", "NAME\n     … - x\n", "SYNOPSIS\n", "       …\n", "§  …   …\n",
    "+--+\n|…|\n+--+\n", "\x0c", "> …\n", "A. …\n", "§.§.§ …\n", "…-\n   ", "X(1)   x   X(1)\n",
    "..........§\n", "|…|…|\n", " ",
]  # fmt: skip
_MDX = [
    *_MARKDOWN, "import X§ from 'x'\n\n", "export const a = {\n…\n}\n\n", "<Tabs>…</Tabs>\n",
    "<Tab a={…}>…", "{…}", "{/* … */}", "<A§ b={`…`} />\n", "<>…</>", "{props.x§}", "{", "<A ",
    "export const a§ = '…'\n", "{`…`}", "<Note>\n\n…\n\n</Note>\n", "<A {...…}>", "=> {", "`${",
]  # fmt: skip
_YAML = [
    *_templates(MATTER), "a§: …\n", "a§: &a§ [*a, *a]\n", "a: &a …\n", "&a§ {", "- …\n", "  ", "[",
    "{a: ", "? ", "- - …\n", "a§: *a\n", "x: [*a, *a, *a]\n", "<<: [*a, *a§]\n", "!!x ", "&x ",
    "related: [a§.md]\n", "tags: [t§, …]\n", "a§: |\n  …\n", "'…': …\n", "a: '", 'b: "\\u00e9…',
]  # fmt: skip
_TOML = [
    "a§ = …\n", "[t§]\n", "[[t]]\n", "a.b.c§ = 1\n", "a = [", "a§ = {b = …}\n", "a = '''…", "a.",
    "[a.b.c.d§]\n", "a§ = '…'\n", 'a = "\\u00e9…"\n', "[[a.b]]\n", "#…\n", "x§ = ¤\n",
]  # fmt: skip
_JSON = ['"a§": "…",\n', '"a": [', '"a": {', "[", "{", '"a§": ¤,\n', '"\\u00e9…",', "]}"]

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_WORD = [
    "<w:p>…</w:p>", "<w:p><w:r><w:t>…</w:t></w:r></w:p>", "<w:r><w:t>…</w:t></w:r>",
    "<w:sdt>…</w:sdt>", "<w:sdt><w:sdtContent>…</w:sdtContent></w:sdt>",
    "<w:r><w:rPr><w:b/></w:rPr>…</w:r>", "<w:tbl>…</w:tbl>", "<w:tr>…</w:tr>", "<w:tc>…</w:tc>",
    "<w:tbl><w:tr><w:tc>…</w:tc></w:tr></w:tbl>",
    '<w:tr><w:tc><w:tcPr><w:gridSpan w:val="¤"/></w:tcPr>…</w:tc></w:tr>',
    '<w:tr><w:trPr><w:gridBefore w:val="¤"/></w:trPr>…</w:tr>', "<w:hyperlink>…</w:hyperlink>",
    '<w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr>…</w:tc>', '<w:footnoteReference w:id="¤"/>',
    '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>…</w:t></w:r></w:p>',
    '<w:p><w:pPr><w:numPr><w:ilvl w:val="¤"/><w:numId w:val="¤"/></w:numPr></w:pPr>…</w:p>',
    '<w:bookmarkStart w:id="§" w:name="b§"/>',
    '<w:hyperlink w:anchor="b§"><w:r><w:t>…</w:t></w:r></w:hyperlink>', "<w:ins>…</w:ins>",
    "<w:del>…</w:del>", "<w:moveFrom>…</w:moveFrom>", "<w:r><w:tab/><w:br/></w:r>",
    '<w:r><w:fldChar w:fldCharType="begin"/></w:r>',
    "<w:r><w:instrText>HYPERLINK …</w:instrText></w:r>",
    '<w:r><w:fldChar w:fldCharType="end"/></w:r>', "<w:r><w:pict>…</w:pict></w:r>",
    "<w:smartTag>…</w:smartTag>", "<w:r><w:drawing>…</w:drawing></w:r>",
    "<w:txbxContent>…</w:txbxContent>", '<w:sym w:char="F0§"/>', "<m:oMath>…</m:oMath>",
    "<m:oMath><m:r><m:t>…</m:t></m:r></m:oMath>", "<m:f><m:num>…</m:num><m:den/></m:f>",
    "<m:sSup><m:e>…</m:e><m:sup>…</m:sup></m:sSup>", "<m:d><m:e>…</m:e></m:d>",
    "<m:m><m:mr><m:e>…</m:e></m:mr></m:m>",
    '<mc:AlternateContent><mc:Choice Requires="wps">…</mc:Choice>'
    "<mc:Fallback>…</mc:Fallback></mc:AlternateContent>",
    "<mc:AlternateContent><mc:Fallback>…</mc:Fallback></mc:AlternateContent>", "<w:x§>…</w:x§>",
    "<w:fldSimple>…</w:fldSimple>",
    '<w:p w:rsidR="§"><w:pPr><w:ind w:left="¤"/><w:outlineLvl w:val="¤"/></w:pPr>…</w:p>',
    "<!-- … -->",
]  # fmt: skip
_SLIDES = [
    "<p:sp><p:txBody>…</p:txBody></p:sp>", "<a:p>…</a:p>", "<a:r><a:t>…</a:t></a:r>",
    "<p:grpSp>…</p:grpSp>", "<p:sp><p:txBody><a:p><a:r><a:t>…</a:t></a:r></a:p></p:txBody></p:sp>",
    "<a:tbl>…</a:tbl>", "<a:tr>…</a:tr>", '<a:tc gridSpan="¤" rowSpan="¤">…</a:tc>',
    "<a:tc><a:txBody><a:p><a:r><a:t>…</a:t></a:r></a:p></a:txBody></a:tc>",
    "<p:graphicFrame><a:graphic><a:graphicData><a:tbl>…</a:tbl>"
    "</a:graphicData></a:graphic></p:graphicFrame>", '<a:p><a:pPr lvl="¤"/>…</a:p>',
    '<p:sp><p:spPr><a:xfrm><a:off x="§" y="¤"/></a:xfrm></p:spPr><p:txBody>…</p:txBody></p:sp>',
    '<p:sp><p:nvSpPr><p:nvPr><p:ph type="title" idx="¤"/></p:nvPr>'
    "</p:nvSpPr><p:txBody>…</p:txBody></p:sp>", "<a:br/>",
    "<mc:AlternateContent><mc:Fallback>…</mc:Fallback></mc:AlternateContent>",
    "<a:fld><a:t>…</a:t></a:fld>", "<p:pic>…</p:pic>",
    '<p:graphicFrame><a:graphic><a:graphicData><c:chart r:id="s0"/>'
    "</a:graphicData></a:graphic></p:graphicFrame>",
]  # fmt: skip
_SHEET = [
    '<row r="§">…</row>', '<c r="A§"><v>…</v></c>',
    '<row><c t="inlineStr"><is><t>…</t></is></c></row>', "<row>…</row>",
    '<row r="¤"><c r="XFD¤"><v>1</v></c></row>', '<c t="s"><v>§</v></c>', '<c s="§"><v>¤</v></c>',
    '<c r="B2"><v>…</v></c>', '<row r="§" hidden="1">…</row>', "<c><f>…</f><v>x</v></c>",
    '<c t="b"><v>1</v></c>', '<c t="s"><v>0</v></c>', "<x§>…</x§>",
]  # fmt: skip
_ODF = [
    "<text:p>…</text:p>", "<text:span>…</text:span>", '<text:h text:outline-level="¤">…</text:h>',
    "<text:list>…</text:list>",
    "<text:list><text:list-item><text:p>…</text:p></text:list-item></text:list>",
    '<text:s text:c="¤"/>', "<text:tab/>", '<text:a xlink:href="#x§">…</text:a>',
    '<text:bookmark text:name="x§"/>', "<table:table>…</table:table>",
    "<table:table-row>…</table:table-row>",
    '<table:table-row table:number-rows-repeated="¤">…</table:table-row>',
    '<table:table-cell table:number-columns-repeated="¤" table:nu'
    'mber-columns-spanned="¤">…</table:table-cell>',
    "<table:table-cell><text:p>…</text:p></table:table-cell>", "<text:section>…</text:section>",
    "<draw:frame>…</draw:frame>",
    "<text:note><text:note-citation>§</text:note-citation><text:note-body>"
    "…</text:note-body></text:note>", "<draw:g>…</draw:g>",
    '<text:p text:style-name="S§">…</text:p>', "<draw:text-box>…</draw:text-box>",
    "<text:line-break/>", "<x§>…</x§>", "<text:tracked-changes>…</text:tracked-changes>",
    '<text:reference-mark text:name="x§"/>', "<draw:page>…</draw:page>",
]  # fmt: skip
_XHTML = [each for each in _HTML if each.count("</") == each.count("<") - each.count("</")
          and "'" not in each and "=" not in each] + [
    '<p id="x§">…</p>', '<a href="#x§">…</a>', '<td colspan="¤" rowspan="¤">…</td>', "<br/>",
    "<a/>", "<p/>", "<a id='x§'/>", '<h2 id="x">…</h2>', '<a href="x§">…</a>', "<script/>", "<i/>",
    "&#x§;", "&nbsp;", "<table><tr><td>…</td></tr></table>",
]  # fmt: skip
_PDF = [
    "BT /F1 12 Tf 72 ¤ Td (…) Tj ET\n", "(…) Tj ", "[(…) § (…) ¤] TJ\n", "q … Q\n", "q ",
    "1 0 0 1 § ¤ cm ", "/X Do ", "0 0 m ", "§ ¤ l ", "S\n", "f\n", "0 0 § § re ", "T* ",
    "/F1 ¤ Tf ", "/P <</MCID §>> BDC … EMC\n", "BI /W 9 /H 9 ID x EI ", "<4142> Tj ", "BT … ET\n",
    "1 0 Td ", "/F1 12 Tf 1 0 0 1 § § Tm (word) Tj ", "§ Tc ", "¤ Tw ", "¤ TL ", "0 § Td (w§) Tj ",
    "1 2 3 4 § § c ", "W n ", "/GS gs ", "§ w 0 § m 600 § l S\n", "§ 0 m § 800 l S\n", "/X sh ",
    "(", "[", "<<", "… ' ", "30 TL (…) ' ",
]  # fmt: skip
_SITEMAP = [
    "<url><loc>https://x.org/§</loc></url>", "<sitemap><loc>https://x.org/§…</loc></sitemap>",
    "<url>…</url>", "<loc>…</loc>", "<lastmod>¤-01-01</lastmod>", "<x:y§ xmlns:x='x§'>…</x:y§>",
    "<url a§='…'>…</url>", "<!-- … -->", "<url><loc>…</loc></url>",
]  # fmt: skip
_ROBOTS = [
    "User-agent: x§\n", "User-agent: *\n", "Disallow: /…\n", "Disallow: /x§*\n", "Allow: /*a", "*a",
    "*", "Disallow: /*…$\n", "%§", "Sitemap: https://x.org/§\n", "Crawl-delay: ¤\n",
    "Request-rate: ¤/¤\n", "# …\n", "Disallow: ", "\n", "Allow: /*a*a*a*a*a*b\n",
]  # fmt: skip
_LLMS = [
    "# …\n", "# T§\nSource: https://x.org/§\n\n…\n", "Source: ", "…\n", "URL: <https://x.org/…>\n",
    "# \n", "\n",
]  # fmt: skip
_VERSIONS = [
    '{"version": "§", "url": "…"},', '{"version": §},', "[…],", '{"a": …},', "[", "{", '"…",',
]  # fmt: skip

_XML = '<?xml version="1.0" encoding="UTF-8"?>'
_PAGE = "<html><head><title>x</title></head><body><main>"
FORMATS = {
    "md": Constructs(_MARKDOWN),
    "front.md": Constructs(_YAML, "---\n", "\n---\nText.\n"),
    "toml.md": Constructs(_TOML, "+++\n", "\n+++\nText.\n"),
    "json.md": Constructs(_JSON, "{\n", "}\n\nText.\n"),
    "mdx": Constructs(_MDX, "import A from 'a'\n\n"),
    "html": Constructs(_HTML, _PAGE),
    "htm": Constructs(_HTML),
    "xhtml": Constructs(
        _XHTML, f'{_XML}<html xmlns="http://www.w3.org/1999/xhtml"><body>', "</body></html>", True
    ),
    "rst": Constructs(_RST),
    "adoc": Constructs(_ASCIIDOC),
    "1": Constructs(_MAN, ".TH X 1\n.SH NAME\nx \\- y\n"),
    "8": Constructs(_MAN, ".Dd January 1, 2026\n.Dt X 8\n.Os\n.Sh NAME\n"),
    "qmd": Constructs(_QUARTO),
    "txt": Constructs(_TEXT),
    "ipynb": Constructs(_MARKDOWN),
    "docx": Constructs(_WORD, is_strict=True),
    "pptx": Constructs(_SLIDES, is_strict=True),
    "xlsx": Constructs(_SHEET, is_strict=True),
    "odt": Constructs(_ODF, is_strict=True),
    "epub": Constructs(_XHTML, is_strict=True),
    "pdf": Constructs(_PDF),
    "zip": Constructs(_MARKDOWN),
    "tar": Constructs(_MARKDOWN),
    "sitemap": Constructs(_SITEMAP, "<urlset>", "</urlset>", is_strict=True),
    "robots": Constructs(_ROBOTS, "User-agent: *\n"),
    "inv": Constructs(_TEXT),
    "llms": Constructs(_LLMS),
    "versions": Constructs(_VERSIONS, "[", "0]"),
}
