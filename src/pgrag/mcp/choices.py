"""The values of arguments that have few, for the schemas of tools: what the caller may see."""

import json
import logging

import anyio
import anyio.to_thread

from pgrag.ground.callers import working
from pgrag.ground.errors import PgragError
from pgrag.ground.requests import holder
from pgrag.mcp.corpus import Documentation
from pgrag.service.work import Works

log = logging.getLogger(__name__)

MOST_LIBRARIES = 30
_MOST_TYPES = 12
_MOST_BYTES = {"library": 360, "type": 120}
"""Of the names in JSON: every agent pays for them in every conversation."""
_PATIENCE_SECONDS = 2.0
"""How long the list of tools waits for a database, which may only be starting."""

Choices = dict[str, list[str]]


async def choices(documentation: Documentation, works: Works) -> Choices:
    """The libraries and the types of pages; what are too many, or not known in time, are left
    out, and the agent is told of them by find_library.
    """

    def read() -> Choices:
        with working(works.read):
            return _read(documentation)

    with anyio.move_on_after(_PATIENCE_SECONDS):
        try:
            async with works.turns[works.read.name].turn(holder()):
                return await anyio.to_thread.run_sync(read, abandon_on_cancel=True)
        except PgragError as error:
            log.warning("The tools are listed without libraries: %s", error)
    return {}


def _read(documentation: Documentation) -> Choices:
    libraries = [row["library"] for row in documentation.call("libraries")]
    if not 0 < len(libraries) <= MOST_LIBRARIES:
        return {}
    facets = documentation.call("facets", query=None, value_count=_MOST_TYPES + 1)
    types = [row["value"] for row in facets if row["facet"] == "type" and row["value"]]
    found = {"library": libraries, "type": types if len(types) <= _MOST_TYPES else []}
    return {
        name: values
        for name, values in found.items()
        if values and len(json.dumps(values, ensure_ascii=False).encode()) <= _MOST_BYTES[name]
    }
