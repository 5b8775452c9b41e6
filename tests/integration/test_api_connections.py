"""Connections that send a request slowly, or not to its end."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from mcp_service import Service, eventually, mcp_service

HEAD = (
    b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 17\r\n\r\n"
)
BODY = b'{"query": "rope"}'


@pytest.fixture
def service(database_url):
    with mcp_service(database_url, request_timeout=1) as service:
        yield service


def connected(service: Service) -> socket.socket:
    url = service.http.base_url
    return socket.create_connection((url.host, url.port), timeout=60)


def received(client: socket.socket) -> bytes:
    """Everything until the service closes the connection."""
    pieces = []
    while piece := client.recv(65536):
        pieces.append(piece)
    return b"".join(pieces)


@pytest.mark.parametrize(
    "part",
    [b"GET /healthz HT", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ", HEAD, HEAD + b"{"],
    ids=["line", "headers", "no body", "half a body"],
)
def test_half_a_request_is_given_up(service, part):
    with connected(service) as client:
        client.sendall(part)
        head, _, body = received(client).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    told = json.loads(body)
    assert (told["type"], told["status"]) == ("/problems/request-timeout", 408)


def test_a_request_of_drops_is_given_up(service):
    with connected(service) as client:
        client.sendall(HEAD)
        with suppress(ConnectionError):
            for byte in BODY:
                client.sendall(bytes([byte]))
                time.sleep(0.1)
            answer = client.recv(65536)
            assert answer.startswith(b"HTTP/1.1 408 ")


def test_a_connection_without_a_request_is_closed(service):
    with connected(service) as client:
        assert received(client) == b""


# A machine that stalls for a second at the wrong moment is a client that is too slow.
@pytest.mark.flaky(reruns=1)
def test_the_second_request_of_a_connection_has_its_own_time(database_url):
    with mcp_service(database_url, request_timeout=2) as service, connected(service) as client:
        for _ in range(3):
            client.sendall(HEAD)
            time.sleep(0.8)
            client.sendall(BODY)
            answer = b""
            while b"hits" not in answer:
                answer += client.recv(65536)
            assert answer.startswith(b"HTTP/1.1 200 "), answer
        client.sendall(b"GET /hea")
        assert received(client).startswith(b"HTTP/1.1 408 ")


def test_three_hundred_half_sent_bodies_leave_nothing(service):
    assert service.http.get("/healthz").status_code == 200
    calm = service.tasks
    clients = []
    for _ in range(300):
        clients.append(connected(service))
        clients[-1].sendall(HEAD + b'{"que')
    assert service.http.get("/healthz").status_code == 200
    for client in clients:
        assert received(client).startswith(b"HTTP/1.1 408 ")
        client.close()
    eventually(lambda: service.tasks <= calm)


def test_a_slow_answer_is_not_cut_short(service):
    """The time is for the request alone."""
    with connected(service) as client:
        client.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(1.5)
        assert client.recv(65536).startswith(b"HTTP/1.1 200 ")


def asked(service: Service, request: bytes, address: str = "127.0.0.1") -> tuple[int, dict]:
    """Status and JSON of a request from an address of this machine, until the end."""
    url = service.http.base_url
    client = socket.create_connection((url.host, url.port), 60, (address, 0))
    with client:
        client.sendall(request)
        head, _, body = received(client).partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


PROBE = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
READ = PROBE.replace(b"/healthz", b"/v1/libraries")
HALVES = [b"", b"GET", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ", HEAD, HEAD + b"{"]


@pytest.mark.parametrize("half", HALVES, ids=["nothing", "a word", "headers", "no body", "a body"])
def test_who_sends_half_a_request_keeps_nobody_out(database_url, half):
    with mcp_service(database_url, connection_limit=20, request_timeout=60) as service:
        clients = [connected(service) for _ in range(70)]
        for client in clients:
            with suppress(ConnectionError):
                client.sendall(half)
        for address in ("127.0.0.1", "127.0.0.2"):
            assert asked(service, PROBE, address) == (200, {"status": "ok"})
            assert asked(service, READ, address)[0] == 200
        assert len(service.connections) <= 10, "one address has half of the connections"
        for client in clients:
            client.close()


@contextmanager
def working(service: Service, connection, count: int) -> Iterator[None]:
    """Connections whose requests are at work: they wait for a table."""
    search = READ.replace(b"/v1/libraries", b"/v1/search?q=buoy")
    connection.execute("begin")
    connection.execute("lock table pgrag.documents in access exclusive mode")
    clients = [connected(service) for _ in range(count)]
    for client in clients:
        client.sendall(search)
    eventually(lambda: len(service.connections) == count)
    yield
    connection.execute("rollback")
    for client in clients:
        assert received(client).startswith(b"HTTP/1.1 200 ")
        client.close()


def test_a_full_service_refuses_and_is_probed(database_url, connection):
    limits = {"connection_limit": 6, "connections_per_address": 6, "lock_timeout": 60}
    with mcp_service(database_url, **limits) as service:
        with working(service, connection, 6):
            for _ in range(3):
                assert asked(service, PROBE) == (200, {"status": "ok"})
                status, told = asked(service, READ, "127.0.0.2")
                assert (status, told["type"]) == (503, "/problems/too-many-connections")
        assert asked(service, READ)[0] == 200


def test_one_address_leaves_half_of_the_connections(database_url, connection):
    with mcp_service(database_url, connection_limit=6, lock_timeout=60) as service:
        with working(service, connection, 3):
            assert asked(service, PROBE) == (200, {"status": "ok"})
            status, told = asked(service, READ)
            assert (status, told["type"]) == (429, "/problems/too-many-requests")
            assert "3 connections" in told["detail"]
            assert asked(service, READ, "127.0.0.2")[0] == 200
        assert asked(service, READ)[0] == 200


def test_a_proxy_may_have_all_connections(database_url, connection):
    settings = {"connection_limit": 6, "lock_timeout": 60}
    proxies = {"forwarded_allow_ips": "10.0.0.0/8,127.0.0.1"}
    with (
        mcp_service(database_url, **settings, **proxies) as service,
        working(service, connection, 5),
    ):
        # What needs no turn.
        assert asked(service, READ.replace(b"/v1/libraries", b"/openapi.json"))[0] == 200


def test_who_does_not_read_answers_is_given_up(database_url):
    # More than the buffers of the system take.
    request = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 40
    with mcp_service(database_url, request_timeout=1) as service:
        url = service.http.base_url
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect((url.host, url.port))
        client.sendall(request)
        eventually(lambda: len(service.connections) == 1)
        eventually(lambda: len(service.connections) == 0)
        client.close()
