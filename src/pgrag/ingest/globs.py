"""Glob patterns over keys: `*` within a folder, `**` across folders."""

import re
from collections.abc import Callable, Iterable

_WILDCARDS = {"*": "[^/]*", "?": "[^/]"}
#: The expressions of "**", as many characters as possible, and as few.
_ACROSS = {"**/": ("(?:.*/)?", "(?:.*?/)??"), "**": (".*", ".*?")}
_PART = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]]*\]|.", re.DOTALL)
_STARS = re.compile(r"\*{3,}")
_REPEATED = re.compile(r"(?:\*\*/){2,}")
_SAME_STAR = re.compile(r"(?:\[\^/\]\*){2,}")
#: A star and what follows it in its folder, before another star.
_STAR_BEFORE_STAR = re.compile(
    r"\[\^/\]\*((?:\\.|\[\^/\](?!\*)|\[(?!\^/\])\^?\]?[^\]]*\]|[^/()\[\\|])+)(?=\[\^/\]\*)",
    re.DOTALL,
)


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
    pattern = _REPEATED.sub("**/", _STARS.sub("**", pattern))
    groups = [("", "", "")]
    for part in _PART.findall(pattern):
        if part in _ACROSS:
            groups.append((*_ACROSS[part], ""))
        else:
            many, few, body = groups[-1]
            groups[-1] = (many, few, body + _translated(part))
    (_, _, first), *others = ((many, few, first_fits(body)) for many, few, body in groups)
    # each "**" but the last stops where what follows it fits first
    middle = "".join(f"(?>{few}{body})" for _, few, body in others[:-1])
    last = "".join(many + body for many, _, body in others[-1:])
    return re.compile(f"{first}{middle}{last}", re.DOTALL)


def first_fits(expression: str) -> str:
    """Let each star (`[^/]*`) that another follows in its folder stop where it fits first.

    The same keys match, because the other star can take what is left, but an expression with many
    stars does not try every way to divide a key among them.
    """
    return _STAR_BEFORE_STAR.sub(r"(?>[^/]*?\1)", _SAME_STAR.sub("[^/]*", expression))


def _translated(part: str) -> str:
    if len(part) > 2 and part.startswith("["):
        inner = part[1:-1].replace("\\", "\\\\")
        return f"[^/{inner[1:]}]" if inner.startswith("!") else f"[{inner}]"
    return _WILDCARDS.get(part) or re.escape(part)
