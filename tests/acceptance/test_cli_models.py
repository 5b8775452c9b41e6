"""Two embedding models side by side: one in the database, one behind an endpoint."""

from __future__ import annotations

import json
import re
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from command_line import CommandLine

MODEL = "words-32"
BUILTIN = "static-minilm-256"


class Endpoint(BaseHTTPRequestHandler):
    """Counts words into 32 places, and remembers the texts."""

    protocol_version = "HTTP/1.1"
    texts: list[str]

    def do_POST(self) -> None:
        payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.texts.extend(payload["input"])
        vectors = []
        for text in payload["input"]:
            vector = [0.0] * 32
            for word in re.findall(r"\w+", text.lower()):
                vector[zlib.crc32(word.encode()) % 32] += 1.0
            vectors.append(vector)
        data = [{"index": place, "embedding": vector} for place, vector in enumerate(vectors)]
        body = json.dumps({"data": data, "model": payload["model"]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def endpoint() -> Iterator[tuple[str, list[str]]]:
    """A server of the embeddings protocol: its address, and the texts that it was given."""
    handler = type("Handler", (Endpoint,), {"texts": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1", handler.texts
        finally:
            server.shutdown()
            thread.join()


def test_a_second_model_is_brought_in_used_missed_and_left(
    pgrag: CommandLine, kestrel: Path
) -> None:
    pgrag.run("index", "kestrel", kestrel / "2.0")
    with endpoint() as (url, texts):
        configured = pgrag.with_variables(
            PGRAG_EMBEDDING_URL=url,
            PGRAG_EMBEDDING_MODEL=MODEL,
            PGRAG_EMBEDDING_QUERY_PREFIX="query: ",
            PGRAG_EMBEDDING_RETRIES="0",
        )
        # What a library has been indexed with stays in use until somebody says otherwise.
        assert configured.json("index", "kestrel", kestrel / "2.0")["embedded"] == 0
        brought = configured.run("embed", "kestrel", "--model", MODEL, "--activate")
        assert f"12 texts of kestrel embedded by {MODEL}." in brought.out
        assert len(texts) >= 12

        [hit, *_] = configured.json("search", "restore one folder", "--semantic")
        assert hit["key"] == "guide/restore.md"
        assert texts[-1].startswith("query: ")

    unreachable = configured.run("search", "prune old copies", "-n", "1")
    assert "kestrel prune" in unreachable.out
    assert MODEL in unreachable.err or "endpoint" in unreachable.err.lower()
    told = pgrag.run("doctor", code=1)
    assert f"its model {MODEL} is not configured here" in told.out

    assert f"0 texts of kestrel embedded by {BUILTIN}." in (
        pgrag.run("embed", "kestrel", "--model", BUILTIN, "--activate").out
    )
    [hit, *_] = pgrag.json("search", "prune old copies", "--semantic")
    assert hit["heading"] == "kestrel prune"
