"""Markdown stays as it is: every other format becomes Markdown."""

from pgrag.ingest.formats.converted import Converted
from pgrag.ingest.formats.decoding import decode
from pgrag.ingest.values import Origin


def convert(key: str, data: bytes, origin: Origin) -> Converted:
    """Decode a file of Markdown, with the front matter that it has."""
    text, warnings = decode(key, data)
    return Converted(text, tuple(warnings), has_ids=False)
