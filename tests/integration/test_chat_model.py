"""The client of language models against a real HTTP server on loopback, well-behaved and not."""

import base64
import json
import logging
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from llm_server import (
    body,
    break_off,
    calls,
    drop,
    garbage,
    hang,
    hang_after,
    lines,
    says,
    serving,
    status,
    talk_on,
)

from pgrag.ground import errors
from pgrag.ground.settings import Settings
from pgrag.models.endpoint import Cancellation
from pgrag.models.llm import ChatModel, Completion, Message, ToolCall, Usage
from pgrag.service.app import App
from pgrag.service.doctor import language_model_finding

KEY = "sk-secret-0123456789"
ASKED = (Message("system", "Be brief."), Message("user", "When is high water?"))
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}


@pytest.fixture(scope="module")
def shared():
    with serving() as server:
        yield server


@pytest.fixture
def server(shared):
    shared.requests.clear()
    shared.most_at_once = 0
    shared.left.clear()
    shared.hanging.clear()
    return shared


@pytest.fixture
def waits():
    return []


@pytest.fixture
def model(server, waits):
    with ChatModel(
        url=server.url, model="tiny", api_key=KEY, timeout=20, sleep=waits.append
    ) as model:
        yield model


@pytest.fixture
def hasty(server):
    with ChatModel(url=server.url, model="tiny", timeout=2) as model:
        yield model


def both(model, server, behaviour, **options):
    """The completion in one piece and in many, which must say the same."""
    server.script = [behaviour]
    whole = model.complete(ASKED, **options)
    stream = model.stream(ASKED, **options)
    with pytest.raises(RuntimeError, match="has not ended"):
        _ = stream.completion
    assert "".join(stream) == stream.completion.text == whole.text
    return [whole, stream.completion]


def ways(model):
    """How a model is asked: for a whole answer, and for a stream."""
    return (model.complete, lambda asked: list(model.stream(asked)))


def wait_for(server, *, running):
    """Wait until the server works on as many requests."""
    deadline = time.monotonic() + 120
    while server.running < running:
        assert time.monotonic() < deadline
        time.sleep(0.005)


def event(delta, finish=None, **more):
    chunk = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\n"


def streamed(model, server, *written, **options):
    server.script = [lines(*written)]
    stream = model.stream(ASKED, **options)
    assert "".join(stream) == stream.completion.text
    return stream.completion


