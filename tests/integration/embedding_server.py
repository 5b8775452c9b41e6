"""An embedding server on loopback that behaves as its script says."""

from contextlib import AbstractContextManager

import scripted_server
from scripted_server import Behaviour, Handler, Server, drop, garbage, hang, status

__all__ = ["Handler", "Server", "drop", "garbage", "hang", "status"]


def vector(text: str) -> list[float]:
    return [float(len(text)), float(ord(text[0])), 1.0]


def answer(handler: Handler, payload: dict) -> None:
    """Answer well, but in reverse: the order is in the indexes."""
    data = [
        {"object": "embedding", "index": index, "embedding": vector(text)}
        for index, text in enumerate(payload["input"])
    ]
    handler.reply(200, {"object": "list", "data": data[::-1], "model": payload["model"]})


def data(*items: object) -> Behaviour:
    return lambda handler, _: handler.reply(200, {"data": list(items)})


def break_off(handler: Handler, _: dict) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')
    handler.close_connection = True


def serving(*script: Behaviour) -> AbstractContextManager[Server]:
    """A server that answers well unless it has a script, until the end of the block."""
    return scripted_server.serving(*(script or (answer,)))
