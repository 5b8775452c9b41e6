"""Generated answers with their sources, and the tools with which a model retrieves them."""

import json
from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json

from pgrag.answer.agent import RESULT_TOKENS
from pgrag.answer.tool_arguments import definitions
from pgrag.answer.tools import Toolbox
from pgrag.api.arguments import Arguments, Body, LibraryName, VersionWish
from pgrag.api.declared import Exchange, Router
from pgrag.api.delivery import EventStream, follow
from pgrag.api.openapi import events, problems
from pgrag.api.page_keys import has_page_key
from pgrag.api.problems import FORBIDDEN, RETRY_AFTER_SECONDS, STOPPING, problem
from pgrag.api.queries import AnswerBody
from pgrag.ground.values.answers import Answer
from pgrag.service.app import App
from pgrag.service.work import Abandoned

router = Router(tags=["answers"], responses=problems(400, 404, 413, 501, 502))
tools = Router(prefix="/tools", tags=["answers"])

ToolName = Literal["keyword_search", "semantic_search", "read_chunk"]

_FOR_PAGES = {"question", "library", "version", "filters", "stream"}
"""What a publishable key may choose."""

_STREAM = events(
    *("intent", "sources", "step", "token", "citation", "done", "error"),
    description="Ends with `done`, the whole answer, or `error`, a problem document.",
)


@router.post("/answer", response_model=Answer, responses=_STREAM)
async def answer(body: AnswerBody, request: Request) -> Response:
    """Answer a question with its sources; in one piece, or streamed."""
    if has_page_key(request.headers) and (costly := sorted(body.model_fields_set - _FOR_PAGES)):
        return problem(
            request,
            FORBIDDEN,
            f"A publishable key may not choose {', '.join(costly)}: it could make answers dear.",
            hint=f"Send only {', '.join(sorted(_FOR_PAGES))}.",
        )
    app: App = request.app.state.pgrag
    works = request.app.state.works
    answerer = await works.run(works.read, partial(app.answering, "rest"))
    stream = answerer.stream(body.question, **body.arguments())
    wants_stream = body.stream
    if wants_stream is None:
        wants_stream = "text/event-stream" in request.headers.get("accept", "")
    if wants_stream:
        return EventStream(request, stream, works)
    try:
        await follow(stream, works, request.receive)
    except Abandoned:
        return problem(request, STOPPING, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})
    return Response(
        to_json(stream.answer.as_json(), inf_nan_mode="null"),
        headers={"Cache-Control": "no-store"},
        media_type="application/json",
    )


class Function(BaseModel):
    """A function in OpenAI's format."""

    name: ToolName
    description: str
    parameters: dict[str, Any] = Field(description="JSON Schema of the arguments.")


class ToolDefinition(BaseModel):
    """A tool in OpenAI's format."""

    type: Literal["function"]
    function: Function


class Tools(BaseModel):
    """The `tools` of a request to a chat model."""

    tools: list[ToolDefinition]


class ToolsParameters(Arguments):
    """Which form of the tools."""

    scoped: bool = Field(
        default=False, description="Without the arguments that choose a library and a version."
    )


class ToolBody(Body):
    """A call of a tool, and the library it is limited to."""

    arguments: dict[str, Any] | str = Field(
        description="As the model wrote them: an object, or the JSON of one.",
        examples=[{"query": "when is high water"}],
    )
    library: LibraryName | None = Field(
        default=None, description="Nothing else is searched or read.", examples=["harbour"]
    )
    version: VersionWish | None = Field(
        default=None, description="Of the library; default: the newest release."
    )
    first_number: int = Field(
        default=1, ge=1, le=100_000, description="Of the first source: one more than there are."
    )
    token_budget: int = Field(
        default=RESULT_TOKENS,
        ge=1,
        le=100_000,
        description="Passages that do not fit are left out.",
    )


class ToolSource(BaseModel):
    """A numbered source; its further fields are those of the sources of an answer."""

    model_config = ConfigDict(extra="allow")

    number: int = Field(examples=[1])
    document_id: int = Field(examples=[42])
    content: str


class ToolResult(BaseModel):
    """The result of a tool."""

    outcome: Literal["found", "nothing", "unusable", "repeated"]
    text: str = Field(description="For the model, as the content of a message of the role tool.")
    sources: list[ToolSource]
    search_id: UUID | None = Field(description="For feedback; null where nothing was recorded.")


@tools.answers("", Tools, name="tools")
def list_tools(exchange: Exchange, query: ToolsParameters) -> Any:
    """List the tools in OpenAI's format, for an agent loop of your own."""
    return {"tools": definitions(scoped=query.scoped)}


@tools.answers("/{name}", ToolResult, method="POST", responses=problems(404))
def use_tool(
    exchange: Exchange, name: Annotated[ToolName, Path(description="Which tool.")], body: ToolBody
) -> Any:
    """Run a tool for a model; the text describes errors in the call, for the model to correct."""
    written = body.arguments if isinstance(body.arguments, str) else json.dumps(body.arguments)
    toolbox = Toolbox(
        exchange.app.searching_as("rest"),
        exchange.call,
        library=body.library,
        version=body.version,
        first_number=body.first_number,
    )
    used = toolbox.use(name, written, body.token_budget)
    return {
        "outcome": used.outcome,
        "text": used.text,
        "sources": toolbox.sources,
        "search_id": used.search_id,
    }
