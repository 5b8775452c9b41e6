"""A small vault: projects, people and a journal, with properties of every type."""

from typing import Any

import psycopg
from library import Row, ingest, page

ROOF_TASKS = """# Roof

- [ ] Buy slates #shopping [cost:: 120]
    - [x] Measure
    - [ ] Compare prices 📅 2024-07-01
* [-] Ask the neighbour
1. [x] Draw a plan ✅ 2024-05-02

```markdown
- [ ] Not a task
```

## Later

> - [ ] Paint (due:: 2024-09-01)

~~~
- [ ] Nor this
~~~

- [] nor this, - [ ] and not this
"""
NOTES: dict[str, dict[str, Any]] = {
    "projects/roof.md": {
        "title": "Mend the roof",
        "tags": ["project/house", "urgent"],
        "created": "2024-03-01",
        "modified": "2024-04-02T10:30:00Z",
        "body": ROOF_TASKS,
        "front_matter": {
            "status": "open", "priority": 3, "due": "2024-06-01", "done": False,
            "owner": "[[people/ada|Ada]]", "costs": [120, 30.5], "Effort Left": "3 days",
            "site": {"city": "Oslo", "zip": "0150"},
        },
    },
    "projects/garden.md": {
        "title": "Plant the garden",
        "tags": ["project/garden"],
        "body": "# Garden\n\n- [ ] Dig",
        "front_matter": {
            "status": "done", "priority": 10, "due": "2024-05-01T08:00:00", "done": True,
            "owner": "[[bob]]", "costs": [], "materials": ["soil", "seeds"],
        },
    },
    "projects/old/shed.md": {
        "title": "Old shed",
        "tags": ["archive"],
        "front_matter": {"Status": "open", "priority": "high", "due": None, "materials": "wood"},
    },
    "people/ada.md": {"title": "Ada", "front_matter": {"born": "1815-12-10"}},
    "people/bob.md": {
        "title": "Bob",
        "aliases": ["Robert"],
        "front_matter": {"born": "1990-02-03", 'q"\'uote': 'it\'s "quoted"'},
    },
    "journal/2024-05-06.md": {"title": "Monday", "tags": ["diary"], "front_matter": {}},
}  # fmt: skip


def pages() -> list[Row]:
    return [
        page(
            key, note.get("body") or note["title"],
            **({"aliases": []} | note | {"body": note.get("body", note["title"])}),
        )
        for key, note in NOTES.items()
    ]  # fmt: skip


def write(connection: psycopg.Connection, library: str = "vault", version: str = "") -> None:
    ingest(connection, library, pages(), version, language="simple", embed=False)


def link(connection: psycopg.Connection, source: str, target: str | None, written: str) -> None:
    """An edge from one page to another, or to a name that no page has."""
    connection.execute(
        """
        insert into pgrag.edges
            (library_id, edge_id, version_id, source_page_id, target_page_id, confidence, place,
             line, state, rule, kind, target, name)
        select s.library_id, _pgrag.take_ids(s.library_id, 1) + 1, s.version_id, s.page_id,
            t.page_id, 1, 0, 1,
            case when t.page_id is null then 'unresolved' else 'resolved' end,
            'wikilink', 'references', %(written)s::text, lower(%(written)s::text)
        from pgrag.pages as s
        left join pgrag.pages as t
            on t.library_id = s.library_id and t.version_id = s.version_id and t.key = %(target)s
        where s.key = %(source)s
        """,
        {"source": source, "target": target, "written": written},
    )
