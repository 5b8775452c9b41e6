"""Semantic chunking: split a section between sentences or blocks where the similarity is least."""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from pgrag.ingest.chunks.pieces import Piece, introduces, refine
from pgrag.ingest.values import ChunkProfile

#: Takes two lists of texts of equal length; returns the similarity of each pair, at most 1.
Similarities = Callable[[Sequence[str], Sequence[str]], Sequence[float]]

#: A chunk may end at the borders of a page whose similarity is within this percentile.
PERCENTILE = 25
#: Characters on either side of a border that are compared.
WINDOW = 300
#: Similarity of texts that stay together unless the maximum size forbids it.
_TOGETHER = 1.0


def by_meaning(
    sections: Sequence[Sequence[Piece]], profile: ChunkProfile, similarities: Similarities
) -> list[list[list[Piece]]]:
    """Return the groups of pieces of each section, a chunk each, cut at weak borders, in linear
    time.
    """
    fine = [
        [part for piece in pieces for part in _sentences(piece, profile)] for pieces in sections
    ]
    borders = [
        (index, border)
        for index, pieces in enumerate(fine)
        for border in range(1, len(pieces))
        if not introduces(pieces[border - 1], pieces[border])
    ]
    likeness = [[_TOGETHER] * len(pieces) for pieces in fine]
    answers = similarities(
        [_before(fine[index], border) for index, border in borders],
        [_after(fine[index], border) for index, border in borders],
    )
    # rounded, because the last bits of a sum differ between machines
    for (index, border), similarity in zip(borders, answers, strict=True):
        likeness[index][border] = min(round(similarity, 4), _TOGETHER)
    ranked = sorted(likeness[index][border] for index, border in borders)
    weak = ranked[(len(ranked) - 1) * PERCENTILE // 100] if ranked else -1.0
    return [
        list(_groups(pieces, likely, weak, profile))
        for pieces, likely in zip(fine, likeness, strict=True)
    ]


def _sentences(piece: Piece, profile: ChunkProfile) -> list[Piece]:
    return refine(piece, profile) if piece.kind == "text" and " " in piece.text else [piece]


def _before(pieces: Sequence[Piece], border: int) -> str:
    text = ""
    while border > 0 and len(text) < WINDOW:
        border -= 1
        text = f"{pieces[border].text[-WINDOW:]} {text}"
    return text[-WINDOW - 1 :]


def _after(pieces: Sequence[Piece], border: int) -> str:
    text = ""
    while border < len(pieces) and len(text) < WINDOW:
        text = f"{text} {pieces[border].text[:WINDOW]}"
        border += 1
    return text[: WINDOW + 1]


def _groups(
    pieces: Sequence[Piece], likeness: Sequence[float], weak: float, profile: ChunkProfile
) -> Iterator[list[Piece]]:
    # offsets[i] is the length of all pieces before i: group a to b has offsets[b] - offsets[a]
    offsets = [0, *accumulate(len(piece.joint) + len(piece.text) for piece in pieces)]
    enough = max(profile.minimum, profile.preferred // 2)
    start = 0
    for border in range(1, len(pieces)):
        size = offsets[border] - offsets[start]
        around = likeness[border - 1 : border + 2]
        if size >= enough and likeness[border] <= weak and likeness[border] == min(around):
            yield list(pieces[start:border])
            start = border
        while start < border and offsets[border + 1] - offsets[start] > profile.maximum:
            cut = _weakest(offsets, likeness, start, border, profile.minimum)
            yield list(pieces[start:cut])
            start = cut
    if start < len(pieces):
        yield list(pieces[start:])


def _weakest(
    offsets: Sequence[int], likeness: Sequence[float], start: int, stop: int, minimum: int
) -> int:
    """Return the weakest border beyond the minimum, the last of equals; `stop` if none."""
    borders = [
        border
        for border in range(start + 1, stop + 1)
        if offsets[border] - offsets[start] >= minimum
    ]
    return min(reversed(borders), key=lambda border: likeness[border], default=stop)
