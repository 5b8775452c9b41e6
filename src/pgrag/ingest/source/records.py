"""Exports of other search engines as pages: records of DocSearch, documents of Meilisearch, bulks
and hits of Elasticsearch, documents of LangChain, and any list of JSON objects.
"""

import html
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import groupby
from typing import Any

from pgrag.ground.json_text import InvalidJson, read_json

#: Suffixes of files that may hold records.
SUFFIXES = (".json", ".jsonl", ".ndjson")

Record = dict[str, Any]

_TITLES = ("title", "name", "heading", "subject", "question", "label")
_TEXTS = (
    "page_content", "content", "text", "body", "markdown", "html", "answer", "overview", "summary",
    "abstract", "description", "text_entry", "document",
)  # fmt: skip
_NAMES = ("key", "path", "slug", "url", "link", "source", "_id", "id", "objectID", "uuid")
#: What a bulk of Elasticsearch does with the document on the next line.
_ACTIONS = frozenset({"index", "create", "update"})
_LONGEST_VECTOR = 32
#: Parts of a text that two neighbours share, as text splitters make them.
_LEAST_OVERLAP = 20
_LONGEST_OVERLAP = 10_000


def record_pages(data: bytes, *, is_lines: bool = False) -> dict[str, bytes]:
    """Return the pages of a file of records by their keys, in Markdown; none if it holds none. A
    single object is a record only in a file that `is_lines`.
    """
    records = [each for each in _records(data, is_lines) if each]
    if not records:
        return {}
    pages: dict[str, bytes] = {}
    numbers: Counter[str] = Counter()
    as_page: Callable[[list[Record]], tuple[Record, str]]
    if all("page_content" in record for record in records):
        named, as_page = _source_of, _joined_chunks
    elif all(record.get("url") and _levels(record) for record in records):
        named, as_page = _address_of, _headed_page
    else:
        named, as_page = None, _plain_page
    for nth, (name, group) in enumerate(_grouped(records, named), 1):
        matter, body = as_page(group)
        wanted = key = _key(name or _named(group[0]) or f"record-{nth}")
        while f"{key}.md" in pages:
            numbers[wanted] += 1
            key = f"{wanted}-{numbers[wanted] + 1}"
        pages[f"{key}.md"] = _markdown(matter, body).encode()
    return pages


def _records(data: bytes, is_lines: bool) -> Iterator[Record]:
    """Yield the objects of a list, of lines, or of the hits of Elasticsearch."""
    try:
        whole = read_json(data, halves=True)
    except InvalidJson:
        lines = [line for line in data.splitlines() if line.strip()]
        try:
            values = [read_json(line, halves=True) for line in lines]
        except InvalidJson:
            return
    else:
        if isinstance(whole, dict):
            hits = whole.get("hits", whole.get("results"))
            found = hits.get("hits") if isinstance(hits, dict) else hits
            whole = [whole] if is_lines and not isinstance(found, list) else found
        values = whole if isinstance(whole, list) else []
    if not all(isinstance(value, dict) for value in values):
        return
    acts, identity = "", {}
    for value in values:
        [action, *others] = value.keys() or [""]
        if not others and action in {*_ACTIONS, "delete"} and isinstance(value[action], dict):
            acts, identity = (action if action in _ACTIONS else ""), value[action]
        elif acts:
            changed = value.get("doc") if acts == "update" else None
            document = changed if isinstance(changed, dict) else value
            yield {"_id": identity["_id"], **document} if "_id" in identity else document
            acts = ""
        elif isinstance(value.get("_source"), dict):
            yield {"_id": value.get("_id"), **value["_source"]}
        else:
            yield value


def _grouped(
    records: list[Record], named: Callable[[Record], str] | None
) -> Iterable[tuple[str, list[Record]]]:
    """Group the records of a page; those without a name are pages of their own."""
    if named is None:
        return [("", [record]) for record in records]
    groups: dict[str, list[Record]] = {}
    for nth, record in enumerate(records):
        groups.setdefault(named(record) or f"\0{nth}", []).append(record)
    return [(name.partition("\0")[0], group) for name, group in groups.items()]


def _address_of(record: Record) -> str:
    return str(record["url"]).partition("#")[0]


def _source_of(record: Record) -> str:
    return str(_metadata(record).get("source") or "")


def _metadata(record: Record) -> Record:
    metadata = record.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _levels(record: Record) -> list[str]:
    """Return the headings above a record of DocSearch, as its scrapers nest or flatten them."""
    nested = record.get("hierarchy")
    hierarchy = nested if isinstance(nested, dict) else record
    before = "" if hierarchy is nested else "hierarchy_"
    levels = [_text(hierarchy.get(f"{before}lvl{level}")) for level in range(7)]
    while levels and not levels[-1]:
        levels.pop()
    return levels


