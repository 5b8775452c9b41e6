"""Any number of pages out of a few: perturbed copies of real pages, and generated ones.

A copy swaps words of its page for others of the corpus, drawn by frequency, and for words that are
made up, so that the vocabulary grows with the collection as it does in real ones (Heaps' law); the
structure stays. Every fourth page is generated: headings and paragraphs of words of the corpus by
their frequency. A page depends on the seed and its number alone.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

#: The limits of what is read from the corpus.
_FILES, _BYTES, _WORDS = 4000, 60_000, 30_000
_SWAPPED, _MADE_UP = 0.15, 0.02
GENERATED_EVERY = 4
_SYLLABLES = ("ba", "der", "fin", "go", "kel", "lor", "mi", "nux", "pra", "sil", "tor", "vex")
_WORD = re.compile(r"\b[A-Za-z]{4,}\b")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_HEADING = re.compile(r"^#{1,6}\s+([^{}\n]+?)\s*(?:\{.*\})?$", re.MULTILINE)
_SENTENCE = re.compile(r"[A-Z][a-z]+(?: [a-z]{2,}){7,}")


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes pages out of texts in Markdown, whose words have cumulative weights."""

    texts: Sequence[str]
    words: Sequence[str]
    weights: Sequence[int]
    seed: int = 1

    @classmethod
    def read(cls, folder: Path, seed: int = 1) -> Maker:
        """Read the Markdown below a folder. Raises SystemExit if there is none."""
        files = sorted(path for path in folder.rglob("*.md") if path.is_file())
        texts = [
            _FRONT_MATTER.sub("", path.read_text("utf-8", "replace")[:_BYTES])
            for path in files[:: max(1, -(-len(files) // _FILES))]
        ]
        texts = [text for text in texts if _WORD.search(text)]
        if not texts:
            raise SystemExit(f"{folder} has no Markdown with words.")
        counts = Counter(word for text in texts for word in _WORD.findall(text))
        words, weights = zip(*counts.most_common(_WORDS), strict=True)
        return cls(texts, words, [*accumulate(weights)], seed)

    def write(self, folder: Path, numbers: range) -> None:
        """Write the pages of these numbers."""
        for number in numbers:
            path = folder / f"part-{number // 1000:04d}" / f"page-{number:07d}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.page(number), "utf-8")

    def page(self, number: int) -> str:
        """The page of a number, with front matter."""
        draw = random.Random(f"{self.seed}:{number}")
        title = self._drawn(draw, 3).capitalize()
        is_generated = number % GENERATED_EVERY == 0
        body = self._generated(draw) if is_generated else self._copy(draw, draw.choice(self.texts))
        return f"---\ntitle: {title} {number}\n---\n\n{body}"

    def queries(self, size: int) -> list[str]:
        """Headings, and pieces of sentences of eight words, half of each."""
        draw = random.Random(self.seed)
        headings = {each for text in self.texts for each in _HEADING.findall(text)}
        sentences = {each for text in self.texts for each in _SENTENCE.findall(text)}
        asked: list[str] = []
        for group in (
            {heading for heading in headings if 1 < len(heading.split()) < 9},
            {" ".join(sentence.split()[:8]) for sentence in sentences},
        ):
            asked += draw.sample(sorted(group), min(size // 2, len(group)))
        return asked

    def _copy(self, draw: random.Random, text: str) -> str:
        swapped: dict[str, str] = {}
        for word in dict.fromkeys(_WORD.findall(text)):
            chance = draw.random()
            if chance < _MADE_UP:
                swapped[word] = "".join(draw.choices(_SYLLABLES, k=draw.randint(2, 5)))
            elif chance < _MADE_UP + _SWAPPED:
                swapped[word] = self._drawn(draw, 1)
        return _WORD.sub(lambda word: swapped.get(word[0], word[0]), text)

    def _generated(self, draw: random.Random) -> str:
        parts = []
        for _ in range(draw.randint(2, 6)):
            parts.append(f"## {self._drawn(draw, draw.randint(1, 4)).capitalize()}")
            parts += [
                f"{self._drawn(draw, draw.randint(30, 90)).capitalize()}."
                for _ in range(draw.randint(1, 3))
            ]
        return "\n\n".join(parts) + "\n"

    def _drawn(self, draw: random.Random, count: int) -> str:
        return " ".join(draw.choices(self.words, cum_weights=self.weights, k=count))
