"""What agents use otherwise, on the same pages: grep, llms.txt, and two kinds of servers.

A question about two versions is put to both, each with half of the tokens.
"""

import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import psycopg

from benchmarks.agents.ours import LEAST
from benchmarks.agents.tasks import Page, Task, folder, has, pages
from benchmarks.agents.transcript import Agent, Transcript
from benchmarks.agents.words import key_words, names
from benchmarks.corpora import Corpora
from benchmarks.questions.rows import plain_text
from benchmarks.rivals.rival import Passage, Rival, Setup, Vector
from pgrag.mcp.replies import count_tokens
from pgrag.models.embedding import BuiltinEmbedder

#: Lines around a match, and the words that an agent looks for, the rarest first.
AROUND, WORDS = 4, 4
#: Of docs-mcp-server: hits of a search, and the passages that it adds to each of them.
HITS, BEFORE, AFTER, CHILDREN = 5, 1, 2, 3
SEPARATOR = " › "

PASSAGES = """
select
    d.document_id, p.key, coalesce(nullif(p.url, ''), p.key), p.title,
    array_to_string(d.path, %s), d.content, e.embedding
from pgrag.documents as d
join pgrag.libraries as l on l.library_id = d.library_id
join pgrag.versions as v on v.library_id = d.library_id and v.version_id = d.version_id
join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
left join pgrag.embeddings as e
    on e.library_id = d.library_id and e.document_id = d.document_id
where l.name = %s and v.label = %s and d.covers & 4 <> 0
order by p.key, d.sort_order
"""

_Read = Callable[[Task, str, Transcript, int], None]
"""Reads about one version, within so many tokens."""


