"""What the agents gathered, as Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from statistics import fmean

from benchmarks.agents.tasks import KINDS, Task
from benchmarks.agents.transcript import Outcome, share
from benchmarks.figures import table

MARKS = ("<!-- agents: made by `python -m benchmarks.agents` -->", "<!-- end of the agents -->")
SQLITE = "FTS5 + vectors, as docs-mcp-server"
SNIPPETS = "one reply of snippets, as Context7"
GREP = "grep"
LLMS = "llms.txt in the prompt"
BEST = "llms.txt, always the right pages"
#: The tokens that an agent may read for a task; the last tells what more would bring.
BUDGETS = (2400, 4000, 12_000)
SHOWN = 4000


@dataclass(frozen=True, slots=True)
class Row:
    """An agent: what it costs before the first question, and its outcomes at each budget."""

    name: str
    prompt: int
    outcomes: Mapping[int, Sequence[Outcome]]


def tables(rows: Sequence[Row], tasks: Sequence[Task], on: date) -> str:
    """The shares, the kinds of tasks, and the tasks that need more."""
    return "\n\n".join(
        (
            f"{len(tasks)} tasks, {on:%d %B %Y}.",
            _shares(rows),
            f"Right by kind, within {SHOWN:,} tokens:",
            _kinds(rows),
            f"Not right within {SHOWN:,} tokens; with {BUDGETS[-1]:,} those in brackets are:",
            "\n".join(_needing_more(row) for row in rows if row.name.startswith("pgrag")),
        )
    )


def _shares(rows: Sequence[Row]) -> str:
    head = [
        *(f"right at {budget:,}" for budget in BUDGETS),
        "facts", "calls", "tokens", "prompt",
    ]  # fmt: skip
    return table(["agent", *head], [[row.name, *_figures(row)] for row in rows])


def _figures(row: Row) -> list[str]:
    of = row.outcomes[SHOWN]
    facts = sum(each.facts for each in of)
    return [
        *(f"{share(row.outcomes[budget]):.0%}" for budget in BUDGETS),
        f"{sum(each.found for each in of) / facts:.0%}" if facts else "—",
        f"{fmean(each.calls for each in of):.1f}",
        f"{fmean(each.tokens for each in of):,.0f}",
        f"{row.prompt:,}" if row.prompt else "—",
    ]


def _kinds(rows: Sequence[Row]) -> str:
    lines = []
    for row in rows:
        of = row.outcomes[SHOWN]
        right = [
            f"{sum(each.is_right for each in of if each.task.kind == kind)}"
            f" of {sum(each.task.kind == kind for each in of)}"
            for kind in KINDS
        ]
        told = sum(each.fault == "told that nothing answers" for each in of)
        broken = sum((each.fault or "").startswith("a broken reply") for each in of)
        lines.append([row.name, *right, str(told), str(broken)])
    return table(["agent", *KINDS, "wrongly told that nothing answers", "broken replies"], lines)


def _needing_more(row: Row) -> str:
    """The tasks of an agent that it did not do, by their ids."""
    later = {each.task.id for each in row.outcomes[BUDGETS[-1]] if each.is_right}
    ids = [each.task.id for each in row.outcomes[SHOWN] if not each.is_right]
    told = ", ".join(f"[{id}]" if id in later else id for id in ids)
    return f"- {row.name}: {told or 'none'}."
