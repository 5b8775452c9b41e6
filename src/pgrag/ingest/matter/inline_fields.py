"""Fields that a note writes in its text, as Dataview reads them: `key:: value` in a line,
`[key:: value]` and `(key:: value)` within one.
"""

import re
from collections.abc import Iterable
from typing import Any

from pgrag.ingest.matter.yaml_values import YamlError, load_yaml
from pgrag.ingest.text.code_spans import CODE_SPAN
from pgrag.ingest.values import ProseBlock

#: Fields of a page that are kept, and characters of each.
MOST_FIELDS = 100
MOST_CHARACTERS = 1000

_KEY = r"[^\W\d][\w /-]{0,60}?"
_FIELD = re.compile(
    rf"{CODE_SPAN}|(?<!%)%%(?!%)(?:(?!%%).){{0,2000}}%%"
    rf"|\[(?P<key1>{_KEY})::[ \t]+(?P<value1>(?:\[\[[^\[\]\n]*\]\]|[^\[\]\n]){{1,300}})\](?!\()"
    rf"|\((?P<key2>{_KEY})::[ \t]+(?P<value2>(?:\([^()\n]*\)|[^()\n]){{1,300}})\)"
    rf"|^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?(?:\[.\][ \t]+)?[*_]{{0,2}}(?P<key3>{_KEY})[*_]{{0,2}}"
    r"::[ \t]+(?P<value3>\S[^\n]*)$",
    re.MULTILINE | re.DOTALL,
)
_BLOCK_ID = re.compile(r"[ \t]+\^[\w-]+[ \t]*$")
_SIMPLE = re.compile(r"[\w.+:-]+")


def inline_fields(blocks: Iterable[ProseBlock]) -> dict[str, Any]:
    """Return the fields by name with their values as in front matter: numbers, dates and truth
    values as such, all else as text; a field that is repeated has the list of its values.
    """
    fields: dict[str, list[Any]] = {}
    for block in blocks:
        if "::" not in block.text or block.kind == "html":
            continue
        for match in _FIELD.finditer(block.text):
            key = match["key1"] or match["key2"] or match["key3"]
            if key and (key in fields or len(fields) < MOST_FIELDS):
                value = match["value1"] or match["value2"] or match["value3"]
                fields.setdefault(key.strip(), []).append(_value(value))
    return {key: values[0] if len(values) == 1 else values for key, values in fields.items()}


def _value(written: str) -> Any:
    text = _BLOCK_ID.sub("", written).strip()[:MOST_CHARACTERS]
    if _SIMPLE.fullmatch(text):
        try:
            value, _ = load_yaml(text)
        except YamlError:
            return text
        return text if value is None or isinstance(value, dict | list) else value
    return text
