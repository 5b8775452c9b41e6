"""HEAD wherever there is GET: the same answer without its body."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadAsGet:
    """Middleware. The address of agents is left alone: there GET may open a stream without end."""

    def __init__(self, app: ASGIApp, *, except_path: str) -> None:
        self._app = app
        self._except_path = except_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        if scope["path"].rstrip("/") == self._except_path:
            await self._app(scope, receive, send)
            return

        async def send_head(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self._app({**scope, "method": "GET"}, receive, send_head)
