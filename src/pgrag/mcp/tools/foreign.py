"""The names that other servers of documentation have for the tools, with what is special in their
arguments: rules and prompts that were written for Context7 or docs-mcp-server need no change.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pgrag.ground.aliases import by_own_names
from pgrag.mcp.fields import LARGEST_BUDGET, SMALLEST_BUDGET

_OVERVIEW = {
    "query": "introduction overview getting started installation",
    "min_confidence": 0,
}
"""What is looked for if no topic is given."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """A tool of another server: ours, its arguments without a query, what only ranks or shapes its
    replies there, and the values that say what is so here in any case. `clamps`: there any number
    of tokens may be asked for.
    """

    tool: str
    unasked: dict[str, Any] = field(default_factory=dict)
    without: frozenset[str] = frozenset()
    usual: dict[str, Any] = field(default_factory=dict)
    clamps: bool = False

    def arguments(self, values: dict[str, Any], known: Iterable[str]) -> dict[str, Any]:
        """Our arguments, by their `known` names."""
        kept = {
            name: value
            for name, value in values.items()
            if name not in self.without and not (name in self.usual and value == self.usual[name])
        }
        with suppress(ValueError):  # the tool refuses what is given twice
            kept = by_own_names(kept, known)
        tokens = kept.get("token_budget")
        if self.clamps and isinstance(tokens, int | float):
            kept["token_budget"] = int(min(max(tokens, SMALLEST_BUDGET), LARGEST_BUDGET))
        return kept if "query" in kept else self.unasked | kept


FOREIGN = {
    "resolve-library-id": Foreign("find_library", without=frozenset({"query", "userQuery"})),
    "query-docs": Foreign("search_docs", clamps=True),
    "get-library-docs": Foreign(
        "search_docs", _OVERVIEW, without=frozenset({"mode"}), usual={"page": 1}, clamps=True
    ),
    "list_libraries": Foreign("find_library"),
    "find_version": Foreign("find_library"),
    "fetch_url": Foreign("read_docs", without=frozenset({"followRedirects"})),
    "scrape_docs": Foreign(
        "index_docs", without=frozenset({"followRedirects"}), usual={"scope": "subpages"}
    ),
}
