"""BERT's WordPiece tokenizer; `pgrag.embed` in SQL takes the same steps."""

import re
import string
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

#: Prefix of a token that continues a word.
CONTINUATION = "##"
#: In characters; longer words are unknown.
MAXIMUM_WORD_LENGTH = 100


@dataclass(frozen=True, slots=True)
class CharacterClasses:
    """Character classes; the expressions mean the same in Python and in PostgreSQL. `removed` and
    `isolated` are bracket expressions: characters that are deleted, and that form separate words.
    The nth character of `uppercase` becomes the nth of `lowercase`; both contain only letters
    outside ASCII that can occur in a known token.
    """

    removed: str
    isolated: str
    uppercase: str
    lowercase: str


class WordPieces:
    """A tokenizer with a vocabulary and a cache of up to `cached_words` words."""

    def __init__(
        self, tokens: Sequence[str], characters: CharacterClasses, *, cached_words: int = 200_000
    ) -> None:
        self._characters = _CharacterTable(characters)
        self._words = _WordTable(tokens, cached_words)

    def token_ids(self, text: str) -> list[int]:
        """Return the token ids of a text; a word with any unknown piece contributes none."""
        return list(chain.from_iterable(map(self._words.__getitem__, self.words(text))))

    def words(self, text: str) -> list[str]:
        """Return the words of a text, normalised."""
        if text.isascii():
            return self._characters.words_of_ascii(text)
        return unicodedata.normalize("NFD", text).translate(self._characters).split()

    def pieces(self, word: str) -> tuple[int, ...]:
        """Return the token ids of a normalised word."""
        return self._words[word]


class _CharacterTable(dict[int, str]):
    """The replacement of each code point, for `str.translate`; filled on demand."""

    def __init__(self, characters: CharacterClasses) -> None:
        super().__init__(
            zip(
                map(ord, string.ascii_uppercase + characters.uppercase),
                string.ascii_lowercase + characters.lowercase,
                strict=True,
            )
        )
        # PostgreSQL has no character 0, so the shared expression cannot name it.
        self[0] = ""
        self._removed = re.compile(characters.removed)
        self._isolated = re.compile(characters.isolated)
        shown = [self[code] for code in range(128)]
        signs = re.escape("".join(sign.strip() for sign in shown if len(sign) > 1))
        self._words = re.compile(rf"[^\s{signs}]+|[{signs}]")
        self._dropped = bytes(code for code in range(128) if not shown[code])
        self._lower = bytes(ord(shown[code].strip() or " ") for code in range(128)) + bytes(128)

    def words_of_ascii(self, text: str) -> list[str]:
        """Return what `translate` and `split` give, in a third of the time."""
        lower = text.encode().translate(self._lower, self._dropped)
        return self._words.findall(lower.decode())

    def __missing__(self, code_point: int) -> str:
        character = chr(code_point)
        if self._removed.match(character):
            replacement = ""
        elif self._isolated.match(character):
            replacement = f" {character} "
        else:
            replacement = character
        self[code_point] = replacement
        return replacement


class _WordTable(dict[str, tuple[int, ...]]):
    """A cache of the token ids of words; cleared when full."""

    def __init__(self, tokens: Sequence[str], capacity: int) -> None:
        super().__init__()
        self._first: dict[str, int] = {}
        self._later: dict[str, int] = {}
        for token_id, token in enumerate(tokens):
            inside = token.removeprefix(CONTINUATION)
            (self._first if inside == token else self._later)[inside] = token_id
        self._longest = max(map(len, tokens))
        self._capacity = capacity

    def __missing__(self, word: str) -> tuple[int, ...]:
        if len(word) > MAXIMUM_WORD_LENGTH:
            return ()
        pieces = self._pieces(word)
        if len(self) >= self._capacity:
            self.clear()
        self[word] = pieces
        return pieces

    def _pieces(self, word: str) -> tuple[int, ...]:
        pieces = []
        start, vocabulary = 0, self._first
        while start < len(word):
            for end in range(min(len(word), start + self._longest), start, -1):
                piece = vocabulary.get(word[start:end])
                if piece is not None:
                    break
            else:
                return ()
            pieces.append(piece)
            start, vocabulary = end, self._later
        return tuple(pieces)
