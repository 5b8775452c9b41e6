"""Pack sections into drafts of the preferred size, none too small. Every step considers only
neighbours, so an edit moves nearby chunk borders, not those of the whole page.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from pgrag.ingest.chunks.drafts import Draft, join, merge_small
from pgrag.ingest.chunks.pieces import Piece, cut, introduces
from pgrag.ingest.chunks.semantic import Similarities, by_meaning
from pgrag.ingest.values import ChunkProfile, Section

_BOLD_LINE = re.compile(r"\*\*[^*\n]+\*\*")


def pack(
    sections: Sequence[Section], profile: ChunkProfile, similarities: Similarities | None = None
) -> list[Draft]:
    """Return the drafts of a page in reading order; a profile by meaning needs `similarities`. The
    blocks of a section fill drafts up to the preferred size, then fragments are merged. A draft
    never crosses a heading, so that every section with text is a result of its own.
    """
    pieces = [
        [piece for block in section.blocks for piece in cut(block, index, profile)]
        for index, section in enumerate(sections)
    ]
    grouped: Iterable[Iterable[list[Piece]]] = (_groups(section, profile) for section in pieces)
    if profile.by_meaning:
        if similarities is None:
            raise ValueError(f"the profile {profile.name} needs similarities of texts")
        grouped = by_meaning(pieces, profile, similarities)
    return [draft for groups in grouped for draft in merge_small(list(map(join, groups)), profile)]


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
