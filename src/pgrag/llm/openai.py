"""Models behind a server that speaks OpenAI's chat completions, as most servers do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, Self

import httpx

from pgrag.endpoint import Cancellation, Cancelled, Endpoint, Service
from pgrag.errors import (
    AnswerCutShort,
    GenerationCancelled,
    LanguageModelError,
    SettingsError,
)
from pgrag.llm.draft import Draft
from pgrag.llm.events import Garbled, events
from pgrag.llm.messages import Completion, Message
from pgrag.llm.requests import Dialect, request_for, size_of, streamed

_PATH = "/chat/completions"
_MODELS = "/models"

_LONGEST = 1_000_000
_SPARE, _BYTES_PER_TOKEN = 4000, 64
"""Bytes that a completion may have: without a bound of its tokens; with one. Most tokens have four
bytes: a server that sends so many more takes no notice of the bound.
"""

PROBE_TIMEOUT = 5.0
"""Seconds that a server may take to list its models."""

_SERVICE = Service(
    "language model",
    "PGRAG_LLM",
    LanguageModelError,
    address=f"it ends where {_PATH} begins, often in /v1",
    example="http://localhost:11434/v1",
    demands="whether it can call tools",
    size="the token budget",
    broken_off=AnswerCutShort,
)


class ChatModel:
    """Asks a chat model, and believes no answer unseen. Threads may share it.

    `url` is the address up to where `/chat/completions` begins. A request is tried again up to
    `retries` times before its first byte has come, never after it; `timeout` is how many seconds a
    server may be silent, such as while it loads its model, and is not tried again after. What a
    server refuses of the protocol (`stream_options`, `max_tokens`, `temperature`) is left out from
    then on. `transport` and `sleep` replace the network and the clock.
    """

    def __init__(
        self,
        *,
        url: str,
        model: str,
        api_key: str | None = None,
        retries: int = 2,
        timeout: float = 300.0,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        if not model:
            raise SettingsError(
                "The language model needs the name of a model.", hint="Set PGRAG_LLM_MODEL."
            )
        if timeout <= 0:
            raise SettingsError(f"The language model's timeout must be above 0, not {timeout}.")
        self._model = model
        self._dialect = Dialect()
        self._endpoint = Endpoint(
            _completed(url),
            _SERVICE,
            api_key=api_key,
            retries=retries,
            timeout=timeout,
            is_patient=False,
            keep_alive=False,
            transport=transport,
            sleep=sleep,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __str__(self) -> str:
        """Name the model and its server, without secrets."""
        return f"{self._model} at {self._endpoint}"

    def close(self) -> None:
        """Cancel the requests that run, and disconnect."""
        self._endpoint.close()

    @property
    def name(self) -> str:
        """The model's name, as its server knows it."""
        return self._model

    def served(self) -> list[str] | None:
        """Return the models that the server says it has; None where it does not say.

        Raises `LanguageModelError` where it cannot be reached or refuses the key.
        """
        path = self._endpoint.path.removesuffix(_PATH) + _MODELS
        listed = self._endpoint.get(path, timeout=PROBE_TIMEOUT)
        models = listed.get("data") if isinstance(listed, dict) else None
        if not isinstance(models, list):
            return None
        return [str(model["id"]) for model in models if isinstance(model, dict) and "id" in model]

    def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[dict[str, Any]] = (),
        max_tokens: int | None = None,
        temperature: float | None = None,
    ) -> Completion:
        """Wait for the whole completion.

        Raises `LanguageModelError` when the server refuses, keeps failing or writes nothing, and
        `GenerationCancelled` when the model is closed meanwhile.
        """
        request = request_for(self._model, messages, tools, max_tokens, temperature)
        with self._explained():
            return self._final(self._whole(request, Cancellation()), request)

    def stream(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[dict[str, Any]] = (),
        max_tokens: int | None = None,
        temperature: float | None = None,
    ) -> ChatStream:
        """Return a completion that is asked for when it is iterated over."""
        return ChatStream(self, request_for(self._model, messages, tools, max_tokens, temperature))

    def _whole(self, request: dict[str, Any], cancellation: Cancellation) -> Draft:
        """Ask for a completion in one piece."""
        answer = self._endpoint.post(
            self._dialect.adapted(request), cancellation=cancellation, amend=self._dialect.learn
        )
        if not isinstance(answer, dict) or answer.keys().isdisjoint({"choices", "error", "object"}):
            raise Garbled(str(answer))
        draft = Draft()
        draft.add(answer)
        draft.end()
        return draft

    def _written(
        self, request: dict[str, Any], draft: Draft, cancellation: Cancellation
    ) -> Iterator[str]:
        """Ask for a completion, hand out its text as it comes, and fill the draft with it."""
        lines = self._endpoint.lines(
            self._dialect.adapted(streamed(request)), cancellation, self._dialect.learn
        )
        has_ended = False
        bound = request.get("max_tokens")
        room = _LONGEST if bound is None else _SPARE + _BYTES_PER_TOKEN * bound
        with closing(lines):
            for event in events(lines):
                if event is None:
                    has_ended = True
                    break
                if piece := draft.add(event):
                    yield piece
                if draft.size > room:
                    raise AnswerCutShort(
                        f"{self} writes on and on, past the tokens that it may write.",
                        hint="Try another model.",
                    )
        if piece := draft.end():
            yield piece
        if not (has_ended or draft.finish):
            raise AnswerCutShort(
                f"{self} stopped in the middle of its answer.",
                hint=f"Check PGRAG_LLM_URL: {_SERVICE.address}; the server's log may say more.",
            )

    def _final(self, draft: Draft, request: dict[str, Any]) -> Completion:
        """Make a completion final; it must hold something."""
        if draft.is_empty:
            is_short = draft.finish == "length"
            raise LanguageModelError(
                f"{self} wrote nothing.",
                hint="All its tokens went into reasoning: raise PGRAG_LLM_MAX_TOKENS."
                if is_short
                else "Try again, or try another model.",
            )
        return draft.completion(self._model, size_of(request))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say in pgrag's own errors what went wrong with a request."""
        try:
            yield
        except Cancelled:
            raise GenerationCancelled("The request to the language model was cancelled.") from None
        except Garbled as error:
            raise LanguageModelError(
                f"{self} answered with {self._endpoint.quoted(str(error))}.",
                hint=f"Check PGRAG_LLM_URL: {_SERVICE.address}; the server's log may say more.",
            ) from None


