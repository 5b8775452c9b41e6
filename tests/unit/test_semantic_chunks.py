"""Chunks by meaning: cut where the text turns to something else, and all that holds for chunks."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from test_chunk_properties import letters, page, quick

from pgrag.ingest.chunks.chunks import make_chunks
from pgrag.ingest.page import PageOptions, read_page, source_hash
from pgrag.ingest.text.markdown import parse
from pgrag.ingest.values import CHUNK_PROFILES, Chunk
from pgrag.models.embedding import BuiltinEmbedder, similarities

PROFILE = CHUNK_PROFILES["by_meaning"]
COPIES = "A copy of all files is made every night and kept on another machine for ninety days. "
BREAD = "Knead flour, water and salt into a dough, let it rise and bake the bread until golden. "


def noise(left: Sequence[str], right: Sequence[str]) -> list[float]:
    """Similarities that follow from the texts and mean nothing."""
    return [zlib.crc32(f"{a}|{b}".encode()) / 2**32 for a, b in zip(left, right, strict=True)]


def shared_words(left: Sequence[str], right: Sequence[str]) -> list[float]:
    pairs = [(set(a.split()), set(b.split())) for a, b in zip(left, right, strict=True)]
    return [len(a & b) / len(a | b) for a, b in pairs]


def paragraphs(text: str, compare=noise) -> list[Chunk]:
    rows = make_chunks(
        parse(text), title="Title", path=("Title",), description=None,
        last_line=text.count("\n") + 1, profile=PROFILE, similarities=compare,
    )  # fmt: skip
    return [chunk for chunk in rows if chunk.level == 2]


def contents(text: str, compare=noise) -> list[str]:
    return [chunk.content for chunk in paragraphs(text, compare)]


@quick
@given(page)
def test_no_chunk_is_too_small_or_too_large(text: str) -> None:
    found = paragraphs(text)
    in_section = Counter(chunk.parent for chunk in found)
    for chunk in found:
        if in_section[chunk.parent] > 1:
            assert len(chunk.content) >= PROFILE.minimum
        if len(chunk.content) > PROFILE.maximum:
            assert "code" in chunk.types
            assert len(chunk.content) < PROFILE.maximum + 2 * PROFILE.minimum


@quick
@given(page)
def test_no_text_is_lost_or_doubled(text: str) -> None:
    assert letters("\n".join(contents(text))) == letters(text)


@quick
@given(page, page)
def test_the_same_text_gives_the_same_chunks(text: str, other: str) -> None:
    first = paragraphs(text)
    paragraphs(other)
    assert paragraphs(text) == first


def test_a_chunk_ends_where_the_subject_changes():
    text = COPIES * 7 + BREAD * 8
    assert contents(text, shared_words) == [(COPIES * 7).strip(), (BREAD * 8).strip()]


def test_code_stays_whole_and_with_the_line_that_introduces_it():
    code = "```sh\n" + "kestrel copy --now\n" * 20 + "```"
    text = f"{COPIES * 5}Call it like this:\n\n{code}\n\n{BREAD * 6}"
    [holder] = [found for found in contents(text) if "```" in found]
    assert f"Call it like this:\n\n{code}" in holder


def test_headings_part_large_sections():
    text = f"# Copies\n\n{COPIES * 6}\n\n# Bread\n\n{COPIES * 6}"
    assert [chunk.heading for chunk in paragraphs(text, lambda a, b: [1.0] * len(a))] == [
        "Copies", "Bread",
    ]  # fmt: skip


def test_the_profile_is_part_of_what_makes_a_page():
    hashes = {
        source_hash("a.md", "digest", PageOptions(profile=profile))
        for profile in CHUNK_PROFILES.values()
    }
    assert len(hashes) == len(CHUNK_PROFILES)


def test_without_similarities_there_is_no_meaning():
    with pytest.raises(ValueError, match="by_meaning needs similarities"):
        read_page("a.md", b"Text.", PageOptions(profile=PROFILE))


def test_a_sentence_is_compared_once_however_large_the_page_is():
    sentences = 8000
    compared = 0

    def compare(left: Sequence[str], right: Sequence[str]) -> list[float]:
        nonlocal compared
        compared += len(left)
        return shared_words(left, right)

    text = "\n\n".join((COPIES if n // 7 % 2 else BREAD) * 4 for n in range(sentences // 4))
    found = contents(text, compare)
    assert sentences / 4 < compared <= sentences
    assert max(map(len, found)) <= PROFILE.maximum


def test_the_builtin_model_compares_sentences():
    embedder = BuiltinEmbedder()
    text = COPIES * 7 + BREAD * 8
    found = contents(text, lambda left, right: similarities(embedder, left, right))
    assert found == [(COPIES * 7).strip(), (BREAD * 8).strip()]
