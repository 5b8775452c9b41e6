"""Ask two databases the same as a tenant; only one has another library. Answers must agree.

Every function, public and private, is called by login roles that see only their own libraries, and
by a service in the name of a key; some calls forge the settings by which functions tell views what
to read. A row, error or notice that differs between the databases leaks the other library, whose
pages, names and records contain canary words.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from random import Random
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from campaign import corpus
from campaign.functions import Routine, callers, chosen_arguments, routines
from campaign.outcome import Faults, Outcome, turns
from campaign.servers import TIMEOUT, Answer, Session, administer, execute

CANARY = "zyxquokka"
OTHER = f"{CANARY}-library"
#: The settings that functions read.
SETTINGS = """
select distinct m.parts[1]
from (
    select p.prosrc
    from pg_proc as p
    where p.pronamespace in ('pgrag'::regnamespace, '_pgrag'::regnamespace)
    union all
    select pg_get_viewdef(c.oid)
    from pg_class as c
    where c.relnamespace = '_pgrag'::regnamespace and c.relkind = 'v'
) as t (source)
cross join lateral regexp_matches(
    t.source, 'current_setting\\(.(pgrag\\.[a-z_]+)', 'g'
) as m (parts)
order by 1
"""
#: Those by which a service names its caller.
OF_SERVICES = {"pgrag.library_ids", "pgrag.caller"}
SHARE_FORGED = 0.2
#: How often each view is read with forged settings.
FORGERIES = 50
SHOWN = 1500

PAGE = f"""---
title: The {CANARY}title
type: {CANARY}type
tags: [{CANARY}tag, pump]
path: [{CANARY}path, Guides]
uuid: 6f1c2a38-0d5e-4b7e-9a53-5f0f5c9b7a11
aliases: [{CANARY}alias, Set up]
depends_on: [{CANARY}-target.md]
{CANARY}field: {CANARY}value
---

# {CANARY}heading

