"""What must hold before requests can be answered."""

from __future__ import annotations

import logging

from pgrag.app import App
from pgrag.errors import DatabaseUnavailable, SchemaOutdated, SchemaTooNew
from pgrag.schema import Finding

log = logging.getLogger(__name__)

PROBES = frozenset({"/healthz", "/readyz"})
"""What an orchestrator asks: refused, it would end a service that is merely busy or renamed."""

_MODEL = """
select exists (
    select
    from pgrag.embedding_models as m
    join pgrag.model_tokens as t on t.model_id = m.model_id
    where m.name = pgrag.builtin_model()
) as installed
"""


def findings(app: App) -> list[Finding]:
    """Check database, schema and built-in model in this order, up to the first that fails."""
    answers = Finding("database", True, "The database answers.")
    fits = Finding("schema", True, "The database fits this version of pgrag.")
    try:
        app.require_schema()
        [row] = app.database.query(_MODEL)
    except DatabaseUnavailable as error:
        log.warning("not ready: %s", error)
        return [silent(error.hint or "")]
    except (SchemaOutdated, SchemaTooNew) as error:
        return [answers, Finding("schema", False, error.message, error.hint or "")]
    if row["installed"]:
        model = Finding("model", True, "The built-in embedding model is installed.")
    else:
        model = Finding(
            "model", False, "The built-in embedding model is missing.", "Run `pgrag db upgrade`."
        )
    return [answers, fits, model]


def silent(remedy: str) -> Finding:
    """The finding about a database that does not answer; why is for the log."""
    return Finding("database", False, "The database does not answer.", remedy)
