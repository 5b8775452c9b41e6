"""What a run would do, and what it did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

#: Told (texts done, texts in all, failures) as a run goes on.
Progress = Callable[[int, int, int], None]


@dataclass(frozen=True, slots=True)
class EnrichmentPlan:
    """What a run would do for one kind.

    `calls` of the language model, with `prompt_tokens` to read and at most `completion_tokens` to
    write, both estimated; `kept` texts were written before and would only be put in; `documents`
    would change.
    """

    kind: str
    calls: int
    kept: int
    documents: int
    prompt_tokens: int
    completion_tokens: int


@dataclass(slots=True)
class EnrichmentReport:
    """What a run did for one kind.

    `calls` of the language model, with the tokens that it read and wrote; `kept` texts that it had
    written before were put in; `documents` changed, `failed` inputs stayed as they were, and
    `failures` holds up to 20 of them: the page's key and the reason. `embedded` texts got a vector.
    """

    kind: str
    calls: int = 0
    kept: int = 0
    documents: int = 0
    failed: int = 0
    embedded: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    failures: list[tuple[str, str]] = field(default_factory=list)
