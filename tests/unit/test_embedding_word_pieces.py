"""Words into pieces, with a vocabulary small enough to see."""

from pgrag.models.embedding.builtin import read_description
from pgrag.models.embedding.word_pieces import WordPieces

TOKENS = ("un", "##aff", "##able", "unaff", "able", "##a", "(", "東", "x", "##x", "#")


def pieces(text: str, **options: int) -> list[str]:
    word_pieces = WordPieces(TOKENS, read_description().characters, **options)
    return [TOKENS[token_id] for token_id in word_pieces.token_ids(text)]


def test_words_have_their_longest_pieces_from_left_to_right():
    word_pieces = WordPieces(TOKENS, read_description().characters)
    assert word_pieces.words("Größe (Ёлки)") == ["große", "(", "елки", ")"]
    assert word_pieces.pieces("unaffable") == (3, 2)
    word_pieces = WordPieces(TOKENS, read_description().characters, cached_words=3)
    text = "unable able una unaff x xx xxx unable"
    assert word_pieces.token_ids(text) == WordPieces(
        TOKENS, read_description().characters
    ).token_ids(text)
    assert len(word_pieces._words) <= 3
    for text, expected in [
        ("unaffable", ["unaff", "##able"]),
        ("Unable", ["un", "##able"]),
        ("able", ["able"]),
        ("una", ["un", "##a"]),
        ("unaffq able", ["able"]),
        ("able(東x", ["able", "(", "東", "x"]),
        ("##able", ["#", "#", "able"]),
        ("x" * 100, ["x"] + ["##x"] * 99),
        ("x" * 101, []),
        ("x\u0301" * 100, ["x"] + ["##x"] * 99),
        ("", []),
    ]:
        assert pieces(text) == expected


def test_ascii_has_the_same_words_by_its_own_way():
    word_pieces = WordPieces(TOKENS, read_description().characters)
    every = "".join(map(chr, range(128)))
    for text in (every, every[::-1], "A b", "x".join(every), " ".join(every)):
        # The sign of a currency is a word of its own; with it the text is not ASCII.
        assert word_pieces.words(text) == word_pieces.words(f"{text} €")[:-1]
