"""What an agent read for a task, within its budget of tokens, and what that is worth."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from benchmarks.agents.tasks import Task, has
from benchmarks.questions.rows import plain_text
from pgrag.mcp.replies import count_tokens

BYTES_PER_TOKEN = 4
_LACKING = re.compile(
    r'^(?:Note: )?No passage of [^"\n]* contains ((?:"[^"\n]+"(?:, )?)+)', re.MULTILINE
)


class BrokenReply(Exception):
    """A reply that no agent could go on with."""


@dataclass(slots=True)
class Transcript:
    """The replies that an agent has read; what exceeds the budget is cut off.

    `refused`: the agent was told that nothing answers.
    """

    budget: int
    replies: list[str] = field(default_factory=list)
    refused: bool = False

    @property
    def room(self) -> int:
        """The tokens that are left."""
        return self.budget - sum(map(count_tokens, self.replies))

    @property
    def lacking(self) -> list[str]:
        """The words that no passage has, as replies said."""
        told = "\n".join(self.replies)
        return [word for words in _LACKING.findall(told) for word in re.findall(r'"(.+?)"', words)]

    def read(self, reply: str) -> None:
        """One more reply."""
        kept = reply.encode("utf-8")[: max(self.room, 0) * BYTES_PER_TOKEN]
        self.replies.append(kept.decode("utf-8", "ignore"))


Agent = Callable[[Task, Transcript], None]
"""Asks until it has what its temperament wants, and reads into the transcript."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a task came to: facts, calls, tokens, and whether all is as it should be."""

    task: Task
    found: int
    facts: int
    calls: int
    tokens: int
    fault: str | None

    @property
    def is_right(self) -> bool:
        """All facts were read, or it was recognised that there are none."""
        return self.fault is None


def attempt(agent: Agent, task: Task, budget: int) -> Outcome:
    """Let an agent do a task, and judge what it read."""
    transcript = Transcript(budget)
    fault: str | None = None
    try:
        agent(task, transcript)
    except BrokenReply as broken:
        fault = f"a broken reply: {broken}"
    found, facts = task.found("\n".join(transcript.replies))
    if task.kind == "unanswerable":
        is_told = any(has(plain_text(word), task.absent) for word in transcript.lacking)
        if not (transcript.refused or is_told):
            fault = fault or "not recognised as unanswerable"
    elif found < facts:
        missing = "told that nothing answers" if transcript.refused else "facts are missing"
        fault = fault or missing
    tokens = budget - transcript.room
    return Outcome(task, found, facts, len(transcript.replies), tokens, fault)


def share(outcomes: Sequence[Outcome]) -> float:
    """The share of right outcomes; 0 of none."""
    return fmean([each.is_right for each in outcomes] or [0.0])
