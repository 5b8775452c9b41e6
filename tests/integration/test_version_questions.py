"""Questions about versions: made from differences of releases, and answered from the right one."""

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.questions import tidemark, versions
from benchmarks.questions.asked import KINDS, Asked, questions
from benchmarks.questions.releases import Release, changes, read_release, says_gone

from pgrag.ground.settings import Settings
from pgrag.service.app import App


@pytest.fixture
def app(database_url: str) -> Iterator[App]:
    with App(Settings(database_url=database_url)) as app:
        yield app


def release(label: str, **options: str) -> Release:
    """A release whose only page has a section per option, with its default."""
    text = "".join(f"## `{name}` [x]\n\nDefault: `{value}`\n\n" for name, value in options.items())
    return read_release(label, {"a.md": text})


def test_every_question_of_every_kind_is_answered_right(app, tmp_path):
    releases = versions.index_tidemark(app, tmp_path, seed=2)
    asked = questions({tidemark.LIBRARY: releases}, dict.fromkeys(KINDS, 4), seed=2)
    faults = {each: fault for each in asked if (fault := versions.judge(app, each))}
    assert faults == {}
    rows = versions.shares(asked, set(asked[:3])).splitlines()
    assert rows[2] == "| a default that changed, 4 | 25.0% |"
    assert rows[-1] == "| all, 40 | 92.5% |"

    # What would be wrong is seen: the same questions with another truth.
    newest, older = releases[-1].label, releases[0].label
    for wrong, fault in (
        (Asked("", "tidemark", "restore", older), f"a hit of {newest} instead of {older}"),
        (
            Asked("", "tidemark", "chunk_size", newest, "chunk_size", default="9MB"),
            "no source states the default 9MB",
        ),
        (
            Asked("", "tidemark", "restore", newest, "foo", refused_for=(older,)),
            f"search: nothing says that {newest} lacks foo",
        ),
        (
            Asked("", "tidemark", "restore", newest, unknown="9", existing=(older,)),
            "search: nothing says that 9 does not exist",
        ),
        (
            Asked(versions.PLAIN[0], "tidemark", "restore in tidemark 1.0", older),
            "a needless notice",
        ),
        (
            Asked("", "tidemark", "restore", "", arguments={"version": "0.1"}),
            "refused: Library 'tidemark' has no version that fits '0.1'",
        ),
    ):
        assert (versions.judge(app, wrong) or "").startswith(fault)
    since = next(each for each in asked if each.since)
    fault = versions.judge(app, replace(since, since="0.9"))
    assert fault == f"since {since.since} instead of 0.9"


def test_differences_of_releases_are_what_is_asked_about():
    old = release("1.0", port="80", host="a", gone="x")
    new = release("2.0", port="90", host="a", come="y")
    found = {(each.kind, each.name) for each in changes([old, new])}
    assert found == {("default", "port"), ("removed", "gone"), ("added", "come")}
    asked = questions({"tool": [old, new]}, {"an option before it came": 2})
    assert {(each.version, each.refused_for) for each in asked} == {("1.0", ("2.0",))}
    with pytest.raises(ValueError, match="since when"):
        questions({"tool": [old, new]}, {"since when": 2})
    assert new.mentions("come")
    assert not new.mentions("com")
    assert says_gone("port", "- `port` was removed.")
    assert not says_gone("port", "removed\nport")


def test_a_seed_writes_the_same_commits(tmp_path: Path):
    def commit(folder: Path, seed: int) -> str:
        repository = tidemark.write_repository(folder, seed)
        return subprocess.check_output(
            ("git", "-C", str(repository), "rev-parse", tidemark.TAGS[-1]), text=True
        )

    assert commit(tmp_path / "a", 3) == commit(tmp_path / "b", 3) != commit(tmp_path / "c", 4)
