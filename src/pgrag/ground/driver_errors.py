"""The only place that translates errors of the database driver into errors of this project."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import psycopg

from pgrag.ground import errors

#: The SQLSTATEs of the SQL functions, and the errors that they become.
_ERRORS: dict[str, type[errors.PgragError]] = {
    "PGR01": errors.InvalidInput,
    "PGR02": errors.UnknownLibrary,
    "PGR03": errors.UnknownVersion,
    "PGR04": errors.UnknownPage,
    "PGR05": errors.UnknownDocument,
    "PGR06": errors.InvalidFilter,
    "PGR07": errors.InvalidCursor,
    "PGR08": errors.DimensionMismatch,
    "PGR09": errors.UnknownModel,
    "PGR10": errors.UnknownEvaluationSet,
    "PGR11": errors.UnknownEvaluationRun,
    "PGR14": errors.UnknownSearch,
    "PGR15": errors.TimeExceeded,
    "PGR17": errors.UnknownKey,
    "PGR18": errors.UnknownJob,
    "PGR19": errors.LeaseLost,
    "PGR20": errors.LimitReached,
}


class _Outcome(NamedTuple):
    """The error for SQLSTATEs with one of these prefixes."""

    codes: tuple[str, ...]
    error: type[errors.PgragError]
    beginning: str = ""
    hint: str | None = None


_UNUSABLE = "The database cannot be used: "
_IS_IT_THERE = "Check that it runs and that PGRAG_DATABASE_URL is right."
_OUTCOMES = [
    # Undefined function, table, schema, column, object: the database is older than this code.
    _Outcome(
        ("42883", "42P01", "3F000", "42703", "42704"),
        errors.SchemaOutdated,
        "The database is not what this version of pgrag expects: ",
        "Run `pgrag db upgrade`.",
    ),
    _Outcome(
        ("57014",),
        errors.TimeExceeded,
        "The query was cancelled: ",
        "Ask for less, or raise the statement_timeout of the role.",
    ),
    _Outcome(
        ("25006",),
        errors.ReadOnly,
        "This writes, and the database is read-only: ",
        "Set PGRAG_DATABASE_URL to the primary (its standbys belong into PGRAG_READ_URL), and"
        " default_transaction_read_only to off.",
    ),
    # Data exception, not-null or check violation, program limit exceeded.
    _Outcome(("22", "23502", "23514", "54"), errors.InvalidInput),
    # Deadlock, serialisation failure, lock not available.
    _Outcome(("40", "55P03"), errors.Busy, "Another session was in the way: ", "Try again."),
    # Insufficient privilege, also a row that a policy refuses.
    _Outcome(
        ("42501",),
        errors.NotPermitted,
        "The database does not let this role do that: ",
        "Ask its owner for the right, or connect as a role that has it; docs/security.md has them.",
    ),
    # Object in use: a removal during a run of pgrag index.
    _Outcome(("55006",), errors.Busy),
    # No connection, server starting or stopping, too many connections.
    _Outcome(("08", "57P", "53300"), errors.DatabaseUnavailable, _UNUSABLE, _IS_IT_THERE),
    # A session or a transaction that the server ended because it lasted too long.
    _Outcome(("25P03", "25P04"), errors.DatabaseUnavailable, _UNUSABLE),
    _Outcome(
        ("53200",),
        errors.DatabaseFull,
        "The database lacks memory: ",
        "Free memory on its server; if it is that of locks, raise max_locks_per_transaction.",
    ),
    # The disk is full, or a statement has reached the limit of its temporary files.
    _Outcome(
        ("53",),
        errors.DatabaseFull,
        "The database lacks disk space: ",
        "Free space on its disk, or raise temp_file_limit if the message names it.",
    ),
    _Outcome(("",), errors.DatabaseError, "The database refused: "),
]


class _Refusal(NamedTuple):
    """A connection that the server refuses: what its message says, the error, and the remedy."""

    said: str
    error: type[errors.PgragError]
    hint: str


#: libpq passes on no SQLSTATE of a refused connection, so its message must do; in another language
#: than English the error and the hint are the general ones.
_REFUSALS = [
    _Refusal(
        "too many clients|too many connections|remaining connection slots|no more connections",
        errors.DatabaseUnavailable,
        "Try again; or raise its max_connections (of the role or database: connection limit), or"
        " lower PGRAG_POOL_SIZE and PGRAG_COSTLY_POOL_SIZE.",
    ),
    _Refusal(
        "starting up|shutting down|in recovery|not yet accepting|not accepting connections$",
        errors.DatabaseUnavailable,
        "It starts, stops or recovers: try again.",
    ),
    _Refusal(
        "password|authentication failed|no pg_hba.conf entry|pg_hba.conf rejects",
        errors.DatabaseDown,
        "Check user and password in PGRAG_DATABASE_URL, and the server's pg_hba.conf.",
    ),
    _Refusal(
        "FATAL: .*(does not exist|permission denied|not permitted to log in|not currently accept)",
        errors.DatabaseDown,
        "Check database and user in PGRAG_DATABASE_URL, and whether the user may connect.",
    ),
]

#: What PostgreSQL says if an upgrade replaces a function under a running call.
_REPLACED = ("cache lookup failed for ", "cached plan must not change result type")


@contextmanager
def translated_errors() -> Iterator[None]:
    """Translate errors of the driver into errors of this project."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise errors.InvalidInput(
            f"A text cannot be stored: {error.reason} ({error.object[error.start : error.end]!r})."
        ) from error
    except psycopg.Error as error:
        raise _translated(of_server(error)) from error


