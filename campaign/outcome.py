"""What a part of a campaign found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done, in numbers, and the faults found, each with what repeats it."""

    name: str
    counts: Mapping[str, float]
    faults: list[str] = field(default_factory=list)


def outcomes_table(outcomes: Sequence[Outcome]) -> str:
    """A row for each part in Markdown."""
    rows = [
        f"| {o.name} | {', '.join(f'{n:,} {what}' for what, n in o.counts.items())}"
        f" | {len(o.faults)} |"
        for o in outcomes
    ]
    return "\n".join(["| part | done | faults |", "|---|---|---:|", *rows])
