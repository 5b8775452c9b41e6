"""PDFs written for tests, with headings, code, tables, lists and running heads."""

from fpdf import FPDF
from fpdf.enums import XPos, YPos

SIZES = (20.0, 16.0, 13.0)


class Writer(FPDF):
    """Writes blocks one below the other, as a word processor does."""

    def __init__(self, *, outline=True, running=""):
        super().__init__()
        self.outline = outline
        self.running = running
        self.set_margin(20)
        self.add_page()

    def header(self):
        if self.running:
            self.set_font("Helvetica", size=8)
            self.cell(0, 4, self.running, new_x=XPos.LMARGIN, new_y=YPos.NEXT)
            self.ln(8)

    def footer(self):
        if self.running:
            self.set_y(-15)
            self.set_font("Helvetica", size=8)
            self.cell(0, 4, str(self.page_no()), align="C")

    def heading(self, level, text):
        self.ln(6)
        self.set_font("Helvetica", "B", SIZES[level - 1])
        if self.outline:
            self.start_section(text, level - 1)
        self.multi_cell(0, 9, text, new_x=XPos.LMARGIN, new_y=YPos.NEXT)
        self.ln(2)

    def text_block(self, text):
        self.set_font("Times", size=11)
        self.multi_cell(0, 5, text, align="L", new_x=XPos.LMARGIN, new_y=YPos.NEXT)
        self.ln(4)

    def code(self, text):
        self.set_font("Courier", size=10)
        for line in text.split("\n"):
            self.cell(0, 5, line, new_x=XPos.LMARGIN, new_y=YPos.NEXT)
        self.ln(4)

    def items(self, texts, *, is_ordered=False):
        self.set_font("Times", size=11)
        for number, text in enumerate(texts, start=1):
            mark = f"{number}." if is_ordered else "\u00b7"
            self.set_x(25)
            self.cell(5, 5, mark)
            self.multi_cell(0, 5, text, align="L", new_x=XPos.LMARGIN, new_y=YPos.NEXT)
        self.ln(4)

    def rows(self, rows):
        self.set_font("Times", size=11)
        with self.table(text_align="LEFT") as table:
            for row in rows:
                table.row(list(row))
        self.ln(4)

    def written(self):
        return bytes(self.output())
