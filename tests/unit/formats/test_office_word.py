"""What a reader of a document of Word sees, element by element."""

import pytest
from tests.unit.formats.office_files import NAMES, archive, body, docx, p, run, tbl, tc, tr

from pgrag.ingest.formats.formats import convert
from pgrag.ingest.formats.loss import Words

HEADING = '<w:pStyle w:val="H1"/>'
STYLES = f"""<w:styles {NAMES}>
<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Secret"><w:rPr><w:vanish/></w:rPr></w:style>
</w:styles>"""


def numbered(text, depth=0, number=1):
    at = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>'
    return p(text, properties=at)


def field(instruction, *result):
    kinds = [f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in
             ("begin", "separate", "end")]  # fmt: skip
    code = f"<w:r><w:instrText>{instruction}</w:instrText></w:r>"
    return f"{kinds[0]}{code}{kinds[1]}{''.join(map(run, result))}{kinds[2]}"


def test_content_controls_are_read_wherever_they_stand():
    def sdt(content):
        return f"<w:sdt><w:sdtPr/><w:sdtContent>{content}</w:sdtContent></w:sdt>"

    row = tr("Name", "Value")
    control = f"<w:tr>{sdt(tc('port'))}{tc(p(sdt(run('8080'))))}</w:tr>"
    assert body(docx(sdt(sdt(p("Above"))) + tbl(row, sdt(control)))) == (
        "Above\n\n| Name | Value |\n| --- | --- |\n| port | 8080 |"
    )


def test_each_cell_stands_under_its_heading_with_all_its_blocks():
    span, before = '<w:gridSpan w:val="2"/>', '<w:gridBefore w:val="1"/>'
    rows = [
        tr("A", "B", "C"),
        tr(tc("wide", properties=span), "c1"),
        tr("b2", "c2", properties=before),
        tr("a3", tc(p("one"), p("two"), tbl(tr("k", "v"), tr("x", "y"))), "c3"),
        tr("a4", "b4", "c4"),
    ]
    assert body(docx(tbl(*rows))).split("\n")[2:] == [
        "| wide |  | c1 |",
        "|  | b2 | c2 |",
        "| a3 | one two k, v; x, y | c3 |",
        "| a4 | b4 | c4 |",
    ]


def test_heads_of_two_rows_are_one_and_a_deleted_row_is_none():
    merged = ['<w:vMerge w:val="restart"/>', "<w:vMerge/>"]
    rows = [
        tr(tc("Name", properties=merged[0]), tc("Size", properties='<w:gridSpan w:val="2"/>')),
        tr(tc(properties=merged[1]), "min", "max"),
        tr("deleted", "0", "0", properties="<w:del/>"),
        tr("port", "1", "9"),
    ]
    assert body(docx(tbl(*rows))) == (
        "| Name | Size min | Size max |\n| --- | --- | --- |\n| port | 1 | 9 |"
    )


def test_heads_over_several_columns_go_on_in_a_second_row_only_if_it_has_no_other_cells():
    wide = tc("Size", properties='<w:gridSpan w:val="2"/>')
    heads = tbl(tr("", wide), tr("Name", "min", "max"), tr("port", "1", "9"))
    assert body(docx(heads)).startswith("| Name | Size min | Size max |\n| --- |")
    cells = tbl(tr("City", wide), tr("Rome", "1", "2"), tr("Oslo", "3", "4"))
    assert body(docx(cells)).startswith("| City | Size |  |\n| --- |")


def test_a_table_that_arranges_a_page_is_read_cell_by_cell():
    inner = tbl(tr("Key", "Value"), tr("port", "80"))
    page = tbl(tr(tc(p("Left")), tc(p("Right"), inner, p())))
    table = "| Key | Value |\n| --- | --- |\n| port | 80 |"
    assert body(docx(page)) == f"Left\n\nRight\n\n{table}"
    assert body(docx(tbl(tr("A box")))) == "A box"
    heading = tc(p("Scope", properties=HEADING), p("All."))
    styles = {"related": {"s": "styles styles.xml"}, "styles": STYLES}
    assert body(docx(tbl(tr(heading, "Aside")), **styles)) == "# Scope\n\nAll.\n\nAside"