def _text(value: Any) -> str:
    """Return a text of a scraper: with entities, and with the mark of an anchor at its end."""
    text = str(value or "")
    with suppress(ValueError):  # an entity whose number has thousands of digits
        text = html.unescape(text)
    return text.strip(" \n\t\u200b#¶")


def _headed_page(records: list[Record]) -> tuple[Record, str]:
    """Make a page of the records of DocSearch: headings with their anchors, and texts."""
    first = records[0]
    category, title = ([*_levels(first), "", ""])[:2]
    left_out = {"hierarchy", "content", "anchor", "type", "url", "weight", "objectID"}
    matter = {
        name: value for name, value in first.items()
        if name not in left_out and not name.startswith(("_", "hierarchy_", "url_", "no_"))
    }  # fmt: skip
    title = title or category
    path = [each for each in dict.fromkeys([category, title]) if each]
    lines, above = [], [category, title]
    for record in records:
        levels = _levels(record)
        for depth, heading in enumerate(levels[2:], 2):
            if heading and levels[: depth + 1] != above[: depth + 1]:
                lines.append(f"{'#' * min(depth, 6)} {heading}{_anchor(record, levels, depth)}")
        above = levels
        lines.append(_text(record.get("content")))
    return {"title": title, "path": path, "link": _address_of(first)} | matter, _blocks(lines)


def _anchor(record: Record, levels: list[str], depth: int) -> str:
    anchor = str(record.get("anchor") or str(record["url"]).partition("#")[2])
    return f" {{#{anchor}}}" if depth == len(levels) - 1 and re.fullmatch(r"[\w-]+", anchor) else ""


def _joined_chunks(records: list[Record]) -> tuple[Record, str]:
    """Make a page of the documents of one source; what two neighbours share is written once."""
    text = ""
    for record in records:
        chunk = str(record["page_content"] or "")
        longest = min(len(text), len(chunk), _LONGEST_OVERLAP)
        shared = next(
            (n for n in range(longest, _LEAST_OVERLAP - 1, -1) if text.endswith(chunk[:n])), 0
        )
        text += chunk[shared:] if shared else f"\n\n{chunk}"
    matter, _ = _plain_page([{**_metadata(records[0]), "page_content": text}])
    return matter, text.strip()


def _plain_page(records: list[Record]) -> tuple[Record, str]:
    [record] = records
    texts = {name: value for name, value in record.items() if isinstance(value, str)}
    body = next((name for name in _TEXTS if texts.get(name)), None)
    title = next((name for name in _TITLES if texts.get(name) and name != body), None)
    if body is None:
        body = max((name for name in texts if name != title), key=lambda name: len(texts[name]),
                   default=None)  # fmt: skip
    address = next((texts[name] for name in ("link", "url") if "://" in texts.get(name, "")), None)
    matter: Record = {"title": texts[title]} if title else {}
    matter |= {"link": address} if address else {}
    matter |= {
        name: value for name, value in record.items()
        if name not in {body, title, "link"} and value is not None and not _is_vector(value)
        and not name.startswith("_")
    }  # fmt: skip
    return matter, texts.get(body or "", "")


def _is_vector(value: Any) -> bool:
    is_long = isinstance(value, list) and len(value) >= _LONGEST_VECTOR
    return is_long and all(isinstance(each, int | float) for each in value)


def _named(record: Record) -> str:
    value = next((record[name] for name in _NAMES if record.get(name) not in (None, "")), "")
    return str(value) if isinstance(value, str | int) else ""


def _key(name: str) -> str:
    """Return the key of a page for an address, a path or an id."""
    # Not by urlsplit, which refuses some hosts.
    address = re.split("[?#]", name)[0].partition("://")[2]
    path = address.partition("/")[2] if "://" in name else name
    parts = [re.sub(r"[^\w.-]+", "-", part).strip("-") for part in path.split("/")]
    key = "/".join(part for part in parts if part.strip("."))[:900]
    return re.sub(r"\.(md|mdx|html?)$", "", key) or "index"


def _markdown(matter: Record, body: str) -> str:
    # JSON is YAML; line separators of Unicode are not allowed in it.
    lines = [
        f"{json.dumps(str(name))}: {json.dumps(value, ensure_ascii=True)}"
        for name, value in matter.items()
    ]
    head = "\n".join(["---", *lines, "---", ""]) if lines else ""
    return f"{head}\n{body.strip()}\n".encode("utf-8", "replace").decode()


def _blocks(lines: Iterable[str]) -> str:
    return "\n\n".join(text for text, _ in groupby(line.strip() for line in lines) if text)
