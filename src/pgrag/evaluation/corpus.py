"""The pages that a labelled set asks about: a folder of Markdown, or a `corpus.jsonl`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pgrag.errors import SourceError
from pgrag.evaluation.labelled import json_lines
from pgrag.ingest import decoding, front_matter
from pgrag.ingest.sources import Source, SourceFile, discover

_SAMPLE_CHARACTERS = 20_000


def open_corpus(path: Path, *, plain: bool = False) -> Source:
    """List the pages of a corpus; with `plain`, as if they had no front matter.

    A record of a `corpus.jsonl` ({"_id", "title", "text"}) becomes a page whose key is its _id,
    with the title as front matter. Raises SourceError, naming file and line.
    """
    found = _records(path) if path.suffix == ".jsonl" else discover(str(path))
    if not plain:
        return found
    return replace(
        found,
        _files=tuple(SourceFile(file.key, _without_front_matter(file)) for file in found.files()),
    )


def corpus_of(folder: Path) -> Path:
    """The corpus in the folder of a set. Raises SourceError where there is none."""
    path = folder / "corpus.jsonl"
    if not path.is_file():
        raise SourceError(
            f"{folder}: has no corpus.jsonl.",
            hint="Name the folder of the pages: pgrag eval import SET PATH --corpus FOLDER.",
        )
    return path


def sample(found: Source) -> str:
    """Some of the text, from everywhere in the corpus: enough to tell its language."""
    files = list(found.files())
    step = max(len(files) // 20, 1)
    texts = (file.read().decode("utf-8", "replace") for file in files[::step][:20])
    return "\n".join(text[: _SAMPLE_CHARACTERS // 20] for text in texts)


def _records(path: Path) -> Source:
    files: dict[str, SourceFile] = {}
    for place, record in json_lines(path):
        key, title, text = record.get("_id"), record.get("title") or "", record.get("text")
        if not isinstance(key, str) or not key:
            raise SourceError(f"{place}: the document has no _id.")
        if not isinstance(text, str) or not isinstance(title, str):
            raise SourceError(f"{place}: title and text of {key!r} must be texts.")
        if key in files:
            raise SourceError(f"{place}: document {key!r} was there before.")
        files[key] = SourceFile(key, _markdown(title, text))
    if not files:
        raise SourceError(f"{path}: holds no document.")
    return Source(str(path), _files=tuple(files[key] for key in sorted(files)))


def _markdown(title: str, text: str) -> Callable[[], bytes]:
    # A JSON string is a YAML string.
    head = f"---\ntitle: {json.dumps(title, ensure_ascii=False)}\n---\n\n" if title.strip() else ""
    return lambda: f"{head}{text}\n".encode("utf-8", "replace")


def _without_front_matter(file: SourceFile) -> Callable[[], bytes]:
    def read() -> bytes:
        text, _ = decoding.decode(file.key, file.read())
        return front_matter.split(file.key, text).body.encode()

    return read