def test_a_completion_comes_whole_and_in_pieces(server, model):
    for completion in both(model, server, says("At noon."), max_tokens=50, temperature=0.5):
        assert completion == Completion(
            "At noon.", (), "stop", Usage(prompt_tokens=40, completion_tokens=10), completion.model
        )
    whole, stream = server.requests
    assert whole[0] == "/v1/chat/completions"
    assert whole[1]["Authorization"] == f"Bearer {KEY}"
    asked = {
        "model": "tiny",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "When is high water?"},
        ],
        "max_tokens": 50,
        "temperature": 0.5,
    }
    assert whole[2] == asked
    assert stream[2] == asked | {"stream": True, "stream_options": {"include_usage": True}}
    assert model.name == "tiny"
    for url in (server.url + "/", f"{server.url}/chat/completions", f"{server.url}?version=2"):
        with ChatModel(url=url, model="tiny") as other:
            assert other.complete(ASKED).text == "At noon."
    assert server.requests[-1][0] == "/v1/chat/completions?version=2"
    assert "Authorization" not in server.requests[-1][1]
    for completion in both(model, server, says("x" * 10, usage=None)):
        words = sum(len(message.content) for message in ASKED)
        assert completion.usage == Usage(
            prompt_tokens=-(-words // 4), completion_tokens=3, is_estimated=True
        )


def test_tools_are_offered_called_and_answered(server, model):
    wanted = calls(("look", {"what": "die Flut – ✓"}), ("look", "{broken"), text="I look. ")
    for completion in both(model, server, wanted, tools=[TOOL]):
        assert (completion.finish_reason, completion.text) == ("tool_calls", "I look. ")
        assert [call.id for call in completion.tool_calls] == ["call_0", "call_1"]
        assert json.loads(completion.tool_calls[0].arguments) == {"what": "die Flut – ✓"}
        assert completion.tool_calls[1] == ToolCall("call_1", "look", "{broken")
    assert server.payloads[0]["tools"] == [TOOL]
    server.script = [says("At noon.")]
    call = ToolCall("call_7", "look", '{"what": 1}')
    model.complete(
        [*ASKED, Message("assistant", "", (call,)), Message("tool", "12:00", (), "call_7")]
    )
    function = {"name": "look", "arguments": '{"what": 1}'}
    called = [{"id": "call_7", "type": "function", "function": function}]
    assert server.payloads[-1]["messages"][2:] == [
        {"role": "assistant", "content": None, "tool_calls": called},
        {"role": "tool", "content": "12:00", "tool_call_id": "call_7"},
    ]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        pytest.param(
            (": waiting\n", "event: message", "id: 1", 'data:{"choices":[]}\n',
             event({"content": "Hi"}), event({"content": None}, "stop")),
            "Hi", id="comments, other fields, no [DONE]",
        ),
        pytest.param((event({"content": "Hi"}), "data: [DONE]"), "Hi", id="no reason to finish"),
        pytest.param(
            (event({"content": "Hi\u2028there\x85 \x0c"}).rstrip("\n"), event({}, "stop")),
            "Hi\u2028there\x85 \x0c", id="line ends that are none, no empty lines",
        ),
        pytest.param(
            (event({"content": "Hi"}).replace("\n", "\r\n"), event({}, "stop") + "\r"),
            "Hi", id="CRLF",
        ),
        pytest.param(
            (event({"reasoning_content": "hm", "reasoning": "hm"}),
             event({"content": [{"type": "text", "text": "Hi"}]}, "stop")),
            "Hi", id="reasoning, and parts instead of a text",
        ),
        pytest.param(
            (event({"content": "\n<thi"}), event({"content": "nk>Let me see."}),
             event({"content": "</think>\n\n"}), event({"content": "Hi <think>"}, "stop")),
            "Hi <think>", id="thinking aloud",
        ),
        pytest.param(
            (event({"content": "<"}), event({}, "stop")), "<", id="what only looks like thinking"
        ),
        pytest.param(
            ('{"choices": [{"message": {"content": "Hi"},', '"finish_reason": "stop"}]}'), "Hi",
            id="no stream at all",
        ),
        pytest.param(
            (event({"content": "Hi"}, usage=None), event({}, "stop", usage={"prompt_tokens": "1"})),
            "Hi", id="counts that are none",
        ),
    ],
)  # fmt: skip
def test_streams_are_understood_however_servers_write_them(server, model, written, text):
    completion = streamed(model, server, *written)
    assert (completion.text, completion.finish_reason) == (text, "stop")
    assert completion.usage.is_estimated


def test_the_last_count_of_a_stream_is_taken(server, model):
    completion = streamed(
        model, server,
        event({"content": "Hi"}, usage={"prompt_tokens": 7, "completion_tokens": 1}, model="big"),
        event({}, "length", usage={"prompt_tokens": 7, "completion_tokens": 2}),
    )  # fmt: skip
    assert completion.usage == Usage(prompt_tokens=7, completion_tokens=2)
    assert (completion.model, completion.finish_reason) == ("big", "length")


def part(arguments=None, name=None, **more):
    return {"function": {"name": name, "arguments": arguments}, **more}


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param(
            [part("", "a", index=0, id="x"), part('{"k"', index=0), part("", "b", index=1, id="y"),
             part(":1}", index=0), part("{}", index=1)],
            id="in turns",
        ),
        pytest.param([part('{"k":1}', "a", id="x"), part("{}", "b", id="y")], id="no indexes"),
        pytest.param(
            [part('{"k":1}', "a", index=0, id="x"), part("{}", "b", index=0, id="y")], id="all 0"
        ),
        pytest.param([part({"k": 1}, "a"), part("{}", "b")], id="neither ids nor indexes"),
        pytest.param(
            [part('{"k":', "a", index=0, id="x"), part("1}", "a", index=0, id="x"),
             part("{}", "b", index=1, id="y")],
            id="names again and again",
        ),
        pytest.param([part('{"k":1}', "a", index=0), part("{}", "b", index=0)], id="0, and no ids"),
    ],
)  # fmt: skip
def test_tool_calls_are_put_together_however_servers_number_them(server, model, parts):
    events = [event({"tool_calls": [given]}) for given in parts]
    completion = streamed(model, server, *events, event({}, "stop"), tools=[TOOL])
    found = [(call.name, json.loads(call.arguments)) for call in completion.tool_calls]
    assert found == [("a", {"k": 1}), ("b", {})]
    assert len({call.id for call in completion.tool_calls}) == 2
    assert all(call.id for call in completion.tool_calls)
    assert completion.finish_reason == "tool_calls"


