"""Chunks by meaning: a section is cut where what comes next is least like what came before.

The borders are those between sentences and blocks; code, tables and lists stay whole. How like
two texts are is somebody else's affair, and handed in: the same answers give the same chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from pgrag.ingest.pieces import Piece, refine
from pgrag.models import ChunkProfile

#: Takes texts and as many others; returns for each pair how like they are, at most 1.
Similarities = Callable[[Sequence[str], Sequence[str]], Sequence[float]]

#: The borders of a page with the smallest similarity, of 100, are where a chunk may end.
PERCENTILE = 25
#: How many characters on either side of a border are compared.
WINDOW = 300
#: Similarity of texts that stay together unless the size forbids it.
_TOGETHER = 1.0


def by_meaning(
    sections: Sequence[Sequence[Piece]], profile: ChunkProfile, similarities: Similarities
) -> list[list[list[Piece]]]:
    """Return the groups of pieces of each section, in order; each group makes a chunk.

    A chunk ends at one of the weakest borders of its page, weaker than those beside it, once it
    has half of the preferred size; one that would exceed the maximum, at its weakest border behind
    the minimum. Takes time in proportion to the length of the page.
    """
    fine = [
        [part for piece in pieces for part in _sentences(piece, profile)] for pieces in sections
    ]
    borders = [
        (index, place)
        for index, pieces in enumerate(fine)
        for place in range(1, len(pieces))
        if not _introduces(pieces[place - 1], pieces[place])
    ]
    likeness = [[_TOGETHER] * len(pieces) for pieces in fine]
    found = similarities(
        [_before(fine[index], place) for index, place in borders],
        [_after(fine[index], place) for index, place in borders],
    )
    # rounded: the last bits of a sum differ between machines
    for (index, place), similarity in zip(borders, found, strict=True):
        likeness[index][place] = min(round(similarity, 4), _TOGETHER)
    weak = _percentile([likeness[index][place] for index, place in borders])
    return [
        list(_groups(pieces, likely, weak, profile))
        for pieces, likely in zip(fine, likeness, strict=True)
    ]


def _sentences(piece: Piece, profile: ChunkProfile) -> list[Piece]:
    return refine(piece, profile) if piece.kind == "text" and " " in piece.text else [piece]


def _introduces(piece: Piece, following: Piece) -> bool:
    return piece.text.endswith((":", "：", ":**")) and following.kind in {"code", "list", "table"}


def _before(pieces: Sequence[Piece], place: int) -> str:
    text = ""
    while place > 0 and len(text) < WINDOW:
        place -= 1
        text = f"{pieces[place].text[-WINDOW:]} {text}"
    return text[-WINDOW - 1 :]


def _after(pieces: Sequence[Piece], place: int) -> str:
    text = ""
    while place < len(pieces) and len(text) < WINDOW:
        text = f"{text} {pieces[place].text[:WINDOW]}"
        place += 1
    return text[: WINDOW + 1]


def _percentile(similarities: Sequence[float]) -> float:
    """The similarity at or below which a border is weak."""
    if not similarities:
        return -1.0
    return sorted(similarities)[(len(similarities) - 1) * PERCENTILE // 100]


def _groups(
    pieces: Sequence[Piece], likeness: Sequence[float], weak: float, profile: ChunkProfile
) -> Iterator[list[Piece]]:
    # offsets[i] is the length of all before piece i: a group from a to b has b's less a's
    offsets = [0, *accumulate(len(piece.joint) + len(piece.text) for piece in pieces)]
    enough = max(profile.minimum, profile.preferred // 2)
    start = 0
    for place in range(1, len(pieces)):
        size = offsets[place] - offsets[start]
        around = likeness[place - 1 : place + 2]
        if size >= enough and likeness[place] <= weak and likeness[place] == min(around):
            yield list(pieces[start:place])
            start = place
        while start < place and offsets[place + 1] - offsets[start] > profile.maximum:
            cut = _weakest(offsets, likeness, start, place, profile.minimum)
            yield list(pieces[start:cut])
            start = cut
    if start < len(pieces):
        yield list(pieces[start:])


def _weakest(
    offsets: Sequence[int], likeness: Sequence[float], start: int, stop: int, minimum: int
) -> int:
    """The weakest border behind the minimum, the last of equal ones; `stop` if there is none."""
    places = [
        place for place in range(start + 1, stop + 1) if offsets[place] - offsets[start] >= minimum
    ]
    return min(reversed(places), key=lambda place: likeness[place], default=stop)
