"""The tools with which a language model retrieves its sources."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, Literal, TypeAlias
from uuid import UUID

from pgrag.answer import tool_arguments
from pgrag.ground.arguments import Mode
from pgrag.ground.calls import Row
from pgrag.ground.errors import InvalidInput, NotFound
from pgrag.ground.quoting import quotable
from pgrag.search.search import Search

EVERY_VERSION, UNVERSIONED = "*", "-"
"""Versions other than a label or a range, as a model writes them."""

#: Calls a function of the database by name; see `Database.call`.
Call: TypeAlias = Callable[..., list[Row]]

Outcome: TypeAlias = Literal["found", "nothing", "unusable", "repeated"]

_LINE_TOKENS = 10
"""Tokens of the line below a passage."""


@dataclass(frozen=True, slots=True)
class Used:
    """A tool's result: the text for the model, and the facts for the trace. `numbers` of the
    sources; how many passages were `left` out; the `search_id` for feedback.
    """

    outcome: Outcome
    text: str
    numbers: list[int] = field(default_factory=list)
    left: int = 0
    search_id: UUID | None = None


class Toolbox:
    """Runs tools for one question, in one `library` and `version` if given, and numbers the
    sources. Raises `UnknownLibrary` or `UnknownVersion`.
    """

    def __init__(
        self,
        search: Search,
        call: Call,
        *,
        library: str | None = None,
        version: str | None = None,
        question: str | None = None,
        filters: dict[str, Any] | None = None,
        first_number: int = 1,
    ) -> None:
        self._search = search
        self._call = call
        self._filters = filters
        self._first_number = first_number
        self._library = library.strip().lower() if library else None
        self._version = version
        if self._library is not None and version != EVERY_VERSION:
            asked = {"library": self._library, "wanted": version, "query": question}
            [resolved] = call("resolve_version", **asked)
            self._version = resolved["version"]
        self.definitions = tool_arguments.definitions(scoped=self._library is not None)
        self.sources: list[dict[str, Any]] = []
        self._number_of: dict[int, int] = {}
        self._seen: set[str] = set()

    def use(self, name: str, written: str, budget: int) -> Used:
        """Run a tool as a model asks; an error that the model can correct becomes the result."""
        if name not in tool_arguments.DESCRIPTIONS:
            known = ", ".join(tool_arguments.DESCRIPTIONS)
            return self._unusable(name, written, f"There is no tool {name[:80]!r}. Tools: {known}.")
        try:
            arguments = tool_arguments.read_arguments(name, written, scope=self._scope)
        except ValueError as error:
            return self._unusable(name, written, f"Nothing was done: {error}")
        key = tool_arguments.key_of(name, arguments)
        if key in self._seen:
            return Used(
                "repeated",
                "You have called this tool with these arguments before; its result is above. Look"
                " for something else, or answer.",
            )
        self._seen.add(key)
        try:
            if isinstance(arguments, tool_arguments.Reading):
                used = self._read_chunk(arguments, budget)
            else:
                mode: Mode = "keyword" if name == "keyword_search" else "semantic"
                used = self._find(mode, arguments, budget)
        except (InvalidInput, NotFound) as error:
            self._seen.discard(key)
            return self._unusable(name, written, f"Nothing was found: {error}")
        if used.left:  # repeating the call returns the rest
            self._seen.discard(key)
        return used

    @property
    def _scope(self) -> dict[str, str] | None:
        if self._library is None:
            return None
        return {"library": self._library, "version": self._version or ""}

    def _unusable(self, name: str, written: str, text: str) -> Used:
        """Say what is wrong with a call; the same call once more is a repeated one."""
        key = f"{name} {written}"
        outcome: Outcome = "repeated" if key in self._seen else "unusable"
        self._seen.add(key)
        return Used(outcome, quotable(text))

    def _find(self, mode: Mode, arguments: tool_arguments.Searching, budget: int) -> Used:
        library, version = self._library, self._version
        if isinstance(arguments, tool_arguments.Anywhere):
            version = "" if arguments.version == UNVERSIONED else arguments.version or self._version
            library = arguments.library or None
        result = self._search.search(
            arguments.query, mode=mode, top_k=arguments.top_k, min_score=arguments.threshold,
            filters=self._filters, library=library, version=version,
        )  # fmt: skip
        rows = {row["document_id"]: row["score"] for row in result.rows}
        notes = "".join(f"\nNote: {quotable(notice)}" for notice in result.notices)
        if not rows:
            return Used("nothing", f"Nothing was found.{notes}", search_id=result.search_id)
        shown = self._shown(rows, budget)
        return replace(shown, text=shown.text + notes, search_id=result.search_id)

    def _read_chunk(self, arguments: tool_arguments.Reading, budget: int) -> Used:
        version = None if self._version == EVERY_VERSION else self._version
        [named] = self._call(
            "passage_id", passage=str(arguments.chunk_id), library=self._library, version=version
        )
        [chunk] = self._call("document", document_id=named["passage_id"])
        if self._library is not None and (
            chunk["library"] != self._library
            or (self._version != EVERY_VERSION and chunk["version"] != self._version)
        ):
            return Used("unusable", "This passage is not in the documentation of this question.")
        ids = [chunk["document_id"]]
        before, after = arguments.before, arguments.after
        if arguments.expand or before or after:
            most = {"max_chunks_per_document": 2 * max(before, after) + 1}
            bound = {} if arguments.expand else most
            around = self._call("expand_documents", document_ids=ids, scores=[1.0], **bound)
            ids = [row["document_id"] for row in around]
        if not arguments.expand:
            index = ids.index(chunk["document_id"])
            ids = ids[max(0, index - before) : index + after + 1]
        return self._shown(dict.fromkeys(ids), budget)

    def _shown(self, scores: Mapping[int, float | None], budget: int) -> Used:
        """Quote new documents within the budget, and name those quoted before."""
        known = [self._number_of[id_] for id_ in scores if id_ in self._number_of]
        new = {id_: score for id_, score in scores.items() if id_ not in self._number_of}
        rows: list[Row] = []
        if new:
            rows = self._call(
                "quoted_sources", document_ids=list(new), scores=list(new.values()),
                first_number=self._first_number + len(self.sources),
            )  # fmt: skip
        # A number is never reused: the list ends at the first source that does not fit.
        spent = accumulate(row["tokens"] + _LINE_TOKENS for row in rows)
        kept = [row for row, tokens in zip(rows, spent, strict=True) if tokens <= budget]
        numbers = [row["number"] for row in kept]
        self._number_of |= {row["document_id"]: row["number"] for row in kept}
        self.sources += [row["source"] for row in kept]
        text = [row["block"] for row in kept]
        if kept:
            chunk_ids = (f"[{row['number']}] {row['document_id']}" for row in kept)
            text.append(f"chunk_id of each: {', '.join(chunk_ids)}")
        if known:
            text.append(f"Already above: {', '.join(f'[{number}]' for number in known)}")
        if left := len(rows) - len(kept):
            text.append(f"{left} more did not fit. Ask for less, or more precisely.")
        outcome: Outcome = "found" if numbers or known else "nothing"
        return Used(outcome, "\n".join(text), numbers + known, left)
