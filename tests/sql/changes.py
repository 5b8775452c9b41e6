"""Versions written from files, the changes between them, and what git says of the same files."""

import os
import subprocess
from typing import Any

from library import ingest, run

from pgrag.ingest.document import page_document
from pgrag.ingest.page import PageOptions, read_page

Files = dict[str, str]
Change = tuple[Any, ...]

_LETTERS = {"A": "added", "D": "removed", "M": "changed", "R": "moved"}
_WORDS = [
    "mast", "sail", "rope", "deck", "keel", "anchor", "buoy", "chart", "tide", "wind", "harbour",
    "pilot", "crew", "lamp", "rudder", "hull", "galley", "cabin", "winch", "line", "port", "bow",
]  # fmt: skip


def write(connection, library, version, files):
    """Write a version as indexing does, without vectors."""
    pages = [
        page_document(read_page(key, text.encode(), PageOptions())) for key, text in files.items()
    ]
    return ingest(connection, library, pages, version, embed=False)


def pages_and_sections(connection, library, old, new):
    """The changes: of pages (change, key, old key), of sections the same with the headings."""
    rows = run(connection, "compare_versions", library=library, from_version=old, to_version=new)
    pages = {(row["change"], row["key"], row["old_key"]) for row in rows if row["section"] is None}
    sections = {
        (row["change"], row["key"], " > ".join(row["section"]))
        for row in rows
        if row["section"] is not None
    }
    return pages, sections


class Repository:
    """A git repository, and what it says of two of its commits."""

    def __init__(self, folder):
        self._folder = folder
        self._git("init", "--quiet")

    def commit(self, files):
        """Commit exactly these files; the id of the commit."""
        for file in self._folder.rglob("*.md"):
            file.unlink()
        for key, text in files.items():
            (self._folder / key).parent.mkdir(parents=True, exist_ok=True)
            (self._folder / key).write_text(text, "utf-8")
        self._git("add", "--all")
        self._git("commit", "--quiet", "--allow-empty", "--message", "A state")
        return self._git("rev-parse", "HEAD").strip()

    def changes(self, old, new):
        """The changes of files: change, key, old key."""
        listing = self._git("diff", "--name-status", "--find-renames", old, new)
        changes = set()
        for line in listing.splitlines():
            letter, *keys = line.split("\t")
            change = _LETTERS[letter[0]]
            old_key = None if change == "added" else keys[0]
            changes.add((change, keys[-1], old_key))
        return changes

    def _git(self, *arguments):
        who = {f"GIT_{role}_{what}": "kestrel@example.org" for role in ("AUTHOR", "COMMITTER")
               for what in ("NAME", "EMAIL")}  # fmt: skip
        return subprocess.run(
            ["git", "-C", str(self._folder), *arguments],
            env={"PATH": os.environ["PATH"], "HOME": str(self._folder), **who},
            check=True,
            capture_output=True,
            text=True,
        ).stdout


def a_page(chance, name):
    """A page of three to six sections; every line is its own."""
    lines = ["---", f"title: {name}", "---", ""]
    for number in range(chance.randint(3, 6)):
        lines += [f"## {name} {number}", ""]
        for _ in range(chance.randint(1, 5)):
            lines += [" ".join(chance.choices(_WORDS, k=chance.randint(4, 30))), ""]
    return "\n".join(lines)


def next_state(chance, files, number):
    """Pages are removed, added, renamed, edited, or renamed and edited."""
    state = {}
    for key, text in files.items():
        fate = chance.random()
        if fate < 0.1:
            continue
        lines = text.split("\n")
        if fate < 0.4:
            for _ in range(chance.randint(1, 4)):
                place = chance.randrange(4, len(lines))
                lines[place] = " ".join(chance.choices(_WORDS, k=8))
        moves = 0.3 < fate < 0.5
        state[f"moved/{number}-{key.rpartition('/')[2]}" if moves else key] = "\n".join(lines)
    for extra in range(chance.randint(0, 3)):
        state[f"new-{number}-{extra}.md"] = a_page(chance, f"New {number} {extra}")
    return state