def _of_each_version(read: _Read) -> Agent:
    def agent(task: Task, transcript: Transcript) -> None:
        for nth, version in enumerate(task.versions):
            read(task, version, transcript, transcript.room // (len(task.versions) - nth))

    return agent


def grep(corpora: Corpora) -> Agent:
    """By ripgrep: the rarest words of the question, with the lines around each match.

    If the pages have none of the names in a question (or, without names, none of its words), an
    agent takes it for unanswerable.
    """

    def read(task: Task, version: str, transcript: Transcript, budget: int) -> None:
        where = folder(corpora, task.library, version)
        counts = {word: _matches(where, word) for word in key_words(task.text)}
        wanted = names(task.text) or [*counts]
        if not any(counts.get(name, 0) for name in wanted):
            transcript.refused = True
            return
        words = sorted(filter(counts.get, counts), key=counts.__getitem__)[:WORDS]
        end = transcript.room - budget
        for nth, word in enumerate(words):
            share = (transcript.room - end) // (len(words) - nth)
            found = _rg(where, "--heading", "--line-number", f"--context={AROUND}", word)
            transcript.read(_cut(found, share))

    return _of_each_version(read)


def _matches(where: Path, word: str) -> int:
    lines = _rg(where, "--count-matches", "--no-filename", word).split()
    return sum(map(int, lines))


@cache
def _rg(where: Path, *arguments: str) -> str:
    *options, word = arguments
    command = ["rg", "--ignore-case", "--fixed-strings", "--sort=path", "--glob=*.md", *options]
    run = subprocess.run(
        [*command, "--", word, "."], cwd=where, capture_output=True, encoding="utf-8", check=False
    )
    # 1: no match.
    if run.returncode > 1:
        raise RuntimeError(f"rg: {run.stderr}")
    return run.stdout


def _cut(text: str, tokens: int) -> str:
    return text.encode("utf-8")[: tokens * 4].decode("utf-8", "ignore")


def index(of: Sequence[Page]) -> str:
    """The llms.txt of some pages: their titles, addresses and descriptions."""
    return "\n".join(map(_entry, of))


def _entry(page: Page) -> str:
    described = f": {page.description}" if page.description else ""
    return f"- [{page.title}]({page.key}){described}"


def llms_txt(corpora: Corpora) -> Agent:
    """The pages whose entries in llms.txt are nearest to the question, whole, the nearest first."""
    embedder = BuiltinEmbedder()

    @cache
    def vectors(where: Path) -> Vector:
        return np.asarray([embedder.embed_query(_entry(page)) for page in pages(where)], np.float32)

    def nearest(task: Task, version: str) -> list[Page]:
        where = folder(corpora, task.library, version)
        near = vectors(where) @ np.asarray(embedder.embed_query(task.text), np.float32)
        return [pages(where)[nth] for nth in np.argsort(-near, kind="stable")]

    return _of_each_version(_opening(nearest))


def best_pages(corpora: Corpora) -> Agent:
    """The pages that have most of the facts, whole: what no choice by titles can exceed."""

    def best(task: Task, version: str) -> list[Page]:
        facts = task.facts.get(version, ())

        def rank(page: Page) -> tuple[int, int]:
            plain = plain_text(page.text)
            return -sum(has(plain, fact) for fact in facts), len(page.text)

        return sorted(pages(folder(corpora, task.library, version)), key=rank)

    return _of_each_version(_opening(best))


def _opening(order: Callable[[Task, str], list[Page]]) -> _Read:
    def read(task: Task, version: str, transcript: Transcript, budget: int) -> None:
        end = transcript.room - budget
        for page in order(task, version):
            if transcript.room - end < LEAST:
                break
            transcript.read(_cut(page.text, transcript.room - end))

    return read


class Shelf:
    """The passages of every version that pgrag has indexed, with their vectors."""

    def __init__(self, connection: psycopg.Connection[tuple[Any, ...]]) -> None:
        self._connection = connection
        self._embedder = BuiltinEmbedder()
        self.dimensions = self._embedder.dimensions

    @cache  # noqa: B019 - one for each run
    def passages(self, library: str, version: str) -> list[Passage]:
        """In the order of the pages, none within another."""
        given = [SEPARATOR, library, version]
        rows = self._connection.execute(PASSAGES.encode(), given).fetchall()
        # A text without a known word has no vector.
        return [
            Passage(
                *row[:6], vector=None if row[6] is None else row[6].to_numpy().astype(np.float32)
            )
            for row in rows
        ]

    def vector(self, text: str) -> Vector:
        """Of a question."""
        return np.asarray(self._embedder.embed_query(text), np.float32)


def snippets(shelf: Shelf) -> Agent:
    """One reply of so many tokens: the passages nearest by meaning, each with title and source."""

    def read(task: Task, version: str, transcript: Transcript, budget: int) -> None:
        question = shelf.vector(task.text)
        passages = [p for p in shelf.passages(task.library, version) if p.vector is not None]
        reply, left = [], budget
        for passage in sorted(passages, key=lambda p: -float(np.dot(p.vector, question))):
            snippet = _snippet(passage)
            left -= count_tokens(snippet)
            if left < 0:
                break
            reply.append(snippet)
        transcript.read("".join(reply))

    return _of_each_version(read)


def _snippet(passage: Passage) -> str:
    title = passage.path.rpartition(SEPARATOR)[2] or passage.title
    return f"### {title}\n\nSource: {passage.url}\n\n{passage.content}\n\n{'-' * 32}\n\n"


def assembled(shelf: Shelf, make: Callable[[Setup], Rival], scratch: Path) -> Agent:
    """FTS5 and vectors in SQLite, each hit with what docs-mcp-server returns around it."""

    @cache
    def rival(library: str, version: str) -> Rival:
        where = scratch / f"{library}-{version}"
        where.mkdir()
        return make(Setup("", library, where, shelf.dimensions, shelf.passages(library, version)))

    def read(task: Task, version: str, transcript: Transcript, budget: int) -> None:
        passages = shelf.passages(task.library, version)
        places = {passage.id: nth for nth, passage in enumerate(passages)}
        hits = rival(task.library, version).search(task.text, shelf.vector(task.text), HITS)
        if not hits:
            transcript.refused = True
            return
        by_page: dict[str, set[int]] = {}
        for hit in hits:
            by_page.setdefault(passages[places[hit]].page, set()).update(
                around(passages, places[hit])
            )
        results = (
            f"Result {rank}: {passages[min(chosen)].url}\n\n"
            + "\n\n".join(passages[nth].content for nth in sorted(chosen))
            for rank, chosen in enumerate(by_page.values(), start=1)
        )
        transcript.read(_cut("\n\n".join(results), budget))

    return _of_each_version(read)


def around(passages: Sequence[Passage], place: int) -> set[int]:
    """A passage and the parent, children and siblings that docs-mcp-server adds to it."""
    hit = passages[place]
    path = hit.path.split(SEPARATOR)
    on_page = [nth for nth, other in enumerate(passages) if other.page == hit.page]
    paths = {nth: passages[nth].path.split(SEPARATOR) for nth in on_page}
    siblings = [nth for nth in on_page if paths[nth] == path and nth != place]
    parents = [nth for nth in on_page if nth < place and paths[nth] == path[:-1]]
    children = [nth for nth in on_page if nth > place and paths[nth][:-1] == path]
    return {
        place,
        *parents[-1:],
        *[nth for nth in siblings if nth < place][-BEFORE:],
        *[nth for nth in siblings if nth > place][:AFTER],
        *children[:CHILDREN],
    }
