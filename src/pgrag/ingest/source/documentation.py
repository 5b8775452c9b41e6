"""What counts as documentation in a folder that holds other things as well.

Markdown, reStructuredText, notebooks, PDF and Office documents always do. HTML is documentation, or
what pages are made of: a repository with Markdown has templates and demos in HTML, a built site has
a stray README. So HTML counts if it is the larger part. Plain text is mostly no documentation
(requirements.txt), so it counts only where there is nothing else. Whoever names a suffix in
`include` means it.
"""

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from pgrag.ingest.formats.formats import SUFFIXES
from pgrag.ingest.source.source import Skips

#: What a format is to a reader; every other is a document of its own.
_KINDS = {"Markdown": "markup", "reStructuredText": "markup", "HTML": "html", "text": "text"}
#: Folders that hold no documentation, or copies of it.
_SKIPPED_FOLDERS = frozenset({"node_modules", "__MACOSX", "__pycache__", "site-packages"})
#: Folders in which HTML and text are parts of pages, or their sources.
_PARTS = frozenset(
    {"_includes", "_layouts", "_modules", "_sources", "_static", "_templates", "class-use"}
)
#: Lists of what other pages hold, as Sphinx, mdBook, rustdoc, Javadoc and Doxygen write them.
_GENERATED = re.compile(
    r"""
    (?:genindex(?:-.+)?|(?:py-|http-)?modindex|http-routingtable|search|404|print|toc  # Sphinx
    |all|help|settings|source-src  # rustdoc
    |all(?:classes|packages)(?:-index|-frame)?|index-(?:all|\d+)|overview-(?:tree|frame)
    |package-(?:tree|use|frame)|constant-values|serialized-form|help-doc  # Javadoc
    |annotated|classes|functions_.+|globals_.+|hierarchy|.+_source|dir_[0-9a-f]{32}  # Doxygen
    )\.x?html?
    """,
    re.VERBOSE,
)
#: Text files that programs read.
_MACHINE = re.compile(
    r"(?:.*requirements.*|constraints.*|cmakelists|robots|manifest|license.*|copying.*|notice.*"
    r"|.+\.rst|.+\.md|.*lock|top_level|entry_points|sources|dependency_links|security"
    r"|humans|ads)\.txt"
)


def is_known(name: str) -> bool:
    """Whether a file's suffix is one of a format that can be read."""
    return _kind(name) is not None


def is_skipped(folders: Sequence[str]) -> bool:
    """Whether a file in these folders is never read: a hidden folder, or one of dependencies."""
    return any(name.startswith(".") or name in _SKIPPED_FOLDERS for name in folders)


def documentation(names: Sequence[str], include: Sequence[str], skips: Skips) -> Iterator[str]:
    """Yield the names that are documentation; the others are added to `skips`.

    `include` are the globs by which the caller has chosen the files.
    """
    named = {kind for pattern in include if (kind := _kind(pattern))}
    candidates: list[tuple[str, str]] = []
    for name in names:
        kind = _kind(name) or "document"
        if name.rpartition("/")[2].startswith("._"):
            skips.add(name, "notes of macOS about another file")
        elif kind not in named and (reason := _fault(name, kind)):
            skips.add(name, reason, _way_out(name))
        else:
            candidates.append((name, kind))
    counts = Counter(kind for _, kind in candidates)
    for name, kind in candidates:
        if kind in named or kind in {"markup", "document"}:
            yield name
        elif kind == "html" and counts["html"] <= counts["markup"]:
            skips.add(name, "HTML beside as much Markdown", _way_out(name))
        elif kind == "text" and counts.total() > counts["text"]:
            skips.add(name, "plain text beside other formats", _way_out(name))
        else:
            yield name


def _fault(name: str, kind: str) -> str | None:
    """Return why a file is no page whatever is beside it."""
    *folders, base = name.lower().split("/")
    if kind == "html" and _GENERATED.fullmatch(base):
        return "indexes that a generator wrote"
    if kind == "text" and _MACHINE.fullmatch(base):
        return "text for programs"
    if kind in {"html", "text"} and not _PARTS.isdisjoint(folders):
        return "parts and sources of pages"
    return None


def _kind(name: str) -> str | None:
    found = SUFFIXES.get(_suffix(name))
    return _KINDS.get(found.name, "document") if found else None


def _suffix(name: str) -> str:
    return posixpath.splitext(name)[1].lower()


def _way_out(name: str) -> str:
    return f"To read them: --include '**/*{_suffix(name)}'."
