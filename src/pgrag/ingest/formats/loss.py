"""How many of the words that a reader of a file sees its Markdown keeps."""

import re
from collections import Counter
from dataclasses import dataclass

#: In scripts without spaces each character is a word.
_CHARACTER = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
#: Any other word is a run of letters and digits.
_BETWEEN = re.compile(r"[^\x00-\x7f\w]+")
_ASCII_BETWEEN = bytes(at if at > 127 or chr(at).isalnum() else 32 for at in range(256))
#: What Markdown puts inside words: marks, escapes, and the addresses of links.
_MARKS = b"`*~\\"
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


def _counted(text: str) -> Counter[bytes]:
    """Count words. Bytes are translated and split several times faster than text is searched."""
    if "](" in text:
        text = _ADDRESS.sub("", text)
    text = text.lower()
    if not text.isascii():
        text = _BETWEEN.sub(" ", _CHARACTER.sub(_apart, text))
    words = text.encode(errors="surrogatepass").translate(_ASCII_BETWEEN, _MARKS)
    return Counter(words.split())


def _apart(character: re.Match[str]) -> str:
    return f" {character[0]} " if character[0].isalnum() else character[0]
