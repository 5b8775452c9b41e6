"""The rules of `.gitignore` and `.ignore` files, with the meaning that git gives them."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

_ANY_FOLDERS = "(?:/.+)?/"
_SAME_STAR = re.compile(r"(?:\[\^/\]\*){2,}")
#: A star and what follows it in its folder, before another star.
_STAR_BEFORE_STAR = re.compile(
    r"\[\^/\]\*((?:\\.|\[\^/\](?!\*)|\[(?!\^/\])\^?\]?[^\]]*\]|[^/()\[\\|])+)(?=\[\^/\]\*)",
    re.DOTALL,
)
#: A rule of a `.ignore` file outweighs those of `.gitignore` files, wherever they are.
NAMES = (".ignore", ".gitignore")


class IgnoreRules:
    """The ignore files of a tree of folders. Paths begin at the top of the tree, with "/" between
    their parts. Add the rules of a folder before testing a path in it.
    """

    def __init__(self) -> None:
        self._specs: dict[tuple[str, str], GitIgnoreSpec] = {}
        self._ignored: dict[str, bool] = {"": False}

    def add(self, path: str, content: bytes) -> None:
        """Add the rules of one ignore file; a line that is not a rule is skipped, as git does."""
        folder, _, name = path.rpartition("/")
        text = content.decode("utf-8-sig", "surrogateescape").replace("\r\n", "\n")
        patterns = [pattern for line in text.split("\n") for pattern in _patterns(line)]
        self._specs[folder, name] = GitIgnoreSpec(patterns, backend="simple")

    def ignores(self, path: str) -> bool:
        """Whether a file, or a folder that it is in, is ignored."""
        return self.ignores_folder(path.rpartition("/")[0]) or self._decides(path)

    def ignores_folder(self, path: str) -> bool:
        """Whether a folder, or one that it is in, is ignored: nothing below it can be kept."""
        if path not in self._ignored:
            above = path.rpartition("/")[0]
            self._ignored[path] = self.ignores_folder(above) or self._decides(f"{path}/")
        return self._ignored[path]

    def _decides(self, path: str) -> bool:
        """Whether the last matching rule, in the nearest file that has one, ignores the path."""
        if not self._specs:
            return False
        for name in NAMES:
            for folder in folders_of(path):
                if spec := self._specs.get((folder, name)):
                    decision = spec.check_file(path[len(folder) :].lstrip("/")).include
                    if decision is not None:
                        return decision
        return False


def folders_of(path: str) -> Iterator[str]:
    """Yield the folders that a path is in, the nearest first; the last is "", the top."""
    folder = path.rstrip("/")
    while folder:
        folder = folder.rpartition("/")[0]
        yield folder


def rules_above(folder: str, read: Callable[[str], bytes | None]) -> tuple[IgnoreRules, str]:
    """Return the rules of the folders above one, none if they ignore it, and its path in them;
    `read` returns the content of an ignore file.
    """
    rules = IgnoreRules()
    for above in reversed([*folders_of(folder)]):
        for name in NAMES:
            path = f"{above}/{name}".lstrip("/")
            if (content := read(path)) is not None:
                rules.add(path, content)
    return (IgnoreRules(), "") if rules.ignores_folder(folder) else (rules, folder)


def _patterns(line: str) -> Iterator[GitIgnoreSpecPattern]:
    with suppress(ValueError):
        yield _Pattern(line)


class _Pattern(GitIgnoreSpecPattern):
    """A rule whose many stars do not try every way to divide a path among them."""

    @classmethod
    def pattern_to_regex(cls, pattern: Any) -> tuple[Any, bool | None]:
        expression, include = super().pattern_to_regex(pattern)
        if expression is None:
            return None, include
        first, *others = (_first_fits(part) for part in expression.split(_ANY_FOLDERS))
        # each "**" but the last stops where what follows it fits first
        middle = "".join(f"(?>(?:/.+?)??/{part}(?=/))" for part in others[:-1])
        last = "".join(_ANY_FOLDERS + part for part in others[-1:])
        return f"{first}{middle}{last}", include


def _first_fits(expression: str) -> str:
    """Let each star that another follows stop where it fits first; the last one takes the rest."""
    return _STAR_BEFORE_STAR.sub(r"(?>[^/]*?\1)", _SAME_STAR.sub("[^/]*", expression))
