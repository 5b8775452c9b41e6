"""An embedding server on loopback that behaves as its script says."""

import scripted_server
from scripted_server import Handler, Server, drop, garbage, hang, status

__all__ = ["Handler", "Server", "drop", "garbage", "hang", "status"]


def vector(text):
    return [float(len(text)), float(ord(text[0])), 1.0]


def answer(handler, payload):
    """Answer well, but in reverse: the order is in the indexes."""
    data = [
        {"object": "embedding", "index": index, "embedding": vector(text)}
        for index, text in enumerate(payload["input"])
    ]
    handler.reply(200, {"object": "list", "data": data[::-1], "model": payload["model"]})


def data(*items):
    return lambda handler, _: handler.reply(200, {"data": list(items)})


def break_off(handler, _):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')
    handler.close_connection = True


def serving(*script):
    """A server that answers well unless it has a script, until the end of the block."""
    return scripted_server.serving(*(script or (answer,)))