def test_tool_calls_that_a_stream_loses_are_asked_for_in_one_piece(server, model):
    server.script = [lines(event({}, "stop"), "data: [DONE]"), calls(("look", {}))]
    stream = model.stream(ASKED, tools=[TOOL])
    assert list(stream) == []
    assert [call.name for call in stream.completion.tool_calls] == ["look"]
    assert ["stream" in payload for payload in server.payloads] == [True, False]


@pytest.mark.parametrize("words", ["Stream option 'include_usage' not supported", "no"])
def test_what_a_server_refuses_is_left_out(server, model, words, caplog):
    server.script = [status(422, {"detail": words}), says("Hi")]
    assert "".join(model.stream(ASKED)) == "Hi"
    assert ["stream_options" in payload for payload in server.payloads] == [True, False]
    list(model.stream(ASKED))
    # What was said without a name may have been about something else.
    assert ("stream_options" in server.payloads[2]) == (words == "no")


def test_newer_models_of_openai_are_asked_as_they_want(server, model, waits):
    refusal = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    server.script = [
        status(400, {"error": {"message": refusal}}),
        status(400, {"error": {"message": "'temperature' does not support 0.2 with this model."}}),
        says("Hi"),
    ]
    for _ in range(2):
        assert model.complete(ASKED, max_tokens=9, temperature=0.2).text == "Hi"
    assert len(server.requests) == 4
    assert waits == []
    for payload in server.payloads[2:]:
        assert payload["max_completion_tokens"] == 9
        assert payload.keys().isdisjoint({"max_tokens", "temperature"})


def test_busy_and_failing_servers_are_asked_again_before_the_first_byte(server, model, waits):
    server.script = [status(429, Retry_After="3"), drop, says("Hi")]
    assert "".join(model.stream(ASKED)) == "Hi"
    assert len(waits) == 2
    assert waits[0] >= 3
    server.script = [status(500), status(503), says("Hi")]
    assert model.complete(ASKED).text == "Hi"
    server.script = [status(500)]
    for ask in ways(model):
        server.requests.clear()
        with pytest.raises(errors.LanguageModelError, match=r"status 500.*\(3 attempts\)"):
            ask(ASKED)
        assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("written", "words"),
    [
        pytest.param(break_off("At ", "noon"), "broke off in the middle", id="connection lost"),
        pytest.param(hang_after("At ", "noon"), r"silent for 2 s", id="silence"),
        pytest.param(
            lines(event({"content": "At "}), event({"content": "noon"}), chunked=False),
            "stopped in the middle", id="neither a reason nor [DONE]",
        ),
    ],
)  # fmt: skip
def test_an_answer_that_breaks_off_is_no_answer_and_not_begun_again(server, hasty, written, words):
    server.script = [written]
    stream = hasty.stream(ASKED)
    heard = [next(iter(stream)), next(iter(stream))]
    with pytest.raises(errors.AnswerCutShort, match=words):
        heard.extend(stream)
    assert "".join(heard) == "At noon"
    assert len(server.requests) == 1
    with pytest.raises(RuntimeError):
        _ = stream.completion


def test_a_silent_server_is_given_up_at_once(server, hasty):
    server.script = [hang]
    for ask in ways(hasty):
        with pytest.raises(
            errors.LanguageModelError, match=r"did not answer within 2 s\. .*timeout"
        ):
            ask(ASKED)
    assert len(server.requests) == 2


@pytest.mark.parametrize(("behaviour", "words"), [
    (garbage, "Welcome to nginx.*PGRAG_LLM_URL"),
    (body([1, 2]), r"\[1, 2\]"),
    (body({"error": {"message": f"no model, {KEY}"}}), r"no model, \*\*\*"),
    (body({"choices": []}), "wrote nothing|stopped in the middle"),
    (body({"detail": "no"}), "'detail': 'no'|stopped in the middle"),
    (body({"object": "error", "message": "too long"}), "too long"),
    (says("", finish="length"), "wrote nothing.*PGRAG_LLM_MAX_TOKENS"),
    (status(401, {"error": f"Incorrect API key provided: {KEY}"}), "Check PGRAG_LLM_API_KEY"),
    (status(404), "Check PGRAG_LLM_URL and PGRAG_LLM_MODEL"),
    (status(413), "Lower the token budget"),
])  # fmt: skip
def test_what_is_no_answer_is_explained_without_secrets(server, model, behaviour, words, caplog):
    server.script = [behaviour]
    caplog.set_level(logging.DEBUG)
    for ask in ways(model):
        with pytest.raises(errors.LanguageModelError, match=words) as caught:
            ask(ASKED)
        assert KEY not in str(caught.value) + caplog.text


