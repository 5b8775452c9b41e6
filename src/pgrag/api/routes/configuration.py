"""The configuration shared by all libraries, and the synonyms of one library."""

from typing import Any

from pydantic import Field

from pgrag.api.arguments import Body, Count, Text, at_most
from pgrag.api.declared import Exchange, Router
from pgrag.api.openapi import problems
from pgrag.ground.values.configuration import (
    Configuration,
    ConfigurationChanges,
    ConfigurationVersion,
)
from pgrag.ground.values.libraries import Synonym

router = Router(tags=["configuration"])


class ConfigurationBody(Body):
    """Entries to apply."""

    entries: dict[str, Any] = Field(
        description="By section and name; null removes an entry. Others stay as they are.",
        examples=[{"rules": {"tickets": {"pattern": "T-[0-9]{4,}", "intent": "KNOWN_ITEM"}}}],
    )
    exact: bool = Field(default=False, description="Remove entries that are not in their section.")
    note: Text = Field(default="", max_length=1000, description="Why; kept with the version.")
    dry_run: bool = Field(default=False, description="List the changes without making them.")


class SynonymsBody(Body):
    """Synonyms to add, change or remove."""

    synonyms: dict[str, Any] = Field(
        description="By term: a list, or an object with `expansions`, `weight` and `mutual`; null"
        " removes the term.",
        examples=[{"PTO": ["paid time off", "leave"], "old": None}],
    )


router.declare(
    "/configuration",
    Configuration,
    "Give intents, query types, rules, page types and kinds of edges, and synonyms by library.",
)
router.declare(
    "/configuration/versions",
    list[ConfigurationVersion],
    "List the versions of the configuration, the newest first.",
    function="configuration_history",
    name="configuration_versions",
    key="versions",
    top_k=(Count, at_most(20, 10_000, "versions")),
)
Synonyms = router.declare(
    "/libraries/{library:name}/synonyms",
    list[Synonym],
    "List the synonyms of a library, by term.",
    echo=True,
    responses=problems(404),
)


@router.answers("/configuration", ConfigurationChanges, method="PATCH", responses=problems(404))
def apply_configuration(exchange: Exchange, body: ConfigurationBody) -> Any:
    """Apply entries: all of them or, if one is invalid, none."""
    entries = {"entries": body.entries, "exact": body.exact}
    if body.dry_run:
        changes = exchange.call("compare_configuration", **entries)
    else:
        changes = exchange.call("apply_configuration", **entries, note=body.note)
    is_reading_changed = any(change["section"] == "page_types" for change in changes)
    outdated = exchange.call("outdated_pages") if is_reading_changed and not body.dry_run else []
    for row in outdated:
        del row["source"]
    return {"changes": changes, "outdated": outdated}


@router.answers(
    "/libraries/{library:name}/synonyms", Synonyms, method="PATCH", responses=problems(404)
)
def set_synonyms(exchange: Exchange, library: str, body: SynonymsBody) -> Any:
    """Add, change or remove synonyms of a library; the answer lists all that remain."""
    exchange.call("set_synonyms", library=library, synonyms=body.synonyms)
    return {"library": library, "synonyms": exchange.call("synonyms", library=library)}
