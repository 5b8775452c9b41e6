"""What a part of a campaign did, its faults, and the table of all parts."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from time import monotonic

_BEGIN, _END = "<!-- figures: made by `make campaign PAGE=…` -->\n", "<!-- end of the figures -->\n"
_HEAD = "| part | done | faults | run by |\n|---|---|---:|---|"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Counts of what was done, and the faults, each with a way to repeat it."""

    name: str
    counts: Mapping[str, float]
    faults: Sequence[str] = ()


class Faults(dict[object, str]):
    """The first fault of each kind, printed when it occurs."""

    def add(self, kind: object, told: str) -> None:
        """Keep a fault unless one of its kind is known."""
        if kind not in self:
            self[kind] = told
            print(told, file=sys.stderr)


def turns(count: int, minutes: float | None) -> Iterator[int]:
    """Numbers up to a count, for at most some minutes."""
    deadline = monotonic() + 60 * minutes if minutes else float("inf")
    yield from takewhile(lambda _: monotonic() < deadline, range(count))


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
