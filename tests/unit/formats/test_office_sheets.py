"""What a reader of a workbook sees: numbers by their formats, merged cells, hidden parts."""

import pytest
from tests.unit.formats.office_files import body, xlsx

from pgrag.ingest.formats.formats import convert
from pgrag.ingest.formats.office.numbers import shown_number


def row(*cells, number="", attributes=""):
    at = f' r="{number}"' if number else ""
    inner = "".join(
        each if each.startswith("<") else f'<c t="inlineStr"><is><t>{each}</t></is></c>'
        for each in cells
    )
    return f"<row{at} {attributes}>{inner}</row>"


@pytest.mark.parametrize(("raw", "form", "shown"), [
    ("1234.5", "#,##0.00", "1,234.50"),
    ("0.256", "0.0%", "25.6%"),
    ("-5.25", "#,##0.00_);[Red](#,##0.00)", "(5.25)"),
    ("1234.5", "[$€-407] #,##0.00", "€ 1,234.50"),
    ("1500000", '0.0,,"M"', "1.5M"),
    ("12345678", "0.00E+00", "1.23E+07"),
    ("1.25", "# ?/?", "1 1/4"),
    ("5551234567", "(###) ###-####", "(555) 123-4567"),
    ("5", "00000", "00005"),
    ("0", '_-* #,##0.00_-;-* #,##0.00_-;_-* "-"??_-;_-@_-', "-"),
    ("2500", '[>=1000000]0.0,,"M";[>=1000]0.0,"K";0', "2.5K"),
    ("5", ";;;", ""),
    ("-0.001", "0.00", "0.00"),
    ("0.30000000000000004", "General", "0.3"),
    ("45000.5", "dd/mm/yyyy hh:mm", "15/03/2023 12:00"),
    ("45000", "dddd, mmmm d, yyyy", "Wednesday, March 15, 2023"),
    ("45000.75", "h:mm AM/PM", "6:00 PM"),
    ("1.5", "[h]:mm:ss", "36:00:00"),
    ("0.0104167", "mm:ss", "15:00"),
    ("45000", r"[$-F800]dddd\,\ mmmm\ dd\,\ yyyy", "2023-03-15"),
    ("-1", "yyyy-mm-dd", "-1"),
    ("1E+300", "0", f"1{'0' * 300}"),
    ("text", "0.00", "text"),
])  # fmt: skip
def test_numbers_are_written_as_they_are_shown(raw, form, shown):
    assert shown_number(raw, form) == shown


def test_cells_have_their_formats_and_kinds():
    cells = row(
        '<c s="0"><v>0.5</v></c>', '<c s="1"><v>1</v></c>', '<c t="b"><v>1</v></c>',
        '<c t="e"><v>#N/A</v></c>', '<c t="s"><v>0</v></c>',
    )  # fmt: skip
    texts = "<si><r><t>rich </t></r><r><t>text</t></r><rPh><t>aid</t></rPh></si>"
    data = xlsx(
        "<sheetData>" + row("A", "B", "C", "D", "E") + cells + "</sheetData>",
        formats=("0%", "yyyy-mm-dd"),
        texts=texts,
    )
    assert body(data, "a.xlsx").endswith("| 50% | 1900-01-01 | TRUE | \\#N/A | rich text |")


def test_hidden_rows_and_columns_are_left_out_and_heads_over_columns_are_joined():
    sheet = (
        '<cols><col min="2" max="2" hidden="1"/></cols><sheetData>'
        + row("Name", "secret", "Size", '<c r="E1" t="inlineStr"><is><t>Use</t></is></c>', number=1)
        + row('<c r="C2" t="str"><v>min</v></c>', '<c r="D2" t="str"><v>max</v></c>', number=2)
        + row("hidden", number=3, attributes='hidden="1"')
        + row("port", "secret", "1", "9", "all", number=4)
        + '</sheetData><mergeCells><mergeCell ref="C1:D1"/></mergeCells>'
    )
    text = body(xlsx(sheet), "a.xlsx")
    assert "secret" not in text
    assert "hidden" not in text
    assert text == (
        "## One\n\n| Name | Size min | Size max | Use |\n| --- | --- | --- | --- |\n"
        "| port | 1 | 9 | all |"
    )


def test_tables_beside_each_other_are_apart_and_links_are_kept():
    def beside(*texts):
        places = zip("ABDE", texts, strict=True)
        return "".join(f'<c r="{at}9" t="str"><v>{text}</v></c>' for at, text in places)

    sheet = (
        "<sheetData>"
        + row(beside("k", "v", "x", "y"), number=9)
        + row(beside("1", "2", "3", "4").replace('9"', '10"'), number=10)
        + '</sheetData><hyperlinks><hyperlink ref="A9" r:id="l"/></hyperlinks>'
    )
    assert body(xlsx(sheet, related={"l": "hyperlink https://a.example/"}), "a.xlsx") == (
        "## One\n\n| [k](<https://a.example/>) | v |\n| --- | --- |\n| 1 | 2 |\n\n"
        "| x | y |\n| --- | --- |\n| 3 | 4 |"
    )


def test_a_sparse_sheet_is_lines_and_formulas_without_values_are_named():
    far = "".join(
        row(f'<c r="{column}{at}"><v>{at}</v></c>', f'<c r="XFA{at}"><v>0</v></c>', number=at)
        for at, column in enumerate(map(chr, range(65, 91)), start=1)
    )
    columns = (chr(65 + at // 26) + chr(65 + at % 26) for at in range(260))
    diagonal = "".join(
        row(f'<c r="{column}{at}"><v>{at}</v></c>', f'<c r="ZZ{at}"><v>0</v></c>', number=at)
        for at, column in enumerate(columns, start=1)
    )
    assert body(xlsx(f"<sheetData>{diagonal}</sheetData>"), "a.xlsx").startswith(
        "## One\n\n- 1 · 0\n- 2 · 0\n"
    )
    assert "| 1 |" in body(xlsx(f"<sheetData>{far}</sheetData>"), "a.xlsx")
    converted = convert("a.xlsx", xlsx(f"<sheetData>{row('A', '<c><f>1+1</f></c>')}</sheetData>"))
    (warning,) = converted.warnings
    assert warning.startswith("a.xlsx: 1 formulas of the sheet One have no stored value")
