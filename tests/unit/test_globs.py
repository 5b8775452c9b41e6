"""Include and exclude patterns."""

import pytest

from pgrag.ingest.globs import matcher


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
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
    ],
)
def test_patterns(pattern: str, matching: list[str], others: list[str]) -> None:
    is_wanted = matcher([pattern], [])
    assert [key for key in matching + others if is_wanted(key)] == matching
    is_wanted = matcher([], [pattern])
    assert [key for key in matching + others if is_wanted(key)] == others


def test_exclude_takes_away_from_include() -> None:
    is_wanted = matcher(["docs/**", "*.mdx"], ["**/old/**", "x.mdx"])
    keys = ["docs/a.md", "docs/old/a.md", "b.mdx", "x.mdx", "a.md"]
    assert [key for key in keys if is_wanted(key)] == ["docs/a.md", "b.mdx"]


def test_without_patterns_everything_is_wanted() -> None:
    assert matcher([], [])("any/thing.md")
