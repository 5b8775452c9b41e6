"""Keep the labelled sets out of the training texts.

    held_out.py WORK DATA          exit status 1 if a text or a pair occurs in a set
    held_out.py WORK DATA --note   add such texts to left_out.txt; then run texts.py and
                                   parallel.py again

DATA is the folder of the corpora, unpacked. A text is in a set if it equals a query (whatever
its spaces and capitals) or shares twelve words in a row with a page of a corpus.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from texts import HERE, digest, write_list

WORDS = 12


def main(work: Path, data: Path, *, note: bool) -> int:
    """Compare, and print the texts that are in a set."""
    queries, shingles = read_sets(data)
    print(f"{len(queries):,} queries, {len(shingles):,} runs of {WORDS} words")
    shared = {
        digest(text): text
        for text in training_texts(work)
        if digest(text) in queries or not shingles.isdisjoint(runs(text))
    }
    for text in list(shared.values())[:20]:
        print(repr(text[:100]))
    print(f"{len(shared):,} texts are in the labelled sets")
    if note:
        write_list("left_out.txt", sorted({*(HERE / "left_out.txt").read_text().split(), *shared}))
    return 1 if shared and not note else 0


def training_texts(work: Path) -> Iterator[str]:
    """The texts of all files that exist: English ones, parallel ones, or both."""
    for name in ("texts.txt", "pairs.jsonl", "parallel.jsonl"):
        if (work / name).exists():
            with (work / name).open(encoding="utf-8") as lines:
                for line in map(json.loads, lines):
                    yield from [line] if isinstance(line, str) else line[-2:]


def read_sets(data: Path) -> tuple[set[str], set[int]]:
    """Digests of all queries, and of all runs of words of the corpora."""
    queries: set[str] = set()
    shingles: set[int] = set()
    for path in sorted(data.rglob("*")):
        if path.name.startswith("queries") and path.suffix == ".jsonl":
            queries |= {digest(json.loads(line)["text"]) for line in path.open(encoding="utf-8")}
        elif path.name == "corpus.jsonl":
            for line in path.open(encoding="utf-8"):
                shingles.update(runs(json.loads(line)["text"]))
        elif path.suffix in {".md", ".mdx"} and path.is_file():
            shingles.update(runs(path.read_text(encoding="utf-8", errors="replace")))
    return queries, shingles


def runs(text: str) -> Iterator[int]:
    """Digests of all runs of twelve words."""
    words = re.findall(r"\w+", text.lower())
    for start in range(len(words) - WORDS + 1):
        yield hash(tuple(words[start : start + WORDS]))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), note="--note" in sys.argv))
