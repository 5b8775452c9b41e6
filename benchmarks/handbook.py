"""One small handbook, written in every format that is read: the same must come out of each."""

from __future__ import annotations

import html
import io
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from docx import Document
from fpdf import FPDF
from fpdf.enums import XPos, YPos
from openpyxl import Workbook
from pptx import Presentation
from pptx.util import Inches


class Block(NamedTuple):
    """A heading, paragraph, table, list or code; `level` is that of a heading."""

    kind: str
    content: Any
    level: int = 0


HANDBOOK = (
    Block("heading", "Kestrel gateway handbook", 1),
    Block("paragraph", "Kestrel forwards requests. It reads its settings from one file."),
    Block("heading", "Listeners", 2),
    Block("paragraph", "A listener binds a port and has limits of its own."),
    Block(
        "table",
        [
            ("Key", "Default", "Meaning"),
            ("port", "8080", "The port that the listener binds"),
            ("backlog", "128", "How many connections wait, at most"),
            ("timeout", "30s", "When an idle connection is closed"),
        ],
    ),
    Block("heading", "Two ports", 3),
    Block("paragraph", "Write one entry for each port:"),
    Block("code", "listen:\n  - port: 8080\n    backlog: 128\n\n  - port: 8443\n    tls: true"),
    Block("paragraph", "Then start it:"),
    Block("code", "kestrel --config kestrel.yaml\ncurl http://localhost:8080/health"),
    Block("heading", "Limits", 2),
    Block("list", ["Requests of more than 10 MB are refused.", "A client has 100 connections."]),
    Block("heading", "Codes", 3),
    Block("table", [("Code", "Reason"), ("413", "The request is too large"), ("429", "Too many")]),
    Block("heading", "Logging", 2),
    Block("paragraph", "One line is written for each request."),
)


def _markdown() -> bytes:
    return "\n\n".join(_markdown_block(block) for block in HANDBOOK).encode()


def _markdown_block(block: Block) -> str:
    match block.kind:
        case "heading":
            return f"{'#' * block.level} {block.content}"
        case "table":
            head, *rows = ("| " + " | ".join(row) + " |" for row in block.content)
            return "\n".join([head, "|" + "---|" * len(block.content[0]), *rows])
        case "code":
            return f"```\n{block.content}\n```"
        case "list":
            return "\n".join(f"- {text}" for text in block.content)
    return str(block.content)


def _html() -> bytes:
    body = "\n".join(_html_block(block) for block in HANDBOOK)
    return f"<!doctype html><html><body><main>{body}</main></body></html>".encode()


def _html_block(block: Block) -> str:
    match block.kind:
        case "heading":
            return f"<h{block.level}>{html.escape(block.content)}</h{block.level}>"
        case "table":
            head, *rows = block.content
            cells = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
            lines = [f"<tr>{cells}</tr>"]
            for row in rows:
                cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in row)
                lines.append(f"<tr>{cells}</tr>")
            return f"<table>{''.join(lines)}</table>"
        case "code":
            return f"<pre><code>{html.escape(block.content)}</code></pre>"
        case "list":
            return f"<ul>{''.join(f'<li>{html.escape(text)}</li>' for text in block.content)}</ul>"
    return f"<p>{html.escape(block.content)}</p>"


def _rst() -> bytes:
    return "\n\n".join(_rst_block(block) for block in HANDBOOK).encode()


def _rst_block(block: Block) -> str:
    match block.kind:
        case "heading":
            return f"{block.content}\n{'=-~'[block.level - 1] * len(block.content)}"
        case "table":
            lines = [".. list-table::", "   :header-rows: 1", ""]
            for row in block.content:
                lines += [f"   {'*' if not n else ' '} - {cell}" for n, cell in enumerate(row)]
            return "\n".join(lines)
        case "code":
            return "::\n\n" + "\n".join(f"    {line}" for line in block.content.split("\n"))
        case "list":
            return "\n".join(f"- {text}" for text in block.content)
    return str(block.content)


