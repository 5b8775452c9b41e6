"""The error tree. Each error's message names the bad value and the way out.

PgragError
├── SettingsError
│   └── NotConfigured
├── SourceError
├── DatabaseError
│   ├── DatabaseUnavailable
│   ├── SchemaOutdated
│   ├── SchemaTooNew
│   └── TimeExceeded
├── NotFound
│   ├── UnknownLibrary
│   ├── UnknownVersion
│   ├── UnknownPage
│   ├── UnknownDocument
│   ├── UnknownModel
│   ├── UnknownSearch
│   ├── UnknownEvaluationSet
│   └── UnknownEvaluationRun
├── InvalidInput
│   ├── InvalidFilter
│   ├── InvalidQuery
│   ├── InvalidCursor
│   └── DimensionMismatch
├── EmbeddingError
├── RerankingError
└── LanguageModelError
    ├── AnswerCutShort
    └── GenerationCancelled
"""

from __future__ import annotations


class PgragError(Exception):
    """Something went wrong that pgrag can explain."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}" if self.hint else self.message


class SettingsError(PgragError):
    """A setting has a value that cannot be used."""


class NotConfigured(SettingsError):
    """What was asked for needs a setting that is not set."""


class SourceError(PgragError):
    """A source of documents cannot be read."""


class DatabaseError(PgragError):
    """The database refused or failed."""


class DatabaseUnavailable(DatabaseError):
    """The database does not answer."""


class SchemaOutdated(DatabaseError):
    """The database is older than this package."""


class SchemaTooNew(DatabaseError):
    """The database is newer than this package."""


class TimeExceeded(DatabaseError):
    """A search took longer than its caller was ready to wait."""


class NotFound(PgragError):
    """What was asked for does not exist."""


class UnknownLibrary(NotFound):
    """No library has this name."""


class UnknownVersion(NotFound):
    """The library has no such version."""


class UnknownPage(NotFound):
    """No page has this id."""


class UnknownDocument(NotFound):
    """No document has this id."""


class UnknownModel(NotFound):
    """No embedding model has this name."""


class UnknownSearch(NotFound):
    """No recorded search has this id."""


class UnknownEvaluationSet(NotFound):
    """No evaluation set has this name."""


class UnknownEvaluationRun(NotFound):
    """No evaluation run has this id."""


class InvalidInput(PgragError):
    """An argument has a value that cannot be used."""


class InvalidFilter(InvalidInput):
    """A filter does not follow the filter grammar."""


class InvalidQuery(InvalidInput):
    """A query over pages does not follow the grammar.

    `column`: where, in characters from 1.
    """

    def __init__(self, message: str, *, hint: str | None = None, column: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.column = column


class InvalidCursor(InvalidInput):
    """A cursor was not made by the search that it is given to."""


class DimensionMismatch(InvalidInput):
    """A vector's dimension is not the model's."""


class EmbeddingError(PgragError):
    """The embedding model failed."""


class RerankingError(PgragError):
    """The reranker failed."""


class LanguageModelError(PgragError):
    """The language model failed, or answered with what cannot be used."""


class AnswerCutShort(LanguageModelError):
    """The language model stopped in the middle: its connection broke, or it ran out of tokens."""


class GenerationCancelled(LanguageModelError):
    """Whoever asked no longer wants the answer."""
