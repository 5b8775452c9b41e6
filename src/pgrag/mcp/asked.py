"""What an agent asks a search for."""

from dataclasses import dataclass
from typing import Any

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from pgrag.ground.arguments import SearchArguments
from pgrag.mcp import fields
from pgrag.mcp.corpus import Documentation, label
from pgrag.mcp.tool import Paged, with_declared

ALL_LIBRARIES = "all libraries"

_MOST_HITS = 50
_TOKENS_OF_HIT = 100
"""Few passages are shorter: a budget has room for no more hits than it has this many tokens."""


@with_declared(
    SearchArguments,
    exclude="Ids not to show; page:ID for a page.",
    changed_since="Only what is new or changed since this version.",
    min_confidence="0 to 1; 0 shows weak matches.",
    mode="",
)
class SearchDocs(Paged):
    """A question, and where to look."""

    query: fields.Query = Field(
        description="A question or key terms; spell names as they are.",
        examples=["clean up an effect on unmount"],
    )
    library: fields.AnyLibrary = Field(default=None, description="By default all.")
    version: fields.VersionWish = Field(
        default=None,
        description="18.2.0, 5.x, ^2.1, latest; * is all, - unversioned. By default the newest.",
    )
    type: str | None = Field(default=None, max_length=200, description="Of pages.")
    top_k: int | None = Field(default=None, ge=1, le=50, description="By default what fits.")
    filters: fields.Filters = Field(
        default=None,
        description='Front matter: {"tags": ["a"], "created": {">=": "2024-12"}}.',
    )
    #: Answered, not listed: whoever knows one version gives it as `version`, which costs no tokens.
    dependencies: SkipJsonSchema[fields.Filters] = None
    seen: str | None = Field(
        default=None, max_length=8000, description="From the last reply: repeats no passage."
    )
    token_budget: fields.TokenBudget = fields.SEARCH_BUDGET
    cursor: fields.Cursor = Field(default=None, description="From a reply: goes on after it.")

    @property
    def hits(self) -> int:
        """How many hits are searched for."""
        return self.top_k or min(max(self.token_budget // _TOKENS_OF_HIT, 8), _MOST_HITS)

    @property
    def conditions(self) -> dict[str, Any] | None:
        """The filters with the type."""
        if self.type is None:
            return self.filters
        wanted = {"type": self.type}
        return {"and": [self.filters, wanted]} if self.filters else wanted


@dataclass(frozen=True, slots=True)
class Asked:
    """A search as it was asked for, with the `arguments` that SQL takes as they are, and what the
    agent has seen.
    """

    documentation: Documentation
    request: SearchDocs
    arguments: dict[str, Any]
    seen: list[int]

    @property
    def excluded(self) -> list[str]:
        """What is not to be shown, or not again."""
        return [*(self.arguments["exclude"] or []), *map(str, self.seen)]

    @property
    def scope(self) -> dict[str, Any]:
        """Where is searched, as SQL takes it."""
        request = self.request
        pinned = self.documentation.pinned() if request.version is None else None
        return {
            "library": request.library,
            "version": label(request.version),
            "filters": request.conditions,
            "exclude": self.excluded or None,
            "dependencies": request.dependencies or pinned,
        }

    @property
    def is_hybrid(self) -> bool:
        """Whether both retrievers are asked; who asks one alone wants to see what it finds."""
        return self.arguments["mode"] in {None, "hybrid"}
