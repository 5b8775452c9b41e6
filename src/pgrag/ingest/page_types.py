"""What the configuration says of types of pages: which one a page has, and how it is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pgrag.ingest.globs import within

DEFAULT = "default"
"""The page type that applies where no other does."""
_STANDARD_PROFILE = "by_heading"
_MAX_INJECTED = 300


@dataclass(frozen=True, slots=True)
class PageType:
    """One entry of the section `page_types`, as far as it decides how a page is read."""

    name: str = DEFAULT
    folders: tuple[str, ...] = ()
    chunk_profile: str | None = None
    edge_defaults: tuple[str, ...] = ()
    link_keys: tuple[str, ...] = ()
    inject: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """How one page is read: its type (None: none), and the entry that applies to it.

    `declared` is the type that its front matter names, which counts before its folder's.
    """

    declared: str | None
    type: str | None
    entry: PageType

    def document(self, *, is_profile_given: bool) -> dict[str, Any]:
        """Return all that decides how the page is read; what decides nothing is left out.

        A chunk profile that was given for the whole run goes before the entry's. It is what
        `pgrag.outdated_pages` compares.
        """
        entry = self.entry
        profile = None if is_profile_given else entry.chunk_profile
        decisions: dict[str, Any] = {
            "declared": self.declared,
            "type": self.type if self.declared is None else None,
            "chunk_profile": None if profile == _STANDARD_PROFILE else profile,
            "entry": entry.name if entry.edge_defaults else None,
            "edge_defaults": [*entry.edge_defaults],
            "link_keys": [*entry.link_keys],
            "inject": [*entry.inject],
        }
        return {name: decision for name, decision in decisions.items() if decision}


@dataclass(frozen=True)
class PageTypes:
    """The page types of a configuration."""

    entries: tuple[PageType, ...] = ()

    @classmethod
    def of(cls, configuration: Mapping[str, Any]) -> PageTypes:
        """Take them from what `pgrag.configuration` returns."""
        return cls(
            tuple(
                PageType(
                    name=name,
                    chunk_profile=entry.get("chunk_profile"),
                    **{
                        field: tuple(entry.get(field, ()))
                        for field in ("folders", "edge_defaults", "link_keys", "inject")
                    },
                )
                for name, entry in sorted(configuration.get("page_types", {}).items())
            )
        )

    def reading(self, declared: str | None, key: str) -> Reading:
        """Decide how a page is read: by its front matter's type, else its folder, else `default`.

        Of the folder patterns that match a key the longest counts, and of equally long ones that
        of the page type whose name sorts first: as `pgrag.page_type` decides.
        """
        kind = declared or next(
            (name for name, pattern in self._patterns if pattern.fullmatch(key)), None
        )
        entry = self._by_name.get((kind or DEFAULT).lower()) or self._by_name.get(DEFAULT)
        return Reading(declared, kind, entry or PageType())

    @cached_property
    def _by_name(self) -> dict[str, PageType]:
        return {entry.name: entry for entry in self.entries}

    @cached_property
    def _patterns(self) -> list[tuple[str, re.Pattern[str]]]:
        patterns = [(entry.name, glob) for entry in self.entries for glob in entry.folders]
        patterns.sort(key=lambda pattern: (-len(pattern[1]), *pattern))
        return [(name, within(glob)) for name, glob in patterns]


def injected(entry: PageType, fields: Mapping[str, Any]) -> str:
    """Return the context of a page's chunks: a line for each front matter key that is injected.

    Names of fields ignore case; a list is joined by commas; empty values and mappings say
    nothing, and long ones are cut.
    """
    names = {name.casefold(): name for name in reversed([*fields])}
    lines = []
    for key in entry.inject:
        name = names.get(key.casefold())
        text = "" if name is None else " ".join(_text(fields[name]).split())
        if text:
            lines.append(f"{name}: {text}"[:_MAX_INJECTED])
    return "\n".join(lines)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(text for item in value if (text := _text(item)))
    if value is None or isinstance(value, dict):
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
