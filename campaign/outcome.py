"""What a part of a campaign found."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_BEGIN, _END = "<!-- figures: made by `make campaign PAGE=…` -->\n", "<!-- end of the figures -->\n"
_HEAD = "| part | done | faults | run by |\n|---|---|---:|---|"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done, in numbers, and the faults found, each with what repeats it."""

    name: str
    counts: Mapping[str, float]
    faults: list[str] = field(default_factory=list)


def outcomes_table(outcomes: Sequence[Outcome], command: str) -> str:
    """A row for each part in Markdown, with the command that ran it."""
    return f"{_HEAD}\n{_rows(outcomes, command)}"


def write_rows(page: Path, outcomes: Sequence[Outcome], command: str) -> None:
    """Replace the rows of these parts between the marks of a page; rows of other parts stay."""
    before, begin, rest = page.read_text("utf-8").partition(_BEGIN)
    table, end, after = rest.partition(_END)
    if not end:
        raise ValueError(f"{page} lacks {_BEGIN.strip()} or {_END.strip()}.")
    rows = dict(re.findall(r"^(\| (?!part )\w+ \|)(.*)$", table, re.MULTILINE))
    rows |= dict(re.findall(r"^(\| \w+ \|)(.*)$", _rows(outcomes, command), re.MULTILINE))
    lines = "\n".join([_HEAD, *(name + row for name, row in rows.items())])
    page.write_text(f"{before}{begin}\n{lines}\n\n{end}{after}", "utf-8")


def _rows(outcomes: Sequence[Outcome], command: str) -> str:
    return "\n".join(
        f"| {o.name} | {', '.join(f'{number:,} {what}' for what, number in o.counts.items())}"
        f" | {len(o.faults)} | `{command}` |"
        for o in outcomes
    )
