"""Sections packed into drafts of chunks: of the preferred size, none too small.

All steps look only at neighbours, so an edit moves the borders of chunks near it, not those of
a whole page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pgrag.ingest.drafts import Draft, Drafter
from pgrag.ingest.merging import merge_small
from pgrag.ingest.pieces import Piece, cut
from pgrag.ingest.semantic import Similarities, by_meaning
from pgrag.models import ChunkProfile, Section

_BOLD_LINE = re.compile(r"\*\*[^*\n]+\*\*")


def pack(
    sections: Sequence[Section],
    drafter: Drafter,
    profile: ChunkProfile,
    similarities: Similarities | None = None,
) -> list[Draft]:
    """Return the drafts of a page in reading order.

    The blocks of one section fill a draft up to the preferred size. Fragments below the minimum
    are merged: first within a section, then among the sections with the same parent, and so on
    upwards. A profile that cuts by meaning needs `similarities`.
    """
    below: list[list[Draft]] = []
    for groups in _grouped(list(_pieces(sections, profile)), profile, similarities):
        drafts = [drafter.draft(group) for group in groups]
        below.append(merge_small(drafts, drafter, profile))
    for index in range(len(sections) - 1, -1, -1):
        if children := sections[index].children:
            merged = below[index] + [draft for child in children for draft in below[child]]
            below[index] = merge_small(merged, drafter, profile)
    tops = [index for index, section in enumerate(sections) if section.parent is None]
    return merge_small([draft for index in tops for draft in below[index]], drafter, profile)


def _pieces(sections: Sequence[Section], profile: ChunkProfile) -> Iterator[list[Piece]]:
    """Yield the pieces of each section, noting the headings that come before the first one."""
    opened: set[int] = set()
    for index, section in enumerate(sections):
        pieces = [piece for block in section.blocks for piece in cut(block, index, profile)]
        if pieces and section.level:
            opens: list[int] = []
            above: int | None = index
            while above is not None and above not in opened:
                opened.add(above)
                opens.insert(0, above)
                above = sections[above].parent
            pieces[0] = replace(pieces[0], opens=tuple(opens))
        yield pieces


def _grouped(
    pieces: list[list[Piece]], profile: ChunkProfile, similarities: Similarities | None
) -> Iterable[Iterable[list[Piece]]]:
    """The groups of each section."""
    if not profile.by_meaning:
        return (_groups(section, profile) for section in pieces)
    if similarities is None:
        raise ValueError(f"the profile {profile.name} needs similarities of texts")
    return by_meaning(pieces, profile, similarities)


def _groups(pieces: Sequence[Piece], profile: ChunkProfile) -> Iterator[list[Piece]]:
    """Yield groups of pieces, each as near to the preferred size as its pieces allow."""
    group: list[Piece] = []
    size = 0
    for piece in pieces:
        grown = size + len(piece.joint) + len(piece.text)
        if group and not _fits(size, grown, profile):
            lead_in = _lead_in(group, piece, profile)
            yield group
            group = lead_in
            grown = _size(lead_in) + len(piece.joint) + len(piece.text)
        size = grown if group else len(piece.text)
        group.append(piece)
    if group:
        yield group


def _size(group: Sequence[Piece]) -> int:
    return sum(len(piece.joint) + len(piece.text) for piece in group)


def _fits(size: int, grown: int, profile: ChunkProfile) -> bool:
    """Decide whether a group takes one more piece that makes it grow from one size to another."""
    if grown <= profile.preferred:
        return True
    is_nearer = grown - profile.preferred <= profile.preferred - size
    return grown <= profile.maximum and (is_nearer or size < profile.minimum)


def _lead_in(group: list[Piece], following: Piece, profile: ChunkProfile) -> list[Piece]:
    """Take the line that introduces what follows out of a full group, to begin the next."""
    last = group[-1]
    introduces = _BOLD_LINE.fullmatch(last.text) or (
        last.text.endswith((":", "：", ":**")) and following.kind in {"code", "list", "table"}
    )
    if (
        introduces
        and _size([last, following]) <= profile.maximum
        and _size(group[:-1]) >= profile.minimum
    ):
        return [group.pop()]
    return []