def _notebook() -> bytes:
    cells: list[dict[str, Any]] = []
    for block in HANDBOOK:
        source = block.content if block.kind == "code" else _markdown_block(block)
        if block.kind == "code":
            cells.append(
                {"cell_type": "code", "source": source, "outputs": [], "metadata": {}}
                | {"execution_count": None}
            )
        else:
            cells.append({"cell_type": "markdown", "source": source, "metadata": {}})
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook).encode()


def _word() -> bytes:
    file = Document()
    style = file.styles.add_style("Source Code", 1)
    for block in HANDBOOK:
        match block.kind:
            case "heading":
                file.add_heading(block.content, block.level)
            case "table":
                table = file.add_table(rows=0, cols=len(block.content[0]))
                for row in block.content:
                    for cell, text in zip(table.add_row().cells, row, strict=True):
                        cell.text = text
            case "code":
                for line in block.content.split("\n"):
                    file.add_paragraph(line, style=style)
            case "list":
                for text in block.content:
                    file.add_paragraph(text, style="List Bullet")
            case _:
                file.add_paragraph(block.content)
    return _saved(file)


def _slides() -> bytes:
    """A slide for each heading."""
    file = Presentation()
    for block in HANDBOOK:
        if block.kind == "heading":
            slide = file.slides.add_slide(file.slide_layouts[0 if block.level == 1 else 5])
            slide.shapes.title.text = block.content
            top = 2.0
            continue
        place = (Inches(1), Inches(top), Inches(8), Inches(1))
        top += 1.2
        if block.kind == "table":
            shape = slide.shapes.add_table(len(block.content), len(block.content[0]), *place)
            for number, row in enumerate(block.content):
                for column, text in enumerate(row):
                    shape.table.cell(number, column).text = text
            continue
        frame = slide.shapes.add_textbox(*place).text_frame
        frame.text = "\n".join(block.content) if block.kind == "list" else block.content
        if block.kind == "code":
            for paragraph in frame.paragraphs:
                paragraph.font.name = "Consolas"
    return _saved(file)


def _sheets() -> bytes:
    """A sheet for each table, named by the heading above it."""
    file = Workbook()
    file.remove(file.active)
    title = ""
    for block in HANDBOOK:
        if block.kind == "heading":
            title = block.content
        elif block.kind == "table":
            sheet = file.create_sheet(title)
            for row in block.content:
                sheet.append(row)
    return _saved(file)


def _saved(file: Any) -> bytes:
    stream = io.BytesIO()
    file.save(stream)
    return stream.getvalue()


def _pdf(*, has_bookmarks: bool) -> bytes:
    file = FPDF()
    file.set_margin(20)
    file.add_page()
    for block in HANDBOOK:
        _pdf_block(file, block, has_bookmarks=has_bookmarks)
        file.ln(5)
    return bytes(file.output())


def _pdf_block(file: FPDF, block: Block, *, has_bookmarks: bool) -> None:
    below = {"new_x": XPos.LMARGIN, "new_y": YPos.NEXT}
    if block.kind == "heading":
        file.set_font("Helvetica", "B", 24 - 3 * block.level)
        if has_bookmarks:
            file.start_section(block.content, block.level - 1)
        file.multi_cell(0, 9, block.content, **below)
        return
    file.set_font("Courier" if block.kind == "code" else "Times", size=11)
    match block.kind:
        case "table":
            with file.table(text_align="LEFT") as table:
                for row in block.content:
                    table.row(list(row))
        case "code":
            for line in block.content.split("\n"):
                file.cell(0, 5, line, **below)
        case "list":
            for text in block.content:
                file.cell(5, 5, "\u00b7")
                file.multi_cell(0, 5, text, **below)
        case _:
            file.multi_cell(0, 5, block.content, **below)


WRITERS: dict[str, Callable[[], bytes]] = {
    "handbook.md": _markdown,
    "handbook.html": _html,
    "handbook.rst": _rst,
    "handbook.ipynb": _notebook,
    "handbook.docx": _word,
    "handbook.pptx": _slides,
    "handbook.xlsx": _sheets,
    "handbook.pdf": lambda: _pdf(has_bookmarks=True),
    "handbook without bookmarks.pdf": lambda: _pdf(has_bookmarks=False),
}
"""What writes each file, by its name."""
