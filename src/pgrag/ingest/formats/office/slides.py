"""Read a presentation: each slide is a section, with its notes."""

from collections.abc import Iterable, Iterator
from typing import IO, Any

from pptx import Presentation
from pptx.enum.shapes import PP_PLACEHOLDER

from pgrag.ingest.formats.escaping import escape, heading
from pgrag.ingest.formats.office.text import (
    Part,
    blocks,
    is_fixed_pitch,
    item,
    paragraph,
    table,
)

_LINE_BREAK = "\v"
_SMALL = (PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.SLIDE_NUMBER)


def read(stream: IO[bytes]) -> tuple[dict[str, Any], list[str]]:
    """Return the properties of a presentation and its blocks of Markdown."""
    presentation = Presentation(stream)
    slides = list(presentation.slides)
    properties = presentation.core_properties
    titles = [_title(slide) for slide in slides]
    fields = {
        "title": _meaningful(properties.title) or next(filter(None, titles), ""),
        "description": properties.subject,
        "language": properties.language,
    }
    written: list[str] = []
    for number, (slide, title) in enumerate(zip(slides, titles, strict=True), start=1):
        level = 1 if number == 1 and _is_title_slide(slide) else 2
        written.append(heading(level, escape(title or f"Slide {number}")))
        written += blocks(_parts(slide))
    return fields, written


def _meaningful(title: str | None) -> str:
    """Return the title of the properties, unless it is what programs write by themselves."""
    return "" if title in {None, "", "PowerPoint Presentation"} else str(title)


def _title(slide: Any) -> str:
    title = slide.shapes.title
    return " ".join(title.text_frame.text.split()) if title is not None else ""


def _is_title_slide(slide: Any) -> bool:
    title = slide.shapes.title
    return title is not None and title.placeholder_format.type == PP_PLACEHOLDER.CENTER_TITLE


def _parts(slide: Any) -> Iterator[Part | None]:
    for shape in _shapes(slide.shapes):
        if shape.shape_id == getattr(slide.shapes.title, "shape_id", None):
            continue
        if getattr(shape, "has_table", False):
            yield table([[cell.text for cell in row.cells] for row in shape.table.rows])
        elif shape.has_text_frame:
            yield from _text(shape)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = slide.notes_slide.notes_text_frame.text.strip()
        yield paragraph(escape(f"Notes: {notes}")) if notes else None


def _shapes(shapes: Iterable[Any]) -> Iterator[Any]:
    """Yield shapes from the top to the bottom, those of groups, too."""
    for shape in sorted(shapes, key=lambda each: (each.top or 0, each.left or 0)):
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        elif not (shape.is_placeholder and shape.placeholder_format.type in _SMALL):
            yield shape


def _text(shape: Any) -> Iterator[Part | None]:
    """Yield the paragraphs of a shape; those of a slide's body are a list."""
    paragraphs = list(shape.text_frame.paragraphs)
    count = sum(bool(each.text.strip()) for each in paragraphs)
    is_list = shape.is_placeholder and shape.placeholder_format.type in (
        PP_PLACEHOLDER.OBJECT,
        PP_PLACEHOLDER.BODY,
    )
    is_code = False
    for each in paragraphs:
        text = each.text.replace(_LINE_BREAK, "\n")
        runs = [run for run in each.runs if run.text.strip()]
        if not text.strip():
            yield Part("code", "") if is_code else None
            continue
        is_code = bool(runs) and all(
            is_fixed_pitch(run.font.name or each.font.name) for run in runs
        )
        if is_code:
            yield Part("code", text)
        elif (is_list and count > 1) or each.level:
            yield item(escape(text), each.level)
        else:
            yield paragraph(escape(text))
