"""Random requests to a service: every route of its OpenAPI document, and whatever MCP offers."""

import json
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import quote

from campaign.arguments import ALIASES, Arguments, as_json
from campaign.tenants import CANARY, OTHER
from pgrag.mcp.tools.foreign import FOREIGN

#: Arguments of functions by their names in REST and MCP.
NAMES = {
    "q": "query", "from": "page_id", "to": "page_id", "other": "run_id", "case": "case_mode",
    "libraryName": "library", "libraryId": "library", "id": "document_id", "cursor": "after",
    "target_version": "version", "subfolder": "path",
}  # fmt: skip
TYPES = {
    "string": "text", "integer": "integer", "number": "double precision", "boolean": "boolean",
}  # fmt: skip
#: Addresses that the OpenAPI document lacks, and other spellings of an address.
ADDRESSES = ["/openapi.json", "/docs", "/assets/x", "/mcp/", f"/v1/libraries/{OTHER}/nothing"]
SPELLINGS = ["{}/", "/{}", "{}/..", "/v1/..{}", "{}%00", "{}?x=1", "{};a=b", "{}/../../pages/1"]
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]
HEADERS = {
    "Accept": ["*/*", "text/event-stream", "text/html", "application/json;q=0", CANARY],
    "Origin": ["https://evil.example", "http://localhost:1", "null", f"https://{OTHER}"],
    "Host": ["127.0.0.1", "docs.example", f"{OTHER}.example", "localhost:9"],
    "Authorization": ["Bearer x", f"Bearer pgrag_sk_{'0' * 72}", "Basic eDp5", f"Bearer {CANARY}"],
    "Content-Type": ["text/plain", "application/x-www-form-urlencoded"],
    "If-None-Match": ["*", f'"{OTHER}"'],
    "Range": ["bytes=0-10"],
    "X-Forwarded-For": ["10.0.0.1", CANARY],
    "Accept-Language": ["de", CANARY],
    "MCP-Protocol-Version": ["2025-03-26", "2025-06-18", "1", CANARY],
    "Last-Event-ID": ["1", CANARY],
}
OF_AGENTS = {
    "Accept": "application/json, text/event-stream", "Content-Type": "application/json",
}  # fmt: skip
#: The methods of MCP, and how often each is called.
PROTOCOL = {
    "tools/call": 10, "prompts/get": 2, "resources/read": 3, "completion/complete": 2,
    "tools/list": 1, "prompts/list": 1, "resources/list": 1, "resources/templates/list": 1,
    "initialize": 1, CANARY: 1,
}  # fmt: skip
RESOURCES = ["pgrag://libraries", "pgrag://{}/versions", "pgrag://{}/{}/pages"]
SHARE_OF_AGENTS = 0.35
#: The share of requests whose arguments all work, as far as they are known.
SHARE_USUAL = 0.6


@dataclass(slots=True)
class Request:
    """A request; `what` names its route, tool or method."""

    what: str
    method: str
    path: str
    query: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    caller: str = ""


