"""Clients that go away in every stage of a request leave no traceback and no work."""

import logging
import socket
import struct

import llm_server
import pytest
from api_corpus import indexed
from llm_server import talk_on
from mcp_service import eventually, mcp_service

JSON = "Content-Type: application/json\r\n"
FORM = "Content-Type: multipart/form-data; boundary=x\r\n"
CALL = (
    '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search_docs",'
    ' "arguments": {"library": "harbour", "query": "tide"}}}'
)
INDEX = (
    '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "index_source",'
    ' "arguments": {"library": "gone", "source": "/nowhere"}, "_meta": {"progressToken": 1}}}'
)
QUESTION = '{"question": "When is the tide largest?", "library": "harbour", "stream": true}'
AGENT = f"{JSON}Accept: application/json, text/event-stream\r\n"
OF_VERSION = "/v1/libraries/gone/versions/1"

REQUESTS = {
    "a search": ("POST", "/v1/search", JSON, '{"query": "tide", "library": "harbour"}'),
    "a page": ("PUT", f"{OF_VERSION}/pages/a.md", "Content-Type: text/markdown\r\n", "# A\n" * 99),
    "pages": (
        "POST", f"{OF_VERSION}/pages", "Content-Type: application/x-ndjson\r\n",
        '{"key": "a.md", "content": "# A"}\n' * 9,
    ),
    "an upload": (
        "POST", f"{OF_VERSION}/upload?name=a.md", "Content-Type: application/octet-stream\r\n",
        "# A\n" * 999,
    ),
    "an upload without a name": ("POST", f"{OF_VERSION}/upload", "", "# A\n" * 999),
    "a form": (
        "POST", f"{OF_VERSION}/upload", FORM,
        '--x\r\nContent-Disposition: form-data; name="file"; filename="a.md"\r\n\r\n# A\r\n--x--',
    ),
    "an answer": ("POST", "/v1/answer", JSON, QUESTION),
    "an agent's call": ("POST", "/mcp", AGENT, CALL),
    "an agent's indexing": ("POST", "/mcp", AGENT, INDEX),
    "a list": ("GET", "/v1/search?q=tide&top_k=100", "", ""),
}  # fmt: skip
#: Which part of the request is sent, and whether the first bytes of the answer are read.
STAGES = {
    "half of the headers": (0.02, False),
    "the headers": (None, False),
    "half of the body": (0.9, False),
    "all": (1.0, False),
    "all, and reads a byte": (1.0, True),
}


class Seen(logging.Handler):
    """Keeps whatever is logged, at any level."""

    def __init__(self):
        super().__init__()
        self.texts = []

    def emit(self, record):
        self.texts.append(logging.Formatter("%(levelname)s %(message)s").format(record))


@pytest.fixture
def seen():
    handler = Seen()
    loggers = [logging.getLogger(name) for name in ("", "uvicorn", "uvicorn.error", "pgrag")]
    for each in loggers:
        each.addHandler(handler)
    yield handler
    for each in loggers:
        each.removeHandler(handler)


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "streams"])
def service(request, clone, tmp_path_factory):
    """A service of its own database: some requests are done although nobody waits."""
    with (
        clone() as url,
        llm_server.serving() as server,
        mcp_service(
            indexed(url, tmp_path_factory.mktemp("harbour")),
            llm_url=server.url, llm_model="small-chat", llm_retries=0,
            mcp_writes=request.param, mcp_roots=("/nowhere",),
        ) as service,
    ):  # fmt: skip
        service.llm = server
        assert service.post("tools/list").status_code == 200
        yield service


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("what", REQUESTS)
@pytest.mark.parametrize("is_abrupt", [False, True], ids=["closes", "resets"])
def test_who_goes_away_leaves_no_traceback(service, seen, what, stage, is_abrupt):
    method, path, headers, body = REQUESTS[what]
    service.llm.script = [talk_on("The tide is high. ")] * 9
    calm = service.tasks
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}"
    head += f"Content-Length: {len(body)}\r\n\r\n" if body else "\r\n"
    share, reads = STAGES[stage]
    sent = (head + body)[: len(head) if share is None else int(share * len(head + body))]
    url = service.http.base_url
    for _ in range(3):
        client = socket.create_connection((url.host, url.port), timeout=60)
        client.sendall(sent.encode())
        if reads:
            client.recv(1)
        if is_abrupt:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
    assert service.http.get("/healthz").status_code == 200
    eventually(lambda: service.tasks <= calm)
    assert [text for text in seen.texts if "Traceback" in text or "ERROR" in text] == []
