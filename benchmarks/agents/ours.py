"""Agents of three temperaments with the tools of pgrag's server, by the official client.

They are scripts: what a language model would choose by reading, they choose by the order of the
hits. Each asks in the user's own words, for the version of the user's project.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, zip_longest
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client

from benchmarks.agents.tasks import Task
from benchmarks.agents.transcript import Agent, BrokenReply, Transcript
from benchmarks.agents.words import key_words
from pgrag.mcp.replies import count_tokens
from pgrag.mcp.server import create_server
from pgrag.service.app import App

#: Fewer tokens are not worth a call.
LEAST = 300
#: Pages that an agent opens after its searches.
OPENED = 2
_REFUSAL = re.compile(r"\A(?:# .*\n(?:.*\n)?\n)?(?:No (?:further )?good match|Nothing was found)")
_SEEN = re.compile(r'seen="([^"]+)"')
_PASSAGE = re.compile(r'<passage id="([^"]+)">')
_BEST = re.compile(r"^Read on: read_docs\(ids=\[(\d+)\]\)", re.MULTILINE)


class Desk:
    """A session with a server, whose replies are checked and read into transcripts."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self._client = client

    @property
    def prompt_tokens(self) -> int:
        """What the tools and the instructions cost before the first question."""
        listed = self._portal.call(self._client.list_tools).tools
        told = json.dumps([tool.model_dump(exclude_none=True) for tool in listed])
        return count_tokens(told) + count_tokens(self._client.instructions or "")

    def ask(self, transcript: Transcript, tool: str, budget: int, **given: Any) -> list[str]:
        """Call a tool, read the reply, and return the ids of its passages, the best first: none if
        it refuses.
        """
        arguments = {"token_budget": max(budget, LEAST), **given}
        result = self._portal.call(self._client.call_tool, tool, arguments)
        text = "".join(part.text for part in result.content if part.type == "text")
        if result.is_error or not text:
            raise BrokenReply(f"{tool}: {text[:200] or 'nothing'}")
        if text.count("<passage ") != text.count("</passage>"):
            raise BrokenReply(f"{tool}: an open quotation")
        # Some clients show a model the data of a reply beside its text.
        data = result.structured_content
        transcript.read(text if data is None else f"{text}\n{json.dumps(data)}")
        return [*dict.fromkeys(_BEST.findall(text)[-1:] + _PASSAGE.findall(text))]

    def seen(self, transcript: Transcript) -> str:
        """What the last reply says to give back, so that nothing comes twice."""
        given = _SEEN.findall(transcript.replies[-1])
        if not given:
            raise BrokenReply("nothing to give back as seen")
        return str(given[-1])

    def search(
        self, transcript: Transcript, task: Task, version: str, budget: int, **given: Any
    ) -> list[str]:
        """Search a version. Raises BrokenReply if the reply has no passages and does not say so."""
        given = {"query": task.text, "library": task.library, "version": version, **given}
        ids = self.ask(transcript, "search_docs", budget, **given)
        if not ids and not _REFUSAL.search(transcript.replies[-1]):
            raise BrokenReply(f"neither passages nor a refusal: {transcript.replies[-1][:200]}")
        return ids


@contextmanager
def desk(app: App) -> Iterator[Desk]:
    """A session with a server of this process, which records no search."""
    server = create_server(app, read_only=True)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server)) as client,
    ):
        yield Desk(portal, client)


def searches_once(desk: Desk) -> Agent:
    """One search of each version, and the answer from that."""

    def agent(task: Task, transcript: Transcript) -> None:
        share = transcript.budget // len(task.versions)
        found = [desk.search(transcript, task, version, share) for version in task.versions]
        transcript.refused = not any(found)

    return agent


def searches_and_reads(desk: Desk) -> Agent:
    """A search of each version for half of the tokens, then the pages of the best hits."""

    def agent(task: Task, transcript: Transcript) -> None:
        share = transcript.budget // (2 * len(task.versions))
        found = [_insist(desk, transcript, task, version, share) for version in task.versions]
        _read_on(desk, transcript, found)

    return agent


def compares(desk: Desk) -> Agent:
    """A search of each version, the history of the best hit, or a search in other words; then the
    pages of the best hits.
    """

    def agent(task: Task, transcript: Transcript) -> None:
        share = transcript.budget // 3
        found = [_insist(desk, transcript, task, task.version, share)]
        if task.since:
            for id in found[0][:1]:
                desk.ask(transcript, "compare_versions", share // 2, id=id)
            found.append(_insist(desk, transcript, task, task.since, share))
        elif found[0]:
            other = {"query": _in_other_words(task), "seen": desk.seen(transcript)}
            found.append(desk.search(transcript, task, task.version, share, **other))
        _read_on(desk, transcript, found)

    return agent


def _insist(desk: Desk, transcript: Transcript, task: Task, version: str, budget: int) -> list[str]:
    """A search, and after a refusal another one in other words."""
    ids = desk.search(transcript, task, version, budget)
    return ids or desk.search(transcript, task, version, budget, query=_in_other_words(task))


def _in_other_words(task: Task) -> str:
    return " ".join(key_words(task.text))


def _read_on(desk: Desk, transcript: Transcript, found: Sequence[Sequence[str]]) -> None:
    """The pages around the best hits of each search by turns; or nothing answers."""
    best = [id for id in chain(*zip_longest(*found)) if id is not None][:OPENED]
    transcript.refused = not best
    if best and transcript.room >= LEAST:
        desk.ask(transcript, "read_docs", transcript.room, ids=best, expand="page")


TEMPERAMENTS = {
    "searches once": searches_once,
    "searches and reads": searches_and_reads,
    "searches, reads, compares": compares,
}
