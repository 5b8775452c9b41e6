"""Pack sections into drafts of the preferred size, none too small.

Every step considers only neighbours, so an edit moves nearby chunk borders, not those of the
whole page.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pgrag.ingest.chunks.drafts import Draft, Drafter, merge_small
from pgrag.ingest.chunks.pieces import Piece, cut, introduces
from pgrag.ingest.chunks.semantic import Similarities, by_meaning
from pgrag.models import ChunkProfile, Section

_BOLD_LINE = re.compile(r"\*\*[^*\n]+\*\*")


def pack(
    sections: Sequence[Section],
    profile: ChunkProfile,
    similarities: Similarities | None = None,
) -> list[Draft]:
    """Return the drafts of a page in reading order.

    The blocks of a section fill drafts up to the preferred size. Fragments below the minimum are
    merged: first within a section, then among sections with the same parent, and so on upwards.
    A profile that cuts by meaning needs `similarities`.
    """
    drafter = Drafter(sections)
    pieces = list(_pieces(sections, profile))
    grouped: Iterable[Iterable[list[Piece]]] = (_groups(section, profile) for section in pieces)
    if profile.by_meaning:
        if similarities is None:
            raise ValueError(f"the profile {profile.name} needs similarities of texts")
        grouped = by_meaning(pieces, profile, similarities)
    below: list[list[Draft]] = []
    for groups in grouped:
        drafts = [drafter.draft(group) for group in groups]
        below.append(merge_small(drafts, drafter, profile))
    for index in range(len(sections) - 1, -1, -1):
        if children := sections[index].children:
            merged = below[index] + [draft for child in children for draft in below[child]]
            below[index] = merge_small(merged, drafter, profile)
    tops = [index for index, section in enumerate(sections) if section.parent is None]
    return merge_small([draft for index in tops for draft in below[index]], drafter, profile)


def _pieces(sections: Sequence[Section], profile: ChunkProfile) -> Iterator[list[Piece]]:
    """Yield the pieces of each section; its first piece notes the headings that open before it."""
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


def _groups(pieces: Sequence[Piece], profile: ChunkProfile) -> Iterator[list[Piece]]:
    """Yield groups of pieces, each as close to the preferred size as its pieces allow."""
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
    """Whether a group takes one more piece, growing from `size` to `grown`."""
    if grown <= profile.preferred:
        return True
    is_nearer = grown - profile.preferred <= profile.preferred - size
    return grown <= profile.maximum and (is_nearer or size < profile.minimum)


def _lead_in(group: list[Piece], following: Piece, profile: ChunkProfile) -> list[Piece]:
    """Move the line that introduces the following piece from a full group to the next."""
    last = group[-1]
    if (
        (_BOLD_LINE.fullmatch(last.text) or introduces(last, following))
        and _size([last, following]) <= profile.maximum
        and _size(group[:-1]) >= profile.minimum
    ):
        return [group.pop()]
    return []
