"""The only place that translates errors of the database driver into errors of this project."""

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
        "Raise statement_timeout or narrow the search.",
    ),
    _Outcome(
        ("25006",),
        errors.NotConfigured,
        "The database is read-only: ",
        "Set PGRAG_DATABASE_URL to the primary server.",
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
    _Outcome(
        ("08", "57P", "53300"),
        errors.DatabaseUnavailable,
        "The database cannot be used: ",
        "Check that it runs and that PGRAG_DATABASE_URL is right.",
    ),
    _Outcome(("",), errors.DatabaseError, "The database refused: "),
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
        raise _translated(error) from error


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
