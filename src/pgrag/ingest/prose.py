"""What a page says, without its code: the passages that links are looked for in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Passage:
    """The text of one paragraph, heading, table row or block of HTML, as it is written.

    Each of its lines is one line of the source, the first one `line` (1-based, in the whole
    file); the marks of lists and quotes before it are left out, but for rows of a table. `kind`
    is "text", "table" or "html", in which Markdown means nothing. `callout` numbers the callout
    `> [!edge]` that the passage is a part of, if it is.
    """

    text: str
    line: int
    kind: str = "text"
    callout: int | None = None


@dataclass(frozen=True, slots=True)
class Prose:
    """The passages of a page in the order of the source.

    `definitions` maps the label of each `[label]: address`, in the form that
    `definition_label` gives it, to its address.
    """

    passages: tuple[Passage, ...] = ()
    definitions: Mapping[str, str] = field(default_factory=dict)


def definition_label(written: str) -> str:
    """Return a label so that all spellings that name the same definition are equal."""
    return " ".join(written.split()).lower().upper()
