"""Models behind a server that speaks OpenAI's chat completions, as most servers do."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, Unpack

from pgrag.ground import errors
from pgrag.models.endpoint import Cancellation, Cancelled, Client, Connection, Endpoint, Service
from pgrag.models.llm import protocol
from pgrag.models.llm.draft import Draft

_MODELS = "/models"

#: Bytes: `_LONGEST` limits a completion without a token limit, `_SPARE` + 64 a token one with it.
#: Most tokens have four bytes: a server that sends 64 a token ignores its token limit.
_LONGEST = 1_000_000
_SPARE, _BYTES_PER_TOKEN = 4000, 64
#: Seconds for a server to list its models.
PROBE_TIMEOUT = 5.0

_DEFAULTS: Connection = {"retries": 2, "timeout": 300.0}
_SERVICE = Service(
    "language model",
    "PGRAG_LLM",
    errors.LanguageModelError,
    path="/chat/completions",
    address="it ends where /chat/completions begins, often in /v1",
    example="http://localhost:11434/v1",
    demands="whether it can call tools",
    size="the token budget",
    broken_off=errors.AnswerCutShort,
)


class ChatModel(Client):
    """Asks a chat model, and validates every response. Thread-safe. `url` is the address without
    `/chat/completions`. The `connection` is that of `Endpoint`, by default with two retries and 300
    s of silence, in which a server may load its model. A request is retried only before the first
    byte of the response, and never after a timeout. Fields that a server refuses (`stream_options`,
    `max_tokens`, `temperature`) are omitted or renamed from then on.
    """

    def __init__(self, *, url: str, model: str, **connection: Unpack[Connection]) -> None:
        if not model:
            raise errors.SettingsError(
                "The language model needs the name of a model.", hint="Set PGRAG_LLM_MODEL."
            )
        connection = _DEFAULTS | connection
        timeout = connection["timeout"]
        if timeout <= 0:
            raise errors.SettingsError(
                f"The language model's timeout must be above 0, not {timeout}."
            )
        self.name = model
        self._dialect = protocol.Dialect()
        self._endpoint = Endpoint(url, _SERVICE, is_patient=False, keep_alive=False, **connection)

    def __str__(self) -> str:
        """Name the model and its server, without secrets."""
        return f"{self.name} at {self._endpoint}"

    def served(self) -> list[str] | None:
        """Return the models that the server lists, or None. Raises `LanguageModelError`."""
        path = self._endpoint.url.path.removesuffix(_SERVICE.path) + _MODELS
        listed = self._endpoint.get(path, timeout=PROBE_TIMEOUT)
        models = listed.get("data") if isinstance(listed, dict) else None
        if not isinstance(models, list):
            return None
        return [str(model["id"]) for model in models if isinstance(model, dict) and "id" in model]

    def complete(
        self,
        messages: Sequence[protocol.Message],
        *,
        tools: Sequence[dict[str, Any]] = (),
        max_tokens: int | None = None,
        temperature: float | None = None,
    ) -> protocol.Completion:
        """Wait for the whole completion; arguments and errors like `stream`."""
        request = protocol.request_for(self.name, messages, tools, max_tokens, temperature)
        with self._explained():
            return self._final(self._whole(request, Cancellation()), request)

    def stream(
        self,
        messages: Sequence[protocol.Message],
        *,
        tools: Sequence[dict[str, Any]] = (),
        max_tokens: int | None = None,
        temperature: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> "ChatStream":
        """Return a completion whose request is sent when the iteration begins. `tools` are in
        OpenAI's format; a `temperature` of None is the server's default. Iterating raises
        `LanguageModelError` if the server refuses, keeps failing, breaks off or writes nothing, and
        `GenerationCancelled` after the `cancellation`, which requests may share.
        """
        request = protocol.request_for(self.name, messages, tools, max_tokens, temperature)
        return ChatStream(self, request, cancellation or Cancellation())

    def _whole(self, request: dict[str, Any], cancellation: Cancellation) -> Draft:
        answer = self._endpoint.post(
            self._dialect.adapted(request), cancellation=cancellation, amend=self._dialect.learn
        )
        if not isinstance(answer, dict) or answer.keys().isdisjoint({"choices", "error", "object"}):
            raise protocol.Garbled(str(answer))
        draft = Draft()
        draft.add(answer)
        draft.end()
        return draft

    def _pieces(
        self,
        request: dict[str, Any],
        cancellation: Cancellation,
        completions: list[protocol.Completion],
    ) -> Iterator[str]:
        """Yield the text of a completion as it arrives; append the completion to `completions`."""
        draft = Draft()
        with self._explained():
            yield from self._written(request, draft, cancellation)
            if draft.is_empty and "tools" in request:
                # Some servers lose the tool calls of a stream; nothing was yielded, so ask again.
                draft = self._whole(request, cancellation)
                if draft.text:
                    yield draft.text
            completions.append(self._final(draft, request))

    def _written(
        self, request: dict[str, Any], draft: Draft, cancellation: Cancellation
    ) -> Iterator[str]:
        lines = self._endpoint.lines(
            self._dialect.adapted(protocol.streamed(request)), cancellation, self._dialect.learn
        )
        has_ended = False
        bound = request.get("max_tokens")
        room = _LONGEST if bound is None else _SPARE + _BYTES_PER_TOKEN * bound
        with closing(lines):
            for event in protocol.events(lines):
                if event is None:
                    has_ended = True
                    break
                if piece := draft.add(event):
                    yield piece
                if draft.size > room:
                    raise errors.AnswerCutShort(
                        f"{self} keeps writing past its token limit.", hint="Try another model."
                    )
        if piece := draft.end():
            yield piece
        if not (has_ended or draft.finish):
            raise errors.AnswerCutShort(
                f"{self} stopped in the middle of its answer.",
                hint=f"Check PGRAG_LLM_URL: {_SERVICE.address}; the server's log may say more.",
            )

    def _final(self, draft: Draft, request: dict[str, Any]) -> protocol.Completion:
        if draft.is_empty:
            is_short = draft.finish == "length"
            raise errors.LanguageModelError(
                f"{self} wrote nothing.",
                hint="All its tokens went into reasoning: raise PGRAG_LLM_MAX_TOKENS."
                if is_short
                else "Try again, or try another model.",
            )
        return draft.completion(self.name, protocol.size_of(request))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except Cancelled:
            raise errors.GenerationCancelled(
                "The request to the language model was cancelled."
            ) from None
        except protocol.Garbled as error:
            raise errors.LanguageModelError(
                f"{self} answered with {self._endpoint.quoted(str(error))}.",
                hint=f"Check PGRAG_LLM_URL: {_SERVICE.address}; the server's log may say more.",
            ) from None


class ChatStream:
    """A completion in progress: iterate once for its pieces of text."""

    def __init__(
        self, model: ChatModel, request: dict[str, Any], cancellation: Cancellation
    ) -> None:
        self._completions: list[protocol.Completion] = []
        # No reference to this object: once the last user drops it, its connection closes.
        self._pieces = model._pieces(request, cancellation, self._completions)

    def __iter__(self) -> Iterator[str]:
        return self._pieces

    @property
    def completion(self) -> protocol.Completion:
        """The whole completion, available after the iteration has ended."""
        if not self._completions:
            raise RuntimeError("The completion has not ended.")
        return self._completions[0]
