"""Glob patterns over keys: `*` within a folder, `**` across folders."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

_PART = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]]*\]|.", re.DOTALL)


def matcher(include: Iterable[str], exclude: Iterable[str]) -> Callable[[str], bool]:
    """Return what tells whether a key matches any of `include` and none of `exclude`.

    Without `include` every key is wanted but those of `exclude`.
    `docs/*.md` matches in one folder, `docs/**` all below it (as does `docs/`), `**/draft-*` and
    a pattern without "/" in every folder. `?` is one character, `[a-c]` one of a set.
    """
    wanted = [_compiled(pattern) for pattern in include]
    unwanted = [_compiled(pattern) for pattern in exclude]

    def is_wanted(key: str) -> bool:
        if wanted and not any(pattern.fullmatch(key) for pattern in wanted):
            return False
        return not any(pattern.fullmatch(key) for pattern in unwanted)

    return is_wanted


def within(pattern: str) -> re.Pattern[str]:
    """Return what matches, in full, the keys that the glob matches, or a folder of theirs.

    `guides` is every file and all of every folder of this name, `guides/` only the one on top.
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
    if part == "**/":
        return "(?:.*/)?"
    if part == "**":
        return ".*"
    if part == "*":
        return "[^/]*"
    if part == "?":
        return "[^/]"
    if len(part) > 2 and part.startswith("["):
        inner = part[1:-1].replace("\\", "\\\\")
        return f"[^/{inner[1:]}]" if inner.startswith("!") else f"[{inner}]"
    return re.escape(part)
