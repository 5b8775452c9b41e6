"""The prose of a page, without code: the passages in which links are searched."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Passage:
    """The text of one paragraph, heading, table row or HTML block, as written.

    Its lines are lines of the source, beginning at `line` (1-based, in the whole file). List and
    quote marks before the text are removed, except before table rows. `kind` is "text", "table"
    or "html" (not parsed as Markdown). `callout` is the number of the callout `> [!edge]` that
    contains the passage, or None.
    """

    text: str
    line: int
    kind: str = "text"
    callout: int | None = None


@dataclass(frozen=True, slots=True)
class Prose:
    """The passages of a page in source order.

    `definitions` maps the label of each `[label]: address`, normalised by `definition_label`,
    to its address.
    """

    passages: tuple[Passage, ...] = ()
    definitions: Mapping[str, str] = field(default_factory=dict)


def definition_label(written: str) -> str:
    """Normalise a label, so that all spellings of the same definition are equal."""
    return " ".join(written.split()).lower().upper()