def test_notes_follow_their_paragraph_or_list():
    def note(kind, key):
        return f'<w:r><w:{kind}Reference w:id="{key}"/></w:r>'

    notes = (
        f'<w:footnotes {NAMES}><w:footnote w:id="2">{p("Since 4.2.")}</w:footnote></w:footnotes>'
    )
    ends = f'<w:endnotes {NAMES}><w:endnote w:id="2">{p("Appendix B.")}</w:endnote></w:endnotes>'
    data = docx(
        p("Port", note("footnote", 2), " and", note("endnote", 2)) + p("Next"),
        {"f": "footnotes footnotes.xml", "e": "endnotes endnotes.xml"},
        footnotes=notes,
        endnotes=ends,
    )
    assert body(data) == ("Port[^1] and[^2]\n\n[^1]: Since 4.2.\n\n[^2]: Appendix B.\n\nNext")


EQUATIONS = {
    "<m:sSup><m:e>{a}</m:e><m:sup>{b}</m:sup></m:sSup>": "a^{b}",
    "<m:f><m:num>{a}</m:num><m:den>{b}</m:den></m:f>": r"\frac{a}{b}",
    "<m:sSub><m:e><m:f><m:num>{a}</m:num><m:den>{b}</m:den></m:f></m:e><m:sub>{b}</m:sub></m:sSub>":
        r"{\frac{a}{b}}_{b}",
    "<m:rad><m:deg>{b}</m:deg><m:e>{a}</m:e></m:rad>": r"\sqrt[b]{a}",
    '<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>{a}</m:sub><m:sup>{b}</m:sup>'
    "<m:e>{a}</m:e></m:nary>": r"\sum_{a}^{b} a",
    "<m:d><m:e>{a}</m:e><m:e>{b}</m:e></m:d>": "(a|b)",
    '<m:d><m:dPr><m:begChr m:val="{{"/><m:endChr m:val=""/></m:dPr><m:e>{a}</m:e></m:d>':
        r"\left\{ a \right.",
    "<m:m><m:mr><m:e>{a}</m:e><m:e>{b}</m:e></m:mr><m:mr><m:e>{b}</m:e></m:mr></m:m>":
        r"\begin{matrix} a & b \\ b \end{matrix}",
    '<m:acc><m:accPr><m:chr m:val="&#x20D7;"/></m:accPr><m:e>{a}</m:e></m:acc>': r"\vec{a}",
    "<m:func><m:fName><m:r><m:t>sin</m:t></m:r></m:fName><m:e>{a}</m:e></m:func>": r"\sin a",
    "<m:limLow><m:e><m:r><m:t>lim</m:t></m:r></m:e><m:lim>{a}</m:lim></m:limLow>": r"\lim_{a}",
}  # fmt: skip


@pytest.mark.parametrize(("xml", "tex"), EQUATIONS.items(), ids=EQUATIONS.values())
def test_equations_are_tex(xml, tex):
    letters = {each: f"<m:r><m:t>{each}</m:t></m:r>" for each in "ab"}
    equation = f"<m:oMath>{xml.format(**letters)}</m:oMath>"
    assert body(docx(p("So ", equation, " holds."))) == f"So ${tex}$ holds."
    assert body(docx(p(f"<m:oMathPara>{equation}</m:oMathPara>"))) == f"$${tex}$$"


