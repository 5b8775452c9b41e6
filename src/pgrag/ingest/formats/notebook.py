"""Jupyter notebooks: their Markdown and code cells in order, with what the code has shown."""

import json
import re
from collections.abc import Iterator
from typing import Any

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.converted import Converted, with_front_matter
from pgrag.ingest.formats.decoding import decode
from pgrag.ingest.formats.escaping import fence
from pgrag.ingest.formats.html import page
from pgrag.ingest.formats.loss import count_words
from pgrag.ingest.values import NOWHERE, Origin

#: Lines of an output that are kept: the rest is mostly a log.
_MOST_LINES = 50
_LONGEST_LINE = 1000
#: Characters of HTML in an output that are read; more is a drawing with its data.
_MOST_HTML = 200_000
#: Escape sequences of terminals, such as colours and links.
_COLOURS = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})(?P<rest>.*)")
_OPEN_HTML = re.compile(r"^ {0,3}<(!--|script\b|style\b|pre\b|textarea\b)", re.MULTILINE | re.I)
_ATTACHED = re.compile(r"!\[([^\]]*)\]\(attachment:[^)]*\)")
_MAGIC = re.compile(r"%%(bash|sh|html|javascript|js|latex|sql|R|perl|ruby|python|cython)\b.*\n")
#: What Python prints for a picture or a box instead of its text.
_OBJECT = re.compile(r"<[\w.]+(?: [^\n]*)?>")
_KINDS = {  # of version 4, and of version 3
    "markdown": ("text/markdown",),
    "html": ("text/html", "html"),
    "latex": ("text/latex", "latex"),
    "plain": ("text/plain", "text"),
    "picture": ("image/png", "image/jpeg", "image/svg+xml", "png", "jpeg", "svg"),
}


def convert(key: str, data: bytes, origin: Origin) -> Converted:
    """Read a notebook; its headings have the anchors of the site that publishes it."""
    text, warnings = decode(key, data, origin)
    try:
        notebook = json.loads(text)
        sheets = [notebook] if "cells" in notebook else list(notebook["worksheets"])
        cells = [cell for sheet in sheets for cell in sheet["cells"]]
        metadata = notebook.get("metadata", {})
        language = _language(metadata)
        blocks = [block for cell in cells for block in _cell(cell, language)]
        shown = "\n".join(_shown(cell) for cell in cells)
    except (json.JSONDecodeError, RecursionError) as error:
        raise SourceError(f"{key}: is not a Jupyter notebook: broken JSON: {error}.") from error
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise SourceError(
            f"{key}: is not a Jupyter notebook: it lacks cells, or a cell is malformed."
        ) from error
    title = metadata.get("title")
    body = with_front_matter({"title": title if isinstance(title, str) else ""}, _joined(blocks))
    return Converted(body, tuple(warnings), has_ids=False, words=count_words(shown, body))


def _joined(blocks: list[str]) -> str:
    return "\n\n".join(blocks) + "\n"


def _language(metadata: dict[str, Any]) -> str:
    kernel = metadata.get("kernelspec", {}).get("language")
    return str(kernel or metadata.get("language_info", {}).get("name") or "python").lower()


def _cell(cell: dict[str, Any], language: str) -> list[str]:
    kind = cell["cell_type"]
    source = _source(cell).strip("\n")
    tags = {str(tag).replace("_", "-") for tag in cell.get("metadata", {}).get("tags", ())}
    if "remove-cell" in tags or (not source.strip() and kind != "code"):
        return []
    if kind == "heading":  # of version 3
        return [f"{'#' * int(cell.get('level', 1))} {source}"]
    if kind == "raw":
        return _raw(source, cell.get("metadata", {}))
    if kind != "code":
        return [_closed(_ATTACHED.sub(r"\1", source))]
    magic = _MAGIC.match(source)
    named = magic[1].lower() if magic else str(cell.get("language", language)).lower()
    is_shown = source.strip() and "remove-input" not in tags
    blocks = ["\n".join(fence(source, named))] if is_shown else []
    if "remove-output" not in tags:
        blocks += [block for output in _outputs(cell) for block in _output(output)]
    return blocks


