"""Lines of the log: one for each event, whatever it quotes."""

import json
import logging
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import pytest

from pgrag.ground import logs

FORGED = "x\n2026-01-01 00:00:00 ERROR pgrag: forged\r\x1b[2J\x85\u2028\u202eabc\0"


def record(message, **about):
    entry = logging.LogRecord("pgrag.tests", logging.WARNING, "a.py", 1, message, None, None)
    if about:
        entry.fields = about
    return entry


def failed():
    entry = record("It failed")
    error = ValueError(FORGED)
    entry.exc_info = (ValueError, error, None)
    return entry


@pytest.mark.parametrize("entry", [record(FORGED), record("a", path=FORGED), failed()])
def test_an_entry_is_one_line_of_json(entry):
    line = logs.JsonFormatter().format(entry)
    assert line.isascii()
    assert line.isprintable()
    told = json.loads(line)
    assert told["level"] == "warning"
    assert told["logger"] == "pgrag.tests"
    assert told["time"].endswith("+00:00")
    assert FORGED in (told["message"], told.get("path"), told.get("exception", "")[-len(FORGED) :])


def test_text_cannot_look_like_another_entry():
    formatter = logs.TextFormatter()
    line = formatter.format(record(FORGED))
    assert line.isprintable()
    assert "\\n2026-01-01" in line
    first, *others = formatter.format(failed()).split("\n")
    assert first.endswith("pgrag.tests: It failed")
    assert others
    assert all(other.startswith("  ") and other.isprintable() for other in others)


def test_entries_tell_what_they_are_about():
    def told():
        return json.loads(logs.JsonFormatter().format(record("a", status=200)))

    with logs.about(request_id="one"), logs.about(job_id=7):
        logs.note(route="/v1/search")
        with ThreadPoolExecutor(1) as thread:
            other = thread.submit(copy_context().run, told).result()
        assert told() | {"time": ""} == other | {"time": ""}
        assert other["request_id"] == "one"
        assert (other["job_id"], other["route"], other["status"]) == (7, "/v1/search", 200)
    assert "request_id" not in told()
    logs.note(route="/nowhere")
    assert "route" not in told()


def test_a_secret_key_in_an_address_is_not_in_the_log():
    secret = "pgrag_sk_" + "0123456789abcdef" * 4 + "01234567"
    public = secret.replace("_sk_", "_pk_")
    entry = logging.LogRecord(
        "uvicorn.access", logging.INFO, "a.py", 1, '%s - "%s %s" %d',
        ("127.0.0.1:9", "GET", f"/v1/search?q=x&key={secret}&b={public}", 422), None,
    )  # fmt: skip
    assert logs.WithoutKeys().filter(entry)
    line = logs.TextFormatter().format(entry)
    assert line.endswith(f'"GET /v1/search?q=x&key=pgrag_sk_…&b={public}" 422')
