"""Blocks of Markdown put together: quotes, items, links around blocks, headings written again."""

import re
from collections.abc import Iterable

REOPEN = "\0"
"""Marks a heading that is written again if text of its section follows."""

_ITEM = re.compile(r"(?:-|\d+\.) ")
_HEADING = re.compile(r"(?P<mark>#{1,6} )(?P<words>.*?)(?P<id> \{#[^{}]*\})?")
#: The beginnings of blocks whose first line cannot be the text of a link.
_NO_LABEL = re.compile(r"[#>|`~<\0]|[-+*] |\d+\. ")


def with_reopened(blocks: Iterable[str]) -> list[str]:
    """Resolve the marks of headings that may have to be written again."""
    kept: list[str] = []
    waiting = ""
    for block in blocks:
        if block.startswith(REOPEN):
            waiting = block[len(REOPEN) :]
        else:
            if waiting and not block.startswith(("#", "<a id=")):
                kept.append(waiting)
            if not block.startswith("<a id="):
                waiting = ""
            kept.append(block)
    return kept


def quoted(blocks: Iterable[str]) -> str:
    """Return blocks as a quote."""
    text = "\n\n".join(blocks)
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))


def item(blocks: list[str], mark: str) -> str:
    """Return a list item; its blocks are close together if they are a line and lists."""
    is_tight = all(_ITEM.match(block) for block in blocks[1:])
    text = ("\n" if is_tight else "\n\n").join(blocks)
    indent = " " * (len(mark) - 4 if mark.endswith("] ") else len(mark))
    return mark + text.replace("\n", "\n" + indent).replace("\n" + indent + "\n", "\n\n")


def linked(blocks: list[str], href: str) -> list[str]:
    """Return the blocks that are a link together: the first heading or line of text shows it."""
    for at, block in enumerate(blocks):
        heading = _HEADING.fullmatch(block)
        if heading is None and _NO_LABEL.match(block):
            continue
        if heading:
            shown = f"{heading['mark']}[{heading['words']}]({href}){heading['id'] or ''}"
        else:
            line, *others = block.split("\n")
            shown = "\n".join((f"[{line}]({href})", *others))
        return [*blocks[:at], shown, *blocks[at + 1 :]]
    return [*blocks, f"[{href}]({href})"] if blocks else []
