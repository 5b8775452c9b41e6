"""HTTP/1.1 on the wire: what RFC 9110 and RFC 9112 say of requests, beside what h11 lets pass."""

import json
import re
import socket

import pytest
from mcp_service import mcp_service

HOST = b"Host: localhost\r\n"
GET = b"GET /healthz HTTP/1.1\r\n" + HOST
POST = b"POST /v1/search HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
BODY = b'{"query": "rope"}'
#: A second request, which must not be answered after one that is refused.
NEXT = GET + b"\r\n"


@pytest.fixture(scope="module")
def service(clone):
    with clone() as url, mcp_service(url) as service:
        yield service


def exchanged(service, *parts: bytes) -> bytes:
    """What the service answers until it closes, which `Connection: close` asks for."""
    url = service.http.base_url
    with socket.create_connection((url.host, url.port), timeout=60) as client:
        for part in parts:
            client.sendall(part)
        pieces = []
        while piece := client.recv(65536):
            pieces.append(piece)
    return b"".join(pieces)


def statuses(answer: bytes) -> list[int]:
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", answer)]


REFUSED = {
    "both lengths": (
        400, POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ),
    "both lengths, other order": (
        400, POST + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"
    ),
    "two lengths": (400, POST + b"Content-Length: 17\r\nContent-Length: 3\r\n\r\n" + BODY),
    "the same length twice": (400, POST + b"Content-Length: 17\r\n" * 2 + b"\r\n" + BODY),
    "a list of lengths": (400, POST + b"Content-Length: 17, 17\r\n\r\n" + BODY),
    "a length with a sign": (400, POST + b"Content-Length: +17\r\n\r\n" + BODY),
    "a length with an underscore": (400, POST + b"Content-Length: 1_7\r\n\r\n" + BODY),
    "a length in other digits": (400, POST + "Content-Length: １７\r\n\r\n".encode() + BODY),
    "an endless length": (400, POST + b"Content-Length: " + b"9" * 40 + b"\r\n\r\n"),
    "no length": (400, POST + b"Content-Length:\r\n\r\n"),
    "a coding that is not read": (501, POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n"),
    "chunked is not last": (400, POST + b"Transfer-Encoding: chunked, gzip\r\n\r\n"),
    "chunked twice": (400, POST + b"Transfer-Encoding: chunked\r\n" * 2 + b"\r\n0\r\n\r\n"),
    "chunked in vertical tabs": (400, POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n"),
    "no coding": (400, POST + b"Transfer-Encoding:\r\n\r\n"),
    "chunked in 1.0": (
        400, CHUNKED.replace(b"1.1", b"1.0") + b"11\r\n" + BODY + b"\r\n0\r\n\r\n"
    ),
    "a folded header": (400, GET + b"X-Note: one\r\n two\r\n\r\n"),
    "a folded coding": (400, POST + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"),
    "a blank before the colon": (400, GET + b"X-Note : one\r\n\r\n"),
    "no colon": (400, GET + b"X-Note\r\n\r\n"),
    "a bare LF": (400, GET.replace(b"\r\n", b"\n") + b"\n"),
    "one bare LF": (400, GET + b"X-Note: one\n\r\n"),
    "a bare CR in a header": (400, GET + b"X-Note: one\rtwo: 3\r\n\r\n"),
    "a bare CR for a line": (400, b"GET /healthz HTTP/1.1\r" + HOST + b"\r\n"),
    "NUL": (400, GET + b"X-Note: o\0ne\r\n\r\n"),
    "a size with a blank": (400, CHUNKED + b"11 \r\n" + BODY + b"\r\n0\r\n\r\n"),
    "a size with a prefix": (400, CHUNKED + b"0x11\r\n" + BODY + b"\r\n0\r\n\r\n"),
    "a size with a sign": (400, CHUNKED + b"+11\r\n" + BODY + b"\r\n0\r\n\r\n"),
    "a size that overflows": (400, CHUNKED + b"1" + b"0" * 17 + b"\r\n" + BODY),
    "an extension without a name": (400, CHUNKED + b"11;\r\n" + BODY + b"\r\n0\r\n\r\n"),
    "an extension with a bare CR": (400, CHUNKED + b"11;a\rb\r\n" + BODY + b"\r\n0\r\n\r\n"),
    "an extension with a bare LF": (400, CHUNKED + b"11;a\nb\r\n" + BODY + b"\r\n0\r\n\r\n"),
    "an endless extension": (400, CHUNKED + b"11;a=" + b"b" * 9000 + b"\r\n" + BODY),
    "a chunk that is longer": (400, CHUNKED + b"5\r\n" + BODY + b"\r\n0\r\n\r\n"),
    "a trailer with a bare LF": (
        400, CHUNKED + b"11\r\n" + BODY + b"\r\n0\r\nX-Note: one\n\r\n"
    ),
    "no host": (400, b"GET /healthz HTTP/1.1\r\n\r\n"),
    "no host in 1.2": (400, b"GET /healthz HTTP/1.2\r\n\r\n"),
    "two hosts": (400, GET + HOST + b"\r\n"),
    "an empty host": (400, b"GET /healthz HTTP/1.1\r\nHost:\r\n\r\n"),
    "a list of hosts": (400, b"GET /healthz HTTP/1.1\r\nHost: localhost, localhost\r\n\r\n"),
    "a host with a user": (400, b"GET /healthz HTTP/1.1\r\nHost: a@localhost\r\n\r\n"),
    "a host with a path": (400, b"GET /healthz HTTP/1.1\r\nHost: localhost/x\r\n\r\n"),
    "a word for a port": (400, b"GET /healthz HTTP/1.1\r\nHost: localhost:http\r\n\r\n"),
    "a fragment": (400, b"GET /healthz#x HTTP/1.1\r\n" + HOST + b"\r\n"),
    "no slash": (400, b"GET healthz HTTP/1.1\r\n" + HOST + b"\r\n"),
    "another scheme": (400, b"GET ftp://localhost/healthz HTTP/1.1\r\n" + HOST + b"\r\n"),
    "a star for GET": (400, b"GET * HTTP/1.1\r\n" + HOST + b"\r\n"),
    "a tunnel": (501, b"CONNECT localhost:443 HTTP/1.1\r\n" + HOST + b"\r\n"),
    "an unknown method": (501, b"BREW /healthz HTTP/1.1\r\n" + HOST + b"\r\n"),
    "a method in small letters": (501, b"get /healthz HTTP/1.1\r\n" + HOST + b"\r\n"),
    "HTTP/2": (505, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "HTTP/0.9": (505, b"GET /healthz HTTP/0.9\r\n" + HOST + b"\r\n"),
    "a long address": (414, b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n"),
    "a long header": (431, GET + b"X-Note: " + b"a" * 100_000 + b"\r\n\r\n"),
    "many headers": (431, GET + b"X-Note: one\r\n" * 20_000 + b"\r\n"),
}  # fmt: skip


@pytest.mark.parametrize(("status", "request_"), REFUSED.values(), ids=REFUSED)
def test_a_request_of_two_readings_is_refused_and_the_connection_closed(service, status, request_):
    answer = exchanged(service, request_, NEXT)
    assert statuses(answer) == [status], answer
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"\r\nConnection: close" in head
    assert b"\r\nDate: " in head
    assert b"\r\nX-Request-Id: " in head
    told = json.loads(body)
    assert "bytearray" not in told["detail"]
    assert told["status"] == status
    assert told["detail"].endswith(".")


CLOSE = b"Connection: close\r\n"
ACCEPTED = {
    "an empty line before": (200, b"\r\n" + GET + CLOSE + b"\r\n"),
    "an absolute address": (
        200, b"GET http://localhost:80/healthz HTTP/1.1\r\nHost: elsewhere\r\n" + CLOSE + b"\r\n"
    ),
    "a star": (204, b"OPTIONS * HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n"),
    "1.0 without host": (200, b"GET /healthz HTTP/1.0\r\n\r\n"),
    "1.2": (200, GET.replace(b"1.1", b"1.2") + CLOSE + b"\r\n"),
    "an address of IPv6": (200, GET.replace(b"localhost", b"[::1]:8000") + CLOSE + b"\r\n"),
    "tabs around values": (200, GET + b"Connection:\tclose\t\r\n\r\n"),
    "an upgrade": (200, GET + b"Upgrade: h2c\r\nConnection: Upgrade, close\r\n\r\n"),
    "a range": (200, GET + b"Range: bytes=0-1\r\nIf-Match: x\r\n" + CLOSE + b"\r\n"),
    "a body of GET": (200, GET + CLOSE + b"Content-Length: 3\r\n\r\nabc"),
    "another method": (405, b"TRACE /healthz HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n"),
    "chunks": (
        200,
        CHUNKED.replace(b"\r\n\r\n", b"\r\n" + CLOSE + b"\r\n")
        + b'A;a;b=c; d="e \\" f"\r\n' + BODY[:10] + b"\r\n7\r\n" + BODY[10:]
        + b"\r\n0\r\nContent-Length: 3\r\n\r\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("status", "request_"), ACCEPTED.values(), ids=ACCEPTED)
def test_what_the_rfc_lets_pass_is_answered(service, status, request_):
    answer = exchanged(service, request_)
    assert statuses(answer) == [status], answer
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"\r\ndate: " in head.lower()
    if status == 204:
        assert body == b""
        assert b"content-length" not in head.lower()
        assert b"allow: " in head.lower()


def test_requests_in_one_packet_are_answered_in_order(service):
    head = GET.replace(b"GET", b"HEAD") + b"\r\n"
    missing = b"GET /nothing HTTP/1.1\r\n" + HOST + b"\r\n"
    answer = exchanged(service, GET + b"\r\n" + head + missing + GET + CLOSE + b"\r\n")
    assert statuses(answer) == [200, 200, 404, 200]


def test_a_body_is_asked_for_only_if_it_is_read(service):
    expecting = POST + CLOSE + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n"
    assert statuses(exchanged(service, expecting % len(BODY), BODY)) == [100, 200]
    assert statuses(exchanged(service, expecting % 1_500_000)) == [413]


ONCE = [
    "Authorization", "Origin", "Content-Type", "X-Request-Id", "MCP-Protocol-Version", "Range",
    "Sec-Fetch-Site", "If-Modified-Since", "User-Agent", "Access-Control-Request-Method",
]  # fmt: skip


@pytest.mark.parametrize("name", ONCE)
@pytest.mark.parametrize("values", [(b"a", b"b"), (b"a", b"a")], ids=["different", "same"])
def test_a_header_of_one_value_is_given_once(service, name, values):
    sent = b"".join(b"%b: %b\r\n" % (each, value) for each, value in zip(
        (name.encode(), name.upper().encode()), values, strict=True
    ))  # fmt: skip
    for line in (b"GET /healthz", b"POST /mcp", b"PUT /v1/libraries/a"):
        answer = exchanged(service, line + b" HTTP/1.1\r\n" + HOST + CLOSE + sent + b"\r\n")
        assert statuses(answer) == [400]
        told = json.loads(answer.partition(b"\r\n\r\n")[2])
        assert told["type"] == "/problems/unreadable-request"
        assert name.lower() in told["detail"].lower()


def test_a_header_with_a_list_may_be_repeated(service):
    lists = b"Accept: a/b\r\nX-Forwarded-For: 10.0.0.1\r\n" * 2
    assert statuses(exchanged(service, GET + CLOSE + lists + b"\r\n")) == [200]