def of_agent(what: str, method: str, parameters: dict[str, Any]) -> Request:
    """A request of MCP."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
    return Request(what, "POST", "/mcp", headers={**OF_AGENTS}, body=_json(message))


class Requests:
    """Makes requests by the OpenAPI document and by the tools that MCP lists."""

    def __init__(
        self, arguments: Arguments, document: dict[str, Any], tools: list[dict[str, Any]]
    ) -> None:
        self._arguments = arguments
        self._random = arguments.random
        self._choose = arguments.usual
        #: The arguments that are never left out.
        self._always: dict[str, Any] = {}
        self._schemas = document["components"]["schemas"]
        self._routes: list[tuple[str, str, dict[str, Any]]] = [
            *(("GET", address, {}) for address in ADDRESSES),
            *(
                (method.upper(), path, operation)
                for path, methods in document["paths"].items()
                for method, operation in methods.items()
            ),
        ]
        self._tools = {tool["name"]: tool["inputSchema"] for tool in tools}
        # Not listed: they are for clients that were made for other servers.
        self._tools |= {name: self._tools[foreign.tool] for name, foreign in FOREIGN.items()}
        self.count = len(self._tools) + len(PROTOCOL) - 1 + len(self._routes)

    def next(self) -> Request:
        """A request, sometimes with strange headers or another method."""
        random = self._random
        is_usual = random.random() < SHARE_USUAL
        self._choose = self._arguments.usual if is_usual else self._arguments.value
        if random.random() < SHARE_OF_AGENTS:
            [method] = random.choices([*PROTOCOL], [*PROTOCOL.values()])
            is_call = method == "tools/call"
            tool = random.choice([*self._tools])
            made = self._of_tool(tool) if is_call else self._of_agent(method)
        else:
            made = self._of_route(*random.choice(self._routes))
            if random.random() < 0.03:
                made.path = random.choice(SPELLINGS).format(made.path)
        for name in random.sample([*HEADERS], random.choice([0] * 8 + [1, 2])):
            made.headers[name] = random.choice(HEADERS[name])
        if random.random() < 0.03:
            made.method = random.choice(METHODS)
        return made

    def about(self, hidden: dict[str, Any]) -> list[Request]:
        """A request to each route, tool and method that can name something of a hidden library."""
        usual = self._arguments.usual
        named = 0

        def choose(name: str, type_: str) -> Any:
            nonlocal named
            fitting = hidden.get(ALIASES.get(name, name))
            if fitting is None:
                return usual(name, type_)
            named += 1
            return [fitting] if type_.endswith("[]") else fitting

        self._choose, self._always = choose, hidden
        made = []
        for make in (
            *(partial(self._of_route, *route) for route in self._routes),
            *(partial(self._of_agent, method) for method in PROTOCOL if method != "tools/call"),
            *(partial(self._of_tool, tool) for tool in self._tools),
        ):
            before, request = named, make()
            if named > before:
                made.append(request)
        self._always = {}
        return made

    def _of_route(self, method: str, path: str, operation: dict[str, Any]) -> Request:
        made = Request(f"{method} {path}", method, path)
        for parameter in operation.get("parameters", []):
            name = parameter["name"]
            if not self._is_given(name, is_required=parameter.get("required", False)):
                continue
            value = self._value(name, parameter["schema"])
            text = value if isinstance(value, str) else _json(value)
            text = text[:2000]  # No server reads long addresses.
            if parameter["in"] == "path":
                made.path = made.path.replace(f"{{{name}}}", quote(text, safe=""))
            else:
                made.query[name] = text
        if body := operation.get("requestBody"):
            media_type, content = self._random.choice([*body["content"].items()])
            is_json = media_type == "application/json"
            made.body = _json(self._value("", content["schema"])) if is_json else self._text("body")
            made.headers["Content-Type"] = media_type
        return made

    def _of_tool(self, tool: str) -> Request:
        arguments = self._value("", self._tools[tool])
        return of_agent(tool, "tools/call", {"name": tool, "arguments": arguments})

    def _of_agent(self, method: str) -> Request:
        match method:
            case "prompts/get":
                arguments = {name: self._text(name) for name in ("question", "library", "version")}
                parameters = {"name": "answer_from_docs", "arguments": arguments}
            case "resources/read":
                names = [quote(self._text(name), safe="") for name in ("library", "version")]
                page = f"pgrag://{{}}/{{}}/pages/{quote(self._text('key'))}"
                address = self._random.choice([*RESOURCES, page]).format(*names)
                parameters = {"uri": address}
            case "completion/complete":
                name = self._random.choice(["library", "version", "key"])
                typed = self._text(name)[: self._random.randint(0, 4)]
                parameters = {
                    "ref": {"type": "ref/resource", "uri": "pgrag://{library}/versions"},
                    "argument": {"name": name, "value": typed},
                    "context": {"arguments": {"library": self._text("library")}},
                }
            case _:
                parameters = {}
        return of_agent(method, method, parameters)

    def _text(self, name: str) -> str:
        return str(self._choose(name, "text"))

    def _is_given(self, name: str, *, is_required: bool) -> bool:
        is_required |= name in self._always or NAMES.get(name) in self._always
        return is_required or self._random.random() < (0.6 if name == "library" else 0.15)

    def _value(self, name: str, schema: dict[str, Any]) -> Any:
        random = self._random
        if "anyOf" in schema:
            schema = random.choice([s for s in schema["anyOf"] if s.get("type") != "null"])
        if "$ref" in schema:
            schema = self._schemas[schema["$ref"].rpartition("/")[2]]
        if "properties" in schema:
            return {
                n: self._value(n, s)
                for n, s in schema["properties"].items()
                if self._is_given(n, is_required=n in schema.get("required", ()))
            }
        if "enum" in schema and random.random() < 0.9:
            return random.choice(schema["enum"])
        if isinstance(schema.get("type"), list):
            schema = schema | {"type": random.choice(schema["type"])}
        if schema.get("type") == "array":
            return [self._value(name, schema["items"]) for _ in range(random.choice([1, 1, 2]))]
        type_ = TYPES.get(schema.get("type", ""), "jsonb")
        if schema.get("format") == "uuid":
            type_ = "uuid"
        if "contentSchema" in schema:
            type_ = "jsonb"
        value = as_json(self._choose(NAMES.get(name, name), type_))
        return _json(value) if "contentSchema" in schema else value


def _json(value: Any) -> str:
    return json.dumps(value, default=str)
