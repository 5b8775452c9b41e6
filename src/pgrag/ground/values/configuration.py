"""The configuration shared by all libraries: its state, changes and history."""

from datetime import datetime
from typing import Any, Literal

from pgrag.ground.values.base import Value, described


class Configuration(Value):
    """Intents, query types and rules, synonyms, types of pages: what all libraries share."""

    configuration: dict[str, dict[str, Any]] = described(
        "query_types, intents, rules, synonyms, page_types, edge_kinds, templates; each by name."
    )


class ConfigurationChange(Value):
    """One entry that changes."""

    section: str = described("", "rules")
    name: str = described("", "tickets")
    change: Literal["add", "change", "remove"]
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class OutdatedVersion(Value):
    """A version with pages that were read by other page types."""

    library: str = described("", "jest")
    version: str = described("", "29.7")
    pages: int = described("Pages that must be indexed again.", 12)
    total: int = described("All pages of the version.", 120)


class ConfigurationChanges(Value):
    """What changed, or would change."""

    changes: tuple[ConfigurationChange, ...]
    outdated: tuple[OutdatedVersion, ...] = described("Versions that must be indexed again.")


class ConfigurationVersion(Value):
    """An earlier or the current state of the configuration."""

    version_id: int = described("", 2)
    origin: str = described("`package` as a release brought it, `user` otherwise.")
    note: str
    created_at: datetime
    configuration: dict[str, Any]
