"""The OpenAI-compatible embedder against a real HTTP server on loopback, well-behaved and not."""

import email.utils
import logging
import socket
import threading
import time

import numpy as np
import pytest
from embedding_server import answer, break_off, data, drop, garbage, hang, serving, status, vector

from pgrag.ground.errors import EmbeddingError, SettingsError
from pgrag.models.embedding import OpenAIEmbedder

KEY = "sk-secret-0123456789"


@pytest.fixture
def server():
    with serving() as server:
        yield server


@pytest.fixture
def waits():
    return []


@pytest.fixture
def timeout():
    return 60


@pytest.fixture
def embedder(server, waits, timeout):
    with OpenAIEmbedder(
        url=server.url, model="tiny", api_key=KEY, timeout=timeout, retries=3, sleep=waits.append
    ) as embedder:
        yield embedder


def unit(*texts):
    vectors = np.array([vector(text) for text in texts])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_vectors_come_back_in_the_order_of_the_texts(server, embedder):
    texts = ["one", "two words", "three"]
    vectors = embedder.embed_documents(texts)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, unit(*texts), atol=1e-6)
    path, headers, payload = server.requests[0]
    assert path == "/v1/embeddings"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert payload == {"model": "tiny", "input": texts, "encoding_format": "float"}


def test_batches_run_at_once_but_not_too_many(server):
    texts = [f"{'x' * number} text" for number in range(95)]
    server.delay = 0.02
    with OpenAIEmbedder(url=server.url, model="tiny", batch_size=10, concurrency=3) as embedder:
        vectors = embedder.embed_documents(texts)
    np.testing.assert_allclose(vectors, unit(*texts), atol=1e-6)
    assert sorted(len(payload["input"]) for _, _, payload in server.requests) == [5] + [10] * 9
    assert 1 < server.most_at_once <= 3
    assert "Authorization" not in server.requests[0][1]


def test_prefixes_dimensions_and_parameters_of_the_address_are_sent(server):
    prefixes = {"query_prefix": "query: ", "document_prefix": "passage: "}
    with OpenAIEmbedder(url=server.url + "/", model="tiny", dimensions=3, **prefixes) as embedder:
        assert embedder.dimensions == 3
        assert not server.requests
        np.testing.assert_allclose(embedder.embed_query("a"), unit("query: a")[0], atol=1e-6)
        embedder.embed_documents(["a"])
    assert [payload["input"] for _, _, payload in server.requests] == [["query: a"], ["passage: a"]]
    assert all(payload["dimensions"] == 3 for _, _, payload in server.requests)
    assert server.requests[0][0] == "/v1/embeddings"
    for url in ("/?key=a/b/", "/embeddings?key=a/b/"):
        with OpenAIEmbedder(url=server.url + url, model="tiny") as embedder:
            embedder.embed_query("a")
            assert str(embedder._endpoint) == f"{server.url}/embeddings"
        assert server.requests[-1][0] == "/v1/embeddings?key=a/b/"


def test_dimensions_are_asked_for_when_not_given(server, embedder):
    assert embedder.dimensions == 3
    assert embedder.dimensions == 3
    assert len(server.requests) == 1


def test_blank_texts_are_not_sent(server, embedder):
    vectors = embedder.embed_documents(["", "a", " \n"])
    np.testing.assert_allclose(vectors, [[0, 0, 0], unit("a")[0], [0, 0, 0]], atol=1e-6)
    assert [payload["input"] for _, _, payload in server.requests] == [["a"]]
    assert not embedder.embed_query(" ").any()
    assert embedder.embed_documents([]).shape == (0, 3)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("failure", "timeout"),
    [(status(429), 60), (status(503), 60), (drop, 60), (break_off, 60), (hang, 2)],
)
def test_passing_failures_are_tried_again(server, embedder, waits, failure):
    server.script = [failure, failure, answer]
    np.testing.assert_allclose(embedder.embed_query("a"), unit("a")[0], atol=1e-6)
    assert len(server.requests) == 3
    assert 0.25 <= waits[0] <= 0.5 <= waits[1] <= 1.0


