"""What holds for the chunks of any page: sizes, completeness, order, stability."""

import re
import zlib
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgrag.ingest.chunks.chunks import make_chunks
from pgrag.ingest.text.markdown import parse
from pgrag.ingest.values import CHUNK_PROFILES, ChunkProfile

MEDIUM = ChunkProfile()
by_profile = pytest.mark.parametrize("profile", [MEDIUM, CHUNK_PROFILES["by_meaning"]])

word = st.text("abcdefgäßжñ1漢", min_size=1, max_size=12)
sentence = st.builds(
    lambda words, mark: " ".join(words).capitalize() + mark,
    st.lists(word, min_size=1, max_size=25),
    st.sampled_from([".", "!", "?", "。", " etc.", ":", ""]),
)
paragraph = st.builds(" ".join, st.lists(sentence, min_size=1, max_size=20))
listing = st.builds(
    lambda items, mark: "\n".join(f"{mark} {item}" for item in items),
    st.lists(sentence, min_size=1, max_size=30),
    st.sampled_from(["-", "*", "1.", "- [ ]"]),
)
nested = st.builds(
    lambda pairs: "\n".join(f"- {outer}\n\n  - {inner}" for outer, inner in pairs),
    st.lists(st.tuples(sentence, sentence), min_size=1, max_size=10),
)
table = st.builds(
    lambda cells: "| a | b |\n|---|---|\n" + "\n".join(f"| {cell} | x |" for cell in cells),
    st.lists(sentence, min_size=1, max_size=20),
)
code = st.builds(
    lambda lines: "```js\n" + "\n".join(f"x = '{line}'" for line in lines) + "\n```",
    st.lists(word, min_size=1, max_size=120),
)
quote = st.builds(
    lambda lines: "\n".join(f"> {line}" for line in lines),
    st.lists(sentence, min_size=1, max_size=15),
)
endless = st.builds(lambda part, count: part * count, word, st.integers(1, 600))
heading = st.builds(
    lambda level, words: f"{'#' * level} {words}",
    st.integers(1, 6),
    st.builds(" ".join, st.lists(word, min_size=1, max_size=5)),
)
block = st.one_of(
    heading, heading, paragraph, sentence, listing, nested, table, code, quote, endless
)
page = st.builds("\n\n".join, st.lists(block, max_size=25))

Similarities = Callable[[Sequence[str], Sequence[str]], list[float]]
quick = settings(max_examples=50, derandomize=True, deadline=None)


def noise(left, right):
    """Similarities that follow from the texts and mean nothing."""
    return [zlib.crc32(f"{a}|{b}".encode()) / 2**32 for a, b in zip(left, right, strict=True)]


def chunks(text, profile=MEDIUM, compare=noise):
    return make_chunks(
        parse(text), title="Title", path=("Title",), description=None,
        last_line=text.count("\n") + 1, profile=profile, similarities=compare,
    )  # fmt: skip


def paragraphs(text, *options):
    return [chunk for chunk in chunks(text, *options) if chunk.level == 2]


def letters(text):
    """The text without what cutting may add or leave out: space, fences, headings, markup."""
    kept = [line for line in text.split("\n") if not re.match(r"\s*(#{1,6} |`{3}|\|-{3})", line)]
    return re.sub(r"[\s>|*.\[\]-]|(?<=\d)\.", "", "\n".join(kept))


@by_profile
@quick
@given(page)
def test_chunks_have_the_sizes_of_the_profile_and_all_of_the_text_once(profile, text):
    found = paragraphs(text, profile)
    in_section = Counter(chunk.parent for chunk in found)
    for chunk in found:
        size = len(chunk.content)
        if in_section[chunk.parent] > 1:
            assert size >= profile.minimum
        if size > profile.maximum:
            assert "code" in chunk.types
            assert size < profile.maximum + 2 * profile.minimum
            fences = re.findall(r"```.*?```", chunk.content, re.DOTALL)
            assert max(map(len, fences)) > profile.maximum - 2 * profile.minimum
    assert letters("\n".join(chunk.content for chunk in found)) == letters(text)


@quick
@given(page)
def test_rows_refer_to_rows_before_them_and_every_level_covers_the_page(text):
    rows = chunks(text)
    lines = text.count("\n") + 1
    previous = 1
    for index, row in enumerate(rows):
        assert row.sort_order == index
        assert row.path
        assert all(row.path)
        assert row.content.strip()
        assert 1 <= row.line_start <= row.line_end <= lines
        if row.level:
            assert row.parent is not None
            assert row.parent < index
            assert rows[row.parent].level < row.level or row.level == 1
            assert row.path[: len(rows[row.parent].path)] == rows[row.parent].path
        else:
            assert index == 0
        if row.level == 2:
            assert row.line_start >= previous
            previous = row.line_start
    # A page is found on level 0 once; a section with text by its row or by one chunk of it.
    texts = [row for row in rows if row.level == 2]
    assert sum(row.covers & 1 for row in rows) == 1
    assert all(bool(row.covers & 4) == (row.level == 2) for row in rows) or not texts
    for row in rows:
        if row.level == 1 and row.covers:
            held = [
                t for t in texts if t.line_start <= row.line_end and t.line_end >= row.line_start
            ]
            assert len(held) > 1


@by_profile
@quick
@given(page, page)
def test_the_same_text_gives_the_same_chunks_whatever_was_cut_before(profile, text, other):
    first = chunks(text, profile)
    chunks(other, profile)
    assert chunks(text, profile) == first


@quick
@given(page, sentence, page)
def test_an_edit_leaves_a_far_section_alone(before, edit, after):
    """Three large sections in between keep their chunks, whatever stands around them."""
    wall = "\n\n".join(
        f"# Wall {n}\n\n" + "This wall is thick and does not move. " * 60 for n in range(3)
    )

    def contents(first):
        found = [chunk.content for chunk in paragraphs(f"{first}\n\n{wall}\n\n# End\n\n{after}")]
        return found[next(n for n, content in enumerate(found) if "This wall" in content) + 3 :]

    assert contents(before) == contents(f"{before}\n\n{edit}")
