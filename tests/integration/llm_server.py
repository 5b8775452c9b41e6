"""A language model on loopback: OpenAI's chat completions over HTTP, doing as its script says.

    with serving() as server:                      # answers from the sources in the prompt
        server.script = [calls(("keyword_search", {"query": "tides"})), says("At noon [1].")]
        ... PGRAG_LLM_URL=server.url PGRAG_LLM_MODEL=small ...

A behaviour answers a request for a stream with a stream, any other one with JSON.
"""

import itertools
import json
import re

import scripted_server
from scripted_server import Server, drop, garbage, hang, status

__all__ = ["Server", "drop", "garbage", "hang", "status"]
MODEL = "small-chat"
NO_ANSWER = "The documentation does not answer this."


def says(text, *, pieces=None, finish="stop", usage=(40, 10), gate=None):
    """Answer with a text, streamed word by word, or in `pieces`.

    `usage`: tokens of the prompt and the completion, None: not counted; `gate` is awaited after the
    first piece.
    """

    def behave(handler, payload):
        _answer(handler, payload, pieces or _words(text), (), finish, usage, gate)

    return behave


def calls(*wanted, text=""):
    """Call tools: pairs of a name and its arguments (a string is sent as it is)."""

    def behave(handler, payload):
        _answer(handler, payload, _words(text), wanted, "tool_calls", (40, 10), None)

    return behave


def answer_from_context(handler, payload):
    """Write two sentences of every numbered source of the prompt, each with its `[n]`."""
    written = [
        f"{sentence} [{number}]."
        for number, text in sources_of(payload).items()
        for sentence in _sentences(text)[:2]
    ]
    _answer(handler, payload, _words(" ".join(written) or NO_ANSWER), (), "stop", None, None)


def sources_of(payload):
    """The numbered sources in a request's messages.

    A source begins with a line that starts with `[n]`, or with a tag that has `number`, `id` or
    `n` in it; it ends where the tag is closed, or where the next one begins.
    """
    text = "\n".join(
        message["content"]
        for message in payload["messages"]
        if message["role"] != "system" and isinstance(message.get("content"), str)
    )
    found = {}
    heads = list(_HEAD.finditer(text))
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        body = text[head.end() : following.start() if following else len(text)]
        number = int(head["tagged"] or head["bracketed"])
        found.setdefault(number, re.split(r"^</", body, maxsplit=1, flags=re.M)[0].strip())
    return found


_HEAD = re.compile(
    r"^(?:<[a-z]+\b[^>\n]*?\b(?:number|id|n)=\"?(?P<tagged>\d+)\"?[^>\n]*>|\[(?P<bracketed>\d+)\])",
    re.M,
)


def lines(*written, chunked=True):
    """Send these lines as a stream of events, whatever is in them, and end it."""

    def behave(handler, _):
        handler.begin_stream(chunked=chunked)
        handler.write(("\n".join(written) + "\n").encode())
        handler.end_stream()

    return behave


def body(content):
    """Answer 200 with this JSON, also where a stream was asked for."""
    return lambda handler, _: handler.reply(200, content)


def break_off(*pieces):
    """Stream some pieces, then close the connection in the middle."""
    return _streaming(pieces, drop)


def hang_after(*pieces):
    """Stream some pieces, then nothing more; `server.left` is set when the client goes away."""
    return _streaming(pieces, lambda handler, _: handler.wait_for_the_end())


def _streaming(pieces, end):
    def behave(handler, payload):
        handler.begin_stream()
        for piece in pieces:
            handler.event(_chunk({"content": piece}))
        end(handler, payload)

    return behave


def talk_on(*pieces):
    """Stream these pieces again and again, a hundred a second, until the client goes away."""

    def behave(handler, _):
        handler.begin_stream()
        for piece in itertools.cycle(pieces):
            if handler.has_left(seconds=0.01):
                return
            handler.event(_chunk({"content": piece}))

    return behave


def serving(*script):
    """A server with this script, until the end of the block."""
    behaviours = script or (answer_from_context,)
    return scripted_server.serving(*behaviours, path="/chat/completions", models=[MODEL])


def _answer(handler, payload, pieces, wanted, finish, usage, gate):
    """Answer as OpenAI does: tool calls come in pieces, the count of tokens only if asked for."""
    counted = usage and {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    arguments = [given if isinstance(given, str) else json.dumps(given) for _, given in wanted]
    tools = [
        {"id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": text}}
        for index, ((name, _), text) in enumerate(zip(wanted, arguments, strict=True))
    ]
    if not payload.get("stream"):
        message = {"role": "assistant", "content": "".join(pieces) or None}
        choice = {"index": 0, "finish_reason": finish}
        handler.reply(
            200,
            {
                "object": "chat.completion",
                "model": payload["model"],
                "choices": [
                    choice | {"message": message | ({"tool_calls": tools} if tools else {})}
                ],
            }
            | ({"usage": counted} if counted else {}),
        )
        return
    handler.begin_stream()
    handler.event(_chunk({"role": "assistant", "content": ""}))
    for number, piece in enumerate(pieces):
        handler.event(_chunk({"content": piece}))
        if gate is not None and number == 0:
            gate.wait(120)
    for index, tool in enumerate(tools):
        whole = tool["function"]["arguments"]
        first = tool | {"function": {"name": tool["function"]["name"], "arguments": ""}}
        handler.event(_chunk({"tool_calls": [first | {"index": index}]}))
        for part in (whole[: len(whole) // 2], whole[len(whole) // 2 :]):
            delta = {"index": index, "function": {"arguments": part}}
            handler.event(_chunk({"tool_calls": [delta]}))
    handler.event(_chunk({}, finish))
    if counted and (payload.get("stream_options") or {}).get("include_usage"):
        handler.event({"object": "chat.completion.chunk", "choices": [], "usage": counted})
    handler.event("[DONE]")
    handler.end_stream()


def _chunk(delta, finish=None):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"object": "chat.completion.chunk", "model": MODEL, "choices": [choice]}


def _words(text):
    return re.findall(r"\s*\S+|\s+$", text)


def _sentences(text):
    """The sentences of a source's prose; its headings, tags, quotes' marks and notes are left."""
    prose = " ".join(
        line.strip("> \t")
        for line in text.splitlines()
        if line.strip() and not re.match(r"\s*(?:#|<|\||```|\w+:\s)", line)
    )
    return [found.strip(" .") for found in re.split(r"(?<=[.!?])\s+", prose) if found.strip(" .")]