def test_wait_is_the_one_that_the_server_asks_for_but_not_an_hour(server, embedder, waits):
    server.script = [status(429, Retry_After="3600")]
    with pytest.raises(EmbeddingError, match="status 429, asking to wait 3600 s"):
        embedder.embed_query("a")
    assert not waits
    in_ten_seconds = email.utils.formatdate(time.time() + 10, usegmt=True)
    asked = [(429, "7"), (503, in_ten_seconds), (429, "soon")]
    server.script = [*(status(code, Retry_After=when) for code, when in asked), answer]
    embedder.embed_query("a")
    assert waits[0] == 7
    assert 5 <= waits[1] <= 10
    assert 1 <= waits[2] <= 2


def test_lasting_failure_ends_with_all_that_helps(server, embedder, waits):
    server.script = [status(500, {"error": "out of memory"})]
    with pytest.raises(EmbeddingError) as caught:
        embedder.embed_documents(["a"])
    for part in ("tiny", server.url + "/embeddings", "status 500", "out of memory", "4 attempts"):
        assert part in str(caught.value)
    assert len(server.requests) == 4
    assert len(waits) == 3


@pytest.mark.parametrize("timeout", [0.3])
def test_hanging_server_ends_in_a_timeout(server, embedder):
    server.script = [hang]
    with pytest.raises(EmbeddingError, match=r"did not answer within 0.3 s \(4 attempts\)"):
        embedder.embed_query("a")


def test_server_that_is_not_there():
    with socket.socket() as placeholder:
        placeholder.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{placeholder.getsockname()[1]}/v1"
        with (
            OpenAIEmbedder(url=url, model="tiny", retries=0) as embedder,
            pytest.raises(EmbeddingError, match=r"cannot be reached.*Check PGRAG_EMBEDDING_URL"),
        ):
            embedder.embed_query("a")


@pytest.mark.parametrize(("code", "hint"), [
    (400, "dimensions and the batch size"),
    (401, "PGRAG_EMBEDDING_API_KEY"),
    (404, "PGRAG_EMBEDDING_MODEL"),
    (413, "Lower the batch size"),
    (307, "own log"),
])  # fmt: skip
def test_refusals_are_final_and_say_what_to_do(server, embedder, code, hint):
    server.script = [status(code)]
    with pytest.raises(EmbeddingError, match=f"status {code}.*{hint}"):
        embedder.embed_query("a")
    assert len(server.requests) == 1


GOOD = {"index": 0, "embedding": [1.0, 2.0, 3.0]}


@pytest.mark.parametrize(("behaviour", "message"), [
    (garbage, "did not answer with JSON: '<html>Welcome to nginx"),
    (status(200, b"\xff\xfe"), "did not answer with JSON"),
    (status(200, ["no", "object"]), "no list of vectors with their indexes"),
    (status(200, {"error": "quota"}), "no list of vectors with their indexes"),
    (data("text"), "no list of vectors with their indexes"),
    (data({"embedding": [1.0]}), "no list of vectors with their indexes"),
    (data(), "holds 0 vectors for 1 texts"),
    (data(GOOD, {"index": 1, "embedding": [1.0]}), "holds 2 vectors for 1 texts"),
    (data(GOOD, GOOD), "holds 2 vectors for 1 texts"),
    (data(GOOD | {"index": 7}), "wrong indexes"),
    (data({"index": 0, "embedding": [1.0, 2.0]}), "vectors of 2 dimensions, not of 3"),
    (data({"index": 0, "embedding": []}), "vectors of 0 dimensions, not of 3"),
    (data({"index": 0, "embedding": None}), "no vectors but single numbers"),
    (data({"index": 0, "embedding": "AAAA"}), "not of numbers"),
    (data({"index": 0, "embedding": [1.0, [2.0], 3.0]}), "not of numbers"),
    (data({"index": 0, "embedding": [1.0, float("nan"), 3.0]}), "not finite"),
    (data({"index": 0, "embedding": [1.0, float("inf"), 3.0]}), "not finite"),
    (data({"index": 0, "embedding": [1.0, None, 3.0]}), "not finite"),
    (data({"index": 0, "embedding": [1e200, 1e200, 3.0]}), "not finite"),
    (data({"index": 0, "embedding": [0.0, 0.0, 0.0]}), "vector of zeros"),
])  # fmt: skip
def test_unusable_answers_are_refused_at_once(server, embedder, behaviour, message):
    embedder.embed_query("learn the dimensions")
    server.script = [behaviour]
    with pytest.raises(EmbeddingError, match="Model tiny: http://127.*" + message):
        embedder.embed_query("a")
    assert len(server.requests) == 2


