"""Jupyter notebooks: their Markdown and code cells in order, with what the code has printed."""

import json
import re
from typing import Any

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.converted import Converted
from pgrag.ingest.formats.decoding import decode
from pgrag.ingest.formats.escaping import fence
from pgrag.ingest.values import Origin

#: Lines of an output that are kept: the rest is mostly a log.
_MOST_LINES = 50
_LONGEST_LINE = 1000
#: Escape sequences of terminals, such as colours.
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def convert(key: str, data: bytes, origin: Origin) -> Converted:
    """Read a notebook; its headings have the anchors of the site that publishes it."""
    text, warnings = decode(key, data, origin)
    try:
        notebook = json.loads(text)
        cells = notebook["cells"] if "cells" in notebook else notebook["worksheets"][0]["cells"]
        language = notebook.get("metadata", {}).get("kernelspec", {}).get("language", "python")
        blocks = [block for cell in cells for block in _cell(cell, str(language))]
    except (json.JSONDecodeError, RecursionError) as error:
        raise SourceError(f"{key}: is not a Jupyter notebook: broken JSON: {error}.") from error
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise SourceError(
            f"{key}: is not a Jupyter notebook: it lacks cells, or a cell is malformed."
        ) from error
    return Converted("\n\n".join(blocks) + "\n", tuple(warnings), has_ids=False)


def _cell(cell: dict[str, Any], language: str) -> list[str]:
    source = _text(cell.get("source", cell.get("input", ""))).strip("\n")
    if cell["cell_type"] == "heading":  # of version 3
        return [f"{'#' * int(cell.get('level', 1))} {source}"]
    if cell["cell_type"] != "code":
        return [source] if source.strip() and cell["cell_type"] == "markdown" else []
    blocks = ["\n".join(fence(source, language))] if source.strip() else []
    for output in cell.get("outputs", ()):
        data = output.get("data", output)
        shown = _text(output.get("text") or data.get("text/plain") or data.get("text") or "")
        lines = _COLOURS.sub("", shown).strip("\n").split("\n")
        if any(map(str.strip, lines)):
            most = _LONGEST_LINE
            kept = [x if len(x) <= most else f"{x[:most]}…" for x in lines[:_MOST_LINES]]
            kept += ["…"] if len(lines) > _MOST_LINES else []
            blocks.append("\n".join(fence("\n".join(kept))))
    return blocks


def _text(written: str | list[str]) -> str:
    """Join a text, which a notebook may write as a list of lines."""
    return written if isinstance(written, str) else "".join(written)
