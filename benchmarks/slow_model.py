"""A slow fake language model: `python -m benchmarks.slow_model SECONDS` prints its port.

GET /figures returns the number of requests, the maximum concurrency, and their total seconds.
"""

from __future__ import annotations

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

_SENTENCE = "What this passage says about the machine that its page is about, in one sentence."


class _Server(ThreadingHTTPServer):
    request_queue_size = 128

    def __init__(self, seconds: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seconds = seconds
        self.lock = Lock()
        self.requests = self.running = self.most_at_once = 0
        self.busy = 0.0


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        server = self.server
        self._send(
            "application/json",
            json.dumps(
                {
                    "requests": server.requests,
                    "most_at_once": server.most_at_once,
                    "busy": server.busy,
                }
            ),
        )

    def do_POST(self) -> None:
        server = self.server
        self.rfile.read(int(self.headers["Content-Length"]))
        started = time.monotonic()
        with server.lock:
            server.requests += 1
            server.running += 1
            server.most_at_once = max(server.most_at_once, server.running)
        time.sleep(server.seconds)
        choices = [
            {"index": 0, "delta": {"content": _SENTENCE}, "finish_reason": None},
            {"index": 0, "delta": {}, "finish_reason": "stop"},
        ]
        events = [
            json.dumps({"object": "chat.completion.chunk", "choices": [choice]})
            for choice in choices
        ]
        with server.lock:
            server.running -= 1
            server.busy += time.monotonic() - started
        self._send(
            "text/event-stream", "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"])
        )

    def _send(self, kind: str, text: str) -> None:
        raw = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        """Suppress the request log."""


if __name__ == "__main__":
    with _Server(float(sys.argv[1])) as server:
        print(server.server_port, flush=True)
        server.serve_forever()
