"""Include and exclude patterns."""

import re
import time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pgrag.ingest.globs import first_within, matcher
from pgrag.ingest.source.ignored import IgnoreRules

#: What each sign means, if a match may try every way to divide a key among the stars.
SIGNS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]", ".": r"\."}
PATTERNS = st.lists(
    st.sampled_from(["**/", "/**/", "**", "*", "?", "[ab]", "[!a]", "a", "b", ".", "/"]),
    min_size=1, max_size=9,
).map("".join)  # fmt: skip
KEYS = st.lists(st.text("ab.", min_size=1, max_size=4), min_size=1, max_size=4).map("/".join)


@pytest.mark.parametrize(("pattern", "matching", "others"), [
    ("docs/*.md", ["docs/a.md"], ["docs/b/a.md", "a.md", "xdocs/a.md"]),
    ("docs/**", ["docs/a.md", "docs/b/c/a.md"], ["docs.md", "other/docs/a.md"]),
    ("docs/", ["docs/a.md", "docs/b/a.md"], ["docs.md"]),
    ("**/a.md", ["a.md", "x/a.md", "x/y/a.md"], ["x/ba.md"]),
    ("docs/**/a.md", ["docs/a.md", "docs/x/y/a.md"], ["docs/xa.md"]),
    ("draft-*", ["draft-a.md", "x/draft-b.md"], ["draft-x/a.md", "mydraft-a.md"]),
    ("?.md", ["a.md", "x/ä.md"], ["ab.md"]),
    ("[ab].md", ["a.md"], ["c.md"]),
    ("[!a-c].md", ["d.md"], ["a.md", "x/b.md"]),
    ("./a+(b).md", ["a+(b).md"], ["aab.md"]),
    ("[.md", ["[.md"], ["a.md"]),
    ("docs/**api*v1**draft*.md", ["docs/api-v1-draft-v1.md"], ["docs/api/v1-draft.md"]),
    ("**/b**/a", ["aa/b/ba/a", "b/a", "ba", "b/c/a"], ["b/c/ab"]),
    ("a*b**/c", ["abxbc", "ab/c"], ["abx"]),
    ("*[b/]c*d", ["xbc/cd", "bcd"], ["xb/d"]),
])  # fmt: skip
def test_patterns(pattern, matching, others):
    is_wanted = matcher([pattern], [])
    assert [key for key in matching + others if is_wanted(key)] == matching
    is_wanted = matcher([], [pattern])
    assert [key for key in matching + others if is_wanted(key)] == others


def test_exclude_takes_away_from_include_also_below_what_it_matches():
    is_wanted = matcher(["docs/**", "*.mdx"], ["**/old/**", "x.mdx"])
    keys = ["docs/a.md", "docs/old/a.md", "b.mdx", "x.mdx", "a.md"]
    assert [key for key in keys if is_wanted(key)] == ["docs/a.md", "b.mdx"]
    assert matcher([], [])("any/thing.md")
    first = first_within(["guides/old", "guides", "notes/"])
    keys = ("guides/old/a.md", "x/guides/a.md", "notes/a.md", "x/notes/a.md", "guides-a.md")
    assert [first(key) for key in keys] == [0, 1, 2, None, None]


@given(st.lists(PATTERNS, max_size=5), KEYS)
def test_the_first_of_several_patterns_is_told(patterns, key):
    alone = [first_within([pattern])(key) is not None for pattern in patterns]
    assert first_within(patterns)(key) == (alone.index(True) if any(alone) else None)


def plain_meaning(pattern: str, key: str) -> bool:
    rooted = pattern if "/" in pattern else f"**/{pattern}"
    expression = re.sub(r"\*\*/|\*\*|[*?.]", lambda sign: SIGNS[sign[0]], rooted)
    return bool(re.fullmatch(expression.replace("[!a]", "[^/a]"), key))


@given(PATTERNS, KEYS)
@settings(max_examples=1000)
def test_stars_match_what_any_division_of_the_key_matches(pattern, key):
    assume("***" not in pattern and not pattern.startswith(("/", "./")) and pattern[-1] != "/")
    assert matcher([pattern], [])(key) == plain_meaning(pattern, key)


@pytest.mark.parametrize(
    ("unit", "key"), [("a*", "a" * 250), ("**/a/", "a/" * 120), ("a**", "a" * 250)]
)
def test_many_stars_take_no_time(unit, key):
    """Each star that could stop anywhere made each key take a hundred times as long."""
    rules = IgnoreRules()
    rules.add(".gitignore", f"{20 * unit}b\n".encode())
    is_wanted = matcher([20 * unit + "b"], [])
    started = time.process_time()
    assert not is_wanted(f"{key}c")
    assert not rules.ignores(f"{key}c")
    assert time.process_time() - started < 1
    assert is_wanted(f"{key}b")