def test_boxes_follow_their_paragraph_and_alternatives_are_read_once():
    box = f"<w:txbxContent>{p('In a box')}</w:txbxContent>"
    shape = f'<w:drawing><wp:docPr descr="A map"/><wps:txbx>{box}</wps:txbx></w:drawing>'
    old = f"<w:pict><v:shape><v:textbox>{box}</v:textbox></v:shape></w:pict>"
    both = (
        f'<mc:AlternateContent><mc:Choice Requires="wps">{shape}</mc:Choice>'
        f"<mc:Fallback>{old}</mc:Fallback></mc:AlternateContent>"
    )
    assert body(docx(p("Before", f"<w:r>{both}</w:r>") + p("After"))) == (
        "Before![A map]()\n\nIn a box\n\nAfter"
    )
    assert body(docx(p(f"<w:r>{old}</w:r>"))) == "In a box"


def test_hidden_text_is_left_out_and_raised_text_keeps_its_place():
    hidden = run("secret", "<w:vanish/>") + run("shown", '<w:vanish w:val="0"/>')
    moved = run("31", '<w:vertAlign w:val="superscript"/>')
    low = run("2", '<w:vertAlign w:val="subscript"/>')
    secret = p("by style", properties='<w:pStyle w:val="Secret"/>')
    data = docx(
        p(hidden) + p("2", moved, " and H", low, "O") + secret,
        {"s": "styles styles.xml"},
        styles=STYLES,
    )
    assert body(data) == "shown\n\n2³¹ and H₂O"


def test_fields_show_their_result_but_contents_and_page_numbers_are_navigation():
    link = field('HYPERLINK "https://a.example/b"', "the ", "log")
    contents = p(field(r'TOC \o "1-3"', "1 Scope", "7"))
    page = f'<w:fldSimple w:instr="PAGE">{run("7")}</w:fldSimple>'
    name = f'<w:fldSimple w:instr="AUTHOR">{run("Ada")}</w:fldSimple>'
    assert body(docx(contents + p("See ", link, " by ", name, page))) == (
        "See [the log](<https://a.example/b>) by Ada"
    )


def test_links_within_a_document_lead_to_its_bookmarks():
    to = '<w:hyperlink w:anchor="{}">' + run("there") + "</w:hyperlink>"
    mark = '<w:bookmarkStart w:name="{}"/>'
    data = docx(
        p("See ", to.format("limits"), to.format("lost"))
        + p(mark.format("limits"), "Limits", properties=HEADING)
        + p(mark.format("unused"), "Text"),
        {"s": "styles styles.xml"},
        styles=STYLES,
    )
    assert body(data) == "See [there](<#limits>)there\n\n# Limits {#limits}\n\nText"


def test_symbols_and_signs_are_characters():
    sym = '<w:sym w:font="{}" w:char="{}"/>'
    signs = sym.format("Wingdings", "F0FE") + sym.format("Symbol", "F062")
    data = docx(p(f"<w:r>{signs}</w:r>", "<w:r><w:t>A</w:t><w:noBreakHyphen/><w:t>4</w:t></w:r>"))
    assert body(data) == "☑βA-4"


def test_paragraphs_have_the_numbers_that_word_shows():
    levels = [("decimal", "%1."), ("lowerLetter", "(%2)"), ("lowerRoman", "%1.%3")]
    listed = "".join(
        f'<w:lvl w:ilvl="{at}"><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'
        for at, (form, text) in enumerate(levels)
    )
    again = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride>'
    numbering = (
        f'<w:numbering {NAMES}><w:abstractNum w:abstractNumId="0">{listed}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
        f'<w:num w:numId="2"><w:abstractNumId w:val="0"/>{again}</w:num></w:numbering>'
    )
    items = (
        numbered("One") + numbered("Deep", 1) + numbered("Deeper", 2) + numbered("Two")
        + p("Between") + numbered("Inner", 1) + numbered("Seven", number=2)
    )  # fmt: skip
    related = {"n": "numbering numbering.xml"}
    assert body(docx(items, related, numbering=numbering)) == (
        "1. One\n    - (a) Deep\n        - 1.i Deeper\n2. Two\n\nBetween\n\n- (a) Inner\n7. Seven"
    )


