"""The configured page types: which type a page has, and how the page is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from pgrag.ingest.globs import first_within

DEFAULT = "default"
"""The page type that applies if no other does."""
_STANDARD_PROFILE = "medium"
_MAX_INJECTED = 300


@dataclass(frozen=True, slots=True)
class PageType:
    """The fields of a `page_types` entry that affect how a page is read."""

    name: str = DEFAULT
    folders: tuple[str, ...] = ()
    chunk_profile: str | None = None
    edge_defaults: tuple[str, ...] = ()
    link_keys: tuple[str, ...] = ()
    inject: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """How a page is read: its type, the entry that applies, the type that it declares."""

    declared: str | None
    type: str | None
    entry: PageType

    def document(self, *, is_profile_given: bool) -> dict[str, Any]:
        """Return everything that affects how the page is read, for `pgrag.outdated_pages`. A chunk
        profile given for the whole run overrides the entry's. Values without an effect are omitted.
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

    def __reduce__(self) -> tuple[Any, ...]:
        """Other processes get the entries, and derive the rest themselves."""
        return type(self), (self.entries,)

    @classmethod
    def of(cls, configuration: Mapping[str, Any]) -> "PageTypes":
        """Create the page types from the result of `pgrag.configuration`."""
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
        """Decide how a page is read: by its own type, else its folder's, else `default`."""
        kind = declared or self._of_folder(key)
        entry = self._by_name.get((kind or DEFAULT).lower()) or self._by_name.get(DEFAULT)
        return Reading(declared, kind, entry or PageType())

    @cached_property
    def _by_name(self) -> dict[str, PageType]:
        return {entry.name: entry for entry in self.entries}

    @cached_property
    def _of_folder(self) -> Callable[[str], str | None]:
        patterns = [(entry.name, glob) for entry in self.entries for glob in entry.folders]
        patterns.sort(key=lambda pattern: (-len(pattern[1]), *pattern))
        first = first_within(glob for _, glob in patterns)

        # A page is looked up several times in a row: for its text, its hash and its record.
        @lru_cache(maxsize=16)
        def of_folder(key: str) -> str | None:
            nth = first(key)
            return None if nth is None else patterns[nth][0]

        return of_folder


def injected(entry: PageType, fields: Mapping[str, Any]) -> str:
    """Return the context of a page's chunks: a line of limited length per injected front matter
    field.
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
