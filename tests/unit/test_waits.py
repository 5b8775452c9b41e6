"""Waits for a database end, and are told; a server that has crashed is started once for all."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from psycopg.conninfo import conninfo_to_dict

from pgrag.ground import callers, waits
from pgrag.ground.embedded.revival import Revival
from pgrag.ground.errors import DatabaseDown, DatabaseUnavailable


def test_a_cut_network_ends_a_session_unless_the_url_says_otherwise(monkeypatch):
    """A network that is cut sends nothing, so that nothing else ends the session."""
    monkeypatch.delenv("PGCONNECT_TIMEOUT", raising=False)
    usual = conninfo_to_dict(waits.bounded("postgresql://a@db.example/pgrag"))
    probing = sum(int(usual[name]) * times for name, times in (
        ("keepalives_idle", 1), ("keepalives_interval", int(usual["keepalives_count"])),
    ))  # fmt: skip
    assert 0 < probing <= 15
    assert 0 < int(usual["tcp_user_timeout"]) <= 15_000
    assert 0 < int(usual["connect_timeout"]) <= 15
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "3")
    own = waits.bounded("postgresql://a@db.example/pgrag?tcp_user_timeout=90000")
    assert conninfo_to_dict(own)["tcp_user_timeout"] == "90000"
    assert conninfo_to_dict(own)["connect_timeout"] == "3"


class Crashed:
    """A server whose start lasts until it is allowed, and then perhaps fails."""

    def __init__(self, error=None):
        self.starts, self.allowed, self.error = 0, Event(), error

    def has_crashed(self):
        return True

    def revive(self):
        self.starts += 1
        assert self.allowed.wait(60)
        if self.error:
            raise self.error
        return True


def test_all_threads_share_one_start_and_its_failure():
    server = Crashed(DatabaseDown("The disk is full.", hint="Free space."))
    revival = Revival(server)

    def attempt():
        with pytest.raises(DatabaseDown, match="The disk is full") as caught:
            revival()
        return caught.value

    with ThreadPoolExecutor(4) as threads:
        told = [threads.submit(attempt) for _ in range(4)]
        server.allowed.set()
        assert len({id(each.result()) for each in told}) == 4
    attempt()
    assert server.starts == 1, "a failure of a moment ago is told again"


def test_a_request_does_not_wait_for_a_long_recovery_and_a_command_does():
    server = Crashed()
    revival = Revival(server)
    with (
        callers.working(callers.Work("read", 1, 1.0, 1.0)),
        pytest.raises(DatabaseUnavailable, match="starts again"),
    ):
        revival()
    server.allowed.set()
    assert revival() is True
    assert server.starts <= 2
