"""What changed between two versions of a library, and the history of a section."""

from typing import Literal

from pgrag.ground.values.base import Value, described
from pgrag.ground.values.searches import VersionRead

_SECTION = "Headings below the title; empty: the text before them."


class SectionChange(Value):
    """A section that is not the same in both versions."""

    change: Literal["added", "removed", "moved", "changed"] = described("", "changed")
    section: tuple[str, ...] = described(_SECTION, ("Depth over the sill",))
    old_section: tuple[str, ...] | None = described("Its headings in the old version.")
    old_key: str | None = described("Its page in the old version.", "tides.md")
    document_id: int | None = described("Null: removed.", 42)
    old_document_id: int | None = described("Null: added.", 17)
    anchor: str = described("", "depth-over-the-sill")


class PageChange(Value):
    """A page that is not the same in both versions, with its sections."""

    change: Literal["added", "removed", "moved", "changed"] = described("", "changed")
    key: str = described("Path of the page in its source.", "tides.md")
    old_key: str | None = described("In the old version; null: added.", "tides.md")
    title: str = described("", "Reading the tide table")
    url: str = described("", "https://harbour.example/tides")
    text_changed: bool | None = described("Text or front matter differ; null: added or removed.")
    page_id: int | None = described("Null: removed.", 7)
    old_page_id: int | None = described("Null: added.", 3)
    sections: tuple[SectionChange, ...] = described(
        "Empty for a page that was added or removed, except sections that moved there."
    )
    diff: str | None = described("With `diff`: a unified diff of the source.")


class VersionChanges(Value):
    """What changed in a library from one version to another, by page."""

    library: str = described("", "harbour")
    from_version: VersionRead
    to_version: VersionRead
    pages: tuple[PageChange, ...]


class SectionVersion(Value):
    """A section in one version of its library."""

    version: str = described("Empty for the unversioned documentation.", "2.1")
    change: str = described(
        "Against the version before: added, first (in the oldest version), unchanged, changed,"
        " moved, or removed.",
        "changed",
    )
    text_changed: bool | None = described("Null where there is no version before to compare.")
    document_id: int | None = described("Null: removed.", 42)
    page_id: int | None = described("Null: removed.", 7)
    key: str | None = described("Path of the page in its source.", "tides.md")
    section: tuple[str, ...] | None = described(f"{_SECTION} Null: the whole page.")
    url: str | None = described("", "https://harbour.example/tides")
    anchor: str | None = described("", "depth-over-the-sill")
    text: str | None = described(
        "With `diff`: what the section says, without its heading and the sections below."
    )
    diff: str | None = described(
        "With `diff`: a unified diff of the text to that of the version before; null for the first"
        " version, empty where the text is the same."
    )


class PageVersion(Value):
    """A page in one version of its library."""

    version: str = described("Empty for the unversioned documentation.", "2.1")
    page_id: int = described("", 7)
    key: str = described("Path of the page in its source.", "tides.md")
    url: str = described("", "https://harbour.example/tides")
    title: str = described("", "Reading the tide table")
    text_changed: bool = described(
        "Whether its text or front matter is not that of the page asked for."
    )
