"""The versions that a project pins, from its lock files and manifests.

The files are of other people: they are read within bounds, never followed out of their folder, and
a file that cannot be read is left out with a note.
"""

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from pgrag.ground.errors import InvalidInput
from pgrag.project import locks, manifests
from pgrag.project.found import Found, Reader

LARGEST = 5_000_000
"""Bytes of a file that is read."""

_MOST_FILES = 50

_READERS: dict[str, Reader] = {
    "package-lock.json": locks.npm,
    "npm-shrinkwrap.json": locks.npm,
    "pnpm-lock.yaml": locks.pnpm,
    "yarn.lock": locks.yarn,
    "uv.lock": locks.packages,
    "poetry.lock": locks.packages,
    "Cargo.lock": locks.packages,
    "Pipfile.lock": locks.pipfile,
    "go.mod": manifests.go,
    "package.json": manifests.npm,
    "requirements*.txt": manifests.requirements,
    "pyproject.toml": manifests.pyproject,
    "Cargo.toml": manifests.cargo,
}
"""How each file is read; of two that name a dependency, the one that stands first decides."""

FILES = tuple(_READERS)
"""The names of the files that are read, as patterns."""

_VERSION = re.compile(r"[\^~<>=!\sv]*\d")
_SIGNS = re.compile("[-_. ]")
_OF_FILES = re.compile(r"[\n{]")
_CONFLICT = re.compile(r"^(<{7}|>{7})( |$)", re.MULTILINE)

Dependencies: TypeAlias = dict[str, dict[str, str]]
"""Names of dependencies, each with its `version` or range, and the file that it is `from`."""


@dataclass(slots=True)
class Pinned:
    """What a project depends on, and notes about files that were left out."""

    dependencies: Dependencies = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read(path: str | Path) -> Pinned:
    """The dependencies of a folder with lock files or manifests, or of one such file.

    Raises `InvalidInput` if there is no such folder or file, or the folder has none that is read.
    """
    root = Path(path).expanduser()
    if root.is_dir():
        files = _files(root)
    elif root.is_file():
        if _reader(root.name) is None:
            raise InvalidInput(
                f"{root.name} is no lock file that is read.", hint=f"These are: {', '.join(FILES)}."
            )
        root, files = root.parent, [root]
    else:
        raise InvalidInput(f"There is no folder or file {str(path)!r}.")
    if not files:
        raise InvalidInput(
            f"{str(path)!r} has no lock file or manifest.",
            hint=f"These are read: {', '.join(FILES)}.",
        )
    texts, notes = {}, []
    for file in files:
        text, why = _text(root, file)
        if text is None:
            notes.append(f"{file.name} is not read: {why}.")
        else:
            texts[file.name] = text
    pinned = parse(texts)
    pinned.notes[:0] = notes
    return pinned


def read_kept(folder: Path) -> Dependencies:
    """The dependencies of a folder, without a word if it has none; read again if files change."""
    try:
        entries = [entry for entry in os.scandir(folder) if _reader(entry.name)]
        state = tuple(sorted(map(_state, entries)))
        return _read_at(folder, state) if state else {}
    except (OSError, InvalidInput):
        return {}


def _state(entry: os.DirEntry[str]) -> tuple[str, int, int]:
    try:
        found = entry.stat()
    except OSError:  # a link that leads nowhere
        return entry.name, 0, 0
    return entry.name, found.st_mtime_ns, found.st_size


@lru_cache(maxsize=32)
def _read_at(folder: Path, _: tuple[tuple[str, int, int], ...]) -> Dependencies:
    return read(folder).dependencies


def parse(texts: Mapping[str, str]) -> Pinned:
    """The dependencies in the texts of files by their names, such as `package.json`."""
    pinned = Pinned()
    wishes: Found = {}
    readable: list[tuple[str, Found]] = []
    # A manifest tells which of several versions in a lock the project itself asks for.
    for name in sorted(texts, key=_place, reverse=True):
        reader = _reader(name)
        if reader is None:
            continue
        try:
            found = reader(texts[name][:LARGEST], wishes)
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
            pinned.notes.append(f"{name} is not read: {_reason(texts[name], error)}.")
            continue
        readable.append((name, found))
        wishes = found | wishes
    spelt: set[str] = set()
    for name, found in reversed(readable):
        for dependency, version in found.items():
            letters = _SIGNS.sub("", dependency.lower())
            if letters not in spelt and _VERSION.match(version):
                spelt.add(letters)
                pinned.dependencies[dependency] = {"version": version, "from": name}
    return pinned


def settled(given: Mapping[str, Any]) -> Pinned:
    """Dependencies as a caller gives them: texts of files among them are read."""
    texts = {name: text for name, text in given.items() if _is_file(name, text)}
    pinned = parse(texts) if texts else Pinned()
    pinned.dependencies |= {name: value for name, value in given.items() if name not in texts}
    return pinned


def _is_file(name: str, text: Any) -> bool:
    """Whether it is a file's text: a package may be called like a file, and has a version."""
    return _reader(name) is not None and isinstance(text, str) and bool(_OF_FILES.search(text))


def _reader(name: str) -> Reader | None:
    place = _place(name)
    return _READERS[FILES[place]] if place < len(FILES) else None


def _place(name: str) -> int:
    matching = (place for place, pattern in enumerate(FILES) if fnmatch(name, pattern))
    return next(matching, len(FILES))


def _files(root: Path) -> list[Path]:
    try:
        names = sorted(entry.name for entry in os.scandir(root) if _reader(entry.name))
    except OSError as error:
        raise InvalidInput(f"{str(root)!r} cannot be read: {error.strerror}.") from error
    return [root / name for name in names[:_MOST_FILES]]


def _text(root: Path, file: Path) -> tuple[str | None, str]:
    """The text of a regular file below the root; or None, and why it is not read."""
    try:
        real = file.resolve(strict=True)
        if not real.is_relative_to(root.resolve()):
            return None, "it is a link out of the folder"
        state = real.stat()
        if not stat.S_ISREG(state.st_mode):
            return None, "it is no file"
        if state.st_size > LARGEST:
            return None, f"it has more than {LARGEST:,} bytes"
        with real.open("rb") as opened:
            return opened.read(LARGEST).decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        return None, "it is no UTF-8"
    except OSError as error:
        return None, (error.strerror or "it cannot be opened").lower()


def _reason(text: str, error: Exception) -> str:
    if _CONFLICT.search(text):
        return "it has the marks of a merge conflict"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, ValueError):
        return " ".join(str(error).split())[:120].rstrip(".")
    return "it has not the form of such a file"
