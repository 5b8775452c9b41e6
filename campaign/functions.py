"""Call every public function with seeded arguments, and report errors that are not of pgrag.

`python -m campaign.functions --calls 100000 --seed 1`. A call may work, fail with an error of pgrag
(SQLSTATE PGRxx), or be ended by the statement timeout. Every other error is a fault, and so is a
call that outlives its timeout.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from random import Random
from time import monotonic
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from campaign import corpus
from campaign.arguments import Arguments
from campaign.command import run_part
from campaign.databases import administer
from campaign.outcome import Outcome
from pgrag.ground.connections import register_vector_types

#: The statement timeout of a call, and how soon after it a call must have ended.
SECONDS = 10
GRACE_SECONDS = 5
#: This share of the calls is committed, in a copy of the database that is made anew after so many.
SHARE_COMMITTED = 0.05
COMMITS = 200
#: How often the arguments of a fault are made smaller.
SHRINKINGS = 100
TIMEOUT = "57014"
ROUTINES = """
select
    p.proname as name,
    array(
        select a.name
        from unnest(p.proargnames, p.proargmodes) with ordinality as a (name, mode, place)
        where a.mode in ('i', 'b') or a.mode is null
        order by a.place
    ) as arguments,
    array(
        select format_type(t.type, null)
        from unnest(p.proargtypes::oid[]) with ordinality as t (type, place)
        order by t.place
    ) as types,
    p.pronargs - p.pronargdefaults as required
from pg_proc as p
where p.pronamespace = %s::regnamespace and p.prorettype <> 'trigger'::regtype
order by p.proname
"""


@dataclass(frozen=True, slots=True)
class Routine:
    """A function: its arguments with their types, of which the first are required."""

    name: str
    types: dict[str, str]
    required: int
    schema: str = "pgrag"

    def statement(self, arguments: dict[str, Any]) -> str:
        """The call in SQL."""
        given = ", ".join(
            f"{name} => {_literal(value)}::{self.types[name]}" for name, value in arguments.items()
        )
        return f"select * from {self.schema}.{self.name}({given})"


def _literal(value: Any) -> str:
    """A value in SQL, numbers in quotes: in -1::bigint the sign would come after the cast."""
    if isinstance(value, Jsonb):
        value = json.dumps(value.obj, ensure_ascii=False)
    elif isinstance(value, int | float | UUID):
        value = str(value)
    if isinstance(value, str) and len(value) > 100:
        period = (value + value).find(value, 1)
        if period < len(value):
            return f"repeat({_literal(value[:period])}, {len(value) // period})"
    return sql.Literal(value).as_string().strip()


@dataclass(frozen=True, slots=True)
class _Answer:
    """The SQLSTATE of a call, null if it worked, and how long it took."""

    state: str | None
    message: str
    seconds: float

    @property
    def is_fault(self) -> bool:
        return self.seconds > SECONDS + GRACE_SECONDS or not (
            self.state is None or self.state == TIMEOUT or self.state.startswith("PGR")
        )


def routines(connection: psycopg.Connection[Any], schema: str = "pgrag") -> list[Routine]:
    """Every function of a schema: the public ones, or the private ones of _pgrag."""
    with connection.cursor(row_factory=psycopg.rows.tuple_row) as cursor:
        return [
            Routine(name, dict(zip(names, types, strict=True)), required, schema)
            for name, names, types, required in cursor.execute(ROUTINES, [schema]).fetchall()
        ]


def options_of(called: Sequence[Routine]) -> dict[str, str]:
    """The arguments of searches, which are also keys of `options`."""
    return {
        name: type_
        for routine in called
        if routine.name in ("search", "context", "answer_context", "search_pages", "facets")
        for name, type_ in routine.types.items()
        if name not in ("query", "question", "options", "query_embedding")
    }


class Session:
    """A connection that is replaced when the server ends it."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection = self._connect()

    def _connect(self) -> psycopg.Connection[Any]:
        connection = psycopg.connect(self._url, autocommit=True)
        register_vector_types(connection)
        connection.execute(f"set statement_timeout = '{SECONDS}s'".encode())
        connection.execute("set client_min_messages = error")
        return connection

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def ask(self, statement: str, *, commit: bool = False) -> _Answer:
        """Run a statement and undo it, unless it is to be committed."""
        state, message = None, ""
        started = monotonic()
        try:
            with self._connection.transaction(force_rollback=not commit):
                self._connection.execute(statement.encode(), prepare=False).fetchall()
        except psycopg.Error as error:
            # Without a SQLSTATE the connection is lost: the server has crashed.
            state = error.sqlstate or "lost"
            message = error.diag.message_primary or str(error)
        seconds = monotonic() - started
        if self._connection.closed:
            self._connection = self._connect()
        return _Answer(state, message, seconds)