def of_server(error: psycopg.Error) -> psycopg.Error:
    """What the server said, if the driver only met its own error on the way out of a pipeline; that
    a session was ended, if a pooler said so beside the server, which the driver does not expect.
    """
    if error.sqlstate is None:
        earlier = error.__context__
        if isinstance(earlier, psycopg.Error) and earlier.sqlstate:
            return earlier
        if isinstance(error, psycopg.InternalError):
            return psycopg.OperationalError("the session was ended")
    return error


def refusal_hint(error: psycopg.Error) -> str | None:
    """Return the remedy if the server refused a connection for a known reason."""
    refusal = _refusal(error, str(error))
    return refusal and refusal.hint


def _refusal(error: psycopg.Error, message: str) -> _Refusal | None:
    if not isinstance(error, psycopg.OperationalError):
        return None
    return next((refusal for refusal in _REFUSALS if re.search(refusal.said, message)), None)


def _translated(error: psycopg.Error) -> errors.PgragError:
    message = error.diag.message_primary or str(error) or type(error).__name__
    hint = error.diag.message_hint
    state = error.sqlstate
    if state == "PGR16":
        column = error.diag.column_name
        return errors.InvalidQuery(message, hint=hint, column=int(column) if column else None)
    if state in _ERRORS:
        return _ERRORS[state](message, hint=hint)
    if state is None:
        if refusal := _refusal(error, message):
            return refusal.error(_UNUSABLE + one_sentence(message), hint=refusal.hint)
        # Raised by the driver, not by the server.
        drivers = {psycopg.DataError: "22000", psycopg.OperationalError: "08000"}
        state = next((code for kind, code in drivers.items() if isinstance(error, kind)), "")
    if message.startswith(_REPLACED):
        return errors.Busy(
            f"pgrag was upgraded while the call ran: {one_sentence(message)}", hint="Try again."
        )
    outcome = next(outcome for outcome in _OUTCOMES if state.startswith(outcome.codes))
    text = outcome.beginning + one_sentence(message)
    return outcome.error(text[0].upper() + text[1:], hint=outcome.hint or hint)


def one_sentence(message: str) -> str:
    """Join the lines of a driver message into one that ends with a full stop."""
    text = " ".join(message.split())
    return text if text.endswith((".", "?", "!")) else f"{text}."
