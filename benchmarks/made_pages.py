"""As many pages as wanted, out of a few: perturbed copies of real pages, and generated ones.

A copy swaps words of its page for others of the corpora, drawn by frequency, and for words that are
made up, so that the vocabulary grows with the collection as it does in real ones (Heaps' law); the
structure stays. Every fourth page is generated: headings and paragraphs of words of the corpora by
their frequency. A page depends on the seed and its number alone.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

#: More text than this is not read from the corpora.
_MOST_FILES, _MOST_BYTES = 4000, 60_000
_WORDS = 30_000
_SWAPPED, _MADE_UP = 0.15, 0.02
GENERATED_EVERY = 4
_SYLLABLES = ("ba", "der", "fin", "go", "kel", "lor", "mi", "nux", "pra", "sil", "tor", "vex")
_WORD = re.compile(r"\b[A-Za-z]{4,}\b")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_HEADING = re.compile(r"^#{1,6}\s+([^{}\n]+?)\s*(?:\{.*\})?$", re.MULTILINE)
_SENTENCE = re.compile(r"[A-Z][a-z]+(?: [a-z]{2,}){7,}")


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes pages out of texts in Markdown."""

    texts: Sequence[str]
    seed: int = 1
    _words: list[str] = field(default_factory=list)
    _weights: list[int] = field(default_factory=list)

    @classmethod
    def read(cls, folder: Path, seed: int = 1) -> Maker:
        """Read the Markdown below a folder. Raises SystemExit if there is none."""
        files = sorted(path for path in folder.rglob("*.md") if path.is_file())
        step = max(1, -(-len(files) // _MOST_FILES))
        texts = [
            _FRONT_MATTER.sub("", path.read_text("utf-8", "replace")[:_MOST_BYTES])
            for path in files[::step]
        ]
        texts = [text for text in texts if _WORD.search(text)]
        if not texts:
            raise SystemExit(f"{folder} has no Markdown with words.")
        maker = cls(texts, seed)
        counts = Counter(word for text in texts for word in _WORD.findall(text))
        for word, count in counts.most_common(_WORDS):
            maker._words.append(word)
            maker._weights.append(count)
        maker._weights[:] = accumulate(maker._weights)
        return maker

    def write(self, folder: Path, numbers: range) -> None:
        """Write the pages of these numbers."""
        for number in numbers:
            path = folder / f"part-{number // 1000:04d}" / f"page-{number:07d}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.page(number), "utf-8")

    def page(self, number: int) -> str:
        """The page of a number, with front matter."""
        draw = random.Random(f"{self.seed}:{number}")
        title = " ".join(self._drawn(draw, 3)).capitalize()
        if number % GENERATED_EVERY == 0:
            body = self._generated(draw)
        else:
            body = self._copy(draw, draw.choice(self.texts))
        return f"---\ntitle: {title} {number}\n---\n\n{body}"

    def queries(self, size: int) -> list[str]:
        """Headings, and pieces of sentences of eight words; half of each, if there are as many."""
        draw = random.Random(self.seed)
        headings = {found for text in self.texts for found in _HEADING.findall(text)}
        headings = {heading for heading in headings if 1 < len(heading.split()) < 9}
        sentences = {
            " ".join(found.split()[:8]) for text in self.texts for found in _SENTENCE.findall(text)
        }
        asked: list[str] = []
        for group in (headings, sentences):
            asked += draw.sample(sorted(group), min(size // 2, len(group)))
        return asked

    def _copy(self, draw: random.Random, text: str) -> str:
        swapped: dict[str, str] = {}

        def swap(word: str) -> str:
            chance = draw.random()
            if chance < _MADE_UP:
                return "".join(draw.choices(_SYLLABLES, k=draw.randint(2, 5)))
            return self._drawn(draw, 1)[0] if chance < _MADE_UP + _SWAPPED else word

        def swapped_word(found: re.Match[str]) -> str:
            word = found.group()
            if word not in swapped:
                swapped[word] = swap(word)
            return swapped[word]

        return _WORD.sub(swapped_word, text)

    def _generated(self, draw: random.Random) -> str:
        parts = []
        for _ in range(draw.randint(2, 6)):
            parts.append(f"## {' '.join(self._drawn(draw, draw.randint(1, 4))).capitalize()}")
            parts += [
                " ".join(self._drawn(draw, draw.randint(30, 90))).capitalize() + "."
                for _ in range(draw.randint(1, 3))
            ]
        return "\n\n".join(parts) + "\n"

    def _drawn(self, draw: random.Random, count: int) -> list[str]:
        return draw.choices(self._words, cum_weights=self._weights, k=count)
