"""An embedding server on loopback that behaves as its script says."""

import json
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Behaviour = Callable[["Handler", dict], None]


def vector(text: str) -> list[float]:
    return [float(len(text)), float(ord(text[0])), 1.0]


def answer(handler: "Handler", payload: dict) -> None:
    """Answer well, but in reverse: the order is in the indexes."""
    data = [
        {"object": "embedding", "index": index, "embedding": vector(text)}
        for index, text in enumerate(payload["input"])
    ]
    handler.reply(200, {"object": "list", "data": data[::-1], "model": payload["model"]})


def data(*items: object) -> Behaviour:
    return lambda handler, _: handler.reply(200, {"data": list(items)})


def status(code: int, body: object = None, **headers: str) -> Behaviour:
    return lambda handler, _: handler.reply(code, body or {"error": {"message": "no"}}, **headers)


def drop(handler: "Handler", _: dict) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


def break_off(handler: "Handler", _: dict) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')
    handler.close_connection = True


def hang(handler: "Handler", _: dict) -> None:
    handler.server.over.wait(120)
    handler.close_connection = True


def garbage(handler: "Handler", _: dict) -> None:
    handler.reply(200, b"<html>Welcome to nginx</html>")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "Server"

    def do_POST(self) -> None:
        payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.requests.append((self.path, dict(self.headers), payload))
            script = self.server.script
            behaviour = script.pop(0) if len(script) > 1 else script[0]
            self.server.running += 1
            self.server.most_at_once = max(self.server.most_at_once, self.server.running)
        time.sleep(self.server.delay)
        with self.server.lock:
            self.server.running -= 1
        behaviour(self, payload)

    def reply(self, code: int, body: object, **headers: str) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Keep the tests' output clean."""


class Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.script: list[Behaviour] = [answer]
        self.requests: list[tuple[str, dict, dict]] = []
        self.running = self.most_at_once = 0
        self.delay = 0.0
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
