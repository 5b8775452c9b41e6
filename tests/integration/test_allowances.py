"""Allowances: a busy key is asked for less often, and its limits hold to the request."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import psycopg
import pytest
from api_client import ApiClient, serving
from mcp_service import eventually

from pgrag.api import admission, allowances
from pgrag.api.allowances import FEWEST, SECONDS
from pgrag.ground.access import Policy

KEYED = Policy(needs_key=True)
SLOW = 0.0001
"""Requests a second: what is used of a burst does not come back during a test."""

USAGE = """
select cardinality(u.running), u.full_at - clock_timestamp()
from pgrag.key_usage as u
join pgrag.keys as k on k.key_id = u.key_id
where k.name = %s
"""


class Key(NamedTuple):
    """A key, and the header of its requests."""

    name: str
    header: dict[str, str]


class Site:
    """A service that needs keys, and its database."""

    def __init__(self, client: ApiClient, url: str, connection: psycopg.Connection[Any]) -> None:
        self.client = client
        self.url = url
        self.connection = connection
        self._made = 0

    def key(self, **options: Any) -> Key:
        """Make a key, with a name of its own."""
        self._made += 1
        name = f"key-{self._made}"
        stated = "".join(f", {option} => %s" for option in options)
        [secret] = self.connection.execute(
            f"select pgrag.create_key(%s, 'search', '{{*}}'{stated})".encode(),
            [name, *options.values()],
        ).fetchone()
        return Key(name, {"Authorization": f"Bearer {secret}"})

    def send(self, key: Key, requests: int, at_once: int) -> Counter[int]:
        """Statuses of requests, so many of which run at the same time."""
        with ThreadPoolExecutor(at_once) as pool:
            return Counter(pool.map(lambda _: ask(self.client, key), range(requests)))

    def used(self, key: Key, rate: float) -> int:
        """How many requests a key has used, once all that is held for it is given back."""
        time.sleep(SECONDS)
        # What is left of an allowance is given back with its last running request.
        eventually(lambda: self.running(key) == 0)
        [[_, full_in]] = self.connection.execute(USAGE, [key.name]).fetchall()
        return round(full_in.total_seconds() * rate)

    def running(self, key: Key) -> int:
        """How many requests of a key run, for all that the database knows."""
        [[running, _]] = self.connection.execute(USAGE, [key.name]).fetchall()
        return int(running)


def ask(client: ApiClient, key: Key) -> int:
    return client.request("GET", "/v1/libraries", headers=key.header).status_code


@pytest.fixture(scope="module")
def site(clone: Callable[[], AbstractContextManager[str]]) -> Iterator[Site]:
    with (
        clone() as url,
        psycopg.connect(url, autocommit=True) as connection,
        serving(url, policy=KEYED) as client,
    ):
        yield Site(client, url, connection)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """For how many requests the database has been asked, each time."""
    made: list[int] = []
    admit = admission.admit

    def noted(*arguments: Any, **options: Any) -> Any:
        made.append(options["wish"].wanted)
        return admit(*arguments, **options)

    monkeypatch.setattr(admission, "admit", noted)
    return made


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the service find that all requests come at the same moment."""
    monkeypatch.setattr(allowances, "monotonic", lambda: 1e9)


@pytest.mark.usefixtures("at_once")
def test_a_busy_key_is_asked_for_less_often(site, asked):
    key = site.key(rate=1000)
    assert site.send(key, 200, at_once=4) == {200: 200}
    assert len(asked) < 80
    assert max(asked) >= FEWEST


def test_a_key_that_comes_seldom_is_asked_for_each_time(site, asked):
    key = site.key()
    for _ in range(5):
        assert ask(site.client, key) == 200
        time.sleep(SECONDS / 2)
    assert asked == [1] * 5


@pytest.mark.usefixtures("at_once")
def test_a_burst_leaves_a_busy_key_busy(site, asked):
    key = site.key(rate=1000)
    assert site.send(key, 8, at_once=8) == {200: 8}
    asked.clear()
    assert site.send(key, 100, at_once=1) == {200: 100}
    assert len(asked) < 40


def test_requests_that_are_over_do_not_count_while_another_goes_on(site):
    key = site.key(rate=1000, concurrency=10)
    assert site.send(key, 60, at_once=5) == {200: 60}
    with psycopg.connect(site.url) as other, ThreadPoolExecutor(1) as pool:
        other.execute("lock table pgrag.versions in access exclusive mode")
        slow = pool.submit(ask, site.client, key)
        eventually(lambda: site.running(key) == 1)
        assert not slow.done()
        other.rollback()
        assert slow.result() == 200


def test_a_service_that_ends_gives_back_what_it_holds(site):
    key = site.key(rate=SLOW, burst=400)
    with serving(site.url, policy=KEYED) as other:
        for _ in range(20):
            assert ask(other, key) == 200
    running, full_in = site.connection.execute(USAGE, [key.name]).fetchone()
    assert (running, round(full_in.total_seconds() * SLOW)) == (0, 20)


def test_what_is_not_used_comes_back(site):
    key = site.key(rate=SLOW, burst=400)
    assert site.send(key, 60, at_once=3) == {200: 60}
    assert site.used(key, SLOW) == 60


def test_the_burst_is_used_to_the_last_request_and_no_further(site):
    key = site.key(rate=SLOW, burst=50)
    assert site.send(key, 120, at_once=4) == {200: 50, 429: 70}
    assert site.used(key, SLOW) == 50


def test_services_share_the_burst_of_a_busy_key(site):
    key = site.key(rate=SLOW, burst=100)
    with (
        serving(site.url, policy=KEYED) as other,
        ThreadPoolExecutor(4) as pool,
    ):
        clients = [site.client, other] * 40
        statuses = Counter(pool.map(lambda client: ask(client, key), clients))
        assert statuses == {200: 80}
        time.sleep(2 * SECONDS)
        statuses = Counter(pool.map(lambda client: ask(client, key), clients))
    # While one service holds some for its next requests, the other may be refused the last ones.
    assert 80 - 20 - 5 <= statuses[429] <= 80
    assert statuses[200] <= 20
    assert site.used(key, SLOW) == 80 + statuses[200]


@pytest.mark.parametrize(("concurrency", "at_once"), [(1, 1), (2, 2), (3, 2), (4, 4), (10, 6)])
def test_as_many_requests_run_as_may(site, concurrency, at_once):
    """What is held for later must not stand in the way of the same client."""
    key = site.key(rate=1000, concurrency=concurrency)
    assert site.send(key, 150, at_once=at_once) == {200: 150}
    site.used(key, 1000)


def test_no_more_requests_run_than_may(site):
    key = site.key(rate=1000, concurrency=3)
    assert site.send(key, 60, at_once=1) == {200: 60}
    with psycopg.connect(site.url) as other, ThreadPoolExecutor(6) as pool:
        other.execute("lock table pgrag.versions in access exclusive mode")
        sent = [pool.submit(ask, site.client, key) for _ in range(6)]
        eventually(lambda: sum(each.done() for each in sent) == 3)
        assert [each.result() for each in sent if each.done()] == [429] * 3
        other.rollback()
        assert Counter(each.result() for each in sent) == {200: 3, 429: 3}
    site.used(key, 1000)


def test_a_busy_key_that_is_revoked_ends_within_moments(site):
    key = site.key(rate=1000)
    site.send(key, 40, at_once=2)
    site.connection.execute("select pgrag.revoke_key(%s)", [key.name])
    revoked_at = time.monotonic()
    while time.monotonic() <= revoked_at + SECONDS:
        assert ask(site.client, key) in {200, 401}
    assert ask(site.client, key) == 401
