"""Connections that send a request slowly, or not to its end."""

import json
import socket
import time
from contextlib import suppress

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


def test_connections_are_limited(database_url):
    with mcp_service(database_url, connection_limit=5) as service:
        clients = [connected(service) for _ in range(5)]
        eventually(lambda: service.http.get("/healthz").status_code == 503)
        for client in clients:
            client.close()
        eventually(lambda: service.http.get("/healthz").status_code == 200)
