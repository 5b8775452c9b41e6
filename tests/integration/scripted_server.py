"""An HTTP server on loopback that answers POST requests as its script says.

A behaviour takes the handler and the request's JSON. Those of a script are used up from its front;
the last one stays.
"""

import json
import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behaviour = Callable[["Handler", dict], None]


def status(code: int, body: object = None, **headers: str) -> Behaviour:
    """Refuse with a status."""
    return lambda handler, _: handler.reply(code, body or {"error": {"message": "no"}}, **headers)


def drop(handler: "Handler", _: dict) -> None:
    """Close the connection without a word."""
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def hang(handler: "Handler", _: dict) -> None:
    """Say nothing until the client goes away, or the server is over; `server.left` tells."""
    handler.wait_for_the_end()


def garbage(handler: "Handler", _: dict) -> None:
    """Answer with a page of HTML."""
    handler.reply(200, b"<html>Welcome to nginx</html>")


class Handler(BaseHTTPRequestHandler):
    """One connection; its server says what it answers."""

    protocol_version = "HTTP/1.1"
    server: "Server"

    def do_GET(self) -> None:
        if self.path.endswith("/models") and self.server.models is not None:
            data = [{"id": name, "object": "model"} for name in self.server.models]
            self.reply(200, {"object": "list", "data": data})
        else:
            self.reply(404, {"error": {"message": "not found"}})

    def do_POST(self) -> None:
        payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.path.partition("?")[0].endswith(self.server.path):
            self.reply(404, {"error": {"message": "not found"}})
            return
        with self.server.lock:
            self.server.requests.append((self.path, dict(self.headers), payload))
            script = self.server.script
            behaviour = script.pop(0) if len(script) > 1 else script[0]
            self.server.running += 1
            self.server.unanswered += 1
            self.server.most_at_once = max(self.server.most_at_once, self.server.unanswered)
        try:
            self.server.over.wait(self.server.delay)
            # Whoever has its answer may ask again before this thread has come to its end.
            with self.server.lock:
                self.server.unanswered -= 1
            behaviour(self, payload)
        finally:
            with self.server.lock:
                self.server.running -= 1

    def reply(self, code: int, content: object, **headers: str) -> None:
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def begin_stream(self, *, chunked: bool = True) -> None:
        self._chunked = chunked
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header(*(("Transfer-Encoding", "chunked") if chunked else ("X-Until", "closed")))
        self.end_headers()

    def event(self, data: object) -> None:
        text = data if isinstance(data, str) else json.dumps(data)
        self.write(f"data: {text}\n\n".encode())

    def write(self, raw: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(raw), raw) if self._chunked else raw)

    def end_stream(self) -> None:
        if self._chunked:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def wait_for_the_end(self) -> None:
        self.server.hanging.set()
        while not self.has_left(seconds=0.01):
            pass

    def has_left(self, *, seconds: float) -> bool:
        """Whether the client goes away within a time, or the server is over."""
        self.close_connection = True
        # Nobody sends more than a request: what can be read is the end of the connection.
        readable, _, _ = select.select([self.connection], [], [], seconds)
        if readable:
            self.server.left.set()
        return bool(readable) or self.server.over.is_set()

    def log_message(self, *_: object) -> None:
        """Keep the tests' output clean."""


class Server(ThreadingHTTPServer):
    """`requests`: path, headers and JSON of what was asked; `running`: how many are worked on.

    `hanging` is set when a request begins to hang, `left` when a client left one without an end.
    `models`: what GET /models lists; None: it is not there. `delay`: seconds before each answer.
    A POST to a path that does not end with `path` is not found.
    """

    def __init__(self, *script: Behaviour, path: str = "", models: list[str] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.path, self.models = path, models
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.hanging = threading.Event()
        self.left = threading.Event()
        self.script = list(script)
        self.requests: list[tuple[str, dict, dict]] = []
        self.running = self.unanswered = self.most_at_once = 0
        self.delay = 0.0
        self.url = f"http://127.0.0.1:{self.server_port}/v1"

    @property
    def payloads(self) -> list[dict]:
        """The JSON of the requests so far."""
        return [payload for _, _, payload in self.requests]

    def handle_error(self, *_: object) -> None:
        """Clients that go away are part of the tests."""


@contextmanager
def serving(*script: Behaviour, **settings: Any) -> Iterator[Server]:
    """A server with this script, until the end of the block."""
    with Server(*script, **settings) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            thread.join()
