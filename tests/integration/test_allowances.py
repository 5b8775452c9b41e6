"""Allowances: a busy key is asked for less often, and its limits hold to the request."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

import psycopg
import pytest
from api_client import ApiClient, serving

from pgrag.access import Policy
from pgrag.api import admission
from pgrag.api.allowances import FEWEST, SECONDS

KEYED = Policy(needs_key=True)
SLOW = 0.0001
"""Requests a second: what is used of a burst does not come back during a test."""

USAGE = """
select cardinality(u.running), u.full_at - clock_timestamp()
from pgrag.key_usage as u
join pgrag.keys as k on k.key_id = u.key_id
where k.name = %s
"""


class Site:
    """A service that needs keys, and its database."""

    def __init__(self, client: ApiClient, url: str, connection: psycopg.Connection[Any]) -> None:
        self.client = client
        self.url = url
        self.connection = connection

    def key(self, name: str, **options: Any) -> dict[str, str]:
        """Make a key; returns the header of its requests."""
        stated = "".join(f", {option} => %s" for option in options)
        [secret] = self.connection.execute(
            f"select pgrag.create_key(%s, 'search', '{{*}}'{stated})".encode(),
            [name, *options.values()],
        ).fetchone()
        return {"Authorization": f"Bearer {secret}"}

    def send(self, header: dict[str, str], requests: int, at_once: int) -> Counter[int]:
        """Statuses of requests, so many of which run at the same time."""
        with ThreadPoolExecutor(at_once) as pool:
            return Counter(pool.map(lambda _: ask(self.client, header), range(requests)))

    def usage(self, name: str, rate: float) -> tuple[int, int]:
        """How many requests of a key run, and how many it has used, when all is given back."""
        time.sleep(2 * SECONDS)
        running, full_in = self.connection.execute(USAGE, [name]).fetchone()
        return running, round(full_in.total_seconds() * rate)


def ask(client: ApiClient, header: dict[str, str]) -> int:
    return client.request("GET", "/v1/libraries", headers=header).status_code


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


def test_a_busy_key_is_asked_for_less_often(site, asked):
    header = site.key("busy", rate=1000)
    assert site.send(header, 200, at_once=4) == {200: 200}
    assert len(asked) < 80
    assert max(asked) >= FEWEST
    assert site.usage("busy", 1000)[0] == 0


def test_a_key_that_comes_seldom_is_asked_for_each_time(site, asked):
    header = site.key("seldom")
    for _ in range(5):
        assert ask(site.client, header) == 200
        time.sleep(SECONDS / 2)
    assert asked == [1] * 5


def test_a_burst_leaves_a_busy_key_busy(site, asked):
    header = site.key("bursts", rate=1000)
    assert site.send(header, 8, at_once=8) == {200: 8}
    asked.clear()
    assert site.send(header, 100, at_once=1) == {200: 100}
    assert len(asked) < 40


def test_requests_that_are_over_do_not_count_while_another_goes_on(site):
    header = site.key("mixed", rate=1000, concurrency=10)
    assert site.send(header, 60, at_once=5) == {200: 60}
    with psycopg.connect(site.url) as other, ThreadPoolExecutor(1) as pool:
        other.execute("lock table pgrag.versions in access exclusive mode")
        slow = pool.submit(ask, site.client, header)
        time.sleep(3 * SECONDS)
        assert not slow.done()
        [[running, _]] = site.connection.execute(USAGE, ["mixed"]).fetchall()
        assert running == 1
        other.rollback()
        assert slow.result() == 200


def test_a_service_that_ends_gives_back_what_it_holds(site):
    header = site.key("ending", rate=SLOW, burst=400)
    with serving(site.url, policy=KEYED) as other:
        for _ in range(20):
            assert ask(other, header) == 200
    running, full_in = site.connection.execute(USAGE, ["ending"]).fetchone()
    assert (running, round(full_in.total_seconds() * SLOW)) == (0, 20)


def test_what_is_not_used_comes_back(site):
    header = site.key("saving", rate=SLOW, burst=400)
    assert site.send(header, 60, at_once=3) == {200: 60}
    assert site.usage("saving", SLOW) == (0, 60)


def test_the_burst_is_used_to_the_last_request_and_no_further(site):
    header = site.key("bursting", rate=SLOW, burst=50)
    assert site.send(header, 120, at_once=4) == {200: 50, 429: 70}
    assert site.usage("bursting", SLOW) == (0, 50)


def test_services_share_the_burst_of_a_busy_key(site):
    header = site.key("shared", rate=SLOW, burst=100)
    with (
        serving(site.url, policy=KEYED) as other,
        ThreadPoolExecutor(4) as pool,
    ):
        clients = [site.client, other] * 40
        statuses = Counter(pool.map(lambda client: ask(client, header), clients))
        assert statuses == {200: 80}
        time.sleep(2 * SECONDS)
        statuses = Counter(pool.map(lambda client: ask(client, header), clients))
    # While one service holds some for its next requests, the other may be refused the last ones.
    assert 80 - 20 - 5 <= statuses[429] <= 80
    assert statuses[200] <= 20
    assert site.usage("shared", SLOW) == (0, 80 + statuses[200])


@pytest.mark.parametrize(("concurrency", "at_once"), [(1, 1), (2, 2), (3, 2), (4, 4), (10, 6)])
def test_as_many_requests_run_as_may(site, concurrency, at_once):
    """What is held for later must not stand in the way of the same client."""
    name = f"parallel-{concurrency}"
    header = site.key(name, rate=1000, concurrency=concurrency)
    assert site.send(header, 150, at_once=at_once) == {200: 150}
    assert site.usage(name, 1000)[0] == 0


def test_no_more_requests_run_than_may(site):
    header = site.key("crowded", rate=1000, concurrency=3)
    assert site.send(header, 60, at_once=1) == {200: 60}
    with psycopg.connect(site.url) as other, ThreadPoolExecutor(6) as pool:
        other.execute("lock table pgrag.versions in access exclusive mode")
        sent = [pool.submit(ask, site.client, header) for _ in range(6)]
        time.sleep(4 * SECONDS)
        assert sorted(each.result() for each in sent if each.done()) == [429] * 3
        other.rollback()
        assert Counter(each.result() for each in sent) == {200: 3, 429: 3}
    assert site.usage("crowded", 1000)[0] == 0


def test_a_busy_key_that_is_revoked_ends_within_moments(site):
    header = site.key("revoked", rate=1000)
    site.send(header, 40, at_once=2)
    site.connection.execute("select pgrag.revoke_key('revoked')")
    revoked_at = time.monotonic()
    statuses = []
    while time.monotonic() < revoked_at + 2 * SECONDS:
        sent_after = time.monotonic() - revoked_at
        statuses.append((sent_after, ask(site.client, header)))
    assert {status for after, status in statuses if after > SECONDS} == {401}
