"""What counts as documentation in a folder. Markdown, reStructuredText, AsciiDoc, manual pages,
notebooks, books, PDF and Office documents always do; HTML if it is the larger part; plain text if
there is nothing else; a suffix in `include` always.
"""

import posixpath
import re
from collections import Counter
from collections.abc import Container, Iterator, Sequence

from pgrag.ingest.formats.formats import MANUAL, SUFFIXES, suffix_of
from pgrag.ingest.source.source import Skips

#: Kinds of formats; every other format is a "document".
_KINDS = {
    "Markdown": "markup", "reStructuredText": "markup", "AsciiDoc": "markup",
    "Quarto or R Markdown": "markup", "HTML": "html", "text": "text", MANUAL.name: "manual",
}  # fmt: skip
#: What ends in a digit as manual pages do, and is none: rotated logs, libraries, versions.
_NO_MANUAL = re.compile(
    r".*\.(?:log|so|dylib|out|err|bak|old|tar|sql|csv|json|trace|txt|md)\.\d"
    r"|(?:messages|syslog|dmesg|kern|auth|daemon|debug|boot|secure|maillog|wtmp|btmp)\.\d"
    r"|(?:.*[-.])?v?\d+(?:\.\d+)*\.\d"
)
#: Signatures and keys, whose suffix is one of AsciiDoc, too.
_SIGNATURE = re.compile(r".+\.\w{1,7}\.asc|.*\b(?:keys?|pubkey|gpg|pgp|sha\d+sums)\b.*\.asc")
_CERTAIN = frozenset(("markup", "document", "manual"))
#: Folders that hold no documentation, or copies of it.
_SKIPPED_FOLDERS = frozenset({"node_modules", "__MACOSX", "__pycache__", "site-packages"})
#: Folders in which HTML and text are parts of pages, their sources, or lists of them.
_PARTS = frozenset({
    "_includes", "_layouts", "_modules", "_sources", "_static", "_templates", "class-use",
    "index-files",
})  # fmt: skip
#: Lists of what other pages hold, as Sphinx, mdBook, rustdoc, Javadoc and Doxygen write them.
_GENERATED = re.compile(
    r"""
    (?:.*/)?
    (?:genindex(?:-.+)?|(?:py-|http-)?modindex|http-routingtable|404  # Sphinx
    |all  # rustdoc
    |all(?:classes|packages)(?:-index|-frame)|index-all|overview-(?:tree|frame)
    |package-(?:tree|use|frame)|constant-values|serialized-form|help-doc  # Javadoc
    |(?:functions|globals)_.+|.+_8[a-z]+_source|dir_[0-9a-f]{32}  # Doxygen
    )\.x?html?
    |print\.html  # mdBook: all pages in one
    """,
    re.VERBOSE,
)
#: Text files that programs read, and licences.
_MACHINE = re.compile(
    r"(?:(?:dev|test|docs?|build|lint|base|prod)[-_.])?requirements(?:[-_.].*)?\.txt"
    r"|(?:constraints.*|cmakelists|robots|humans|ads|security|manifest|top_level|entry_points"
    r"|sources|dependency_links|licen[cs]e.*|copying.*|notice.*|.+\.rst|.+\.md|.*lock)\.txt"
)


#: Formats of documentation without a reader, and what is said of them.
_UNREAD = frozenset({
    ".azw3", ".chm", ".creole", ".ditamap", ".djvu", ".doc", ".docbook", ".fb2", ".hlp", ".latex",
    ".mediawiki", ".mobi", ".odp", ".ods", ".odt", ".org", ".pod", ".ppt", ".rdoc", ".rtf", ".tex",
    ".texi", ".texinfo", ".textile", ".wiki", ".xls", ".xps",
})  # fmt: skip
UNREAD = (
    "in a format that cannot be read",
    "Convert them to Markdown or HTML, for example with pandoc or LibreOffice.",
)


def is_known(name: str) -> bool:
    """Whether a file has the suffix of a format that can be read."""
    return _kind(name) is not None


def is_unread(name: str) -> bool:
    """Whether a file has the suffix of a format of documentation that cannot be read."""
    suffix = _suffix(name)
    return suffix in _UNREAD and suffix not in SUFFIXES


def is_certain(name: str) -> bool:
    """Whether a file is documentation whatever else the folder holds."""
    return _kind(name) in _CERTAIN


def is_skipped(folders: Sequence[str]) -> bool:
    """Whether a file in these folders is never read: a hidden folder, or one of dependencies."""
    return any(name.startswith(".") or name in _SKIPPED_FOLDERS for name in folders)


def documentation(names: Sequence[str], include: Sequence[str], skips: Skips) -> Iterator[str]:
    """Yield the names that are documentation, or chosen by `include`; add the others to `skips`."""
    named = {kind for pattern in include if (kind := _kind(pattern))}
    present = {*names}
    candidates: list[tuple[str, str]] = []
    for name in names:
        kind = _kind(name) or "document"
        if posixpath.basename(name).startswith("._"):
            skips.add(name, "notes of macOS about another file")
        elif kind not in named and (reason := _fault(name, kind, present)):
            skips.add(name, reason, _way_out(name))
        else:
            candidates.append((name, kind))
    counts = Counter(kind for _, kind in candidates)
    for name, kind in candidates:
        if kind in named or kind in _CERTAIN:
            yield name
        elif kind == "html" and counts["html"] <= counts["markup"]:
            skips.add(name, "HTML beside as much Markdown", _way_out(name))
        elif kind == "text" and counts.total() > counts["text"]:
            skips.add(name, "plain text beside other formats", _way_out(name))
        else:
            yield name


def _fault(name: str, kind: str, names: Container[str]) -> str | None:
    """Return why a file is not a page whatever is beside it."""
    *folders, base = name.lower().split("/")
    if kind == "html":
        is_sphinx = f"{name[: -len(base)]}genindex.html" in names
        if _GENERATED.fullmatch(name.lower()) or (is_sphinx and base == "search.html"):
            return "indexes that a generator wrote"
    if kind == "manual" and _NO_MANUAL.fullmatch(base.removesuffix(".gz")):
        return "logs, libraries and versions that are named like manual pages"
    if _SIGNATURE.fullmatch(base):
        return "signatures and keys"
    if kind == "text" and _MACHINE.fullmatch(base):
        return "text for programs"
    if kind in {"html", "text"} and not _PARTS.isdisjoint(folders):
        return "parts and sources of pages"
    return None


def _kind(name: str) -> str | None:
    each = SUFFIXES.get(_suffix(name))
    return _KINDS.get(each.name, "document") if each else None


def _suffix(name: str) -> str:
    return suffix_of(name)


def _way_out(name: str) -> str:
    # The second pattern: with the first alone only these files would be read.
    return f"To read them as well: --include '**/*{_suffix(name)}' --include '**'."
