"""Calls the tools of an MCP server by the official client, in this process."""

import re
from contextlib import contextmanager
from typing import NamedTuple

from anyio.from_thread import start_blocking_portal
from mcp import Client

from pgrag.ground.settings import Settings
from pgrag.mcp.server import create_server
from pgrag.service.app import App

#: What an older client says first.
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "a test", "version": "1"},
}


_PASSAGE = re.compile(
    r"^(?:###? ?(?:\d+\. )?(?P<heading>[^\n]+)\n(?:(?P<url>\S+)\n)?)?"
    r'<passage id="(?P<id>\d+)">\n'
    r"(?P<content>.*?)\n</passage>$",
    re.M | re.S,
)


class Passage(NamedTuple):
    """A hit as a model reads it."""

    heading: str | None
    url: str | None
    id: int
    content: str


def passages(text):
    """The hits of a search's reply."""
    found = (match.groupdict() for match in _PASSAGE.finditer(text))
    return [Passage(**each | {"id": int(each["id"])}) for each in found]


def told(text, name):
    """What the last lines of a reply give for an argument of the next call, or None."""
    given = re.findall(rf'\b{name}="([^"]+)"', text.rpartition("\n\n")[2])
    return given[0] if given else None


class McpClient:
    """One session with a server; see `connected`."""

    def __init__(self, portal, client, app):
        self.portal = portal
        self.client = client
        self.app = app

    def tools(self):
        """The tools by name."""
        return {tool.name: tool for tool in self.portal.call(self.client.list_tools).tools}

    def call(self, name, arguments):
        """Call a tool; the client checks the answer against the tool's output schema."""
        return self.portal.call(self.client.call_tool, name, arguments)

    def ok(self, name, **arguments):
        """Text and data of a call that must succeed; prose has no data."""
        result = self.call(name, arguments)
        assert not result.is_error, result.content
        [content] = result.content
        return content.text, result.structured_content

    def read(self, name, **arguments):
        """The text of a reply that is prose."""
        text, data = self.ok(name, **arguments)
        assert data is None
        return text

    def search(self, **arguments):
        """Text and hits of a search."""
        text = self.read("search_docs", **arguments)
        return text, passages(text)

    def parts(self, name, **arguments):
        """Text and data of each part of a reply, from cursor to cursor."""
        yield (answer := self.ok(name, **arguments))
        while (cursor := told(answer[0], "cursor")) is not None:
            yield (answer := self.ok(name, **arguments, cursor=cursor))

    def heard(self, name, **arguments):
        """Data of a call, and the progress that it told."""
        told = []

        async def hear(*progress):
            told.append(progress)

        async def call():
            return await self.client.call_tool(name, arguments, progress_callback=hear)

        return self.portal.call(call).structured_content, told

    def failed(self, name, **arguments):
        """What a call that must fail says."""
        result = self.call(name, arguments)
        assert result.is_error, result.content
        assert result.structured_content is None
        [content] = result.content
        assert "Traceback" not in content.text
        return content.text


@contextmanager
def connected(
    url,
    *,
    writes=False,
    read_only=False,
    roots=None,
    listed="default",
    mode="auto",
    pool_size=3,
    **settings,
):
    """A client of a server on a database; mode "legacy" speaks the older protocol."""
    with App(Settings(database_url=url, pool_size=pool_size, **settings)) as app:
        server = create_server(app, writes=writes, read_only=read_only, roots=roots, listed=listed)
        with (
            start_blocking_portal() as portal,
            portal.wrap_async_context_manager(Client(server, mode=mode)) as client,
        ):
            yield McpClient(portal, client, app)
