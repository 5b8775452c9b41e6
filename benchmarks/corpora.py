"""The corpora and the labelled sets below a folder, unpacked there or in archives."""

from __future__ import annotations

import json
import tarfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class CorpusMissing(Exception):
    """The folder of the corpora lacks what a measure needs."""


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """Queries with the pages that answer them.

    `queries` maps a query's id to its text, `relevant` to the ids of the pages that answer it, and
    `excluded` to those that must not be counted: they quote the query.
    """

    queries: dict[str, str]
    relevant: dict[str, set[str]]
    excluded: dict[str, set[str]]


@dataclass(frozen=True, slots=True)
class Corpora:
    """Corpora below `data`. What lies there as an archive is unpacked below `scratch`."""

    data: Path
    scratch: Path
    _opened: set[Path] = field(default_factory=set)

    def folder(self, name: str) -> Path:
        """The folder of a corpus or a labelled set. Raises `CorpusMissing`."""
        for parent in (self.data, self.scratch):
            if (parent / name).is_dir():
                return parent / name
        # The archives are named after a family: mdn.tar.xz holds mdn-en and mdn-anchor.
        for archive in sorted(self.data.glob("*.tar.*"), key=lambda path: len(path.name)):
            if name.startswith(archive.name.split(".")[0]) and archive not in self._opened:
                self._opened.add(archive)
                with tarfile.open(archive) as files:
                    # Python before 3.11.4 has no filters, and later ones warn without one.
                    files.extraction_filter = getattr(tarfile, "data_filter", None)
                    files.extractall(self.scratch)
                return self.folder(name)
        raise CorpusMissing(f"{self.data} holds no {name}")

    def pages(self, name: str) -> Path:
        """The folder with the Markdown of a corpus."""
        return self.folder(name) / "files"

    def versions(self, name: str) -> dict[str, Path]:
        """The folders of a corpus in several versions, by their labels."""
        folders = sorted(path for path in self.pages(name).iterdir() if path.is_dir())
        return {folder.name.removeprefix("version-"): folder for folder in folders}

    def records(self, name: str) -> list[dict[str, Any]]:
        """The texts of a corpus that is one file of JSON Lines."""
        return list(_json_lines(self.folder(name) / "corpus.jsonl"))

    def labelled(self, name: str) -> LabelledSet:
        """A labelled set, in the layout of BEIR."""
        folder = self.folder(name)
        sources = folder / "sources.tsv"
        return LabelledSet(
            queries={row["_id"]: row["text"] for row in _json_lines(folder / "queries.jsonl")},
            relevant=_pairs(folder / "qrels.tsv"),
            excluded=_pairs(sources) if sources.exists() else {},
        )


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _pairs(path: Path) -> dict[str, set[str]]:
    pairs: dict[str, set[str]] = defaultdict(set)
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        query, page, *_ = line.split("\t")
        pairs[query].add(page)
    return dict(pairs)
