"""Glob patterns over keys: `*` within a folder, `**` across folders."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

_PART = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]]*\]|.", re.DOTALL)
_STARS = re.compile(r"\*{3,}")
#: Keys from elsewhere, such as a website's, could lead to ever more states.
_MOST_STATES = 10_000
_ANY, _IN_FOLDER, _SLASH = re.compile(".", re.DOTALL), re.compile("[^/]"), re.compile("/")


def matcher(include: Sequence[str], exclude: Sequence[str]) -> Callable[[str], bool]:
    """Return a predicate: whether a key matches any of `include` and none of `exclude`. Without
    `include` every key matches. `docs/*.md` matches in one folder, `docs/**` and `docs/` everything
    below it, `**/draft-*` and a pattern without "/" in every folder. `?` is one character, `[a-c]`
    one of a set.
    """
    wanted = _Globs([_rooted(pattern)] for pattern in include) if include else None
    unwanted = _Globs([_rooted(pattern)] for pattern in exclude) if exclude else None
    return lambda key: (
        (wanted is None or wanted.first(key) is not None)
        and (unwanted is None or unwanted.first(key) is None)
    )


def first_within(patterns: Iterable[str]) -> Callable[[str], int | None]:
    """Return a function: the number of the first glob that a key, or a folder of it, matches."""
    return _Globs([_rooted(each), f"{_rooted(each)}/**"] for each in patterns).first


class _Globs:
    """An automaton that reads each character once; its state is all possible positions."""

    def __init__(self, patterns: Iterable[Iterable[str]]) -> None:
        #: By position: the next characters with the positions to which they lead; the positions
        #: reached without a character; the number of the pattern that ends there.
        self._steps: list[list[tuple[re.Pattern[str], int]]] = []
        self._skips: list[list[int]] = []
        self._ends: dict[int, int] = {}
        starts = [
            self._add(pattern, number)
            for number, alternatives in enumerate(patterns)
            for pattern in alternatives
        ]
        self._start = self._with_skips(starts)
        self._next: defaultdict[frozenset[int], dict[str, frozenset[int]]] = defaultdict(dict)

    def _add(self, pattern: str, number: int) -> int:
        start = len(self._steps)
        for part in _PART.findall(pattern):
            here = len(self._steps)
            if part == "**/":
                self._steps += [[], [(_ANY, here + 1), (_SLASH, here + 2)]]
                self._skips += [[here + 1, here + 2], []]
            elif part in {"*", "**"}:
                self._steps.append([(_IN_FOLDER if part == "*" else _ANY, here)])
                self._skips.append([here + 1])
            else:
                self._steps.append([(_character(part), here + 1)])
                self._skips.append([])
        self._ends[len(self._steps)] = number
        self._steps.append([])
        self._skips.append([])
        return start

    def first(self, key: str) -> int | None:
        """The number of the first pattern that matches a key."""
        state = self._start
        if len(self._next) > _MOST_STATES:
            self._next.clear()
        for character in key:
            following = self._next[state]
            if character not in following:
                following[character] = self._with_skips(
                    target
                    for position in state
                    for expression, target in self._steps[position]
                    if expression.match(character)
                )
            state = following[character]
        return min((self._ends[end] for end in state & self._ends.keys()), default=None)

    def _with_skips(self, positions: Iterable[int]) -> frozenset[int]:
        reached: set[int] = set()
        pending = [*positions]
        while pending:
            position = pending.pop()
            if position not in reached:
                reached.add(position)
                pending += self._skips[position]
        return frozenset(reached)


def _rooted(pattern: str) -> str:
    if pattern.endswith("/"):
        pattern += "**"
    if "/" not in pattern:
        pattern = f"**/{pattern}"
    return _STARS.sub("**", pattern.removeprefix("./").removeprefix("/"))


def _character(part: str) -> re.Pattern[str]:
    if part == "?":
        return _IN_FOLDER
    if len(part) > 2 and part.startswith("["):
        inner = part[1:-1].replace("\\", "\\\\")
        return re.compile(f"[^/{inner[1:]}]" if inner.startswith("!") else f"[{inner}]")
    return re.compile(re.escape(part))