Close the [valve]({CANARY}-target.md#{CANARY}-anchor) of the {CANARY}text first.

## Steps

- [ ] the {CANARY}task 📅 2026-03-01

See [[{CANARY}-target]] and <https://{CANARY}.example/>, not [this]({CANARY}-broken.md).
"""
#: Some keys are those of the tenant's own pages: a lookup that ignores the library would mix them.
PAGES = {
    f"{CANARY}.md": PAGE,
    f"{CANARY}-target.md": corpus.VALVE + f"\n## {CANARY} anchor\n\nA {CANARY} is a pump.\n",
    "install.md": corpus.INSTALL.replace("uuid: 6f", "uuid: 5f").replace("pump", f"{CANARY}pump"),
}
LIBRARIES = {(OTHER, "1.1"): PAGES, (OTHER, f"{CANARY}-2"): PAGES | {"only.md": corpus.NOTES}}
PREPARATION = [
    f'select pgrag.set_synonyms(\'{OTHER}\', \'{{"{CANARY}": ["{CANARY}tap"], "pump": ["x"]}}\')',
    f"select * from pgrag.import_evaluation_set('{CANARY}-set', '{OTHER}', '["
    f'{{"id": "{CANARY}q", "text": "{CANARY}text", "judgements": {{"{CANARY}.md": 2}}}}]\')',
    f"select * from pgrag.run_evaluation('{CANARY}-set')",
    f"select pgrag.record_search('{CANARY}text', jsonb_agg(to_jsonb(s)), library => '{OTHER}')"
    f" from pgrag.search('{CANARY}text', '{OTHER}') as s",
    "select pgrag.give_feedback(search_id, 1) from pgrag.searches",
    f"select pgrag.configure_library('{OTHER}', '{{\"alpha\": 0.123}}')",
    f"select pgrag.tune('{OTHER}')",
]
#: The arguments that take words of a text or of a name.
WORDS = [
    "query", "question", "words", "title", "name", "pattern", "lexeme", "terms", "path", "tags",
    "evaluation_set", "query_id", "text", "anchor", "exclude", "source_title", "target_title",
]  # fmt: skip
#: They report an id that is taken; a caller can only know a random id that was leaked before.
RECORDING = {"record_answer", "recorded_search", "write_search"}
#: Tables and views, views of the private schema, and sequences.
RELATIONS = """
select format('%I.%I', c.relnamespace::regnamespace, c.relname)
from pg_class as c
where c.relnamespace in ('pgrag'::regnamespace, '_pgrag'::regnamespace)
"""
TABLES = f"{RELATIONS} and c.relkind in ('r', 'v') order by 1"
VIEWS = f"{RELATIONS} and c.relkind = 'v' and c.relnamespace = '_pgrag'::regnamespace order by 1"
SEQUENCES = f"{RELATIONS} and c.relkind = 'S' order by 1"


def _leaves(answer: Answer) -> dict[str, Any]:
    """What a statement tells its caller: each scalar by its path."""
    return dict(_scalars("", answer.told))


def _scalars(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Sums in another order may differ in the last digits."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _scalars(f"{path}.{key}", item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _scalars(f"{path}[{index}]", item)
    else:
        yield path, float(f"{value:.6g}") if isinstance(value, float) else value


class Pair:
    """One caller in both databases."""

    def __init__(
        self, name: str, alone: str, both: str, login: list[str], *, is_login: bool = True
    ) -> None:
        self.name = name
        self.is_login = is_login
        self._urls = alone, both
        self._alone, self._both = Session(alone, login), Session(both, login)

    def close(self) -> None:
        """End both sessions."""
        self._alone.close()
        self._both.close()

    def difference(
        self, statement: str, forged: dict[str, str] | None = None
    ) -> tuple[str, Answer]:
        """What differs in the database with both libraries; empty if nothing does."""
        asked = statement, forged or {}
        alone, both = self._alone.ask(*asked), self._both.ask(*asked)
        if _agree(alone, both) or TIMEOUT in (alone.state, both.state):
            return "", both
        # Calls that ended early may have drawn fewer numbers.
        align(*self._urls)
        first, both = self._alone.ask(*asked), self._both.ask(*asked)
        others = [_leaves(self._alone.ask(*asked)) for _ in range(3)]
        if _agree(first, both) or TIMEOUT in (first.state, both.state):
            return "", both
        told, expected = _leaves(both), _leaves(first)

        def varies(path: str) -> bool:
            """Times and new ids also differ between calls of one database."""
            return ".timings." in path or any(
                leaves.get(path) != expected.get(path) for leaves in others
            )

        differing = (path for path in {**told, **expected} if told.get(path) != expected.get(path))
        return "; ".join(
            f"{path}: {_shown(told, path)} instead of {_shown(expected, path)}"
            for path in differing
            if not varies(path) or CANARY in str(told.get(path))
        )[:SHOWN], both


def _shown(leaves: dict[str, Any], path: str) -> str:
    return repr(leaves[path])[:300] if path in leaves else "nothing"


def _agree(one: Answer, other: Answer) -> bool:
    """Equal rows; those of equal rank may stand in another order."""
    return _leaves(one) == _leaves(other) or _sorted(one) == _sorted(other)


def _sorted(answer: Answer) -> list[str]:
    rows = answer.told["rows"]
    rest = {name: told for name, told in answer.told.items() if name != "rows"}
    return [*sorted(json.dumps([*_scalars("", row)]) for row in rows), json.dumps(rest)]


def align(alone: str, both: str) -> None:
    """Let the sequences of both databases go on with the same numbers."""
    names = corpus.values(both, {"names": SEQUENCES})["names"]
    last = {name: f"select last_value from {name}" for name in names}
    drawn = [corpus.values(url, last) for url in (alone, both)]
    for url in (alone, both):
        execute(url, *(f"select setval('{n}', {max(each[n][0] for each in drawn)})" for n in names))


def _statements(url: str) -> list[str]:
    """What a tenant may try without functions: read and empty every table."""
    tables = corpus.values(url, {"names": TABLES})["names"]
    return [
        statement
        for name in tables
        for statement in (
            f"select to_jsonb(t) from {name} as t",
            f"select to_jsonb(count(*)) from {name}",
            f"delete from {name} as t returning to_jsonb(t)",
        )
    ]


def _turns(
    random: Random, public: list[Routine], supported: list[Routine], pairs: list[Pair]
) -> Iterator[tuple[Routine, Pair]]:
    """Each public function once, then any; public ones more often: they have more arguments."""
    for nth, routine in enumerate(public):
        yield routine, pairs[nth % len(pairs)]
    while True:
        yield random.choice(supported if random.random() < 0.3 else public), random.choice(pairs)


class _Forger:
    """Chooses settings that a caller could forge to be told more."""

    def __init__(self, random: Random, url: str, known: dict[str, list[Any]]) -> None:
        self._random = random
        self._names = corpus.values(url, {"names": SETTINGS})["names"]
        self._known = known

    def forged(self, pair: Pair) -> dict[str, str]:
        """One to all of the settings, but none that a service sets for its caller."""
        names = [name for name in self._names if pair.is_login or name not in OF_SERVICES]
        chosen = self._random.sample(names, k=self._random.randint(1, len(names)))
        return {name: self._value(name) for name in chosen}

    def _value(self, name: str) -> str:
        random = self._random
        if name == "pgrag.narrowing":
            return " | ".join(random.choices(["pump", "valv", "text", CANARY, "'@l1'"], k=3))
        if name in OF_SERVICES and random.random() < 0.5:
            return random.choice(["*", "a key"])
        kind = "version_id" if "version" in name else "lexeme_id"
        numbers = random.choices(self._known[kind], k=random.choice([1, 2, 5, 50]))
        if random.random() < 0.2:
            # In the form of the keys of the index of impacts.
            versions = self._known["version_id"]
            numbers = [random.choice(versions) << 31 | number for number in numbers]
        return f"{{{','.join(map(str, numbers))}}}"


class Tenants:
    """Both databases, and the roles that ask them."""

    def __init__(self, url: str) -> None:
        name = str(conninfo_to_dict(url)["dbname"])
        self.alone, self.both = url, make_conninfo(url, dbname=f"{name}_both")
        self._names = name, f"{name}_both"
        self.hidden_searches: set[Any] = set()
        self._roles = {
            f"{name}_tenant_reader": "pgrag_reader",
            f"{name}_tenant_writer": "pgrag_writer",
        }

    def build(self) -> dict[str, list[Any]]:
        """Fill both databases; return the values of both libraries, by argument."""
        corpus.build(self.alone)
        administer(self.alone, "create database {} template {}", *reversed(self._names))
        corpus.index(self.both, LIBRARIES)
        execute(self.both, *PREPARATION)
        known = corpus.values(self.both, corpus.KNOWN)
        own = corpus.values(self.alone, {"searches": corpus.KNOWN["search_id"]})["searches"]
        self.hidden_searches = {*known["search_id"]} - {*own}
        hidden = corpus.values(
            self.both,
            {n: query.replace("'pump'", f"'{OTHER}'") for n, query in corpus.KNOWN.items()},
        )
        for name, values in hidden.items():
            # Twice, so that hidden values are chosen more often.
            known[name] = [*known[name], *values, *(v for v in values if v not in known[name])]
        for name in WORDS:
            known[name] = [
                *known.get(name, []), CANARY, f"{CANARY}text", f"{CANARY}-set", f"{CANARY}title",
                f"{CANARY[:-2]}", f"pump {CANARY}tag",
            ]  # fmt: skip
        for role, group in self._roles.items():
            create = f"create role \"{role}\" login password '{CANARY}' in role {group}"
            execute(self.both, f'drop role if exists "{role}"', create)
            for url in (self.alone, self.both):
                execute(url, f"select pgrag.grant_libraries('{role}', '{{pump,garden}}')")
        align(self.alone, self.both)
        return known

    def pairs(self) -> list[Pair]:
        """A reader, a writer, and a service in the name of a key."""
        visible = corpus.values(self.alone, {"ids": "select library_id from pgrag.libraries"})
        key = [
            "set role pgrag_reader",
            f"set pgrag.library_ids = '{{{','.join(map(str, visible['ids']))}}}'",
            "set pgrag.caller = 'a key'",
        ]
        logins = {role: [f'set session authorization "{role}"'] for role in self._roles}
        return [
            *(Pair(name, self.alone, self.both, login) for name, login in logins.items()),
            Pair("the key of a service", self.alone, self.both, key, is_login=False),
        ]

    def logins(self) -> tuple[str, str]:
        """The URLs of both databases for the login role that writes."""
        role = next(role for role, group in self._roles.items() if group == "pgrag_writer")
        alone, both = (
            make_conninfo(url, user=role, password=CANARY) for url in (self.alone, self.both)
        )
        return alone, both

    def drop(self) -> None:
        """Drop the copy and the roles."""
        administer(self.alone, "drop database if exists {} with (force)", self._names[1])
        for role in self._roles:
            known = corpus.values(self.alone, {"role": f"select to_regrole('\"{role}\"')::text"})
            if known["role"] != [None]:
                execute(self.alone, f'drop owned by "{role}"', f'drop role "{role}"')


def run(
    url: str, *, count: int = 20_000, seed: int, minutes: float | None = None, data: object = None
) -> Outcome:
    """Ask as tenants of a migrated, empty database and of a copy that has another library."""
    random = Random(seed)
    counts = dict.fromkeys(
        ("calls", "functions", "calls with forged settings", "statements on tables",
         "calls that worked"), 0
    )  # fmt: skip
    faults = Faults()
    with ExitStack() as stack:
        tenants = Tenants(url)
        stack.callback(tenants.drop)
        known = tenants.build()
        public, arguments = callers(url, random, known)
        forger = _Forger(random, url, known)
        with psycopg.connect(url, autocommit=True) as connection:
            private = routines(connection, "_pgrag")
        supported = [r for r in [*public, *private] if arguments.supports(r.types.values())]
        counts["functions"] = len(supported)
        pairs = tenants.pairs()
        for pair in pairs:
            stack.callback(pair.close)

        def compare(pair: Pair, what: str, statement: str, *, forges: bool = False) -> bool:
            forged = forger.forged(pair) if forges else {}
            counts["calls with forged settings"] += forges
            told, answer = pair.difference(statement, forged)
            if told:
                settings = "".join(f"set {name} = '{value}';\n" for name, value in forged.items())
                shown = f"-- as {pair.name}: {told}\n{settings}{statement[:SHOWN]};"
                faults.add((pair.name, what), shown)
            return answer.state is None

        for statement in _statements(url):
            for pair in pairs:
                compare(pair, statement, statement)
                counts["statements on tables"] += 1
        for view in corpus.values(url, {"names": VIEWS})["names"]:
            for nth in range(FORGERIES):
                statement = f"select to_jsonb(v) from {view} as v"
                compare(pairs[nth % len(pairs)], statement, statement, forges=True)
        asked = _turns(random, public, supported, pairs)
        for _, (routine, pair) in zip(turns(count, minutes), asked, strict=False):
            chosen = chosen_arguments(routine, arguments)
            if routine.name in RECORDING and chosen.get("search_id") in tenants.hidden_searches:
                chosen["search_id"] = None
            statement = f"select to_jsonb(answer) from ({routine.statement(chosen)}) as answer"
            forges = random.random() < SHARE_FORGED
            counts["calls that worked"] += compare(pair, routine.name, statement, forges=forges)
            counts["calls"] += 1
    return Outcome("tenants", counts, [*faults.values()])
