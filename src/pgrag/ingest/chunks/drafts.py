"""Drafts of chunks: pieces with their joined text, merged until none is too small."""

import heapq
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from pgrag.ingest.chunks.pieces import Piece, refine
from pgrag.ingest.values import ChunkProfile

_REFINEMENTS = 3


@dataclass(frozen=True, slots=True)
class Draft:
    """The pieces of a chunk, all of one section, and its text."""

    pieces: tuple[Piece, ...]
    text: str


def join(pieces: Sequence[Piece]) -> Draft:
    """Join consecutive pieces of a section."""
    first, *others = pieces
    text = first.text + "".join(piece.joint + piece.text for piece in others)
    return Draft(tuple(pieces), text)


@dataclass(frozen=True, slots=True)
class _Union:
    """The union of a fragment and one of its neighbours."""

    left: int
    right: int
    draft: Draft
    neighbour_size: int
    is_left_small: bool


def merge_small(drafts: list[Draft], profile: ChunkProfile) -> list[Draft]:
    """Return the drafts of a section with none below the minimum, unless it is alone: the smallest
    merges with its smaller neighbour, or takes text from it.
    """
    if len(drafts) == 1 or all(len(draft.text) >= profile.minimum for draft in drafts):
        return drafts
    row = _Row(drafts, profile.minimum)
    while (fragment := row.smallest_fragment()) is not None:
        unions = row.unions(fragment)
        if not unions:
            break
        fitting = [union for union in unions if len(union.draft.text) <= profile.maximum]
        if fitting:
            row.join(fitting[0])
            continue
        for union in unions:
            if halves := _share(union, profile):
                row.replace(union, *halves)
                break
        else:
            row.join(min(unions, key=lambda union: len(union.draft.text)))
    return row.drafts()


class _Row:
    """Drafts in reading order; merging two neighbours takes logarithmic time."""

    def __init__(self, drafts: Sequence[Draft], minimum: int) -> None:
        self._minimum = minimum
        self._drafts = dict(enumerate(drafts))
        self._before = {index: index - 1 for index in self._drafts}
        self._after = {index: index + 1 for index in self._drafts}
        self._waiting: list[tuple[int, int, int]] = []
        for index in self._drafts:
            self._wait(index)

    def drafts(self) -> list[Draft]:
        return [self._drafts[index] for index in sorted(self._drafts)]

    def smallest_fragment(self) -> int | None:
        """Return the index of the smallest draft below the minimum. The text breaks ties, not the
        position: a new draft must not change all pairs after it.
        """
        while self._waiting:
            size, _, index = heapq.heappop(self._waiting)
            if index in self._drafts and len(self._drafts[index].text) == size:
                return index
        return None

    def unions(self, index: int) -> list[_Union]:
        """Return the unions of a draft with each neighbour, that with the smaller one first."""
        unions: list[_Union] = []
        for left, right in ((self._before[index], index), (index, self._after[index])):
            if left in self._drafts and right in self._drafts:
                pieces = (*self._drafts[left].pieces, *self._drafts[right].pieces)
                neighbour = self._drafts[left if right == index else right]
                draft = join(pieces)
                unions.append(_Union(left, right, draft, len(neighbour.text), left == index))
        return sorted(unions, key=lambda union: (union.neighbour_size, union.left))

    def join(self, union: _Union) -> None:
        self._drafts[union.left] = union.draft
        del self._drafts[union.right]
        following = self._after[union.right]
        self._after[union.left] = following
        self._before[following] = union.left
        self._wait(union.left)

    def replace(self, union: _Union, left: Draft, right: Draft) -> None:
        self._drafts[union.left] = left
        self._drafts[union.right] = right

    def _wait(self, index: int) -> None:
        text = self._drafts[index].text
        if len(text) < self._minimum:
            heapq.heappush(self._waiting, (len(text), zlib.crc32(text.encode()), index))


def _share(union: _Union, profile: ChunkProfile) -> tuple[Draft, Draft] | None:
    """Split a union that is too large; the fragment takes as little as possible."""
    pieces = list(union.draft.pieces)
    for _ in range(_REFINEMENTS):
        cuts = range(1, len(pieces))
        for cut in cuts if union.is_left_small else reversed(cuts):
            left, right = join(pieces[:cut]), join(pieces[cut:])
            sizes = len(left.text), len(right.text)
            if min(sizes) >= profile.minimum and max(sizes) <= profile.maximum:
                return left, right
        pieces = [part for piece in pieces for part in refine(piece, profile)]
    return None
