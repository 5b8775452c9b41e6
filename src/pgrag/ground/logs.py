"""What a process writes about itself: lines for people, or one JSON object a line for programs,
which says for which request or job it is.
"""

import json
import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Literal

from pgrag.ground.printable import printable
from pgrag.ground.scoped import holding

Format = Literal["text", "json"]

_SECRET_KEY = re.compile(r"pgrag_sk_[0-9A-Za-z]+", re.IGNORECASE)

_about: ContextVar[dict[str, Any]] = ContextVar("about")


@contextmanager
def about(**fields: Any) -> Iterator[dict[str, Any]]:
    """Let the lines of the block, of its tasks and its threads, have these fields, too."""
    with holding(_about, _about.get({}) | fields) as held:
        yield held


def begin(**fields: Any) -> dict[str, Any]:
    """As `about`, to the end of the task: the server reports an error after the block has ended."""
    _about.set(fields)
    return fields


def note(**fields: Any) -> None:
    """Add to the fields of the block what only the work in it finds out."""
    held = _about.get(None)
    if held is not None:
        held.update(fields)


class TextFormatter(logging.Formatter):
    """A line, and after it a traceback, indented: nothing in it looks like a line of its own."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name of logging
        """The line."""
        return _escaped(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802 - as above
        """The traceback."""
        lines = super().formatException(ei).split("\n")
        return "\n".join(f"  {_escaped(line)}" for line in lines)


class JsonFormatter(logging.Formatter):
    """One object: time, level, logger, message, what the line is about, and the exception."""

    def format(self, record: logging.LogRecord) -> str:
        """The object, in ASCII: nothing in it ends the line."""
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_about.get({}),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        stated = {name: value for name, value in entry.items() if value is not None}
        return json.dumps(stated, default=str)


class WithoutKeys(logging.Filter):
    """Lets every line pass, its arguments without secret keys: a caller who takes the address for
    the place of a key must not leave it in a log. Publishable keys are no secret.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line passes."""
        if isinstance(record.args, tuple):
            record.args = tuple(
                _SECRET_KEY.sub("pgrag_sk_…", each) if isinstance(each, str) else each
                for each in record.args
            )
        return True


def configure(level: str, form: Format) -> None:
    """Write the lines of pgrag and its server from this level on to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    logging.basicConfig(handlers=[handler])
    logging.getLogger("pgrag").setLevel(level.upper())
    if form == "json":
        logging.captureWarnings(True)


def _escaped(text: str) -> str:
    return printable(text).replace("\n", "\\n")
