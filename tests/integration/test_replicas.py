"""Reading from standbys, on real ones: what goes where, and what a lost server costs."""

from contextlib import closing
from random import Random

import psycopg
import pytest

from api_client import serving
from api_corpus import indexed
from campaign import corpus
from campaign.functions import callers
from campaign.servers import Session
from pgrag.ground import errors, schema
from pgrag.ground.connections import Database
from pgrag.ground.replicas import Replicas, Seen, on_primary, seeing
from pgrag.ground.settings import Settings
from pgrag.service.app import App
from servers import embedded
from standbys import following, until

VOLATILITY = "select proname, provolatile from pg_proc where pronamespace = 'pgrag'::regnamespace"


@pytest.fixture(scope="module")
def primary(tmp_path_factory):
    """The URL of a primary with a few libraries."""
    with embedded() as url:
        with App(Settings(database_url=url)) as app:
            app.upgrade()
        yield indexed(url, tmp_path_factory.mktemp("sources"))


@pytest.fixture(scope="module")
def standby(primary):
    """A standby of it."""
    with following(primary) as standby:
        yield standby


def test_a_standby_answers_every_function_that_only_reads(primary, standby):
    known = corpus.build(primary)
    called, usual = callers(primary, Random(1), known)
    with psycopg.connect(primary) as connection:
        volatile = dict(connection.execute(VOLATILITY))
    standby.follow(primary)
    with closing(Session(standby.url, ["set statement_timeout = 0"])) as session:
        states = {}
        for routine in called:
            for _ in range(10):
                arguments = {
                    name: usual.usual(name, type_)
                    for name, type_ in [*routine.types.items()][: routine.required]
                }
                states.setdefault(routine.name, set()).add(
                    session.ask(routine.statement(arguments)).state
                )
    print({n: s for n, s in states.items() if volatile[n] == "v"})
    assert not {
        name: found
        for name, found in states.items()
        if volatile[name] != "v" and not all(s is None or s.startswith("PGR") for s in found)
    }
