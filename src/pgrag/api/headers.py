"""Headers of every answer that tell browsers what pages may do with it, and answers to HEAD."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pgrag.api.site import VIEWS

POSITION = "Pgrag-Position"
"""The header of answers that says where the log of the primary was after what a request wrote, and
of requests that read what was written up to there; `now`: up to the request.
"""

ALWAYS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none';"
    " form-action 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    # Pages of other origins that may call use CORS, to which this does not apply.
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Headers of answers that do not set them; they suit JSON, which loads nothing."""

_RAW = [(name.lower().encode(), value.encode()) for name, value in ALWAYS.items()]

PUBLIC = ("/assets/", "/docs", "/openapi.json", "/page/", "/widget.js", "/opensearch.xml")
"""Addresses whose answers are the same for all callers, so that browsers may keep them."""


class SecurityHeaders:
    """ASGI middleware, the outermost, so that answers to errors have the headers too."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer with the headers."""

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = message["headers"]
                is_public = message["status"] < 400 and (
                    scope["path"].startswith(PUBLIC) or scope["path"].lstrip("/") in VIEWS
                )
                if not is_public:
                    own = [each for each in own if each[0] != b"cache-control"]
                names = {name for name, _ in own}
                caching = (b"cache-control", b"no-cache" if is_public else b"no-store")
                missing = [each for each in (*_RAW, caching) if each[0] not in names]
                message = {**message, "headers": [*own, *missing]}
            await send(message)

        await self._app(scope, receive, guarded)


class HeadAsGet:
    """Middleware: HEAD wherever there is GET gets the same answer without its body.

    The address of agents is left alone: there GET may open a stream without end.
    """

    def __init__(self, app: ASGIApp, *, except_path: str) -> None:
        self._app = app
        self._except_path = except_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        is_head = scope["type"] == "http" and scope["method"] == "HEAD"
        if not is_head or scope["path"].rstrip("/") == self._except_path:
            await self._app(scope, receive, send)
            return

        async def send_head(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self._app({**scope, "method": "GET"}, receive, send_head)