@pytest.mark.parametrize("written", [
    ('data: {"error": {"message": "out of memory"}}', "data: [DONE]"),
    ('{"error": "out of memory"}',),
])  # fmt: skip
def test_an_error_in_the_middle_of_a_stream_is_told(server, model, written):
    server.script = [lines(event({"content": "At"}), *written)]
    with pytest.raises(errors.LanguageModelError, match=r"tiny at http://127.*out of memory"):
        list(model.stream(ASKED))


@pytest.mark.parametrize("behaviour", [hang, hang_after("At noon")])
def test_a_cancelled_stream_ends_at_once_wherever_it_waits(server, behaviour):
    server.script = [behaviour]
    with ChatModel(url=server.url, model="tiny", timeout=600) as model:
        stream = model.stream(ASKED, cancellation=(cancellation := Cancellation()))
        with ThreadPoolExecutor() as pool:
            reading = pool.submit(list, stream)
            assert server.hanging.wait(120)
            cancellation.cancel()
            assert type(reading.exception(120)) is errors.GenerationCancelled
        assert server.left.wait(120)
        cancellation.cancel()  # once more does nothing


def test_one_cancellation_ends_all_requests_that_share_it(server):
    server.script = [hang]
    cancellation = Cancellation()
    with (
        ChatModel(url=server.url, model="tiny", timeout=600) as model,
        ThreadPoolExecutor() as pool,
    ):
        streams = [model.stream(ASKED, cancellation=cancellation) for _ in range(3)]
        requests = [pool.submit(list, stream) for stream in streams]
        wait_for(server, running=3)
        cancellation.cancel()
        assert [type(request.exception(120)) for request in requests] == [
            errors.GenerationCancelled
        ] * 3


def test_closing_the_model_ends_what_runs(server):
    server.script = [hang]
    model = ChatModel(url=server.url, model="tiny")
    with ThreadPoolExecutor() as pool:
        requests = [pool.submit(ask, ASKED) for ask in ways(model)]
        wait_for(server, running=2)
        model.close()
        assert [type(each.exception(120)) for each in requests] == [errors.GenerationCancelled] * 2
    with pytest.raises(errors.GenerationCancelled):
        model.complete(ASKED)


def test_cancelled_before_or_between_pieces_and_while_waiting(server, model):
    server.script = [says("At noon or so")]
    stream = model.stream(ASKED, cancellation=(cancellation := Cancellation()))
    pieces = iter(stream)
    assert next(pieces) == "At"
    cancellation.cancel()
    with pytest.raises(errors.GenerationCancelled):
        next(pieces)
    stream = model.stream(ASKED, cancellation=(cancellation := Cancellation()))
    cancellation.cancel()
    with pytest.raises(errors.GenerationCancelled):
        list(stream)
    assert len(server.requests) == 1
    stream = model.stream(ASKED, cancellation=(cancellation := Cancellation()))
    list(stream)
    cancellation.cancel()
    assert stream.completion.text == "At noon or so"
    server.script = [status(429, Retry_After="30")]
    with ChatModel(url=server.url, model="tiny") as model:
        stream = model.stream(ASKED, cancellation=(cancellation := Cancellation()))
        timer = threading.Timer(0.1, cancellation.cancel)
        timer.start()
        with pytest.raises(errors.GenerationCancelled):
            list(stream)
        timer.join()


def test_streams_that_nobody_reads_on_or_that_never_stop_are_left(server, model):
    server.script = [hang_after("At noon")]
    stream = model.stream(ASKED)
    assert next(iter(stream)) == "At noon"
    del stream
    assert server.left.wait(120)
    server.left.clear()
    server.script = [talk_on("and on " * 100)]
    with pytest.raises(errors.AnswerCutShort, match="past its token limit"):
        list(model.stream(ASKED, max_tokens=10))
    assert server.left.wait(120)


