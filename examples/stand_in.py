"""A stand-in for a language model: chat completions over HTTP that quote what they are given.

Usage: python stand_in.py PORT. Any real server replaces it: set PGRAG_LLM_URL and PGRAG_LLM_MODEL.
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def reply_to(messages: list[dict], tools: list[dict]) -> dict:
    """Call the first tool with the question; once there are sources, quote the first of them."""
    question = next(each["content"] for each in messages if each["role"] == "user")
    has_searched = any(each["role"] == "tool" for each in messages)
    if tools and not has_searched:
        function = tools[0]["function"]
        words = json.dumps({"query": question})
        call = {"id": "1", "type": "function", "function": {"name": function["name"]}}
        call["function"]["arguments"] = words
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    given = messages[-1]["content"]
    passage = re.search(r"<(source|passage)\b[^>]*>(.*?)</\1", given, re.DOTALL)
    sentences = re.findall(r"^[A-Z][^\n#|`]{30,}?[.:](?=\s|$)", passage[2] if passage else "", re.M)
    if not sentences:
        return {"role": "assistant", "content": "NOT_IN_DOCUMENTATION"}
    return {"role": "assistant", "content": f"{sentences[0].rstrip('.:')} [1]."}


class Handler(BaseHTTPRequestHandler):
    """Answers POST /v1/chat/completions, as a stream if that is asked for."""

    def do_POST(self) -> None:
        """Answer one request."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = reply_to(asked["messages"], asked.get("tools", []))
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        usage = {"prompt_tokens": len(str(asked["messages"])) // 4, "completion_tokens": 30}
        key = "delta" if asked.get("stream") else "message"
        if asked.get("stream") and reason == "tool_calls":
            message["tool_calls"][0]["index"] = 0
        choice = {"index": 0, key: message, "finish_reason": reason}
        sent = json.dumps({"object": "chat.completion", "choices": [choice], "usage": usage})
        if asked.get("stream"):
            sent = f"data: {sent}\n\ndata: [DONE]\n\n"
        self.send_response(200)
        self.send_header(
            "Content-Type", "text/event-stream" if asked.get("stream") else "application/json"
        )
        self.send_header("Content-Length", str(len(sent.encode())))
        self.end_headers()
        self.wfile.write(sent.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing of each request."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
