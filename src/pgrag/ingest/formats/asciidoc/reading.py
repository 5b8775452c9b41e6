"""A document of AsciiDoc: conditions and headers first, then its blocks as HTML."""

import re

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.asciidoc.blocks import Blocks
from pgrag.ingest.formats.converted import Converted
from pgrag.ingest.formats.decoding import decode
from pgrag.ingest.formats.html import page
from pgrag.ingest.formats.loss import count_words
from pgrag.ingest.values import Origin

_CONDITION = re.compile(r"(ifdef|ifndef|ifeval|endif)::([^\[]*)\[(.*)\]\s*")
_DEFINED = {"backend": "html5", "backend-html5": "", "basebackend": "html", "basebackend-html": ""}
_MOST_NAMED = 5
#: What only the source has: comments, attributes, marks of blocks, targets of macros.
_UNSEEN = re.compile(
    r"^/{4,}$[\s\S]*?^/{4,}$|^//.*$|^:!?[\w-]+!?:.*$|^\[.*\]$|^(?:if\w+|endif|toc)::.*$"
    r"|\[\[.{0,200}?\]\]|<<[^,>\n]{0,200},|\b(?:link|xref|image|include|https?|ftp):[^\s\[]{0,900}(?=\[)"
    r"|\(\(\(.{0,200}?\)\)\)|\{[\w-]+\}|,\s*(?:window|role|opts|width|height)=[^\],]*",
    re.MULTILINE,
)


def convert(key: str, data: bytes, origin: Origin) -> Converted:
    """Read a document; its ids are those of AsciiDoctor."""
    text, warnings = decode(key, data, origin)
    if text.lstrip().startswith("-----BEGIN PGP"):
        raise SourceError(
            f"{key}: is a key or a signature of PGP, no AsciiDoc.",
            hint="Leave it out with --exclude.",
        )
    attributes = dict(_DEFINED)
    lines = _chosen(text.expandtabs(8).split("\n"), attributes)
    blocks = Blocks(attributes)
    written = blocks.html(_without_author(lines))
    written = blocks.with_titles(written)
    html = f"<html><body><main>{written}</main></body></html>".encode()
    converted = page.convert(key, html, origin)
    if blocks.unread:
        named = ", ".join(dict.fromkeys(blocks.unread[:_MOST_NAMED]))
        warnings.append(f"{key}: the text of the files that it includes is not read: {named}")
    shown = re.sub(r"\b(?:link|xref|image|https?|ftp):[^\s\[]{0,900}(?=\[)", " ", "\n".join(lines))
    words = count_words(_UNSEEN.sub(" ", shown), converted.markdown)
    return Converted(converted.markdown, (*warnings, *converted.warnings), words=words)


def _chosen(lines: list[str], attributes: dict[str, str]) -> list[str]:
    """Return the lines whose conditions hold for a page of HTML."""
    defined = {*attributes}
    kept: list[str] = []
    open_: list[bool] = []
    for line in lines:
        match = _CONDITION.fullmatch(line)
        if match is None:
            if all(open_):
                kept.append(line)
                if entry := re.match(r":([\w-]+):", line):
                    defined.add(entry[1].lower())
            continue
        kind, names, words = match.groups()
        if kind == "endif":
            del open_[-1:]
            continue
        listed = [name for name in re.split(r"[,+]", names) if name]
        wanted = all if "+" in names else any
        holds = kind == "ifeval" or wanted(name.lower() in defined for name in listed)
        holds = not holds if kind == "ifndef" else holds
        if words and kind != "ifeval":
            kept += [words] if holds and all(open_) else []
        else:
            open_.append(holds)
    return kept


def _without_author(lines: list[str]) -> list[str]:
    """Leave out the lines of the author and the revision below the title of a document."""
    at = next((at for at, line in enumerate(lines) if line.startswith("= ")), -1)
    if at < 0 or any(line.strip() and line[0] not in ":/[" for line in lines[:at]):
        return lines
    end = at + 1
    while end < len(lines) and lines[end].strip() and end < at + 20:
        end += 1
    header = [line for line in lines[at + 1 : end] if line.startswith((":", "//"))]
    return [*lines[: at + 1], *header, *lines[end:]]