def test_several_threads_share_a_model(server, model, monkeypatch):
    server.script = [says("Hi")]
    monkeypatch.setattr(server, "delay", 0.02)
    with ThreadPoolExecutor(4) as pool:
        assert {each.text for each in pool.map(model.complete, [ASKED] * 4)} == {"Hi"}
    assert server.most_at_once > 1


@pytest.mark.parametrize(("given", "words"), [
    ({"url": "ftp://x", "model": "m"}, "PGRAG_LLM_URL"),
    ({"url": "http://x", "model": ""}, "PGRAG_LLM_MODEL"),
    ({"url": "http://x", "model": "m", "timeout": 0}, "above 0"),
    ({"url": "http://x", "model": "m", "api_key": "ключ"}, "PGRAG_LLM_API_KEY"),
])  # fmt: skip
def test_settings_that_cannot_be_used_are_refused(given, words):
    with pytest.raises(errors.SettingsError, match=words):
        ChatModel(**given)


def test_a_password_in_the_address_is_sent_and_nowhere_told(server, caplog, waits):
    server.script = [says("Hi")]
    url = server.url.replace("://", "://user:hidden@")
    with caplog.at_level(logging.DEBUG), ChatModel(url=url, model="tiny") as model:
        assert model.complete(ASKED).text == "Hi"
        assert model.served() == server.models
    sent = base64.b64encode(b"user:hidden").decode()
    assert server.requests[-1][1]["Authorization"] == f"Basic {sent}"
    for secret in ("hidden", sent):
        assert secret not in caplog.text + str(model)
    with (
        ChatModel(url="http://user:hidden@127.0.0.1:9/v1", model="m", sleep=waits.append) as model,
        pytest.raises(
            errors.LanguageModelError, match=r"cannot be reached.*Check PGRAG_LLM_URL"
        ) as caught,
    ):
        list(model.stream(ASKED))
    assert "hidden" not in str(caught.value)
    assert len(waits) == 2


def test_the_doctor_asks_the_server_for_its_models(server, monkeypatch):
    def finding(url=server.url, model="tiny", **given):
        with App(Settings(llm_url=url, llm_model=model, llm_api_key=KEY, **given)) as app:
            return language_model_finding(app.providers.require_language_model)

    try:
        for models in (["tiny"], ["big", "tiny:latest"], None):
            server.models = models
            assert finding().ok
            assert finding().message == f"tiny at {server.url}/chat/completions."
        server.models = ["big", "wide"]
        missing = finding()
        assert not missing.ok
        assert "lists: big, wide." in missing.message
        assert "PGRAG_LLM_MODEL" in missing.remedy
    finally:
        server.models = ["tiny"]
    monkeypatch.setattr("pgrag.models.llm.openai.PROBE_TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        silent = finding(f"http://127.0.0.1:{mute.getsockname()[1]}/v1")
    for bad, words in (
        (silent, "did not answer within 0.2 s"),
        (finding("http://127.0.0.1:9/v1"), "cannot be reached"),
        (finding(None), "No language model is configured"),
        (finding(model=None), "PGRAG_LLM_MODEL is not"),
    ):
        assert not bad.ok
        assert words in bad.message
        assert "PGRAG_LLM_" in bad.remedy
    assert not server.requests


def test_the_application_has_the_model_that_is_set(server):
    server.script = [says("Hi"), hang]
    for settings, error, words in (
        ({}, errors.NotConfigured, r"No language model.*PGRAG_LLM_URL and PGRAG_LLM_MODEL"),
        ({"llm_url": server.url}, errors.SettingsError, "PGRAG_LLM_MODEL is not"),
    ):
        with App(Settings(**settings)) as app, pytest.raises(error, match=words):
            app.providers.require_language_model()
    with App(Settings(llm_url=server.url, llm_model="tiny", llm_api_key=KEY)) as app:
        model = app.providers.require_language_model()
        assert model is app.providers.require_language_model()
        assert model.complete(ASKED).text == "Hi"
        assert server.requests[-1][1]["Authorization"] == f"Bearer {KEY}"
        timer = threading.Timer(0.1, app.close)
        timer.start()
        with pytest.raises(errors.GenerationCancelled):
            model.complete(ASKED)
        timer.join()
