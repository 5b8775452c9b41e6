"""How many of the words that a reader of a file sees its Markdown keeps."""

import re
from collections import Counter
from dataclasses import dataclass

#: A run of letters and digits is a word; of scripts without spaces each character is one.
_WORD = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
    "|[^\\W_\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)
#: The same, faster.
_ASCII_WORD = re.compile("[a-z0-9]+")
#: What Markdown puts inside words: marks, escapes, and the addresses of links.
_MARKS = "`*~\\"
_ADDRESS = re.compile(r"\[(?=[^\[\]]*\]\()|\]\([^()\s]*\)")
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
    words, written = _counted(shown), _counted(markdown)
    lost = sum(n - written.get(word, 0) for word, n in words.items() if n > written.get(word, 0))
    return Words(words.total(), words.total() - lost)


def _counted(text: str) -> Counter[str]:
    text = _ADDRESS.sub("", text)
    for mark in _MARKS:
        text = text.replace(mark, "")
    text = text.casefold()
    return Counter((_ASCII_WORD if text.isascii() else _WORD).findall(text))
