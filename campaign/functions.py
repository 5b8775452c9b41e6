"""Call every public function with seeded arguments, and report errors that are not of pgrag.

A call may work, fail with an error of pgrag (SQLSTATE PGRxx), or be ended by the statement timeout.
Every other error is a fault, and so is a call that outlives its timeout.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from random import Random
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.json import Jsonb

from campaign import corpus
from campaign.arguments import Arguments
from campaign.outcome import Faults, Outcome, turns
from campaign.servers import SECONDS, TIMEOUT, Answer, Session, administer

#: How soon after its statement timeout a call must have ended.
GRACE_SECONDS = 5
#: The share of calls that are committed, and the commits after which their database is replaced.
SHARE_COMMITTED = 0.05
COMMITS = 200
#: The maximum number of times that an argument of a fault is made smaller.
SHRINKINGS = 100
ROUTINES = """
select
    p.proname as name,
    array(
        select a.name
        from unnest(p.proargnames, p.proargmodes) with ordinality as a (name, mode, number)
        where a.mode in ('i', 'b') or a.mode is null
        order by a.number
    ) as arguments,
    array(
        select format_type(t.type, null)
        from unnest(p.proargtypes::oid[]) with ordinality as t (type, number)
        order by t.number
    ) as types,
    p.pronargs - p.pronargdefaults as required
from pg_proc as p
where p.pronamespace = %s::regnamespace and p.prorettype <> 'trigger'::regtype
    -- A call by names cannot spread values over a variadic argument.
    and p.provariadic = 0
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
            # Ids and names: a text is both.
            f"{name} => {_literal(value)}::{self.types[name].replace('anycompatible', 'text')}"
            for name, value in arguments.items()
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


def routines(connection: psycopg.Connection[Any], schema: str = "pgrag") -> list[Routine]:
    """Every function of a schema: the public ones, or the private ones of _pgrag."""
    with connection.cursor(row_factory=psycopg.rows.tuple_row) as cursor:
        return [
            Routine(
                name,
                {
                    argument: type_.replace("anycompatiblearray", "anycompatible[]")
                    for argument, type_ in zip(names, types, strict=True)
                },
                required,
                schema,
            )
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


def callers(
    url: str, random: Random, known: dict[str, list[Any]]
) -> tuple[list[Routine], Arguments]:
    """The public functions, and a chooser of their arguments."""
    with psycopg.connect(url, autocommit=True) as connection:
        called = routines(connection)
    arguments = Arguments(random, known)
    arguments.options = options_of(called)
    return called, arguments


class _Scratch:
    """Copies of a database in which calls are committed."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._template = str(conninfo_to_dict(url)["dbname"])
        self._name = f"{self._template}_scratch"
        self._session: Session | None = None
        self._committed: list[str] = []

    def ask(self, statement: str) -> tuple[Answer, list[str]]:
        """Run a statement and commit it; also returns what was committed before it."""
        before = self._committed.copy()
        if self._session is None or len(before) >= COMMITS:
            self.drop()
            before = []
            administer(self._url, "create database {} template {}", self._name, self._template)
            self._session = Session(make_conninfo(self._url, dbname=self._name))
        answer = self._session.ask(statement, commit=True)
        self._committed = before if answer.state else [*before, statement]
        return answer, before

    def drop(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None
        administer(self._url, "drop database if exists {} with (force)", self._name)


def _is_fault(answer: Answer) -> bool:
    return answer.seconds > SECONDS + GRACE_SECONDS or not (
        answer.state in (None, TIMEOUT) or answer.state.startswith("PGR")
    )


def run(
    url: str, *, count: int = 100_000, seed: int, minutes: float | None = None,
    data: object = None, commit: bool = True,
) -> Outcome:  # fmt: skip
    """Call the functions of a migrated, empty database in turn, each as often as the others.

    With `commit` some calls are committed in a copy of the database, which nobody else may use
    meanwhile.
    """
    random = Random(seed)
    called, arguments = callers(url, random, corpus.build(url))
    counts = {"calls": 0, "functions": len(called), "errors of pgrag": 0, "timeouts": 0}
    slowest = 0.0
    faults = Faults()
    with ExitStack() as stack:
        # The template of a copy may have no other session.
        scratch = _Scratch(url)
        stack.callback(scratch.drop)
        session: Session | None = None
        for number in turns(count, minutes):
            routine = called[number % len(called)]
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
            if _is_fault(answer) and kind not in faults:
                session = session or Session(url)
                repeated = _reproduction(session.ask, routine, chosen, arguments, answer)
                statements = [repeated] if repeated else [f"{s};" for s in [*before, statement]]
                head = f"-- {answer.state} {answer.message[:200]} ({answer.seconds:.1f} s)"
                faults.add(kind, "\n".join([head, *statements]))
        if session is not None:
            session.close()
    return Outcome("functions", counts | {"seconds at most": round(slowest, 1)}, [*faults.values()])


def chosen_arguments(routine: Routine, arguments: Arguments) -> dict[str, Any]:
    """Values of the required arguments and of some others; sometimes all of them work."""
    choose = arguments.usual if arguments.random.random() < 0.1 else arguments.value
    return {
        name: choose(name, type_)
        for position, (name, type_) in enumerate(routine.types.items())
        if position < routine.required or arguments.random.random() < 0.3
    }


def _reproduction(
    ask: Callable[[str], Answer],
    routine: Routine,
    chosen: dict[str, Any],
    arguments: Arguments,
    answer: Answer,
) -> str | None:
    """A small call with the same error; None if the call itself does not repeat it."""

    def ends_alike(tried: dict[str, Any]) -> bool:
        return ask(routine.statement(tried)).state == answer.state

    if not ends_alike(chosen):
        return None
    for position, (name, type_) in enumerate(routine.types.items()):
        if name in chosen:
            simpler = {n: v for n, v in chosen.items() if n != name}
            if position < routine.required:
                simpler = chosen | {name: arguments.usual(name, type_)}
            if ends_alike(simpler):
                chosen = simpler
    for name in chosen:
        for _ in range(SHRINKINGS):
            smaller = ({**chosen, name: value} for value in _smaller(chosen[name]))
            if (shorter := next(filter(ends_alike, smaller), None)) is None:
                break
            chosen = shorter
    return f"{_shown(routine.statement(chosen))};"


def _smaller(value: Any) -> Iterator[Any]:
    """A text or list by halves, and a document without one of its parts."""
    if isinstance(value, Jsonb):
        yield from (Jsonb(v) for v in _smaller(value.obj))
    elif isinstance(value, str | list) and len(value) > 1:
        middle = len(value) // 2
        yield value[:middle]
        yield value[middle:]
        if isinstance(value, list):
            for index, item in enumerate(value):
                yield from (
                    [*value[:index], v, *value[index + 1 :]]
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
