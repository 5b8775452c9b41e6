"""Add German and Russian to the trained model: model.npz and parallel.jsonl to languages.npz.

    languages.py WORK                       on WORK/model.npz
    languages.py WORK --english FOLDER      on builtin.npz and builtin.json of an earlier version

English keeps its tokens and their vectors. New tokens, words and pieces of both languages, learn
that the vector of a translation is that of the English text (Reimers and Gurevych, 2020): cosine,
and that it is closer to it than to the other English texts of the batch (InfoNCE, both ways).

Tokens of English that are words of German, such as "die", learn as well; so do single Cyrillic
letters. New tokens that English texts would use are left out, so that English is cut as before.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import train
from scipy.sparse import csr_matrix
from texts import DESCRIPTIONS_FILE, packages_checksum
from tokenizers import Tokenizer, models, trainers
from torch.nn.functional import embedding_bag, normalize
from train import SEED
from write import character_classes

from pgrag.models.embedding.builtin import STEPS as QUANTA
from pgrag.models.embedding.builtin import read_description, read_model
from pgrag.models.embedding.word_pieces import CONTINUATION, CharacterClasses, WordPieces

#: New tokens of each language; letters that its words consist of, after normalisation.
TOKENS = 18_000
LETTERS = {"de": re.compile("[a-zß]{1,40}"), "ru": re.compile("[а-яё]{1,40}")}
#: A word that is a hundred times as frequent counts sixteen times as much.
DAMPING = 0.6
#: Use in English texts, as a share of a token's damped use, above which it is left out; a word of
#: Debian's list of English words counts as LISTED words of the texts.
ENGLISH_USE, LISTED = 0.02, 0.2
ENGLISH_WORDS = "unpacked/wamerican-huge/usr/share/dict/american-english-huge"
#: An English token is a German word if it is FREQUENT there, and MORE times as frequent as here.
FREQUENT, MORE = 100, 15
STEPS, BATCH, RATE, OF_COSINE = 1_200, 1024, 3e-3, 30.0
LONGEST = 190
CYRILLIC = re.compile("[\u0400-\u04ff]")


class Parallel(NamedTuple):
    """Folded words of both sides of each pair."""

    languages: np.ndarray
    english: list[str]
    foreign: list[str]


def main(work: Path, earlier: Path | None) -> None:
    """Choose tokens, train, and write."""
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    english, shipped, characters, provenance = read_english(work, earlier)
    pieces = WordPieces(english, characters)
    parallel = read_parallel(work, pieces)
    tokens = [*english]
    ours: dict[str, float] = frequencies(parallel.english)
    for line in (work / ENGLISH_WORDS).read_text(encoding="utf-8").splitlines():
        for word in pieces.words(line):
            ours[word] += LISTED
    for language in LETTERS:
        tokens += chosen(parallel, ours, language, english, characters)
    print(f"{len(tokens) - len(english):,} new tokens", flush=True)
    vectors = shipped.steps * (shipped.lengths / QUANTA)[:, None]
    vectors, learned = trained(parallel, english, tokens, vectors, characters)
    steps, lengths = train.quantised(vectors)
    kept = np.flatnonzero(~learned)
    steps[kept], lengths[kept] = shipped.steps[kept], shipped.lengths[kept]
    np.savez(
        work / "languages.npz",
        tokens=np.array(tokens),
        steps=steps,
        lengths=lengths,
        provenance=json.dumps(provenance | {"languages": languages_provenance(work, parallel)}),
    )


class Rows(NamedTuple):
    """Quantised vectors, row for row."""

    steps: np.ndarray
    lengths: np.ndarray


def read_english(
    work: Path, earlier: Path | None
) -> tuple[list[str], Rows, CharacterClasses, dict[str, object]]:
    """Tokens, vectors, classes of characters and origin of the English model."""
    if earlier is None:
        with np.load(work / "model.npz") as model:
            tokens, rows = model["tokens"].tolist(), Rows(model["steps"], model["lengths"])
            return tokens, rows, character_classes(tokens), json.loads(str(model["provenance"]))
    description = read_description(earlier)
    with np.load(earlier / "builtin.npz") as model:
        rows = Rows(model["steps"].T.astype(np.int8), model["lengths"])
    tokens = [*read_model(earlier).tokens]
    return tokens, rows, description.characters, description.provenance


def read_parallel(work: Path, pieces: WordPieces) -> Parallel:
    """Read the pairs, normalised like the texts of a search."""
    languages, english, foreign = [], [], []
    with (work / "parallel.jsonl").open(encoding="utf-8") as lines:
        for _, language, *texts in map(json.loads, lines):
            languages.append(language)
            for side, text in zip((english, foreign), texts, strict=True):
                side.append(" ".join(pieces.words(text)[:LONGEST]))
    return Parallel(np.array(languages), english, foreign)


def languages_provenance(work: Path, parallel: Parallel) -> dict[str, object]:
    """Record the origin of the tokens that were added; the packages are in parallel.txt."""
    return {
        "method": "Tokens whose sums agree with the vectors of the English of parallel texts",
        "packages": {name: version(name) for name in ("torch", "tokenizers", "numpy", "scipy")},
        "packages_of_texts_sha256": packages_checksum(work, "parallel.txt"),
        "parallel_sha256": train.checksum(work / "parallel.jsonl"),
        "descriptions_sha256": {
            language: train.checksum(next((work / "lists").glob(DESCRIPTIONS_FILE + language)))
            for language in ("en", *LETTERS)
        },
        "parallel_texts": len(parallel.foreign),
        "seed": SEED,
    }


def chosen(
    parallel: Parallel,
    ours: dict[str, float],
    language: str,
    english: list[str],
    characters: CharacterClasses,
) -> list[str]:
    """The tokens of a language: those that its words use most, of twice as many by WordPiece.

    `ours` are the frequencies of English words.
    """
    theirs = frequencies(np.array(parallel.foreign, dtype=object)[parallel.languages == language])
    known = frozenset(english)
    words = {
        word: max(1, round(count**DAMPING))
        for word, count in theirs.items()
        if LETTERS[language].fullmatch(word)
    }
    # Proper names and terms are in English as well, and keep their tokens.
    new = {w: n for w, n in words.items() if w not in known and ours[w] <= 0.3 * theirs[w]}
    trainer = trainers.WordPieceTrainer(
        vocab_size=2 * TOKENS, continuing_subword_prefix=CONTINUATION, show_progress=False
    )
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.train_from_iterator((w for w in sorted(new) for _ in range(new[w])), trainer)
    kept = sorted(set(tokenizer.get_vocab()) - known)
    for size in (1.3 * TOKENS, 1.1 * TOKENS, TOKENS, TOKENS):
        pieces = WordPieces([*english, *kept], characters, cached_words=10)
        used, used_in_english = (
            uses(counted, pieces, len(english), len(kept)) for counted in (words, ours)
        )
        wanted = (used > 0) & (used_in_english <= ENGLISH_USE * used)
        order = np.lexsort((np.arange(len(kept)), -used))
        kept = sorted(kept[index] for index in order[wanted[order]][: round(size)])
    return kept


def frequencies(texts: Iterable[str]) -> Counter[str]:
    """How often each word occurs."""
    return Counter(word for text in texts for word in text.split())


def uses(counted: Mapping[str, float], pieces: WordPieces, first: int, size: int) -> np.ndarray:
    """How often words contain each of the `size` tokens from `first`."""
    totals = np.zeros(first + size)
    for word, count in counted.items():
        for token in pieces.pieces(word):
            totals[token] += count
    return totals[first:]


def bags_of(pieces: WordPieces, texts: list[str]) -> train.Bags:
    """The tokens of texts."""
    return train.Bags([id for word in text.split() for id in pieces.pieces(word)] for text in texts)


def trained(
    parallel: Parallel,
    english: list[str],
    tokens: list[str],
    vectors: np.ndarray,
    characters: CharacterClasses,
) -> tuple[np.ndarray, np.ndarray]:
    """The vectors of all tokens, and which of them were learned."""
    originals = bags_of(WordPieces(english, characters), parallel.english)
    translations = bags_of(WordPieces(tokens, characters), parallel.foreign)
    targets = originals.sums(vectors)
    targets /= np.maximum(np.linalg.norm(targets, axis=1, keepdims=True), 1e-9)
    learned = learning(parallel, english, tokens)
    size = int(learned.sum())
    rows = np.full(len(tokens), size)
    rows[learned] = np.arange(size)

    # What the fixed tokens add to each text.
    whole = np.zeros((len(tokens), vectors.shape[1]), dtype=np.float32)
    whole[: len(english)] = vectors
    whole[learned] = 0
    fixed = translations.sums(whole)

    translations.ids = rows[translations.ids]
    table = torch.nn.Parameter(beginning(translations, size, targets))
    usable = np.flatnonzero((translations.sizes > 0) & (originals.sizes > 0))
    order = train.batches(usable, np.random.default_rng(SEED), BATCH)
    numbers = train.numbered(parallel.english)

    def losses() -> dict[str, torch.Tensor]:
        batch = next(order)
        ids, offsets = translations.batch(batch)
        sums = embedding_bag(ids, table, offsets, mode="sum", padding_idx=size)
        ours = normalize(sums + torch.from_numpy(fixed[batch]), dim=1)
        theirs = torch.from_numpy(targets[batch])
        apart = 1 - (ours * theirs).sum(1).mean()
        same = train.equal_others(numbers[batch])
        return {"cosine": OF_COSINE * apart, "pairs": train.contrast(ours, theirs, same)}

    train.optimise([{"params": [table], "lr": RATE}], STEPS, rate, losses)
    whole[learned] = table.detach().numpy()[:size]
    return whole, learned


def learning(parallel: Parallel, english: list[str], tokens: list[str]) -> np.ndarray:
    """Which tokens learn: the new ones, words of German, and what is Cyrillic."""
    here, there = map(frequencies, (parallel.english, parallel.foreign))
    german = {
        token
        for token in english
        if len(token) > 1 and token.isascii() and there[token] > max(FREQUENT, MORE * here[token])
    }
    print("German words:", *sorted(german), flush=True)
    return np.array(
        [
            index >= len(english) or token in german or bool(CYRILLIC.search(token))
            for index, token in enumerate(tokens)
        ]
    )


def beginning(bags: train.Bags, size: int, targets: np.ndarray) -> torch.Tensor:
    """The mean of the targets of each token's texts, weighted by its frequency (SIF).

    `size` is the row of all tokens that do not learn, which stays 0.
    """
    of_text = np.repeat(np.arange(len(targets)), bags.sizes)
    share = csr_matrix(
        (1 / bags.sizes[of_text].astype(np.float32), (bags.ids, of_text)),
        shape=(size + 1, len(targets)),
    )
    vectors = share @ targets / np.maximum(np.asarray(share.sum(1)), 1e-9)
    frequency = np.bincount(bags.ids, minlength=size + 1) / len(bags.ids)
    vectors *= 2 * (train.SIF / (train.SIF + frequency))[:, None]
    vectors[size] = 0
    return torch.from_numpy(vectors.astype(np.float32))


def rate(step: int) -> float:
    """The learning rate as a share of the highest: a short warm-up, then a line down to `LAST`."""
    return min(1, (step + 1) / train.WARM_UP) * (
        train.LAST + (1 - train.LAST) * (STEPS - step) / STEPS
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[3]) if "--english" in sys.argv else None)
