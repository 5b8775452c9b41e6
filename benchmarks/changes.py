"""Changes between versions: compared with git's, and how long they take."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from itertools import permutations
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, LiteralString

import psycopg

from benchmarks.bench import Bench
from benchmarks.figures import Figure
from pgrag.ingest.source.sources import discover

#: Every fifth page of the second version is edited, every twentieth moved, every fiftieth missing.
EDITED, MOVED, MISSING = 5, 20, 50
SECONDS = 1.0
QUERIES = ["pod", "rolling update of a deployment", "network policy", "kubectl apply", "volumes"]

PAGES: LiteralString = """
select c.change, c.key, c.old_key
from pgrag.compare_versions(%s, %s, %s) as c
where c.section is null
"""
SECTIONS: LiteralString = """
select c.change, c.key, c.section, c.old_key, c.old_section
from pgrag.compare_versions(%s, %s, %s) as c
where c.section is not null
"""
LINES: LiteralString = """
select p.key, s.headings, s.line_start, s.line_end
from pgrag.section_texts as s
join pgrag.pages as p on p.library_id = s.library_id and p.page_id = s.page_id
join pgrag.versions as v on v.library_id = s.library_id and v.version_id = s.version_id
join pgrag.libraries as l on l.library_id = s.library_id
where l.name = %s and v.label = %s
order by p.key, s.line_start
"""

Connection = psycopg.Connection[tuple[Any, ...]]
Sections = set[tuple[str, tuple[str, ...]]]


def as_git(bench: Bench) -> list[Figure]:
    """The four versions of Jest in all pairs against `git diff`, and times on Kubernetes."""
    library = "jest-changes"
    folders = bench.corpora.versions("jest-versions")
    for label, folder in folders.items():
        bench.index(library, label, folder)
    git = Git(bench.scratch / "jest-git")
    commits = {label: git.commit(label, folder) for label, folder in folders.items()}
    pages = sections = 0
    wrong_pages: list[Any] = []
    wrong_sections: list[Any] = []
    with bench.connect() as connection:
        for old, new in permutations(folders, 2):
            expected = git.changes(commits[old], commits[new])
            ours = set(connection.execute(PAGES, [library, old, new]).fetchall())
            pages += len(expected)
            wrong_pages += ours ^ expected
            touched, renamed = git.sections(connection, library, (old, new), commits)
            listed = _listed(connection, library, old, new)
            sections += len(listed)
            wrong_sections += (touched - listed) | (listed - touched - renamed)
    on = f"Jest, {len(folders)} versions in all pairs"
    return [
        Figure(
            "pages that changed otherwise than `git diff --find-renames` says",
            f"{on}, {pages:,} changes",
            f"{len(wrong_pages)}",
            "0",
            not wrong_pages,
        ),
        Figure(
            "sections that changed otherwise than the lines of `git diff` say",
            f"{on}, {sections:,} changes",
            f"{len(wrong_sections)}",
            "0",
            not wrong_sections,
        ),
        *_times(bench),
    ]


class Git:
    """A repository with a commit per version."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        self._run("init", "--quiet")

    def commit(self, label: str, source: Path) -> str:
        """Commit the pages of a source, and nothing else."""
        for path in self._folder.iterdir():
            if path.name != ".git":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        with discover(str(source)) as pages:
            for page in pages.files():
                file = self._folder / page.key
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(page.read())
        self._run("add", "--all")
        self._run("commit", "--quiet", "--allow-empty", "--message", label)
        return self._run("rev-parse", "HEAD").strip()

    def changes(self, old: str, new: str) -> set[tuple[str, str, str | None]]:
        """(change, key, old key) of each file."""
        names = {"A": "added", "D": "removed", "M": "changed", "R": "moved"}
        rows = set()
        for line in self._run("diff", "--name-status", "--find-renames", old, new).splitlines():
            letter, *keys = line.split("\t")
            change = names[letter[0]]
            rows.add((change, keys[-1], None if change == "added" else keys[0]))
        return rows

    def sections(
        self,
        connection: Connection,
        library: str,
        labels: tuple[str, str],
        commits: dict[str, str],
    ) -> tuple[Sections, Sections]:
        """The sections whose text, and those whose headings, the diff of two commits touches.

        Where a heading comes or goes, the sections below it have other headings, and the section
        before it another end.
        """
        touched: Sections = set()
        renamed: Sections = set()
        sections = [_sections(connection, library, label) for label in labels]
        diff = self._run(
            "diff", "--unified=0", "--find-renames", "--diff-filter=MR", "--ignore-blank-lines",
            *(commits[label] for label in labels),
        )  # fmt: skip
        keys = ["", ""]
        lines = [0, 0]
        for line in diff.splitlines():
            if named := re.match(r"(---|\+\+\+) [ab]/(.*)", line):
                keys[named[1] == "+++"] = named[2]
            elif hunk := re.match(r"@@ -(\d+)\S* \+(\d+)", line):
                lines = [int(hunk[1]), int(hunk[2])]
            elif line[:1] in "-+" and lines[0]:
                side = int(line[0] == "+")
                before: tuple[str, ...] = ()
                for headings, start, end in sections[side].get(keys[side], ()):
                    if start <= lines[side] <= end and line[1:].strip():
                        touched.add((keys[1], headings))
                    elif lines[side] == start - 1:
                        renamed.add((keys[1], before))
                        renamed |= {
                            (keys[1], below)
                            for below, _, _ in sections[side][keys[side]]
                            if below[: len(headings)] == headings
                        }
                    before = headings
                lines[side] += 1
            if line.startswith("diff "):
                lines = [0, 0]
        return touched, renamed

    def _run(self, *arguments: str) -> str:
        identity = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")
        return subprocess.run(
            ["git", *identity, *arguments],
            cwd=self._folder,
            env={"PATH": os.environ["PATH"], "HOME": str(self._folder)},
            check=True,
            capture_output=True,
            encoding="utf-8",
        ).stdout


