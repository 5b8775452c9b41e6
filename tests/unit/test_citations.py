"""Citations in what a language model wrote, whole or piece by piece; sentences; the denial."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgrag.answer.citations import CitationReader
from pgrag.answer.claims import find_claims
from pgrag.answer.text import SENTINEL, OpeningReader, without_sentinel

PARTS = [
    "[1]", "[1, 2]", "[2-4]", "[1][2]", "\\[3\\]", "【4†title】", "[", "]", "`", "``", "```", "~~~",
    "\n", "\n\n", " ", "word", "a[1]", "[12", "3]", "# Heading", "- item", ". ", "\\", "†】",
    "[^2]", "[Source 3]", "[Sour", "ce 4]", "[# 5]",
]  # fmt: skip


def find_citations(text):
    reader = CitationReader()
    return [*reader.feed(text), *reader.finish()]


def cited(text):
    return [citation.number for citation in find_citations(text)]


@pytest.mark.parametrize(("text", "numbers"), [
    ("It is so [1].", [1]),
    ("Both say it [1][2].", [1, 2]),
    ("Both say it [1, 2] and [3;4].", [1, 2, 3, 4]),
    ("All say it [2-4] or [5–6].", [2, 3, 4, 5, 6]),
    ("No range [9-3], none so long [1-900].", [9, 3, 1, 900]),
    ("Footnote [^3], escaped \\[4\\], wide 【5】 and 【6†guide.md】.", [3, 4, 5, 6]),
    ("Named [Source 1], [sources 2, 3], [Quelle 4], [#5]; not [figure 6].", [1, 2, 3, 4, 5]),
    ("None: [], [x], [1a], [12345], [ ], (1), a year [2024].", []),
    ("Code: `a[1]` and ``b`[2]`` but not `c [3].", [3]),
    ("```python\na[1]\n```\nText [2].", [2]),
    ("~~~\na[1]\n```\nb[2]\n~~~\nText [3].", [3]),
    ("```\nnever closed [1]\n", []),
    ("```inline``` [1]", [1]),
])  # fmt: skip
def test_citations_are_found_where_they_are_citations(text, numbers):
    assert cited(text) == numbers


def test_a_citation_says_where_it_stands_as_soon_as_it_is_certain():
    text = "Grüße [1], [2, 3]"
    assert [text[c.start : c.end] for c in find_citations(text)] == ["[1]", "[2, 3]", "[2, 3]"]
    reader = CitationReader()
    assert reader.feed("It is so [1") == []
    assert [c.number for c in reader.feed("]")] == [1]
    assert reader.feed(" and `code [2]") == []
    assert [c.number for c in reader.feed(" is no code\n")] == [2]
    reader = CitationReader()
    assert sum(len(reader.feed("[1]")) for _ in range(20_000)) == 20_000
    assert find_citations("[" * 100_000 + "`" * 100_000) == []


@given(st.lists(st.sampled_from(PARTS), max_size=25), st.data())
def test_pieces_give_the_citations_of_the_whole(parts, data):
    text = "".join(parts)
    reader = CitationReader()
    found = []
    place = 0
    while place < len(text):
        size = data.draw(st.integers(1, 4))
        found += reader.feed(text[place : place + size])
        place += size
    assert [*found, *reader.finish()] == find_citations(text)


def claims(text):
    found = find_claims(text, find_citations(text))
    return [(text[claim.start : claim.end], claim.numbers) for claim in found]


def test_claims_are_sentences_and_rows_with_the_citations_in_and_behind_them():
    text = "One is so [1]. Two is so. [2] Three is so.[3][4] Four is not.\n\n[5] Five is."
    assert claims(text) == [
        ("One is so [1].", (1,)),
        ("Two is so. [2]", (2,)),
        ("Three is so.[3][4]", (3, 4)),
        ("Four is not.", ()),
        ("[5] Five is.", (5,)),
    ]
    assert claims("The last paragraph.\n\n[1]") == [("The last paragraph.\n\n[1]", (1,))]
    text = (
        "# A heading of words\n\nYes.\n\n**A bold line**\n\n```\ncode of words [1]\n```\n"
        "| a head | b |\n|---|---|\n| a row | [2] |\n"
    )
    assert claims(text) == [("| a row | [2] |", (2,))]
    assert claims("Steps:\n\n- Open it [2].\n") == [("Open it [2].", (2,))]
    assert claims("| a head [1] | b |\n|---|---|\n") == [("| a head [1] | b |", (1,))]
    assert claims("| no head | b |\n| a row | b |") == [
        ("| no head | b |", ()), ("| a row | b |", ()),
    ]  # fmt: skip
    text = "He worked for:\n\n- Nordlicht, Hamburg [1]\n- Saale AG [2]\n\nNothing else: it says.\n"
    assert claims(text) == [
        ("He worked for:", (1, 2)),
        ("Nordlicht, Hamburg [1]", (1,)),
        ("Saale AG [2]", (2,)),
        ("Nothing else: it says.", ()),
    ]


@given(st.lists(st.sampled_from(PARTS), max_size=25))
def test_claims_lie_in_the_text_and_lose_no_citation(parts):
    text = "".join(parts)
    found = find_claims(text, find_citations(text))
    assert all(0 <= claim.start < claim.end <= len(text) for claim in found)
    assert all(not text[claim.start : claim.end].isspace() for claim in found)


@pytest.mark.parametrize(("text", "shown", "is_denial"), [
    (f"{SENTINEL}\nDas steht dort nicht.", "Das steht dort nicht.", True),
    (f"  **{SENTINEL}**.\n\nNo.", "No.", True),
    (SENTINEL, "", True),
    ("NOT so [1].", "NOT so [1].", False),
    ("\n [1] says so.", "[1] says so.", False),
    ("NOT_IN", "NOT_IN", False),
    ("", "", False),
])  # fmt: skip
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_the_sentinel_is_read_and_never_shown(text, shown, is_denial, size):
    reader = OpeningReader()
    pieces = [reader.feed(text[place : place + size]) for place in range(0, len(text), size)]
    assert "".join([*pieces, reader.finish()]) == shown
    assert reader.is_denial is is_denial


def test_a_sentinel_at_the_end_is_taken_away():
    assert without_sentinel(f"Nothing is said.\n\n{SENTINEL}.") == ("Nothing is said.", True)
    assert without_sentinel("It is so [1].") == ("It is so [1].", False)
