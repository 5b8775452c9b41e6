"""The interface of a compared system, the passages that it gets, and the list of all systems."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray

Vector = NDArray[np.float32]
#: Reciprocal rank fusion with the constant of Cormack, Clarke and Büttcher (SIGIR 2009).
RRF_K = 60
#: The candidates of each retriever, where the user of a system chooses.
CANDIDATES = 100
INSTALL = "make bench RIVALS=1 DATA=path"

PASSAGES = """
select
    d.document_id, p.key, coalesce(p.url, p.key), p.title,
    coalesce(array_to_string(d.path, ' '), ''), d.content, e.embedding
from pgrag.documents as d
join pgrag.libraries as l on l.library_id = d.library_id
join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
left join pgrag.embeddings as e
    on e.library_id = d.library_id and e.document_id = d.document_id
where l.name = %s and d.covers & 6 <> 0
order by d.document_id
"""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that pgrag.search finds in levels 1 and 2; without known words it has no vector."""

    id: int
    page: str
    url: str
    title: str
    path: str
    content: str
    vector: Vector | None

    @property
    def text(self) -> str:
        """All words of the passage, for systems that search one field."""
        return "\n".join(part for part in (self.title, self.path, self.content) if part)


@dataclass(frozen=True, slots=True)
class Setup:
    """What a system gets: the passages, and a folder for its index."""

    url: str
    library: str
    folder: Path
    dimensions: int
    passages: Sequence[Passage]


class Rival(ABC):
    """A system whose index is made and warm."""

    @abstractmethod
    def search(self, query: str, vector: Vector, limit: int) -> list[int]:
        """The ids of the best passages. It also fetches their address, title and content."""

    def close(self) -> None:  # noqa: B027 - some hold nothing
        """Release what it holds."""


@dataclass(frozen=True, slots=True)
class System:
    """A row of the comparison: the module that makes it, and the packages that it takes."""

    name: str
    module: str
    packages: tuple[str, ...] = ()

    def make(self, setup: Setup) -> Rival:
        """Build its index. Raises ModuleNotFoundError if a package is missing."""
        make: Callable[[Setup], Rival] = import_module(f"benchmarks.rivals.{self.module}").make
        return make(setup)

    def versions(self) -> dict[str, str] | None:
        """The versions of its packages; None if one is not installed."""
        try:
            return {package: version(package) for package in self.packages}
        except PackageNotFoundError:
            return None


SYSTEMS = (
    System("pgrag", "ours"),
    System("usual recipe in SQL", "recipe"),
    System("langchain-postgres hybrid", "langchain", ("langchain-postgres", "langchain-core")),
    System("pghybrid", "hybrid", ("pghybrid",)),
    System("SQLite FTS5 + sqlite-vec", "sqlite", ("apsw", "sqlite-vec")),
    System("tantivy, BM25 alone", "bm25", ("tantivy",)),
    System("LanceDB hybrid", "lance", ("lancedb", "pyarrow")),
)


def read_passages(connection: psycopg.Connection[Any], library: str) -> list[Passage]:
    """The passages of a library that pgrag has indexed, with pgvector's types registered."""
    rows = connection.execute(PASSAGES.encode(), [library]).fetchall()
    return [
        Passage(*row[:6], vector=None if row[6] is None else row[6].to_numpy().astype(np.float32))
        for row in rows
    ]


def fuse(*rankings: Sequence[int]) -> list[int]:
    """Reciprocal rank fusion of rankings; ties by id."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, identity in enumerate(ranking, 1):
            scores[identity] = scores.get(identity, 0.0) + 1 / (RRF_K + rank)
    return sorted(scores, key=lambda identity: (-scores[identity], identity))
