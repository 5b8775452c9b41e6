"""No chunk below the minimum: fragments join a neighbour, or take from it."""

from __future__ import annotations

import heapq
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from pgrag.ingest.drafts import Draft, Drafter
from pgrag.ingest.pieces import refine
from pgrag.models import ChunkProfile

_REFINEMENTS = 3


@dataclass(frozen=True, slots=True)
class _Union:
    """What a fragment and one of its neighbours would be together."""

    left: int
    right: int
    draft: Draft
    neighbour_size: int
    is_left_small: bool


def merge_small(drafts: list[Draft], drafter: Drafter, profile: ChunkProfile) -> list[Draft]:
    """Return the drafts with none below the profile's minimum, unless it is the only one.

    The smallest fragment first joins its smaller neighbour. If that would exceed the maximum it
    takes from it as little as makes it large enough; if code, which stays whole, allows no cut,
    it is joined all the same.
    """
    if len(drafts) == 1 or all(len(draft.text) >= profile.minimum for draft in drafts):
        return drafts
    row = _Row(drafts, drafter, profile.minimum)
    while (fragment := row.smallest_fragment()) is not None:
        unions = row.unions(fragment)
        if not unions:
            break
        fitting = [union for union in unions if len(union.draft.text) <= profile.maximum]
        if fitting:
            row.join(fitting[0])
            continue
        for union in unions:
            if halves := _share(union, drafter, profile):
                row.replace(union, *halves)
                break
        else:
            row.join(min(unions, key=lambda union: len(union.draft.text)))
    return row.drafts()


class _Row:
    """Drafts in reading order whose neighbours can be joined, each step in logarithmic time."""

    def __init__(self, drafts: Sequence[Draft], drafter: Drafter, minimum: int) -> None:
        self._drafter = drafter
        self._minimum = minimum
        self._drafts = dict(enumerate(drafts))
        self._before = {place: place - 1 for place in self._drafts}
        self._after = {place: place + 1 for place in self._drafts}
        self._waiting: list[tuple[int, int, int]] = []
        for place in self._drafts:
            self._wait(place)

    def drafts(self) -> list[Draft]:
        return [self._drafts[place] for place in sorted(self._drafts)]

    def smallest_fragment(self) -> int | None:
        """Return the place of the smallest draft below the minimum.

        Equal sizes are ordered by their text, not by their place: a new draft at the beginning
        of a page must not change all pairs after it.
        """
        while self._waiting:
            size, _, place = heapq.heappop(self._waiting)
            if place in self._drafts and len(self._drafts[place].text) == size:
                return place
        return None

    def unions(self, place: int) -> list[_Union]:
        """Return what the draft at `place` and its neighbours would be, the smaller one first."""
        unions: list[_Union] = []
        for left, right in ((self._before[place], place), (place, self._after[place])):
            if left in self._drafts and right in self._drafts:
                pieces = (*self._drafts[left].pieces, *self._drafts[right].pieces)
                neighbour = self._drafts[left if right == place else right]
                draft = self._drafter.draft(pieces)
                unions.append(_Union(left, right, draft, len(neighbour.text), left == place))
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

    def _wait(self, place: int) -> None:
        text = self._drafts[place].text
        if len(text) < self._minimum:
            heapq.heappush(self._waiting, (len(text), zlib.crc32(text.encode()), place))


def _share(union: _Union, drafter: Drafter, profile: ChunkProfile) -> tuple[Draft, Draft] | None:
    """Cut a union that is too large in two that are neither too small nor too large.

    The fragment takes as little as possible from its neighbour. None if there is no such cut.
    """
    pieces = list(union.draft.pieces)
    for _ in range(_REFINEMENTS):
        places = range(1, len(pieces))
        for place in places if union.is_left_small else reversed(places):
            left, right = drafter.draft(pieces[:place]), drafter.draft(pieces[place:])
            sizes = len(left.text), len(right.text)
            if min(sizes) >= profile.minimum and max(sizes) <= profile.maximum:
                return left, right
        pieces = [part for piece in pieces for part in refine(piece, profile)]
    return None
