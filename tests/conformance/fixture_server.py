"""The fixtures that the conformance suite calls by name, over pgrag's transport and its guards.

pgrag itself offers none of them, so its own server shows only what it has; here the transport has
to carry everything that the protocol knows. `python fixture_server.py PORT` serves them.
"""

import base64
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import mcp_types as types
import uvicorn
from mcp.server.mcpserver import Context, MCPServer, RequestStateSecurity
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, Field
from starlette.applications import Starlette
from starlette.routing import Route

from pgrag.api.origins import KnownHosts, KnownOrigins
from pgrag.mcp.http import Endpoint

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)
SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="

server = MCPServer(
    "fixtures", version="1", request_state_security=RequestStateSecurity(keys=[b"fixture" * 5])
)


def text(words: str) -> types.TextContent:
    return types.TextContent(text=words)


def image() -> types.ImageContent:
    return types.ImageContent(data=PIXEL, mime_type="image/png")


def resource(uri: str, mime_type: str = "text/plain") -> types.EmbeddedResource:
    held = types.TextResourceContents(uri=uri, mime_type=mime_type, text='{"held": true}')
    return types.EmbeddedResource(resource=held)


# What a tool may answer with.
CONTENTS: dict[str, list[Any]] = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [image()],
    "test_audio_content": [types.AudioContent(data=SILENCE, mime_type="audio/wav")],
    "test_embedded_resource": [resource("test://embedded-resource")],
    "test_multiple_content_types": [
        text("Several:"), image(), resource("test://mixed-content-resource", "application/json"),
    ],
}  # fmt: skip
for _name, _content in CONTENTS.items():
    server.tool(_name, structured_output=False)(lambda content=_content: list(content))


@server.tool()
def test_error_handling() -> str:
    raise RuntimeError("This tool fails on purpose.")


@server.tool()
async def test_tool_with_progress(context: Context) -> str:
    for done in (0, 50, 100):
        await context.report_progress(done, 100, f"{done} of 100")
    return "done"


@server.tool()
async def test_tool_with_logging(context: Context) -> str:
    for words in ("begun", "at work", "ended"):
        await context.info(words)
    return "done"


@server.tool()
def test_missing_capability(context: Context) -> str:
    declared = context.session.client_capabilities
    if declared is None or declared.sampling is None:
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "It needs sampling.",
            {"requiredCapabilities": {"sampling": {}}},
        )
    return "sampling is declared"


@server.tool()
def test_x_mcp_header(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
) -> str:
    return region


@server.tool()
async def test_trigger_tool_change(context: Context) -> str:
    await context.notify_tools_changed()
    return "told"


@server.tool()
async def test_trigger_prompt_change(context: Context) -> str:
    await context.notify_prompts_changed()
    return "told"


# What a server may ask its client for, before it answers.
def form(message: str, member: str, kind: str = "string") -> types.ElicitRequest:
    schema = {"type": "object", "properties": {member: {"type": kind}}, "required": [member]}
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=message, requested_schema=schema)
    )


def sample(words: str) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=text(words))
    params = types.CreateMessageRequestParams(messages=[message], max_tokens=50)
    return types.CreateMessageRequest(params=params)


QUESTIONS: dict[str, tuple[dict[str, Any], str | None]] = {
    "elicitation": ({"user_name": form("What is your name?", "name")}, None),
    "sampling": ({"capital_question": sample("What is the capital of France?")}, None),
    "list_roots": ({"client_roots": types.ListRootsRequest()}, None),
    "request_state": ({"confirm": form("Please confirm", "ok", "boolean")}, "one"),
    "tampered_state": ({"confirm": form("Please confirm", "ok", "boolean")}, "two"),
    "multiple_inputs": (
        {
            "user_name": form("What is your name?", "name"),
            "greeting": sample("Write a greeting"),
            "client_roots": types.ListRootsRequest(),
        },
        "three",
    ),
}


def ask_for(name: str, requests: dict[str, Any], state: str | None) -> None:
    async def run(context: Context) -> str | types.InputRequiredResult:
        if (
            context.request_state == state
            and requests.keys() <= (context.input_responses or {}).keys()
        ):
            return f"state-ok: {json.dumps(sorted(requests))} answered"
        return types.InputRequiredResult(input_requests=requests, request_state=state)

    server.tool(f"test_input_required_result_{name}")(run)


