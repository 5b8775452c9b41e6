"""What counts as a word of a page, and as kept."""

import pytest

from pgrag.ingest.formats.loss import count_words


@pytest.mark.parametrize(
    ("shown", "markdown", "words", "kept"),
    [
        ("one\u00a0two—three “four”", "One two three four", 4, 4),
        ("Straße, naïve: ÄPFEL", "straße *naïve* `äpfel`", 3, 3),
        ("検索abcエンジン", "検索 abc", 7, 3),
        ("snake_case", "snake\\_case", 2, 2),
        ("see the page", "see [the page](http://localhost/other/words)", 3, 3),
        ("twice twice", "twice", 2, 1),
        ("lone \ud800 half", "lone half", 2, 2),
    ],
)
def test_words_are_counted(shown: str, markdown: str, words: int, kept: int) -> None:
    counted = count_words(shown, markdown)
    assert (counted.shown, counted.kept) == (words, kept)