class ChatStream:
    """A completion while it is written; see `CompletionStream`. It can be read once."""

    def __init__(self, model: ChatModel, request: dict[str, Any]) -> None:
        self._cancellation = Cancellation()
        self._completions: list[Completion] = []
        # It knows nothing of this object: when nobody holds that any more, its connection closes.
        self._pieces = _pieces(model, request, self._cancellation, self._completions)

    def __iter__(self) -> Iterator[str]:
        return self._pieces

    @property
    def completion(self) -> Completion:
        """The whole of it, once the iteration has come to its end."""
        if not self._completions:
            raise RuntimeError("The completion has not come to its end.")
        return self._completions[0]

    def cancel(self) -> None:
        """End it from any thread, also while another one waits for the next piece."""
        self._cancellation.cancel()


def _pieces(
    model: ChatModel,
    request: dict[str, Any],
    cancellation: Cancellation,
    completions: list[Completion],
) -> Iterator[str]:
    """Hand out the text of a completion as it comes; leave the whole of it in `completions`."""
    with model._explained():
        draft = Draft()
        yield from model._written(request, draft, cancellation)
        if draft.is_empty and "tools" in request:
            # Some servers lose the tool calls of a stream, and nothing has been handed out yet.
            draft = model._whole(request, cancellation)
            if draft.text:
                yield draft.text
        completions.append(model._final(draft, request))


def _completed(url: str) -> str:
    """Let an address end in the path of the protocol; what follows a question mark stays."""
    base, mark, parameters = url.partition("?")
    return base.rstrip("/").removesuffix(_PATH) + _PATH + mark + parameters