def _sections(
    connection: Connection, library: str, label: str
) -> dict[str, list[tuple[tuple[str, ...], int, int]]]:
    """Headings, first and last line of each section, by page, in reading order."""
    sections: dict[str, list[tuple[tuple[str, ...], int, int]]] = {}
    for key, headings, start, end in connection.execute(LINES, [library, label]).fetchall():
        sections.setdefault(key, []).append((tuple(headings), start, end))
    return sections


def _listed(connection: Connection, library: str, old: str, new: str) -> Sections:
    """Page and headings of every change of a section with a text; a move has two places."""
    listed: Sections = set()
    rows = connection.execute(SECTIONS, [library, old, new]).fetchall()
    for change, key, section, old_key, old_section in rows:
        listed.add((key, tuple(section)))
        if change == "moved" and old_key is not None:
            listed.add((old_key, tuple(old_section)))
    return listed


def _times(bench: Bench) -> list[Figure]:
    source = bench.corpora.pages("k8s-en")
    library = "k8s-changes"
    bench.index(library, "1.0", source)
    bench.index(library, "2.0", _next_version(source, bench.scratch / "k8s-next"))
    bench.settle()
    with bench.connect() as connection:
        compared = _milliseconds(
            connection,
            "select count(*) from pgrag.compare_versions(%s, '1.0', '2.0')",
            [[library]] * 5,
        )
        plain, restricted, told = (
            _milliseconds(
                connection,
                f"select count(*) from pgrag.search(%s, %s, '2.0', alpha => 0{more})",
                [[query, library] for query in QUERIES],
            )
            for more in ("", ", changed_since => '1.0'", ", history => true")
        )
    on = "k8s, two versions of 2,000 pages"
    return [
        Figure(
            "comparing two versions, median", on, f"{compared:.0f} ms", f"≤ {SECONDS:.0f} s",
            compared <= 1000 * SECONDS,
        ),
        Figure("a search by words, median", on, f"{plain:.0f} ms"),
        Figure("the same of what changed, median", on, f"{restricted:.0f} ms"),
        Figure("the same with the history of ten hits, median", on, f"{told:.0f} ms"),
    ]  # fmt: skip


def _next_version(source: Path, copy: Path) -> Path:
    shutil.copytree(source, copy)
    pages = sorted(path for path in copy.rglob("*.md") if path.is_file())
    for number, page in enumerate(pages):
        if number % EDITED == 0:
            with page.open("a", encoding="utf-8") as text:
                text.write(f"\nA sentence that only this version has, number {number}.\n")
        if number % MISSING == 0:
            page.unlink()
        elif number % MOVED == 0:
            page.rename(page.with_name(f"moved-{page.name}"))
    return copy


def _milliseconds(
    connection: Connection, statement: LiteralString, arguments: list[list[str]]
) -> float:
    times = []
    for each in arguments:
        started = perf_counter()
        connection.execute(statement, each).fetchall()
        times.append(1000 * (perf_counter() - started))
    return median(times)