def test_bold_lines_are_headings_if_there_are_no_others():
    bold, large = "<w:b/>", '<w:b/><w:sz w:val="32"/>'
    lines = [
        p(run("Handbook", large)), p("Of the gateway."), p(run("1 Start", bold)), p("First."),
        p(run("1.1 Ports", bold)), p("A port."), p(run("2 End", bold)), p("Last."),
        p(run("Note:", bold)),
    ]  # fmt: skip
    assert body(docx("".join(lines))).split("\n\n") == [
        "# Handbook", "Of the gateway.", "## 1 Start", "First.", "### 1.1 Ports", "A port.",
        "## 2 End", "Last.", "Note:",
    ]  # fmt: skip
    address = "".join(p(run(line, bold)) for line in ("Ada Lovelace", "1 Hill Road", "London"))
    assert "#" not in body(docx(address + p("Dear reader,")))


def test_charts_and_diagrams_are_tables_and_lists():
    chart = f"""<c:chartSpace {NAMES}><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sales</a:t>
</a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart><c:ser><c:tx><c:v>2026</c:v></c:tx>
<c:cat><c:strLit><c:pt idx="0"><c:v>North</c:v></c:pt><c:pt idx="1"><c:v>South</c:v></c:pt>
</c:strLit></c:cat><c:val><c:numLit><c:formatCode>0%</c:formatCode><c:pt idx="1"><c:v>.25</c:v>
</c:pt></c:numLit></c:val></c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>"""
    points = "".join(
        f'<dgm:pt modelId="{key}"{kind}><dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t>'
        "</dgm:pt>"
        for key, kind, text in (("0", ' type="doc"', ""), ("1", "", "Plan"), ("2", "", "Do"))
    )
    links = '<dgm:cxn srcId="0" destId="1"/><dgm:cxn srcId="1" destId="2"/>'
    diagram = f"<dgm:dataModel {NAMES}>{points}{links}</dgm:dataModel>"
    shapes = '<c:chart r:id="c"/><dgm:relIds r:dm="d"/>'
    data = docx(
        p(f"<w:r><w:drawing>{shapes}</w:drawing></w:r>") * 2,
        {"c": "chart chart.xml", "d": "diagramData data.xml"},
        chart=chart,
        data=diagram,
    )
    assert body(data) == (
        "Sales\n\n|  | 2026 |\n| --- | --- |\n| North |  |\n| South | 25% |\n\n- Plan\n    - Do"
    )


def test_included_pages_and_an_empty_body_with_a_header_are_read():
    chunk = docx('<w:altChunk r:id="h"/>', {"h": "aFChunk page.xml"}, page="<h2>A</h2><p>b</p>")
    assert body(chunk) == "## A\n\nb"
    header = f"<w:hdr {NAMES}>{p('Memo')}</w:hdr>"
    assert body(docx(p(), {"h": "header header.xml"}, header=header)) == "Memo"
    assert body(docx(p("Text"), {"h": "header header.xml"}, header=header)) == "Text"


def test_strict_namespaces_name_the_same_elements():
    strict = NAMES.replace(
        "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "http://purl.oclc.org/ooxml/wordprocessingml/main",
    )
    assert strict != NAMES
    document = f"<w:document {strict}><w:body>{p('Strict')}</w:body></w:document>"
    assert body(archive({"word/document.xml": document})) == "Strict"


def test_words_are_counted_from_the_file_without_what_is_hidden_or_navigation():
    hidden, deleted = run("secret", "<w:vanish/>"), f"<w:del>{run('old')}</w:del>"
    equation = "<m:oMath><m:r><m:t>E</m:t></m:r></m:oMath>"
    table = tbl(tr("k", "v"), tr("x", tc(p("y"), tbl(tr("z")))))
    data = docx(p("One two", hidden, deleted, equation) + table)
    assert convert("a.docx", data).words == Words(8, 8)