def _source(cell: dict[str, Any]) -> str:
    return _text(cell.get("source", cell.get("input", "")))


def _raw(source: str, metadata: dict[str, Any]) -> list[str]:
    """Return a cell that is text for a publisher; one with options for it is not shown."""
    kind = str(metadata.get("raw_mimetype") or metadata.get("format") or "")
    if kind == "text/html":
        return _html(source)
    if kind == "text/markdown":
        return [_closed(source)]
    return [] if kind or source.startswith("---") else ["\n".join(fence(source))]


def _closed(source: str) -> str:
    """End what a cell leaves open: each cell is shown for itself."""
    mark = ""
    outside = []
    for line in source.split("\n"):
        match = _FENCE.match(line)
        if match and not mark:
            mark = match["mark"]
        elif match and match["mark"].startswith(mark) and not match["rest"].strip():
            mark = ""
        elif not mark:
            outside.append(line)
    if mark:
        return f"{source}\n{mark}"
    text = "\n".join(outside).lower()
    last: dict[str, int] = {}
    for match in _OPEN_HTML.finditer(text):
        end = "-->" if match[1] == "!--" else f"</{match[1]}>"
        if end not in last:
            last[end] = text.rfind(end)
        if last[end] < match.end():
            return f"{source}\n{end}"
    return source


def _outputs(cell: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the outputs of a cell; what a program writes piece by piece is one of them."""
    last: dict[str, Any] = {}
    for output in cell.get("outputs", ()):
        name = output.get("name") if output.get("output_type") == "stream" else None
        if name and (last.get("output_type"), last.get("name")) == ("stream", name):
            last["text"] = _text(last.get("text", "")) + _text(output.get("text", ""))
            continue
        if last:
            yield last
        last = dict(output)
    if last:
        yield last


def _output(output: dict[str, Any]) -> list[str]:
    if "traceback" in output or "ename" in output:
        lines = output.get("traceback") or [f"{output.get('ename')}: {output.get('evalue', '')}"]
        return _printed("\n".join(map(str, lines)))
    data = output.get("data", output)
    parts = {
        kind: next((_text(data[name]) for name in names if data.get(name)), "")
        for kind, names in _KINDS.items()
    }
    if parts["markdown"].strip():
        return [_closed(_cut(parts["markdown"]))]
    html = parts["html"]
    if html.strip() and len(html) <= _MOST_HTML and (blocks := _html(html)):
        return [_cut(block) for block in blocks]
    is_object = _OBJECT.fullmatch(parts["plain"].strip()) is not None
    if parts["latex"].strip() and (is_object or not parts["plain"].strip()):
        return [_cut(parts["latex"])]
    return [] if is_object and (parts["picture"] or html) else _printed(parts["plain"])


def _html(source: str) -> list[str]:
    """Return what HTML shows; nothing if only scripts would show it."""
    data = f"<html><body><main>{source}</main></body></html>".encode()
    markdown = page.convert("", data, NOWHERE).markdown.strip()
    return [markdown] if markdown and not markdown.startswith("---") else []


def _printed(text: str) -> list[str]:
    cut = _cut(_COLOURS.sub("", text))
    return ["\n".join(fence(cut))] if cut.strip() else []


def _cut(text: str) -> str:
    """Return the first lines of a text; a line that was written again is what it was last."""
    lines = [line.rstrip("\r").rpartition("\r")[2] for line in text.strip("\n").split("\n")]
    most = _LONGEST_LINE
    kept = [line if len(line) <= most else f"{line[:most]}…" for line in lines[:_MOST_LINES]]
    return "\n".join(kept + (["…"] if len(lines) > _MOST_LINES else []))


def _shown(cell: dict[str, Any]) -> str:
    """Return the words of a cell, to count those that are lost."""
    outputs = (output.get("data", output) for output in _outputs(cell))
    printed = (_text(each.get("text") or each.get("text/plain") or "") for each in outputs)
    return "\n".join((_source(cell), *(_cut(_COLOURS.sub("", each)) for each in printed)))


def _text(written: str | list[str]) -> str:
    """Join a text, which a notebook may write as a list of lines."""
    return written if isinstance(written, str) else "".join(written)
