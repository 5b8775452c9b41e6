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
    from pgrag.client import Client, SearchResult, connect
    from pgrag.client.asynchronous import AsyncClient, connect_async
    from pgrag.client.remote import ServiceClient, connect_service
    from pgrag.ground.errors import *
    from pgrag.ground.values.answers import Answer, Citation, Sentence, Source
    from pgrag.ground.values.changes import *
    from pgrag.ground.values.evaluation import *
    from pgrag.ground.values.graph import *
    from pgrag.ground.values.jobs import Job, JobSummary, SentPage
    from pgrag.ground.values.libraries import *
    from pgrag.ground.values.passages import *
    from pgrag.ground.values.properties import *
    from pgrag.ground.values.rendered import RenderedPage
    from pgrag.ground.values.searches import (
        BatchResult,
        Context,
        Facets,
        FacetValue,
        Intent,
        PageResult,
        ParsedQuery,
        PinnedVersion,
        Resolution,
        Suggestion,
        VersionRead,
    )
    from pgrag.ground.values.tables import IndexedTable, RefreshedTable
    from pgrag.ingest.report import IndexReport

#: The modules that define the names, in lookup order.
_MODULES = (
    "ground.errors", "client", "client.asynchronous", "client.remote", "ground.values.answers",
    "ground.values.changes", "ground.values.evaluation", "ground.values.graph",
    "ground.values.jobs", "ground.values.libraries", "ground.values.passages",
    "ground.values.properties", "ground.values.rendered", "ground.values.searches",
    "ground.values.tables", "answer.stream", "ingest.report",
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
    "DatabaseDown",
    "DatabaseError",
    "DatabaseFull",
    "DatabaseUnavailable",
    "DimensionMismatch",
    "DiskFull",
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
    "IndexedTable",
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
    "LimitReached",
    "Link",
    "Neighbour",
    "NotConfigured",
    "NotFound",
    "NotPermitted",
    "OutlineEntry",
    "Page",
    "PageChange",
    "PageGroup",
    "PageHit",
    "PageName",
    "PageQueryResult",
    "PageResult",
    "PageSummary",
    "PageVersion",
    "ParsedQuery",
    "Passage",
    "PathStep",
    "PgragError",
    "PinnedVersion",
    "Property",
    "ReadOnly",
    "RefreshedTable",
    "RelatedPage",
    "RenderedPage",
    "RerankingError",
    "Resolution",
    "SchemaOutdated",
    "SchemaTooNew",
    "SearchResult",
    "SectionChange",
    "SectionVersion",
    "SentPage",
    "Sentence",
    "ServiceClient",
    "ServiceUnavailable",
    "SettingsError",
    "Source",
    "SourceError",
    "Suggestion",
    "Taken",
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
    "connect_service",
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
