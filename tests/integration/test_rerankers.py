"""Rerankers against a real HTTP server on loopback, well-behaved and not, in both shapes."""

import importlib.util
import logging
import math
import sys
import types

import pytest
from embedding_server import garbage, hang, serving, status

from pgrag.ground.errors import RerankingError, SettingsError
from pgrag.ground.settings import Settings
from pgrag.models.reranking import CrossEncoderReranker, HttpReranker, rerank
from pgrag.service.app import App

KEY = "rr-secret-0123456789"
TEXTS = ["one", "three", "twenty"]


def share(text):
    return len(text) / 10


def cohere(handler, payload):
    """Answer as Cohere and Jina do: the best first, with indexes."""
    results = [
        {"index": index, "relevance_score": share(text)}
        for index, text in enumerate(payload["documents"])
    ]
    results.sort(key=lambda result: -result["relevance_score"])
    handler.reply(200, {"id": "7", "results": results[: payload["top_n"]], "meta": {}})


def tei(handler, payload):
    """Answer as Text Embeddings Inference does: a bare list, and no more than 32 texts."""
    if len(payload["texts"]) > 32:
        handler.reply(
            413, {"error": "batch size > maximum allowed batch size", "type": "Validation"}
        )
        return
    results = [
        {"index": index, "score": share(text)} for index, text in enumerate(payload["texts"])
    ]
    handler.reply(200, sorted(results, key=lambda result: -result["score"]))


def results(*items):
    return lambda handler, _: handler.reply(200, {"results": list(items)})


def result(index, score):
    return {"index": index, "relevance_score": score}


@pytest.fixture
def server():
    with serving(cohere) as server:
        yield server


@pytest.fixture
def waits():
    return []


@pytest.fixture
def reranker(server, waits):
    with HttpReranker(
        url=server.url, model="tiny", api_key=KEY, timeout=60, retries=2, sleep=waits.append
    ) as reranker:
        yield reranker


def test_scores_come_back_in_the_order_of_the_texts(server, reranker):
    assert reranker.rerank("how many", TEXTS) == [0.3, 0.5, 0.6]
    [(path, headers, payload)] = server.requests
    assert path == "/v1/rerank"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert payload == {"model": "tiny", "query": "how many", "documents": TEXTS, "top_n": 3}
    server.requests.clear()
    assert reranker.rerank("q", []) == []
    assert server.requests == []


def test_without_a_model_it_speaks_to_text_embeddings_inference(server):
    server.script = [tei]
    with HttpReranker(url=server.url.removesuffix("/v1") + "/rerank/") as reranker:
        assert reranker.rerank("how many", TEXTS) == [0.3, 0.5, 0.6]
        assert reranker.name == server.url.removesuffix("/v1") + "/rerank"
    [(path, headers, payload)] = server.requests
    assert path == "/rerank"
    assert "Authorization" not in headers
    assert payload == {"query": "how many", "texts": TEXTS, "truncate": True}


def test_many_texts_go_in_batches_where_the_server_wants_it(server):
    texts = ["x" * (1 + place % 9) for place in range(70)]
    server.script = [tei]
    with HttpReranker(url=f"{server.url}?key=x", model="any", shape="tei") as reranker:
        assert reranker.rerank("q", texts) == [share(text) for text in texts]
    assert [len(payload["texts"]) for _, _, payload in server.requests] == [32, 32, 6]
    assert {path for path, _, _ in server.requests} == {"/v1/rerank?key=x"}
    server.script = [cohere]
    with HttpReranker(url=server.url, model="tiny", batch_size=50) as reranker:
        assert reranker.rerank("q", texts) == [share(text) for text in texts]
    assert [len(p["documents"]) for _, _, p in server.requests[3:]] == [50, 20]


def test_logits_become_scores_and_stay_logits(server, reranker):
    server.script = [
        results(result(0, -4.0), result(1, 2.0)),
        results(result(0, 0.5), result(1, 0)),
    ]
    assert reranker.rerank("q", ["a", "b"]) == pytest.approx(
        [1 / (1 + math.exp(4)), 1 / (1 + math.exp(-2))]
    )
    assert reranker.rerank("q", ["a", "b"]) == pytest.approx([1 / (1 + math.exp(-0.5)), 0.5])


def test_lasting_trouble_is_given_up(server, waits):
    server.script = [hang]
    impatient = {"timeout": 0.3, "retries": 2, "sleep": waits.append}
    with (
        HttpReranker(url=server.url, model="tiny", **impatient) as reranker,
        pytest.raises(RerankingError, match=r"did not answer within 0.3 s \(3 attempts\)"),
    ):
        reranker.rerank("q", TEXTS)


def test_long_waits_are_not_waited_for(server, reranker, waits):
    server.script = [status(429, Retry_After="30")]
    with pytest.raises(RerankingError, match="asking to wait 30 s"):
        reranker.rerank("q", TEXTS)
    assert waits == []


