"""The prose of a page, without code: the blocks in which links are searched."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ProseBlock:
    """The text of one paragraph, heading, table row or HTML block, as written. It begins on `line`
    of the file, from 1. List and quote marks before the text are removed, except before table rows.
    `kind` is "text", "table" or "html" (not parsed as Markdown). `callout` is the number of the
    enclosing callout `> [!edge]`, or None.
    """

    text: str
    line: int
    kind: str = "text"
    callout: int | None = None


@dataclass(frozen=True, slots=True)
class Prose:
    """The text of a page without code, and the addresses of its `[label]: address` by label."""

    blocks: tuple[ProseBlock, ...] = ()
    definitions: Mapping[str, str] = field(default_factory=dict)


def definition_label(written: str) -> str:
    """Normalise a label, so that all spellings of the same definition are equal."""
    return " ".join(written.split()).lower().upper()
