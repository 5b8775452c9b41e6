"""Two small libraries with searches, runs and settings, and the arguments that work for them."""

import tempfile
from pathlib import Path
from typing import Any

import psycopg
from pydantic import SecretStr

from campaign.servers import execute
from pgrag.ground.settings import Settings
from pgrag.service.app import App

INSTALL = """---
title: Install the pump
type: guide
tags: [pump, setup]
path: [Pump, Guides]
uuid: 6f1c2a38-0d5e-4b7e-9a53-5f0f5c9b7a11
aliases: [Set up]
created: 2026-01-02
depends_on: [valve.md]
rating: 4
---

# Install the pump

Close the [valve](valve.md#close-the-valve) before you install the pump.

## Steps

1. Drain the tank.
2. Bolt the pump to the `BasePlate`.

- [ ] check the pressure 📅 2026-03-01
- [x] read [[valve]]

| size | bolts |
|---|---|
| small | 4 |
| large | 8 |

```sh
pumpctl install --base plate
```
"""
VALVE = """---
title: Valve
type: reference
tags: [valve]
---

# Valve

A valve is a device that stops the flow. See [the pump](install.md).

## Close the valve

Turn the wheel to the right until it stops. Never force the wheel.

## Missing

This links to [nothing](nowhere.md) and to <https://example.org/>.
"""
NOTES = """# Notizen über Ventile

Das Ventil schließt man vor dem Einbau der Pumpe. Größe ist „mittel“.

## Пример

Закройте клапан перед установкой насоса.
"""

#: (library, version) → pages.
LIBRARIES = {
    ("pump", "1.0"): {"install.md": INSTALL.replace("8", "6"), "valve.md": VALVE},
    ("pump", "1.1"): {"install.md": INSTALL, "valve.md": VALVE, "notes/de.md": NOTES},
    ("garden", ""): {"notes.md": NOTES, "valve.md": VALVE},
}
PREPARATION = [
    'select pgrag.set_synonyms(\'pump\', \'{"valve": ["tap", "cock"]}\')',
    "select * from pgrag.import_evaluation_set('questions', 'pump', '["
    '{"id": "q1", "text": "install the pump", "judgements": {"install.md": 2, "valve.md": 1}},'
    '{"id": "q2", "text": "close the valve", "judgements": {"valve.md": 1}}]\')',
    "select * from pgrag.run_evaluation('questions')",
    "select * from pgrag.run_evaluation('questions', 'keyword')",
    "select pgrag.record_search('pump', jsonb_agg(to_jsonb(s)), library => 'pump')"
    " from pgrag.search('pump', 'pump') as s",
    "select pgrag.give_feedback(search_id, 4) from pgrag.searches",
    "select pgrag.register_model('small', 3, 'custom')",
    "select pgrag.tune('pump')",
    "create table public.orders (id integer primary key, note text)",
    "insert into public.orders values (1, 'Two valves for the pump'), (2, 'A hose')",
    "select pgrag.index_table('public.orders', text => 'note')",
    "select pgrag.refresh_table('orders')",
]
#: Queries for the values of arguments.
KNOWN = {
    "library": "select name from pgrag.libraries",
    "version": "select label from pgrag.versions",
    "source": "values ('public.orders')",
    "text": "values ('note')",
    "key": "select key from pgrag.pages",
    "chunk_key": "select chunk_key from pgrag.search('valve', 'pump')",
    "anchor": "select distinct anchor from pgrag.documents",
    "page_id": "select page_id from pgrag.pages",
    "document_id": "select document_id from pgrag.documents",
    "passage": "select document_id::text from pgrag.documents",
    "library_id": "select library_id from pgrag.libraries",
    "version_id": "select version_id from pgrag.versions",
    "lexeme_id": "select _pgrag.lexeme_id(language, lexeme) from pgrag.lexeme_statistics",
    "edge_id": "select edge_id from pgrag.edges",
    "run_id": "select run_id from pgrag.evaluation_runs()",
    "search_id": "select search_id from pgrag.searches",
    "text_hash": "select text_hash from pgrag.documents",
    "model": "select name from pgrag.embedding_models",
    "intent": "select name from pgrag.intents",
    "kind": "select name from pgrag.edge_kinds",
    "page_type": "select name from pgrag.page_types",
    "template": "select name from pgrag.answer_templates",
    "after": "select cursor from pgrag.search('valve', 'pump', top_k => 2)",
    "hits": "select jsonb_agg(to_jsonb(s)) from pgrag.search('valve', 'pump') as s",
    "sources": "select sources from pgrag.answer_context('close the valve', 'pump')",
    "entries": "select pgrag.configuration()",
    "settings": "select settings from pgrag.libraries union all select _pgrag.default_settings()",
    "search": "select search from pgrag.documents limit 3",
}


def build(url: str) -> dict[str, list[Any]]:
    """Index the libraries in a migrated database; return their values, by argument."""
    index(url, LIBRARIES)
    execute(url, *PREPARATION)
    return values(url, KNOWN)


def index(url: str, libraries: dict[tuple[str, str], dict[str, str]]) -> None:
    """Index pages, given by library and version, then by key."""
    with tempfile.TemporaryDirectory() as folder:
        index_folders(url, write(Path(folder), libraries))


def write(
    folder: Path, libraries: dict[tuple[str, str], dict[str, str]]
) -> dict[tuple[str, str], Path]:
    """Write pages, given by library and version, then by key; return the folder of each version."""
    sources = {(library, version): folder / library / version for library, version in libraries}
    for named, source in sources.items():
        for key, text in libraries[named].items():
            (source / key).parent.mkdir(parents=True, exist_ok=True)
            (source / key).write_text(text, "utf-8")
    return sources


def index_folders(url: str, sources: dict[tuple[str, str], Path]) -> None:
    """Index folders, given by library and version."""
    settings = Settings(database_url=SecretStr(url), embedding_url=None)
    with App(settings) as app:
        for (library, version), source in sources.items():
            report = app.index(library, version, str(source))
            if report.failed:
                raise RuntimeError(f"The corpus was not indexed: {report.failed}")


def values(url: str, queries: dict[str, str]) -> dict[str, list[Any]]:
    """The values of queries of one column, by the name of the query."""
    with psycopg.connect(url, autocommit=True) as connection:
        return {
            name: [value for (value,) in connection.execute(query.encode()).fetchall()]
            for name, query in queries.items()
        }
