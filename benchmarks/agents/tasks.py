"""The tasks: what a user asks about a version, and the facts that an answer needs.

The questions and facts are ours, under the licence of this project; the pages are those of three
projects, as they publish them; see docs/benchmarks.md.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.corpora import Corpora
from benchmarks.questions.rows import occurs, plain_text

FILE = Path(__file__).with_name("tasks.jsonl")
KINDS = {"version": 30, "change": 20, "unanswerable": 10}
#: The folder of each library below the corpora, that of a version in it, and its versions.
LIBRARIES = {
    "jest": ("jest-versions", "files/version-{}", ("25.x", "26.x", "27.0")),
    "etcd": ("etcd-website", "content/en/docs/v{}", ("3.4", "3.5", "3.6")),
    "cert-manager": ("cert-manager-website", "content/v{}-docs", ("1.12", "1.16", "1.19")),
}
_TITLE = re.compile(r"^(?:title: *|# +)(.+)$", re.MULTILINE)
_DESCRIPTION = re.compile(r"^description: *(?:[|>][+-]?\n +)?(.+)$", re.MULTILINE)

Fact = tuple[str, ...]
"""Alternatives, any of which is the fact; one in slashes is a regular expression."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of one version: its key, and its Markdown."""

    key: str
    text: str

    @property
    def title(self) -> str:
        """As its front matter or its first heading says."""
        found = _TITLE.search(self.text)
        return found[1].strip("\"' ") if found else self.key

    @property
    def description(self) -> str:
        """As its front matter says; empty without one."""
        found = _DESCRIPTION.search(self.text.split("\n---", 1)[0])
        return found[1].strip("\"' ") if found else ""


@dataclass(frozen=True, slots=True)
class Task:
    """A question about a version, or about what changed since another.

    `facts` are those of each version. An unanswerable task has none: the pages must have nothing of
    what is `absent`, and an agent should come to know that.
    """

    id: str
    library: str
    kind: str
    text: str
    version: str
    since: str | None = None
    facts: Mapping[str, Sequence[Fact]] = field(default_factory=dict)
    absent: Fact = ()

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions that it is about, the asked one first."""
        return (self.version, self.since) if self.since else (self.version,)

    def found(self, text: str) -> tuple[int, int]:
        """How many of the facts a text has, and how many there are."""
        plain = plain_text(text)
        facts = [fact for each in self.facts.values() for fact in each]
        return sum(has(plain, fact) for fact in facts), len(facts)


def has(plain: str, fact: Fact) -> bool:
    """Whether a plain text has a fact."""
    return any(occurs(alternative, plain) for alternative in fact)


def read(file: Path = FILE) -> list[Task]:
    """The tasks of a file, one a line."""
    return [_task(json.loads(line)) for line in file.read_text("utf-8").splitlines()]


def _task(row: dict[str, Any]) -> Task:
    given = {name: value for name, value in row.items() if name not in {"_id", "facts", "absent"}}
    facts = {
        version: [tuple(fact) for fact in each] for version, each in row.get("facts", {}).items()
    }
    return Task(id=row["_id"], facts=facts, absent=tuple(row.get("absent", ())), **given)


def folder(corpora: Corpora, library: str, version: str) -> Path:
    """The folder of a version. Raises CorpusMissing."""
    name, below, _ = LIBRARIES[library]
    return corpora.folder(name) / below.format(version)


@cache
def pages(where: Path) -> tuple[Page, ...]:
    """The pages below a folder, by their keys."""
    return tuple(
        Page(path.relative_to(where).as_posix(), path.read_text("utf-8"))
        for path in sorted(where.rglob("*.md"))
    )


def faults(tasks: Sequence[Task], corpora: Corpora) -> Iterator[str]:
    """What the pages say otherwise than the tasks, a line each."""

    def said(task: Task, version: str) -> list[str]:
        return [plain_text(page.text) for page in pages(folder(corpora, task.library, version))]

    for task in tasks:
        if task.found(task.text)[0]:
            yield f"{task.id}: the question itself says a fact, which replies repeat"
        for version, facts in task.facts.items():
            texts = said(task, version)
            for fact in facts:
                if not any(has(text, fact) for text in texts):
                    yield f"{task.id}: no page of {version} says {' or '.join(fact)}"
        for wrong in task.absent:
            if any(occurs(wrong, text) for text in said(task, task.version)):
                yield f"{task.id}: a page of {task.version} says {wrong}"
        if task.since and not _differs(task, said(task, task.version), said(task, task.since)):
            yield f"{task.id}: every fact stands in {task.since} and in {task.version}"


def _differs(task: Task, new: Sequence[str], old: Sequence[str]) -> bool:
    """Whether a fact of one version is not a fact of the other."""
    return any(
        not any(has(text, fact) for text in others)
        for version, others in ((task.version, old), (task.since, new))
        for fact in task.facts.get(version or "", ())
    )
