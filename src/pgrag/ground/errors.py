"""The error tree. Each error's message names the bad value and the way out."""

import errno


class PgragError(Exception):
    """An error that pgrag can explain."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}" if self.hint else self.message


class SettingsError(PgragError):
    """A setting has a value that cannot be used."""


class NotConfigured(SettingsError):
    """The operation needs a setting that is not set."""


class ReadOnly(NotConfigured):
    """The database that should be written only lets itself be read: it is a standby, say."""


class SourceError(PgragError):
    """A source cannot be read."""


class DatabaseError(PgragError):
    """The database refused or failed."""


class Busy(DatabaseError):
    """Others are in the way; the call may be repeated."""


class Taken(Busy):
    """Another session has the library or the version; nothing was begun."""


class DatabaseUnavailable(DatabaseError):
    """The database does not answer."""


class DatabaseDown(DatabaseUnavailable):
    """The database will not answer until somebody acts, so another attempt is useless."""


class DatabaseFull(DatabaseError):
    """The machine of the database has no disk space, or no memory, left for a statement."""


class LimitReached(PgragError):
    """The caller has as much as one may have of something that all share."""


class LeaseLost(Busy):
    """A worker's lease of its job, or the lock of a run, is lost, so it may write no more."""


class ServiceUnavailable(PgragError):
    """A service of pgrag does not answer, or what answers is none."""


class NotPermitted(DatabaseError):
    """The role that calls the database may not do this."""


class SchemaOutdated(DatabaseError):
    """The database is older than this package."""


class SchemaTooNew(DatabaseError):
    """The database is newer than this package."""


class TimeExceeded(DatabaseError):
    """A call exceeded its time limit."""


class NotFound(PgragError):
    """The requested object does not exist."""


class UnknownLibrary(NotFound):
    """No library has this name."""


class UnknownVersion(NotFound):
    """The library has no such version."""


class UnknownPage(NotFound):
    """No page has this id."""


class UnknownDocument(NotFound):
    """No passage has this id."""


class UnknownModel(NotFound):
    """No embedding model has this name."""


class UnknownSearch(NotFound):
    """No recorded search has this id."""


class UnknownEvaluationSet(NotFound):
    """No evaluation set has this name."""


class UnknownEvaluationRun(NotFound):
    """No evaluation run has this id."""


class UnknownKey(NotFound):
    """No key has this name."""


class UnknownJob(NotFound):
    """No job has this id."""


class InvalidInput(PgragError):
    """An argument has a value that cannot be used."""


class InvalidFilter(InvalidInput):
    """A filter does not follow the filter grammar."""


class InvalidQuery(InvalidInput):
    """A query over pages does not follow the grammar.

    `column` is the position of the error in characters, from 1.
    """

    def __init__(self, message: str, *, hint: str | None = None, column: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.column = column


class InvalidCursor(InvalidInput):
    """A cursor does not belong to the search that it was passed to."""


class DimensionMismatch(InvalidInput):
    """A vector does not have the model's number of dimensions."""


class ForbiddenAddress(InvalidInput):
    """An address may not be reached from this machine."""


class EmbeddingError(PgragError):
    """The embedding model failed."""


class RerankingError(PgragError):
    """The reranker failed."""


class LanguageModelError(PgragError):
    """The language model failed or gave an unusable answer."""


class AnswerCutShort(LanguageModelError):
    """The answer is incomplete: the connection broke, or the model ran out of tokens."""


class GenerationCancelled(LanguageModelError):
    """The caller cancelled the generation of the answer."""


class DiskFull(PgragError):
    """The machine of this process, not that of the database, has no disk space left."""


def disk_full(error: BaseException) -> DiskFull | None:
    """The error to tell in place of one of the operating system, if that means a full disk."""
    if not isinstance(error, OSError) or error.errno not in (errno.ENOSPC, errno.EDQUOT):
        return None
    where = f" of {error.filename}" if error.filename else ""
    return DiskFull(
        f"There is no space left on the disk{where}.",
        hint="Free space where the output goes and in the folder for temporary files (TMPDIR).",
    )


def reason(error: BaseException) -> str:
    """What a library's exception says to a user: its first line, without the class.

    The message of a KeyError and its kind is an internal name, which would help nobody.
    """
    said = str(error).strip()
    if not said or isinstance(error, LookupError | AttributeError | TypeError):
        return "no reason was given"
    return said.splitlines()[0].rstrip(".")
