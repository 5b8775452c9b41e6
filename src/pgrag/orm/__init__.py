"""The tables as SQLAlchemy models, for programs that read pgrag's rows with an ORM.

They are held equal to the migrated schema by a test, except for what SQLAlchemy cannot say (how
columns are stored and sampled) and for the HNSW indexes, which are made per model when its vectors
have become many. Nothing in the package uses them: to write, call the SQL functions, which keep
the statistics that rank a library in step with its rows; all relationships are for reading.
"""

from pgrag.orm.answers import Answer, AnswerTemplate, Enrichment, EnrichmentFailure
from pgrag.orm.base import Base
from pgrag.orm.evaluation import (
    EvaluationJudgement,
    EvaluationQuery,
    EvaluationResult,
    EvaluationRun,
    EvaluationRunQuery,
    EvaluationSet,
)
from pgrag.orm.graph import (
    Edge,
    EdgeEmbedding,
    EdgeKind,
    PageName,
    PageRank,
    PageType,
    PendingName,
    PendingPage,
)
from pgrag.orm.libraries import (
    CorpusStatistics,
    Document,
    Embedding,
    EmbeddingModel,
    InstalledFunctions,
    LexemeStatistics,
    Library,
    ModelToken,
    Page,
    QueryVector,
    Version,
)
from pgrag.orm.observation import Feedback, ObservationSettings, RecordedSearch, SearchHit
from pgrag.orm.tuning import TuningRun
from pgrag.orm.understanding import (
    ConfigurationVersion,
    Intent,
    IntentRule,
    QueryType,
    Synonym,
)

__all__ = [
    "Answer", "AnswerTemplate", "Base", "ConfigurationVersion", "CorpusStatistics", "Document",
    "Edge", "EdgeEmbedding", "EdgeKind", "Embedding", "EmbeddingModel", "Enrichment",
    "EnrichmentFailure", "EvaluationJudgement", "EvaluationQuery", "EvaluationResult",
    "EvaluationRun", "EvaluationRunQuery", "EvaluationSet", "Feedback", "InstalledFunctions",
    "Intent", "IntentRule", "LexemeStatistics", "Library", "ModelToken", "ObservationSettings",
    "Page", "PageName", "PageRank", "PageType", "PendingName", "PendingPage", "QueryType",
    "QueryVector", "RecordedSearch", "SearchHit", "Synonym", "TuningRun", "Version",
]  # fmt: skip
