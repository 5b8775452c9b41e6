"""The events of a streamed completion, from the lines that servers send."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

_END = "[DONE]"


class Garbled(Exception):
    """A server did not speak the protocol; the message quotes what it sent instead."""


def events(lines: Iterable[str]) -> Iterator[dict[str, Any] | None]:
    """Decode server-sent events that hold JSON; None stands for the end that OpenAI marks.

    Comments, other fields and empty lines mean nothing. JSON without `data:` is taken too: it is
    the answer of a server that does not stream, or one that failed while it did. Raises `Garbled`.
    """
    pending, strange = "", ""
    for line in lines:
        field, _, value = line.partition(":")
        if pending:
            pending += value if field == "data" else line
        elif field == "data":
            pending = value.strip()
        elif line.lstrip().startswith("{"):
            pending = line
        elif field not in {"", "event", "id", "retry"}:
            strange = strange or line
        if pending == _END:
            yield None
            return
        try:
            event = json.loads(pending) if pending else None
        except RecursionError:
            raise Garbled(pending[:200]) from None
        except ValueError:
            continue  # the rest of it may be in the next lines
        pending = ""
        if isinstance(event, dict):
            yield event
    if pending or strange:
        raise Garbled(pending or strange)
