"""The prose of a page, without code: the blocks in which links are searched."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ProseBlock:
    """The text of one block as written, without the marks of lists and quotes before it, on `line`
    from 1. `kind` is "text", "table" or "html"; `callout` the number of its `> [!edge]`, or None.
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
