"""What a converter returns: a page as Markdown, with front matter."""

import json
from dataclasses import dataclass
from typing import Any

from pgrag.ingest.formats.loss import Words


@dataclass(frozen=True, slots=True)
class Converted:
    """A page as Markdown with front matter; `warnings` name the file. With `has_ids` the headings
    show the ids with which they are published (`{#id}`), if any; else they get those of the
    version's slug style. `words` says how much of what a reader sees is kept, if that was counted.
    """

    markdown: str
    warnings: tuple[str, ...] = ()
    has_ids: bool = True
    words: Words | None = None


def with_front_matter(fields: dict[str, Any], body: str) -> str:
    """Put fields before the text of a page; those without a value are left out."""
    lines = [
        f"{name}: {json.dumps(value, ensure_ascii=not str(value).isprintable())}\n"
        for name, value in fields.items()
        if value not in (None, "", [])
    ]
    return f"---\n{''.join(lines)}---\n\n{body}" if lines else body
