"""Glob patterns over keys: `*` within a folder, `**` across folders."""

import re
from collections.abc import Callable, Iterable

_WILDCARDS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
_PART = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]]*\]|.", re.DOTALL)


def matcher(include: Iterable[str], exclude: Iterable[str]) -> Callable[[str], bool]:
    """Return a predicate: whether a key matches any of `include` and none of `exclude`.

    Without `include` every key matches except those of `exclude`. `docs/*.md` matches in one
    folder, `docs/**` and `docs/` everything below it, `**/draft-*` and a pattern without "/" in
    every folder. `?` is one character, `[a-c]` one of a set.
    """
    included = [_compiled(pattern) for pattern in include]
    excluded = [_compiled(pattern) for pattern in exclude]

    def is_wanted(key: str) -> bool:
        if included and not any(pattern.fullmatch(key) for pattern in included):
            return False
        return not any(pattern.fullmatch(key) for pattern in excluded)

    return is_wanted


def within(pattern: str) -> re.Pattern[str]:
    """Return a regular expression for `fullmatch`: keys that a glob matches, and keys below them.

    `guides` matches every file and folder of this name, `guides/` only the top-level folder.
    """
    return re.compile(f"(?:{_compiled(pattern).pattern})(?:/.*)?", re.DOTALL)


def _compiled(pattern: str) -> re.Pattern[str]:
    if pattern.endswith("/"):
        pattern += "**"
    if "/" not in pattern:
        pattern = f"**/{pattern}"
    pattern = pattern.removeprefix("./").removeprefix("/")
    return re.compile("".join(_translated(part) for part in _PART.findall(pattern)), re.DOTALL)


def _translated(part: str) -> str:
    if len(part) > 2 and part.startswith("["):
        inner = part[1:-1].replace("\\", "\\\\")
        return f"[^/{inner[1:]}]" if inner.startswith("!") else f"[{inner}]"
    return _WILDCARDS.get(part) or re.escape(part)
