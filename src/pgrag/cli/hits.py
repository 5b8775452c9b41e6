"""Lists of hits for people: one entry per section, weak matches apart."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pgrag.cli.command import Row

#: Hits below this share of the best score are weak. In the labelled sets of Kubernetes' and
#: Obsidian's documentation, 0.2 % of the relevant hits of a first page are.
WEAK_SHARE = 0.5


@dataclass(slots=True)
class Entry:
    """An entry of a list: its best hit, and the other hits of the same section."""

    hit: Row
    others: list[Row] = field(default_factory=list)
    is_weak: bool = False


def entries(hits: Sequence[Row], *, merged: bool, fusion: str | None = None) -> list[Entry]:
    """Return the entries of a list of hits, best first.

    `merged`: hits with the same address are one entry. Scores by the `fusion` "rrf" reflect only
    ranks, so none of them is weak.
    """
    best = max((hit["score"] for hit in hits), default=0.0)
    strong = [
        n for n, hit in enumerate(hits) if fusion == "rrf" or hit["score"] >= WEAK_SHARE * best
    ]
    made: dict[object, Entry] = {}
    for number, hit in enumerate(hits):
        address = (hit["page_id"], hit["anchor"]) if merged else number
        if address in made:
            made[address].others.append(hit)
        else:
            # Only the tail: `hierarchy` and `mmr_lambda` do not order by score.
            made[address] = Entry(hit, is_weak=number > max(strong, default=-1))
    return list(made.values())


def next_command(arguments: Sequence[str], cursor: str) -> str:
    """Return the command that was called with these arguments, for the hits after a cursor."""
    command, *rest = arguments
    return shlex.join(["pgrag", command, f"--after={cursor}", *_without_after(rest)])


def _without_after(arguments: Sequence[str]) -> Iterator[str]:
    parts = iter(arguments)
    for part in parts:
        if part == "--":
            yield part
            yield from parts
        elif part == "--after":
            next(parts, None)
        elif not part.startswith("--after="):
            yield part
