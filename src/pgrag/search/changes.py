"""What changed between versions: the rows of `pgrag.compare_versions` by page, the history of a
section, both with diffs.
"""

from difflib import unified_diff
from typing import Any

from pgrag.ground.calls import Row
from pgrag.ground.connections import Database
from pgrag.ground.errors import UnknownVersion

_PAGE = (
    "change", "key", "old_key", "title", "url", "text_changed", "page_id", "old_page_id",
)  # fmt: skip
_SECTION = (
    "change", "section", "old_section", "old_key", "document_id", "old_document_id", "anchor",
)  # fmt: skip


def compare_versions(
    database: Database,
    library: str,
    from_version: str,
    to_version: str | None = None,
    *,
    page: str | None = None,
    diff: bool = False,
) -> dict[str, Any]:
    """Return `VersionChanges` as a row.

    `page` is the key, in either version, of the only page to compare; `-` as a version is the
    documentation without one. Raises `UnknownLibrary`, `UnknownVersion`.
    """
    old, new = (_resolved(database, library, version) for version in (from_version, to_version))
    if old["version"] == new["version"]:
        for used in (old, new):
            if "is not indexed" in used["reason"]:
                raise UnknownVersion(
                    f"{old['library']} {used['version'] or '(unversioned)'} would be compared with"
                    f" itself: {used['reason']}.",
                    hint=f"See `pgrag versions {old['library']}`.",
                )
    rows = database.call(
        "compare_versions",
        library=library,
        from_version=old["version"],
        to_version=new["version"],
        page=page,
        texts="pages" if diff else None,
    )
    # By id: another page may have moved to the key of one that was removed.
    pages = {
        row["page_id"] or -row["old_page_id"]: _page(row, old["version"], new["version"], diff=diff)
        for row in rows
        if row["section"] is None
    }
    for row in rows:
        # With `page`, a section that moved away has its row below another page.
        if row["section"] is not None and row["page_id"] in pages:
            pages[row["page_id"]]["sections"].append({name: row[name] for name in _SECTION})
    return {
        "library": old["library"],
        "from_version": old,
        "to_version": new,
        "pages": [*pages.values()],
    }


def section_history(
    database: Database, document: int | str, *, diff: bool = False
) -> list[dict[str, Any]]:
    """Return the rows of `pgrag.section_history`, as `SectionVersion`s; with `diff`, each with its
    text and how it differs from that of the version before. Raises `UnknownDocument`.
    """
    rows = database.call("section_history", document_id=document, texts=diff)
    history: list[dict[str, Any]] = []
    for nth, row in enumerate(rows):
        before = rows[nth - 1] if nth else None
        has_diff = diff and (before is not None or row["change"] == "added")
        history.append({**row, "diff": _section_diff(before, row) if has_diff else None})
    return history


def _section_diff(before: Row | None, row: Row) -> str:
    old: Row = before or {"text": None, "key": None, "version": ""}
    sources = (_source(each["key"], each["version"]) for each in (old, row))
    return _diff(old["text"], row["text"], *sources)


def _source(key: str | None, version: str) -> str:
    return f"{key}@{version or '-'}" if key else "/dev/null"


def _diff(old: str | None, new: str | None, old_source: str, new_source: str) -> str:
    lines = unified_diff(_lines(old), _lines(new), old_source, new_source, lineterm="")
    return "\n".join(lines)


def _resolved(database: Database, library: str, version: str | None) -> Row:
    wanted = "" if version == "-" else version
    [row] = database.call("resolve_version", library=library, wanted=wanted)
    return {
        "library": library.strip().lower(), "version": row["version"], "reason": row["reason"],
    }  # fmt: skip


def _page(row: Row, old: str, new: str, *, diff: bool) -> dict[str, Any]:
    page = {name: row[name] for name in _PAGE}
    new_key = row["key"] if row["change"] != "removed" else None
    told = diff and _diff(
        row["old_text"], row["new_text"], _source(row["old_key"], old), _source(new_key, new)
    )
    return {**page, "sections": [], "diff": told if diff else None}


def _lines(text: str | None) -> list[str]:
    """The lines of a source; a missing end of the last line counts as a difference, as in git."""
    if not text:
        return []
    lines = text.split("\n")
    if lines[-1] == "":
        return lines[:-1]
    return [*lines[:-1], f"{lines[-1]}\n\\ No newline at end of file"]
