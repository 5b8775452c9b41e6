"""How many of the words that a reader of a file sees its Markdown keeps."""

import re
from collections import Counter
from dataclasses import dataclass

#: A run of letters and digits is a word; of scripts without spaces each character is one.
_WORD = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
    "|[^\\W_\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)

#: Lost words below which nothing is said. `pages_lost` of the database has the same rule.
FEWEST = 20


@dataclass(frozen=True, slots=True)
class Words:
    """Numbers of words: those that a reader sees outside navigation, and those kept of them."""

    shown: int
    kept: int

    @property
    def are_lost(self) -> bool:
        """Whether more than a tenth is lost, and not only a few words of a short page."""
        lost = self.shown - self.kept
        return lost >= FEWEST and 10 * lost > self.shown

    def __str__(self) -> str:
        return f"{self.kept:,} of {self.shown:,} words"


def count_words(shown: str, markdown: str) -> Words:
    """Compare the text that a reader sees with its Markdown, word by word, whatever the order: a
    word that is shown twice and written once is kept once.
    """
    words = Counter(_WORD.findall(shown.casefold()))
    kept = words & Counter(_WORD.findall(markdown.casefold()))
    return Words(words.total(), kept.total())