@pytest.mark.parametrize(("code", "hint"), [
    (401, "Check PGRAG_RERANKER_API_KEY"),
    (404, "Check PGRAG_RERANKER_URL and PGRAG_RERANKER_MODEL"),
    (413, "Lower the batch size"),
    (422, "Check the model's name, PGRAG_RERANKER_SHAPE and the batch size"),
])  # fmt: skip
def test_refusals_are_final_and_say_what_to_do(server, reranker, code, hint):
    server.script = [status(code, {"message": f"bad key {KEY}"})]
    with pytest.raises(RerankingError, match=f"status {code}.*{hint}") as caught:
        reranker.rerank("q", TEXTS)
    assert KEY not in str(caught.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize(("answer", "reason"), [
    (garbage, "did not answer with JSON"),
    (lambda handler, _: handler.reply(200, {"data": []}), "holds no list of results"),
    (lambda handler, _: handler.reply(200, 7), "holds no list of results"),
    (results(), "0 results for 2 texts"),
    (results(result(0, 0.5)), "1 results for 2 texts"),
    (results(result(0, 0.5), result(0, 0.6)), "or wrong indexes"),
    (results(result(0, 0.5), result(2, 0.6)), "or wrong indexes"),
    (results(result(0, 0.5), result(1, 0.6), result(1, 0.6)), "3 results for 2 texts"),
    (results(result(0, 0.5), result("1", 0.6)), "without index or score"),
    (results(result(0, 0.5), result(True, 0.6)), "without index or score"),
    (results(result(0, 0.5), result(1, None)), "without index or score"),
    (results(result(0, 0.5), result(1, "0.6")), "without index or score"),
    (results(result(0, 0.5), 1), "without index or score"),
    (results(result(0, float("nan")), result(1, 0.6)), "not finite"),
    (results(result(0, 10**400), result(1, 0.6)), "not finite"),
    (results(result(0, 0.5), result(1, float("-inf"))), "not finite"),
])  # fmt: skip
def test_unusable_answers_are_refused(server, reranker, answer, reason):
    server.script = [answer]
    with pytest.raises(RerankingError, match=reason):
        reranker.rerank("q", ["a", "b"])


def test_server_that_is_not_there(server):
    with (
        HttpReranker(url="http://127.0.0.1:1", model="tiny", retries=0) as reranker,
        pytest.raises(RerankingError, match=r"cannot be reached.*Check PGRAG_RERANKER_URL"),
    ):
        reranker.rerank("q", TEXTS)


@pytest.mark.parametrize(("options", "message"), [
    ({"url": "ftp://x", "model": "m"}, "The URL of the reranker endpoint"),
    ({"url": "http://x", "shape": "cohere"}, "needs the name of a model"),
    ({"url": "http://x", "model": "m", "timeout": 0}, "timeout must be above 0"),
    ({"url": "http://x", "model": "m", "batch_size": 0}, "batch size must be above 0"),
    ({"url": "http://x", "model": "m", "api_key": "a\nb"}, "PGRAG_RERANKER_API_KEY"),
])  # fmt: skip
def test_bad_settings_are_refused(options, message):
    with pytest.raises(SettingsError, match=message):
        HttpReranker(**options)


def test_failure_leaves_the_order_of_the_fusion_and_says_so(server, reranker, caplog):
    server.script = [garbage]
    rows = [{"document_id": n, "score": 1 / n, "content": "x", "cursor": f"{n}"} for n in (1, 2, 3)]
    with caplog.at_level(logging.WARNING):
        found = rerank("q", rows, reranker, limit=2)
    assert found.rows == rows[:2]
    assert not found.applied
    [notice] = found.notices
    assert notice.startswith("Not reranked, the order is that of the fusion: ")
    assert "did not answer with JSON" in notice
    assert "not reranked" in caplog.text


def test_the_application_has_the_reranker_that_is_set(server, cross_encoders):
    settings = Settings(
        reranker_url=server.url, reranker_model="tiny", reranker_api_key=KEY,
        reranker_timeout=3, database_url="postgresql://nowhere/x",
    )  # fmt: skip
    with App(settings) as app:
        assert isinstance(app.providers.reranker, HttpReranker)
        assert app.providers.reranker is app.providers.reranker
        assert app.providers.reranker.rerank("q", TEXTS) == [0.3, 0.5, 0.6]
    assert KEY not in repr(settings)
    with App(Settings(database_url="postgresql://nowhere/x")) as app:
        assert app.providers.reranker is None
    settings = Settings(database_url="postgresql://nowhere/x", reranker_model="some/encoder")
    with App(settings) as app:
        assert isinstance(app.providers.reranker, CrossEncoderReranker)


@pytest.fixture
def cross_encoders(monkeypatch):
    """What takes the place of sentence-transformers, which is gigabytes: its one method."""
    made = []

    class CrossEncoder:
        def __init__(self, name):
            if name == "missing":
                raise OSError("missing is not a local folder and is not a valid model identifier")
            made.append(name)

        def predict(self, pairs, *, batch_size, show_progress_bar):
            assert not show_progress_bar
            return [float("nan") if text == "nan" else len(text) - 4 for _, text in pairs]

    library = types.ModuleType("sentence_transformers")
    library.CrossEncoder = CrossEncoder  # type: ignore[attr-defined]
    library.__spec__ = importlib.util.spec_from_loader("sentence_transformers", None)
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    return made


def test_it_is_loaded_when_needed_and_its_logits_become_scores(cross_encoders):
    reranker = CrossEncoderReranker("some/encoder")
    assert reranker.rerank("q", []) == []
    assert cross_encoders == []
    scores = reranker.rerank("q", TEXTS)
    assert scores == pytest.approx([1 / (1 + math.exp(-x)) for x in (-1, 1, 2)])
    reranker.rerank("q", TEXTS)
    assert cross_encoders == ["some/encoder"]
    assert reranker.name == "some/encoder"


@pytest.mark.parametrize(("model", "text"), [("missing", "a"), ("some/encoder", "nan")])
def test_failure_is_one_of_reranking(cross_encoders, model, text):
    with pytest.raises(RerankingError, match=model):
        CrossEncoderReranker(model).rerank("q", [text])


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=r"pip install sentence-transformers"):
        CrossEncoderReranker("some/encoder")