for _name, (_requests, _state) in QUESTIONS.items():
    ask_for(_name, _requests, _state)


@server.tool()
async def test_input_required_result_multi_round(
    context: Context,
) -> str | types.InputRequiredResult:
    answered = context.input_responses or {}
    place = int(context.request_state or 0)
    if f"step{place}" in answered:
        place += 1
        if place == 3:
            return "three rounds"
    else:
        place = 1
    steps = {1: form("Your name?", "name"), 2: form("Your colour?", "color")}
    return types.InputRequiredResult(
        input_requests={f"step{place}": steps[place]}, request_state=str(place)
    )


@server.tool()
async def test_input_required_result_capabilities(context: Context) -> types.InputRequiredResult:
    able = context.client_capabilities
    asked = {"sample": (able and able.sampling, sample("Say hello")),
             "ask": (able and able.elicitation, form("Your name?", "name"))}  # fmt: skip
    requests = {
        name: request for name, (declared, request) in asked.items() if declared is not None
    }
    return types.InputRequiredResult(input_requests=requests, request_state="able")


@server.prompt()
async def test_input_required_result_prompt(
    context: Context,
) -> list[UserMessage] | types.InputRequiredResult:
    if "user_context" in (context.input_responses or {}):
        return [UserMessage(text("It has its context."))]
    return types.InputRequiredResult(input_requests={"user_context": form("Which?", "context")})


# What a server of the session era asks for in the middle of a call.
@server.tool()
async def test_sampling(prompt: str, context: Context) -> str:
    answer = await context.session.create_message(
        messages=[types.SamplingMessage(role="user", content=text(prompt))],
        max_tokens=50,
        related_request_id=context.request_id,
    )
    return f"LLM response: {getattr(answer.content, 'text', '')}"


class Reply(BaseModel):
    response: str = Field(description="An answer")


@server.tool()
async def test_elicitation(message: str, context: Context) -> str:
    return f"User response: {(await context.elicit(message, Reply)).action}"


# Resources and prompts.
@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    return base64.b64decode(PIXEL)


@server.resource("test://template/{id}/data", mime_type="application/json")
def template(id: str) -> str:
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@server.resource("test://watched-resource", mime_type="text/plain")
def watched() -> str:
    return "watched"


@server.prompt()
def test_simple_prompt() -> list[UserMessage]:
    return [UserMessage(text("This is a simple prompt for testing."))]


@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> list[UserMessage]:
    return [UserMessage(text(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"))]


@server.prompt()
def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:
    return [UserMessage(resource(resourceUri)), UserMessage(text("Read the resource above."))]


@server.prompt()
def test_prompt_with_image() -> list[UserMessage]:
    return [UserMessage(image()), UserMessage(text("Look at the image above."))]


@server.completion()
async def complete(*_: Any) -> types.Completion:
    return types.Completion(values=[], total=0, has_more=False)


async def accept(*_: Any) -> types.EmptyResult:
    return types.EmptyResult()


for _method, _params in {
    "logging/setLevel": types.SetLevelRequestParams,
    "resources/subscribe": types.SubscribeRequestParams,
    "resources/unsubscribe": types.UnsubscribeRequestParams,
}.items():
    server._lowlevel_server.add_request_handler(_method, _params, accept)


for _each in (*server._tool_manager.list_tools(), *server._prompt_manager.list_prompts()):
    _each.description = _each.description or _each.name.replace("_", " ")


def application() -> Any:
    """pgrag's endpoint behind the guards of its service."""
    endpoint = Endpoint(lambda: server._lowlevel_server, streams=True)

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        async with endpoint.running():
            yield

    app = Starlette(routes=[Route("/mcp", endpoint)], lifespan=running)
    app.add_middleware(KnownOrigins, origins=[], hosts=[], has_key=lambda _: False)
    app.add_middleware(KnownHosts, hosts=[])
    return app


if __name__ == "__main__":
    uvicorn.run(application(), port=int(sys.argv[1]), log_level="warning")
