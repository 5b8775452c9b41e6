"""Chunks by meaning: cut where the text turns to something else."""

import pytest
from test_chunk_properties import noise, paragraphs

from pgrag.ingest.page import PageOptions, read_page, source_hash
from pgrag.ingest.values import CHUNK_PROFILES
from pgrag.models.embedding import BuiltinEmbedder, similarities

PROFILE = CHUNK_PROFILES["by_meaning"]
COPIES = "A copy of all files is made every night and kept on another machine for ninety days. "
BREAD = "Knead flour, water and salt into a dough, let it rise and bake the bread until golden. "


def shared_words(left, right):
    pairs = [(set(a.split()), set(b.split())) for a, b in zip(left, right, strict=True)]
    return [len(a & b) / len(a | b) for a, b in pairs]


def contents(text, compare=noise):
    return [chunk.content for chunk in paragraphs(text, PROFILE, compare)]


def test_a_chunk_ends_where_the_subject_changes():
    text = COPIES * 7 + BREAD * 8
    assert contents(text, shared_words) == [(COPIES * 7).strip(), (BREAD * 8).strip()]
    embedder = BuiltinEmbedder()
    found = contents(text, lambda left, right: similarities(embedder, left, right))
    assert found == [(COPIES * 7).strip(), (BREAD * 8).strip()]


def test_headings_part_and_code_stays_with_the_line_that_introduces_it():
    code = "```sh\n" + "kestrel copy --now\n" * 20 + "```"
    text = f"{COPIES * 5}Call it like this:\n\n{code}\n\n{BREAD * 6}"
    [holder] = [found for found in contents(text) if "```" in found]
    assert f"Call it like this:\n\n{code}" in holder
    text = f"# Copies\n\n{COPIES * 6}\n\n# Bread\n\n{COPIES * 6}"
    found = paragraphs(text, PROFILE, lambda a, b: [1.0] * len(a))
    assert [chunk.heading for chunk in found] == ["Copies", "Bread"]


def test_the_profile_is_part_of_what_makes_a_page_and_needs_similarities():
    options = [PageOptions(profile=profile) for profile in CHUNK_PROFILES.values()]
    assert len({source_hash("a.md", "digest", each) for each in options}) == len(CHUNK_PROFILES)
    with pytest.raises(ValueError, match="by_meaning needs similarities"):
        read_page("a.md", b"Text.", PageOptions(profile=PROFILE))


def test_a_sentence_is_compared_once_however_large_the_page_is():
    sentences = 8000
    compared = 0

    def compare(left, right):
        nonlocal compared
        compared += len(left)
        return shared_words(left, right)

    text = "\n\n".join((COPIES if n // 7 % 2 else BREAD) * 4 for n in range(sentences // 4))
    found = contents(text, compare)
    assert sentences / 4 < compared <= sentences
    assert max(map(len, found)) <= PROFILE.maximum
