"""Documentation search inside PostgreSQL.

    import pgrag

    with pgrag.connect() as db:
        db.index("handbook", "docs/")
        for hit in db.search("how are tides read", library="handbook").hits:
            print(hit.score, hit.title, hit.url)

Names are imported on first use, so `import pgrag` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Only names in `__all__`; `SearchResult` comes from the client.
    from pgrag.answer.stream import AnswerStream
    from pgrag.async_client import AsyncClient, connect_async
    from pgrag.client import Client, SearchResult, connect
    from pgrag.errors import *
    from pgrag.ingest.report import IndexReport
    from pgrag.values.answers import Answer, Citation, Sentence, Source
    from pgrag.values.changes import *
    from pgrag.values.evaluation import *
    from pgrag.values.graph import *
    from pgrag.values.jobs import Job, JobSummary, SentPage
    from pgrag.values.libraries import *
    from pgrag.values.passages import *
    from pgrag.values.properties import *
    from pgrag.values.searches import (
        BatchResult,
        Context,
        Facets,
        FacetValue,
        Intent,
        PageResult,
        ParsedQuery,
        Resolution,
        Suggestion,
        VersionRead,
    )

#: The modules that define the names, in lookup order.
_MODULES = (
    "errors", "client", "async_client", "values.answers", "values.changes", "values.evaluation",
    "values.graph", "values.jobs", "values.libraries", "values.passages", "values.properties",
    "values.searches", "answer.stream", "ingest.report",
)  # fmt: skip

__all__ = [
    "Answer",
    "AnswerCutShort",
    "AnswerStream",
    "AsyncClient",
    "Backlink",
    "BatchResult",
    "Busy",
    "Citation",
    "Client",
    "Comparison",
    "Context",
    "ContextBlock",
    "DatabaseError",
    "DatabaseUnavailable",
    "DimensionMismatch",
    "Edge",
    "EmbeddingError",
    "EvaluationRun",
    "EvaluationSet",
    "FacetValue",
    "Facets",
    "ForbiddenAddress",
    "FoundLibrary",
    "GenerationCancelled",
    "Hit",
    "ImportedSet",
    "IndexReport",
    "Intent",
    "InvalidCursor",
    "InvalidFilter",
    "InvalidInput",
    "InvalidQuery",
    "Job",
    "JobSummary",
    "LanguageModelError",
    "LeaseLost",
    "Library",
    "LibraryFinding",
    "Link",
    "Neighbour",
    "NotConfigured",
    "NotFound",
    "NotPermitted",
    "OutlineEntry",
    "Page",
    "PageChange",
    "PageHit",
    "PageName",
    "PageQueryResult",
    "PageResult",
    "PageSummary",
    "ParsedQuery",
    "Passage",
    "PathStep",
    "PgragError",
    "Property",
    "RelatedPage",
    "RerankingError",
    "Resolution",
    "SchemaOutdated",
    "SchemaTooNew",
    "SearchResult",
    "SectionChange",
    "SectionVersion",
    "SentPage",
    "Sentence",
    "SettingsError",
    "Source",
    "SourceError",
    "Suggestion",
    "TextLine",
    "TimeExceeded",
    "Tuning",
    "UnknownDocument",
    "UnknownEvaluationRun",
    "UnknownEvaluationSet",
    "UnknownJob",
    "UnknownKey",
    "UnknownLibrary",
    "UnknownModel",
    "UnknownPage",
    "UnknownSearch",
    "UnknownVersion",
    "Version",
    "VersionChanges",
    "VersionRead",
    "connect",
    "connect_async",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        for module in _MODULES:
            home = import_module(f"pgrag.{module}")
            if hasattr(home, name):
                return getattr(home, name)
    raise AttributeError(f"module 'pgrag' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
