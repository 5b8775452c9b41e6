"""The questions of context-bench (github.com/opactorai/context-bench, MIT), judged by a script.

Its judges are language models. Here the facts of a question are the names that its model solution
takes from the library, and the named arguments that it gives them, as far as the documentation has
them. Beside pgrag stand the replies of other servers as they are recorded there.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import yaml

from benchmarks.agents import ours
from benchmarks.agents.tasks import Task
from benchmarks.agents.transcript import BrokenReply, Transcript
from benchmarks.figures import table
from pgrag.mcp.replies import count_tokens
from pgrag.service.app import App

#: The packages of each library whose documentation is indexed under its name.
PACKAGES = {
    "agno": {"agno"},
    "autogen": {"autogen_agentchat", "autogen_core", "autogen_ext"},
    "langgraph": {"langgraph"},
    "openai-agents": {"agents"},
}
SERVERS = ("context7", "nia", "deepcon", "exa")
BUDGETS = (2400, 4000, 8000)
ALL = 1_000_000
_PAGES = ("*.md", "*.mdx", "*.ipynb")


@dataclass(frozen=True, slots=True)
class Scenario:
    """A question, the names that answer it, and the reply of each server."""

    library: str
    query: str
    facts: frozenset[str]
    replies: dict[str, str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask pgrag each question, and print the facts in its replies and in the recorded ones."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agents.context_bench")
    parser.add_argument("bench", type=Path, help="a clone of context-bench")
    parser.add_argument("docs", type=Path, help="folder of the documentation, a folder a library")
    options = parser.parse_args(arguments)
    if not (options.bench / "scenarios").is_dir():
        parser.error(f"{options.bench} is no clone of context-bench: it has no folder scenarios")
    asked = [*scenarios(options.bench, options.docs)]
    if not asked:
        parser.error(f"{options.docs} has none of the folders {', '.join(PACKAGES)}")
    with App() as app, ours.desk(app) as desk:
        try:
            rows = [_row(f"pgrag, {most:,}", asked, _ask(desk, asked, most)) for most in BUDGETS]
        except BrokenReply as broken:
            rows = []
            print(
                f"{broken}\nIndex each: pgrag index LIBRARY {options.docs}/LIBRARY", file=sys.stderr
            )
    if not rows:
        return 1
    for server in SERVERS:
        for budget in (2400, ALL):
            replies = [Transcript(budget) for _ in asked]
            for transcript, each in zip(replies, asked, strict=True):
                transcript.read(each.replies[server])
            name = server if budget == ALL else f"{server}, the first {budget:,}"
            rows.append(_row(name, asked, ["".join(each.replies) for each in replies]))
    print(f"{len(asked)} questions, {sum(len(each.facts) for each in asked)} facts\n")
    print(table(("reply", "tokens", "facts", "questions with all facts"), rows))
    return 0


def scenarios(bench: Path, docs: Path) -> Iterator[Scenario]:
    """The questions about the libraries whose documentation is there."""
    there = {library: each for library, each in PACKAGES.items() if (docs / library).is_dir()}
    for library, packages in there.items():
        known = words("\n".join(_texts(docs / library)))
        described = yaml.safe_load((bench / "scenarios" / f"{library}.yaml").read_text("utf-8"))
        for each in described["scenarios"]:
            facts = names((bench / each["oracle"]).read_text("utf-8"), packages) & known
            where = f"*/oneshot/*/{library}:{each['id']}/oneshot_result.md"
            recorded = {
                file.parts[-3]: file.read_text("utf-8").partition("## Tool Result")[2]
                for file in (bench / "sample_workspace").glob(where)
            }
            yield Scenario(library, each["query"], frozenset(facts), recorded)


def names(code: str, packages: set[str]) -> set[str]:
    """What code imports from packages, and the named arguments that it gives to those."""
    tree = ast.parse(code)
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in packages
        for alias in node.names
    }
    given = {
        keyword.arg
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in imported
        for keyword in node.keywords
        if keyword.arg
    }
    return imported | given


def words(text: str) -> set[str]:
    """The names in a text."""
    return set(re.findall(r"\w+", text))


def _texts(folder: Path) -> Iterator[str]:
    for pattern in _PAGES:
        for file in folder.rglob(pattern):
            yield file.read_text("utf-8")


def _ask(desk: ours.Desk, asked: Sequence[Scenario], budget: int) -> list[str]:
    replies = []
    for each in asked:
        transcript = Transcript(budget)
        task = Task("", each.library, "version", each.query, "latest")
        desk.search(transcript, task, task.version, budget)
        replies.append(transcript.replies[0])
    return replies


def _row(name: str, asked: Sequence[Scenario], replies: Sequence[str]) -> list[str]:
    found = [each.facts & words(reply) for each, reply in zip(asked, replies, strict=True)]
    facts = sum(len(each.facts) for each in asked)
    whole = sum(each.facts == got for each, got in zip(asked, found, strict=True))
    return [
        name,
        f"{fmean(map(count_tokens, replies)):,.0f}",
        f"{sum(map(len, found)) / facts:.0%}",
        f"{whole} of {len(asked)}",
    ]


if __name__ == "__main__":
    sys.exit(main())
