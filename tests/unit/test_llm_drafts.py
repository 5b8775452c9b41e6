"""Whatever a server sends is either understood or refused, piece by piece or at once."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgrag.models.llm.draft import Draft, Spoken
from pgrag.models.llm.protocol import Garbled, events

NAMES = [
    "choices", "delta", "message", "content", "tool_calls", "function", "name", "arguments", "id",
    "index", "usage", "prompt_tokens", "completion_tokens", "finish_reason", "error", "model",
]  # fmt: skip
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.just("\ud800"),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=6,
)
DELTAS = st.fixed_dictionaries(
    {}, optional={"content": ANYTHING, "tool_calls": st.lists(ANYTHING, max_size=3) | ANYTHING}
)
CHUNKS = st.builds(
    lambda delta, rest: {**rest, "choices": [{"delta": delta}]},
    DELTAS,
    st.dictionaries(st.sampled_from(NAMES), ANYTHING, max_size=3),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(CHUNKS | st.dictionaries(st.sampled_from(NAMES), ANYTHING), max_size=4))
def test_no_event_is_too_strange(chunks):
    draft = Draft()
    pieces = []
    try:
        pieces = [draft.add(chunk) for chunk in chunks] + [draft.end()]
    except Garbled:
        return
    completion = draft.completion("m", 0)
    assert "".join(pieces) == completion.text
    completion.text.encode()
    assert all(call.id for call in completion.tool_calls)
    assert completion.usage.completion_tokens >= 0


@pytest.mark.parametrize(("text", "spoken"), [
    ("Plain words.", "Plain words."),
    ("  \n Plain", "  \n Plain"),
    ("<think>No.</think>\n\nYes.", "Yes."),
    ("\n<think>\n</think>Yes <think>too</think>.", "Yes <think>too</think>."),
    ("<thinking> aloud", "<thinking> aloud"),
    ("<think>for ever", ""),
    ("<think>only</think>", ""),
    ("", ""),
])  # fmt: skip
@pytest.mark.parametrize("size", [1, 3, 100])
def test_thoughts_are_left_out_wherever_the_text_is_cut(text, spoken, size):
    reader = Spoken()
    parts = [reader.add(text[start : start + size]) for start in range(0, len(text), size)]
    assert "".join(parts) + reader.rest() == spoken


def test_events_of_any_shape_are_read():
    chunk = json.dumps({"a": [1, {"b": "\u2028"}]}, indent=1, ensure_ascii=False).split("\n")
    assert list(events(chunk)) == [{"a": [1, {"b": "\u2028"}]}]
    assert list(events(["data: 5", "data: [DONE]", "data: {}"])) == [None]
    assert list(events(["data: {}", "", ": x", "retry: 3", "event: y"])) == [{}]
    for garbled in (["data: {oops"], ["<html>"], ["data: " + "[" * 100_000]):
        with pytest.raises(Garbled):
            list(events(garbled))
