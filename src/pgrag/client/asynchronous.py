"""The client's methods, awaitable, in threads; cancelling a call cancels its statement."""

from collections.abc import Awaitable, Callable
from functools import partial, update_wrapper
from typing import Concatenate, ParamSpec, Self, TypeVar

import anyio
import anyio.to_thread

from pgrag.client import Client, connect
from pgrag.ground.cancelling import Statements

P = ParamSpec("P")
R = TypeVar("R")


async def in_thread(call: Callable[[], R]) -> R:
    """Wait for a call in a worker thread; a caller who stops waiting cancels its statement."""
    statements = Statements()
    try:
        return await anyio.to_thread.run_sync(statements.run, call, abandon_on_cancel=True)
    except anyio.get_cancelled_exc_class():
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(statements.cancel)
        raise


def _in_thread(
    method: Callable[Concatenate[Client, P], R],
) -> Callable[Concatenate["AsyncClient", P], Awaitable[R]]:
    """Make a method of `Client` awaitable."""

    async def awaited(self: "AsyncClient", /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await in_thread(partial(method, self._client, *args, **kwargs))

    return update_wrapper(awaited, method)


class AsyncClient:
    """`Client` with awaitable methods; an asynchronous context manager."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        with anyio.CancelScope(shield=True):
            await self.close()

    close = _in_thread(Client.close)
    search = _in_thread(Client.search)
    search_pages = _in_thread(Client.search_pages)
    search_many = _in_thread(Client.search_many)
    search_text = _in_thread(Client.search_text)
    facets = _in_thread(Client.facets)
    suggest = _in_thread(Client.suggest)
    parse_query = _in_thread(Client.parse_query)
    detect_intent = _in_thread(Client.detect_intent)
    context = _in_thread(Client.context)
    answer = _in_thread(Client.answer)
    libraries = _in_thread(Client.libraries)
    find_libraries = _in_thread(Client.find_libraries)
    versions = _in_thread(Client.versions)
    resolve_version = _in_thread(Client.resolve_version)
    pinned_versions = _in_thread(Client.pinned_versions)
    compare_versions = _in_thread(Client.compare_versions)
    section_history = _in_thread(Client.section_history)
    pages = _in_thread(Client.pages)
    page = _in_thread(Client.page)
    find_page = _in_thread(Client.find_page)
    outline = _in_thread(Client.outline)
    page_versions = _in_thread(Client.page_versions)
    rendered_page = _in_thread(Client.rendered_page)
    passage = _in_thread(Client.passage)
    find_passage = _in_thread(Client.find_passage)
    parent = _in_thread(Client.parent)
    children = _in_thread(Client.children)
    siblings = _in_thread(Client.siblings)
    ancestors = _in_thread(Client.ancestors)
    query_pages = _in_thread(Client.query_pages)
    properties = _in_thread(Client.properties)
    reading_state = _in_thread(Client.reading_state)
    backlinks = _in_thread(Client.backlinks)
    related_pages = _in_thread(Client.related_pages)
    related_sections = _in_thread(Client.related_sections)
    neighbourhood = _in_thread(Client.neighbourhood)
    shortest_path = _in_thread(Client.shortest_path)
    edges = _in_thread(Client.edges)
    links = _in_thread(Client.links)
    index = _in_thread(Client.index)
    index_tags = _in_thread(Client.index_tags)
    index_versions = _in_thread(Client.index_versions)
    send_page = _in_thread(Client.send_page)
    remove_page = _in_thread(Client.remove_page)
    index_table = _in_thread(Client.index_table)
    refresh_table = _in_thread(Client.refresh_table)
    indexed_tables = _in_thread(Client.indexed_tables)
    create_job = _in_thread(Client.create_job)
    jobs = _in_thread(Client.jobs)
    job = _in_thread(Client.job)
    cancel_job = _in_thread(Client.cancel_job)
    retry_job = _in_thread(Client.retry_job)
    embed = _in_thread(Client.embed)
    configure = _in_thread(Client.configure)
    remove = _in_thread(Client.remove)
    check = _in_thread(Client.check)
    rate = _in_thread(Client.rate)
    evaluation_sets = _in_thread(Client.evaluation_sets)
    import_evaluation_set = _in_thread(Client.import_evaluation_set)
    judge = _in_thread(Client.judge)
    judgements = _in_thread(Client.judgements)
    evaluate = _in_thread(Client.evaluate)
    compare = _in_thread(Client.compare)
    tune = _in_thread(Client.tune)


def connect_async(url: str | None = None, *, read_url: str | None = None) -> AsyncClient:
    """`connect` for asynchronous programs."""
    return AsyncClient(connect(url, read_url=read_url))
