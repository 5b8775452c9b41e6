"""Whether a question about a version is answered from that version, or refused with the reason.

Asked are the documentation of Jest and a repository of our own making; see `asked` for the
questions. Each is put to a search and to the sources of an answer, with the words and arguments
that a person would use. One wrong hit or source makes the question wrong.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.corpora import Corpora
from benchmarks.figures import table
from benchmarks.questions import tidemark
from benchmarks.questions.asked import KINDS, Asked, questions
from benchmarks.questions.releases import Release, read_folder, read_release, says_gone
from pgrag.ground.calls import Row
from pgrag.ground.errors import NotFound
from pgrag.service.app import App

#: The tokens of an answer's sources.
BUDGET = 2400
#: Questions that name no version to search: no notice is expected.
PLAIN = ("two versions named", "a number that is no version")
JEST = "jest"
#: Oldest first.
JEST_LABELS = ("25.x", "26.x", "27.0", "next")


def measure(app: App, corpora: Corpora, *, show: bool = False) -> str:
    """Index what is missing, ask everything, and return the shares as Markdown.

    With `show` the wrong questions follow, each with what was wrong.
    """
    asked = questions(
        {JEST: index_jest(app, corpora), tidemark.LIBRARY: index_tidemark(app, corpora.scratch)}
    )
    wrong = {each: fault for each in asked if (fault := judge(app, each))}
    told = shares(asked, set(wrong))
    if show:
        told += "".join(
            f"\n- {each.kind}: {each.text!r} {each.arguments or ''}: {fault}"
            for each, fault in wrong.items()
        )
    return told


def index_jest(app: App, corpora: Corpora) -> list[Release]:
    """Index the versions of Jest's documentation."""
    folders = corpora.versions("jest-versions")
    for label in JEST_LABELS:
        app.index(JEST, label, str(folders[label]))
    return [read_folder(label, folders[label]) for label in JEST_LABELS]


def index_tidemark(app: App, scratch: Path, seed: int = 1) -> list[Release]:
    """Write the repository of our own making, and index its tags."""
    repository = tidemark.write_repository(scratch / "tidemark-repository", seed)
    labels = [
        label for label, _ in app.index_tags(tidemark.LIBRARY, str(repository / "docs"), "v*")
    ]
    return [
        read_release(label, pages)
        for label, pages in zip(labels, tidemark.releases(seed), strict=True)
    ]


def shares(asked: Sequence[Asked], wrong: set[Asked]) -> str:
    """The share of right questions by kind, and of all, as Markdown."""
    rows = []
    for kind in (*KINDS, "all"):
        part = [each for each in asked if kind in {each.kind, "all"}]
        right = sum(each not in wrong for each in part)
        if part:
            rows.append([f"{kind}, {len(part)}", f"{right / len(part):.1%}"])
    return table(("questions about versions", "right"), rows)


def judge(app: App, asked: Asked) -> str | None:
    """What is wrong with the hits or sources of a question; None if nothing is."""
    return next(_faults(app, asked), None)


def _faults(app: App, asked: Asked) -> Iterator[str]:
    try:
        searched = app.search.search(asked.text, library=asked.library, **asked.arguments)
        sourcing = {name: each for name, each in asked.arguments.items() if name != "history"}
        answer = app.search.answer_context(
            asked.text, library=asked.library, token_budget=BUDGET, **sourcing
        )
    except NotFound as error:
        if asked.unknown is None:
            yield f"refused: {error}"
        elif not _says(str(error), (asked.unknown, *asked.existing)):
            yield f"the error does not name what exists: {error}"
        return
    [material] = answer.rows
    sources = material["sources"]
    if not searched.rows or not sources:
        yield "no hits or sources"
    for what, rows in (("hit", searched.rows), ("source", sources)):
        others = {row["version"] for row in rows} - {asked.version}
        if others:
            yield f"a {what} of {', '.join(sorted(others))} instead of {asked.version}"
    # The prompt must tell a language model what the notices tell the caller.
    prompt = material["messages"][-1]["content"].splitlines()
    for what, told in (
        ("search", searched.notices),
        ("answer", answer.notices),
        ("prompt", prompt),
    ):
        yield from (f"{what}: {fault}" for fault in _untold(asked, told, sources))
    told = [notice for notice in (*searched.notices, *answer.notices) if "version" in notice]
    if asked.kind in PLAIN and told:
        yield f"a needless notice: {told}"
    if asked.default and not any(_states(row, asked.name, asked.default) for row in sources):
        yield f"no source states the default {asked.default}"
    if asked.since:
        about = [row for row in searched.rows if _is_about(row, asked.name)]
        if not about or about[0]["since"] != asked.since:
            yield f"since {about[0]['since'] if about else 'never'} instead of {asked.since}"


def _untold(asked: Asked, told: Sequence[str], sources: Sequence[Row]) -> Iterator[str]:
    """What the notices of a search, or the lines of a prompt, do not say."""
    if asked.unknown and not any(_says(each, (asked.unknown, *asked.existing)) for each in told):
        yield f"nothing says that {asked.unknown} does not exist"
    if asked.refused_for:
        said = any(_says(each, (asked.name, asked.version, *asked.refused_for)) for each in told)
        if not said and not any(says_gone(asked.name, row["content"]) for row in sources):
            yield f"nothing says that {asked.version} lacks {asked.name}"


def _says(text: str, parts: Sequence[str]) -> bool:
    return all(part in text for part in parts)


def _is_about(row: Row, name: str) -> bool:
    """Whether the heading of a passage is the option's."""
    heading = row["heading"].lstrip("-")
    return heading.startswith(name) and not heading[len(name) : len(name) + 1].isalnum()


def _states(row: Row, name: str, default: str) -> bool:
    plain = row["content"].replace("`", "")
    return _is_about(row, name) and f"Default: {default}" in plain
