"""What a service offers, and to whom; its audit."""

from datetime import datetime
from uuid import UUID

from pgrag.ground.values.base import Value, described


class CallingKey(Value):
    """The key of a request."""

    name: str = described("", "docs")
    kind: str = described("secret or publishable.", "secret")
    role: str = described("search, write or admin.", "search")
    libraries: tuple[str, ...] = described("Their names, or `*` for all.", ["harbour"])
    expires_at: datetime | None = described("Null: never.")


class Abilities(Value):
    """What the caller may do; see docs/security.md for the operations of each role."""

    search: bool = described("Search, and count by facets.", True)
    read: bool = described("Read pages, passages, their links and versions.", True)
    answer: bool = described("Ask the language model, if one is configured.", True)
    rate: bool = described("Rate what was found.", True)
    index: bool = described("Send pages, upload files and create jobs.", False)
    observe: bool = described("Read recorded searches, metrics, gaps and evaluations.", False)
    evaluate: bool = described("Grade results, import and run labelled sets.", False)
    configure: bool = described("Change configuration, and tune.", False)
    administer: bool = described("Read the audit.", False)


class Feature(Value):
    """Whether a model is set up. Only those who may search learn its name or the remedy."""

    configured: bool = described("", False)
    model: str | None = described("Its name.", "qwen3-32b")
    remedy: str | None = described(
        "What would set it up.", "Set PGRAG_LLM_URL and PGRAG_LLM_MODEL."
    )


class ServiceState(Value):
    """What this service offers, and what the caller may do."""

    version: str = described("Of pgrag.", "0.1.0")
    needs_key: bool = described("Whether every caller needs a key.", False)
    allows_writes: bool = described("Whether callers without a key may change something.", False)
    caller: CallingKey | None = described("Null without a key.")
    may: Abilities
    answers: Feature = described("The language model that writes answers.")
    reranker: Feature = described("The model behind `rerank`.")
    records_searches: bool = described("Whether searches are kept, so that they can be rated.")
    works_on_jobs: bool = described(
        "Whether a worker is part of this service; else `pgrag jobs work` runs queued jobs."
    )


class AuditEntry(Value):
    """A request with a key, a refused request, a change without a key, or a change of a key."""

    audit_id: int = described("", 12)
    at: datetime
    caller: str | None = described("Name of the key, or the role that changed one.", "docs")
    role: str | None = described("Of the key.", "search")
    action: str = described("The operation or tool, or create_key NAME.", "search")
    library: str | None = described("Null for several or none.", "harbour")
    allowed: bool
    reason: str | None = described("Why it was refused.", "role")
    address: str | None = described("Where it came from.", "192.0.2.7")
    search_id: UUID | None = described("The recorded search.")
