"""Libraries, versions and pages as resources that people pick and attach in their client."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar
from urllib.parse import quote, unquote

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from pgrag.ground.errors import InvalidInput, NotFound
from pgrag.mcp import failures
from pgrag.mcp.corpus import Documentation, label, named, shown
from pgrag.mcp.progress import Context, Listing
from pgrag.mcp.replies import Block, on_one_line
from pgrag.service.work import Works

LIBRARIES = "pgrag://libraries"
VERSIONS = "pgrag://{library}/versions"
PAGES = "pgrag://{library}/{version}/pages"
PAGE = "pgrag://{library}/{version}/pages/{+key}"

_MARKDOWN = "text/markdown"
_MOST_PAGES = 1000
"""Pages of a version that are listed; a search finds the rest."""
_MOST_COMPLETIONS = 100
"""The protocol's limit."""
_LONGEST = 200
"""Characters of a wrong address that an error repeats."""
_ADDRESS = re.compile(
    r"pgrag://(?P<library>[^/]+)/(?:versions|(?P<version>[^/]+)/pages(?:/(?P<key>.+))?)"
)
_TEMPLATES = [
    types.ResourceTemplate(
        uri_template=template, name=name, title=title, description=description, mime_type=_MARKDOWN
    )
    for template, name, title, description in [
        (VERSIONS, "versions", "Versions of a library", "Every version of a library."),
        (PAGES, "pages", "Pages of a version", "Every page of a version, with its address."),
        (PAGE, "page", "Page", "A page as Markdown; key is its path in the source."),
    ]
]

Result = TypeVar("Result")


def add_resources(server: Server[Any], documentation: Documentation, works: Works) -> None:
    """Let a server list, complete and read resources. A slash in a name is percent-encoded."""

    async def in_thread(work: Callable[..., Result], *arguments: Any, uri: str = "") -> Result:
        try:
            return await works.run(works.read, partial(work, documentation, *arguments))
        except Exception as error:
            is_theirs = isinstance(error, NotFound | InvalidInput)
            code = types.INVALID_PARAMS if is_theirs else types.INTERNAL_ERROR
            data = {"uri": uri} if uri else None
            raise MCPError(code, failures.tell(error, uri or "resources"), data) from None

    async def list_resources(_: Context, __: Listing) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=await in_thread(_listed))

    async def list_templates(_: Context, __: Listing) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=_TEMPLATES)

    async def read(_: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        text = await in_thread(_read, params.uri, uri=params.uri)
        content = types.TextResourceContents(uri=params.uri, mime_type=_MARKDOWN, text=text)
        return types.ReadResourceResult(contents=[content])

    async def complete(_: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        known = params.context.arguments if params.context else None
        choices = await in_thread(_completions, params.argument, known or {})
        return types.CompleteResult(
            completion=types.Completion(
                values=choices[:_MOST_COMPLETIONS], has_more=len(choices) > _MOST_COMPLETIONS
            )
        )

    server.add_request_handler("resources/list", Listing, list_resources)
    server.add_request_handler("resources/templates/list", Listing, list_templates)
    server.add_request_handler("resources/read", types.ReadResourceRequestParams, read)
    server.add_request_handler("completion/complete", types.CompleteRequestParams, complete)


def page_uri(library: str, version: str, key: str) -> str:
    """The address of a page as a resource."""
    return f"{_pages_uri(library, version)}/{quote(key)}"


def _pages_uri(library: str, version: str) -> str:
    return f"pgrag://{quote(library, safe='')}/{quote(shown(version), safe='')}/pages"


def _versions_uri(library: str) -> str:
    return f"pgrag://{quote(library, safe='')}/versions"


def _listed(documentation: Documentation) -> list[types.Resource]:
    first = types.Resource(
        uri=LIBRARIES,
        name="libraries",
        title="Libraries",
        description="Every library whose documentation can be searched here.",
        mime_type=_MARKDOWN,
    )
    return [first] + [
        types.Resource(
            uri=_versions_uri(row["library"]),
            name=row["library"],
            title=f"Versions of {row['library']}",
            mime_type=_MARKDOWN,
        )
        for row in documentation.call("libraries")
    ]


def _read(documentation: Documentation, uri: str) -> str:
    if uri.rstrip("/") == LIBRARIES:
        return _libraries(documentation)
    match = _ADDRESS.fullmatch(uri)
    if match is None or "\x00" in unquote(uri):
        known = ", ".join([LIBRARIES, *(template.uri_template for template in _TEMPLATES)])
        raise NotFound(f"There is no resource {uri[:_LONGEST]!r}.", hint=f"There are: {known}.")
    library = unquote(match["library"])
    if match["version"] is None:
        return _versions(documentation, library)
    wish = label(unquote(match["version"]))
    if match["key"] is None:
        return _pages(documentation, library, wish)
    return _page(documentation, library, wish, unquote(match["key"]))


def _libraries(documentation: Documentation) -> str:
    lines = [
        f"- [{row['library']}]({_versions_uri(row['library'])}): newest"
        f" {shown(row['newest'] or '')}, {row['pages']:,} pages"
        for row in documentation.call("libraries")
    ]
    return "\n".join(["# Libraries", "", *(lines or ["No library is indexed yet."])])


def _versions(documentation: Documentation, library: str) -> str:
    lines = [
        f"- [{shown(row['version'])}]({_pages_uri(library, row['version'])}):"
        f" {row['pages']:,} pages{', the newest release' if row['is_newest'] else ''}"
        for row in documentation.call("library_versions", library=library)
    ]
    return "\n".join([f"# Versions of {library}", "", *lines])


def _pages(documentation: Documentation, library: str, wish: str | None) -> str:
    resolved = documentation.resolve(library, wish)
    rows = documentation.call("pages", library=library, version=resolved.label, top_k=_MOST_PAGES)
    lines = [
        f"- [{on_one_line(row['title'])}]({page_uri(library, resolved.label, row['key'])})"
        for row in rows
    ]
    if len(rows) == _MOST_PAGES:
        lines.append(f"\nThese are the first {_MOST_PAGES:,}; search_docs finds the others.")
    return "\n".join([f"# Pages of {resolved}", "", *lines])


def _page(documentation: Documentation, library: str, wish: str | None, key: str) -> str:
    resolved = documentation.resolve(library, wish)
    [row] = documentation.call("find_page", library=library, page=key, version=resolved.label)
    [page] = documentation.call("page", page_id=row["page_id"])
    where = on_one_line(row["url"] or row["key"])
    head = f"Source: {where} ({named(resolved.library, resolved.label)})\n"
    return str(Block(row["page_id"], head, page["body"]))


def _completions(
    documentation: Documentation, argument: types.CompletionArgument, known: dict[str, str]
) -> list[str]:
    """Completions of a partly typed argument; one over the limit shows that there are more."""
    typed = argument.value.strip().lower()
    library = known.get("library")
    names: list[str] = []
    if argument.name == "library":
        names = [row["library"] for row in documentation.call("libraries")]
    elif argument.name == "version" and library:
        rows = documentation.call("library_versions", library=library)
        names = [shown(row["version"]) for row in rows]
    elif argument.name == "key" and library:
        typed = argument.value
        rows = documentation.call(
            "pages",
            library=library,
            version=label(known.get("version")),
            top_k=_MOST_COMPLETIONS + 1,
            after=typed or None,
        )
        names = [row["key"] for row in rows]
    return [name for name in names if name.startswith(typed)][: _MOST_COMPLETIONS + 1]