def test_dimensions_and_batches_that_fail_fail_the_whole(server):
    with (
        OpenAIEmbedder(url=server.url, model="tiny", dimensions=256) as embedder,
        pytest.raises(EmbeddingError, match=r"3 dimensions, not of 256.*_DIMENSIONS"),
    ):
        embedder.embed_documents(["a"])
    server.script = [answer, status(400), answer]
    with (
        OpenAIEmbedder(url=server.url, model="tiny", batch_size=1, concurrency=1) as embedder,
        pytest.raises(EmbeddingError, match="status 400"),
    ):
        embedder.embed_documents([f"text {number}" for number in range(50)])
    assert len(server.requests) < 50


def test_keys_and_secrets_in_the_address_are_shown_nowhere(server, embedder, caplog):
    caplog.set_level(logging.DEBUG)
    embedder.embed_query("a")
    server.script = [status(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}})]
    with pytest.raises(EmbeddingError) as caught:
        embedder.embed_query("a")
    assert "Incorrect API key provided: ***" in str(caught.value)
    for shown in (str(caught.value), repr(caught.value), repr(embedder), caplog.text):
        assert KEY not in shown
    url = server.url.replace("//", "//user:hunter2@")
    server.script = [status(403)]
    with OpenAIEmbedder(url=url, model="tiny") as embedder, pytest.raises(EmbeddingError) as caught:
        embedder.embed_query("a")
    assert server.url in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_closing_ends_the_wait_for_another_attempt(server):
    server.script = [status(503, Retry_After="50")]
    embedder = OpenAIEmbedder(url=server.url, model="tiny")
    failures = []

    def embed():
        try:
            embedder.embed_query("a")
        except EmbeddingError as error:
            failures.append(error)

    thread = threading.Thread(target=embed)
    thread.start()
    deadline = time.monotonic() + 120
    while not server.requests and time.monotonic() < deadline:
        time.sleep(0.01)
    embedder.close()
    thread.join(40)
    assert not thread.is_alive(), "it waits for the other attempt"
    assert len(failures) == 1


@pytest.mark.parametrize(("arguments", "message"), [
    ({"url": "localhost:8080"}, "not an http or https address"),
    ({"url": "ftp://example.org"}, "not an http or https address"),
    ({"url": "http://host:port"}, "not an http or https address"),
    ({"model": ""}, "PGRAG_EMBEDDING_MODEL"),
    ({"api_key": "sk\nx"}, "PGRAG_EMBEDDING_API_KEY"),
    ({"api_key": "schlüssel"}, "PGRAG_EMBEDDING_API_KEY"),
    ({"dimensions": 0}, "dimensions must be above 0"),
    ({"batch_size": 0}, "batch size must be above 0"),
    ({"concurrency": -1}, "concurrency must be above 0"),
    ({"timeout": 0}, "timeout must be above 0"),
])  # fmt: skip
def test_settings_that_cannot_work(arguments, message):
    with pytest.raises(SettingsError, match=message):
        OpenAIEmbedder(**{"url": "http://127.0.0.1/v1", "model": "tiny"} | arguments)