class _Scratch:
    """Copies of a database in which calls are committed."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._template = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
        self._name = f"{self._template}_scratch"
        self._session: Session | None = None
        self._committed: list[str] = []

    def ask(self, statement: str) -> tuple[_Answer, list[str]]:
        """Run a statement and commit it; also returns what was committed before it."""
        before = self._committed.copy()
        if self._session is None or len(before) >= COMMITS:
            self.drop()
            before = []
            administer(self._url, "create database {} template {}", self._name, str(self._template))
            self._session = Session(make_conninfo(self._url, dbname=self._name))
        answer = self._session.ask(statement, commit=True)
        self._committed = before if answer.state else [*before, statement]
        return answer, before

    def drop(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None
        administer(self._url, "drop database if exists {} with (force)", self._name)


def run(
    url: str,
    *,
    calls: int = 100_000,
    seed: int,
    minutes: float | None = None,
    data: object = None,
    commit: bool = True,
) -> Outcome:
    """Call the functions of a migrated, empty database in turn, each as often as the others.

    With `commit` some calls are committed in a copy of the database, which nobody else may use
    meanwhile.
    """
    known = corpus.build(url)
    with psycopg.connect(url, autocommit=True) as connection:
        called = routines(connection)
    random = Random(seed)
    arguments = Arguments(random, known)
    arguments.options = options_of(called)
    deadline = monotonic() + 60 * minutes if minutes else float("inf")
    counts = {"calls": 0, "functions": len(called), "errors of pgrag": 0, "timeouts": 0}
    slowest = 0.0
    faults: dict[tuple[str, ...], str] = {}
    with ExitStack() as stack:
        # The template of a copy may have no other session.
        scratch = _Scratch(url)
        stack.callback(scratch.drop)
        session: Session | None = None
        while counts["calls"] < calls and monotonic() < deadline:
            routine = called[counts["calls"] % len(called)]
            chosen = chosen_arguments(routine, arguments)
            statement = routine.statement(chosen)
            before: list[str] = []
            if commit and random.random() < SHARE_COMMITTED:
                if session is not None:
                    session.close()
                    session = None
                answer, before = scratch.ask(statement)
            else:
                session = session or Session(url)
                answer = session.ask(statement)
            counts["calls"] += 1
            counts["timeouts"] += answer.state == TIMEOUT
            counts["errors of pgrag"] += bool(answer.state and answer.state.startswith("PGR"))
            slowest = max(slowest, answer.seconds)
            if answer.state == TIMEOUT:
                print(f"timeout: {_shown(statement)}", file=sys.stderr)
            kind = (routine.name, str(answer.state), _generalised(answer.message))
            if answer.is_fault and kind not in faults:
                session = session or Session(url)
                repeated = _reproduction(session.ask, routine, chosen, arguments, answer)
                faults[kind] = "\n".join(
                    [
                        f"-- {answer.state} {answer.message[:200]} ({answer.seconds:.1f} s)",
                        *([repeated] if repeated else [f"{s};" for s in [*before, statement]]),
                    ]
                )
                print(faults[kind], file=sys.stderr)
        if session is not None:
            session.close()
    return Outcome(
        "functions", counts | {"seconds at most": round(slowest, 1)}, sorted(faults.values())
    )


def chosen_arguments(routine: Routine, arguments: Arguments) -> dict[str, Any]:
    """Values of the required arguments and of some others; sometimes all of them work."""
    choose = arguments.usual if arguments.random.random() < 0.1 else arguments.value
    return {
        name: choose(name, type_)
        for place, (name, type_) in enumerate(routine.types.items())
        if place < routine.required or arguments.random.random() < 0.3
    }


def _reproduction(
    ask: Callable[[str], _Answer],
    routine: Routine,
    chosen: dict[str, Any],
    arguments: Arguments,
    answer: _Answer,
) -> str | None:
    """The smallest call found that ends alike; None if the call does not."""

    def ends_alike(tried: dict[str, Any]) -> bool:
        return ask(routine.statement(tried)).state == answer.state

    if not ends_alike(chosen):
        return None
    for place, (name, type_) in enumerate(routine.types.items()):
        if name in chosen:
            simpler = {n: v for n, v in chosen.items() if n != name}
            if place < routine.required:
                simpler = chosen | {name: arguments.usual(name, type_)}
            if ends_alike(simpler):
                chosen = simpler
    for name in chosen:
        chosen = _shrunk(chosen, name, ends_alike)
    return f"{_shown(routine.statement(chosen))};"


def _shrunk(
    chosen: dict[str, Any], name: str, ends_alike: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """The arguments, one of them without the parts that the error does not need."""
    for _ in range(SHRINKINGS):
        smaller = ({**chosen, name: value} for value in _smaller(chosen[name]))
        found = next(filter(ends_alike, smaller), None)
        if found is None:
            break
        chosen = found
    return chosen


def _smaller(value: Any) -> Iterator[Any]:
    """A text or list by halves, and a document without one of its parts."""
    if isinstance(value, Jsonb):
        yield from (Jsonb(v) for v in _smaller(value.obj))
    elif isinstance(value, str | list) and len(value) > 1:
        middle = len(value) // 2
        yield value[:middle]
        yield value[middle:]
        if isinstance(value, list):
            for place, item in enumerate(value):
                yield from (
                    [*value[:place], v, *value[place + 1 :]]
                    for v in _smaller(item)
                    if isinstance(item, dict | list)
                )
    elif isinstance(value, dict):
        for key, item in value.items():
            yield {k: v for k, v in value.items() if k != key}
            yield from (value | {key: v} for v in _smaller(item))


def _shown(statement: str) -> str:
    return statement if len(statement) < 2_000 else f"{statement[:2_000]} … ({len(statement):,})"


def _generalised(message: str) -> str:
    """A message without the values that it quotes."""
    return re.sub(r"\"[^\"]*\"|\d+", "…", message)[:80]


if __name__ == "__main__":
    sys.exit(run_part(run, counted="calls"))
