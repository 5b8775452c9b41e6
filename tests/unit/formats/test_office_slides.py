"""What a reader of a presentation sees."""

from tests.unit.formats.office_files import NAMES, body, pptx, tree_of

from pgrag.ingest.formats.formats import convert
from pgrag.ingest.formats.loss import Words


def line(text, properties=""):
    return f"<a:p><a:r><a:rPr{properties}/><a:t>{text}</a:t></a:r></a:p>"


def shape(*lines, kind="", hidden="0"):
    placeholder = f'<p:ph type="{kind}"/>' if kind else ""
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr hidden="{hidden}"/><p:nvPr>{placeholder}</p:nvPr></p:nvSpPr>'
        f"<p:txBody>{''.join(lines)}</p:txBody></p:sp>"
    )


def frame(content):
    return (
        f"<p:graphicFrame><a:graphic><a:graphicData>{content}</a:graphicData></a:graphic>"
        "</p:graphicFrame>"
    )


def test_a_chart_is_its_title_and_a_table_of_its_series():
    def series(name, *values):
        points = "".join(f'<c:pt idx="{at}"><c:v>{v}</c:v></c:pt>' for at, v in enumerate(values))
        names = '<c:pt idx="0"><c:v>North</c:v></c:pt><c:pt idx="1"><c:v>South</c:v></c:pt>'
        return (
            f"<c:ser><c:tx><c:strRef><c:strCache><c:pt><c:v>{name}</c:v></c:pt></c:strCache>"
            f"</c:strRef></c:tx><c:cat><c:strRef><c:strCache>{names}</c:strCache></c:strRef></c:cat>"
            f"<c:val><c:numRef><c:numCache><c:formatCode>#,##0</c:formatCode>{points}"
            "</c:numCache></c:numRef></c:val></c:ser>"
        )

    chart = (
        f"<c:chartSpace {NAMES}><c:chart><c:title><a:p><a:r><a:t>Turnover</a:t></a:r></a:p>"
        f"</c:title><c:plotArea>{series('2025', 1000, 2)}{series('2026', 3000.4)}</c:plotArea>"
        "</c:chart></c:chartSpace>"
    )
    slide = shape(line("Sales"), kind="title") + frame('<c:chart r:id="c"/>')
    assert body(pptx(slide, related={"c": "chart c.xml"}, c=chart), "a.pptx") == (
        "## Sales\n\nTurnover\n\n|  | 2025 | 2026 |\n| --- | --- | --- |\n"
        "| North | 1,000 | 3,000 |\n| South | 2 |  |"
    )


def test_raised_text_links_pictures_and_merged_cells_are_kept():
    powers = "<a:p>" + "".join(
        f'<a:r><a:rPr baseline="{place}"/><a:t>{text}</a:t></a:r>'
        for text, place in (("2", 0), ("31", 30000), (" of H", 0), ("2", -25000), ("O", 0))
    )
    link = '<a:p><a:r><a:rPr><a:hlinkClick r:id="l"/></a:rPr><a:t>Site</a:t></a:r></a:p>'
    picture = '<p:pic><p:nvPicPr><p:cNvPr descr="A map"/></p:nvPicPr></p:pic>'
    cells = "".join(
        f"<a:tc{merge}><a:txBody>{line(text)}</a:txBody></a:tc>"
        for text, merge in (("Both", ' gridSpan="2"'), ("stale", ' hMerge="1"'))
    )
    last = "".join(f"<a:tc><a:txBody>{line(each)}</a:txBody></a:tc>" for each in "ab")
    grid = frame(f"<a:tbl><a:tr>{cells}</a:tr><a:tr>{last}</a:tr></a:tbl>")
    slide = shape(line("Facts"), kind="title") + shape(powers + "</a:p>") + shape(link)
    data = pptx(slide + picture + grid, related={"l": "hyperlink https://a.example/"})
    assert body(data, "a.pptx") == (
        "## Facts\n\n2³¹ of H₂O\n\n[Site](<https://a.example/>)\n\n![A map]()\n\n"
        "| Both |  |\n| --- | --- |\n| a | b |"
    )


def test_hidden_slides_and_shapes_footers_and_numbers_are_left_out():
    hidden = f'<p:sld {NAMES} show="0">{tree_of(shape(line("Hidden")))}</p:sld>'
    slide = (
        shape(line("Shown"), kind="title")
        + shape(line("secret"), hidden="1")
        + "".join(shape(line("12"), kind=kind) for kind in ("dt", "ftr", "sldNum"))
        + shape(line("Text"))
    )
    data = pptx(hidden, slide)
    assert body(data, "a.pptx") == "## Shown\n\nText"
    assert convert("a.pptx", data).words == Words(3, 2), "what a hidden shape says counts as lost"


def test_a_slide_without_a_title_has_that_of_its_first_line():
    long = "word " * 30
    assert body(pptx(shape(line("First"), line("Second"))), "a.pptx") == "## First\n\nSecond"
    assert body(pptx(shape(line(long))), "a.pptx") == f"## Slide 1\n\n{long.strip()}"
