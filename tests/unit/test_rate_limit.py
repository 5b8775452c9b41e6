"""How often a client may ask, by a clock that the tests turn."""

import pytest

from pgrag.api.limits import TokenBuckets, client_of


class Clock:
    def __init__(self):
        self.now = 1_000_000.1

    def __call__(self):
        return self.now


def drawn(buckets, times, client="a"):
    return [buckets.draw(client).is_allowed for _ in range(times)]


def test_a_burst_then_the_rate():
    clock = Clock()
    buckets = TokenBuckets(60, 5, clock=clock)
    assert [buckets.draw("a").remaining for _ in range(5)] == [4, 3, 2, 1, 0]
    refused = buckets.draw("a")
    assert not refused.is_allowed
    assert refused.remaining == 0
    assert refused.wait == pytest.approx(1)
    assert refused.full_in == pytest.approx(5)
    assert drawn(buckets, 1, "b") == [True], "each client has a bucket of its own"
    clock.now += refused.wait
    assert drawn(buckets, 3) == [True, False, False], "a refused request costs nothing"
    clock.now += 0.999
    assert drawn(buckets, 1) == [False]
    clock.now += 1000
    assert drawn(buckets, 7) == [True] * 5 + [False] * 2, "never more than the burst"
    assert [TokenBuckets(rate).burst for rate in (1, 6, 7, 120)] == [1, 1, 2, 20]
    for rate, burst in [(1, None), (7, 3), (100, None), (450, 97)]:
        clock = Clock()
        buckets = TokenBuckets(rate, burst, clock=clock)
        through = 0
        for _ in range(9_000):
            through += buckets.draw("a").is_allowed
            clock.now += 0.1
        assert through == pytest.approx(15 * rate + buckets.burst, abs=1)


def test_waiting_as_told_is_enough_and_full_buckets_are_forgotten():
    clock = Clock()
    buckets = TokenBuckets(7, 3, clock=clock)
    for _ in range(500):
        verdict = buckets.draw("a")
        while verdict.is_allowed:
            assert verdict.remaining or verdict.wait > 0
            verdict = buckets.draw("a")
        clock.now += verdict.wait
        assert buckets.draw("a").is_allowed
    clock = Clock()
    buckets = TokenBuckets(60, 2, clock=clock, most_clients=100)
    for number in range(1000):
        buckets.draw(f"hasty {number}")
    assert len(buckets) == 100
    assert drawn(buckets, 2, "hasty 999") == [True, False], "the newest are remembered"
    for number in range(1000):
        buckets.draw(f"calm {number}")
        clock.now += 1
    assert len(buckets) <= 2


@pytest.mark.parametrize(("peer", "client"), [
    (("192.0.2.7", 4711), "192.0.2.7"),
    (("::ffff:192.0.2.7", 4711), "192.0.2.7"),
    (("2001:db8:1:2:3:4:5:6", 4711), "2001:db8:1:2::/64"),
    (("2001:db8:1:2::9", 0), "2001:db8:1:2::/64"),
    (("fe80::1%eth0", 0), "fe80::/64"),
    (("testclient", 50000), "testclient"),
    (("x" * 10_000, 0), "x" * 64),
    (None, ""),
])  # fmt: skip
def test_who_is_a_client(peer, client):
    assert client_of({"type": "http", "client": peer}) == client
