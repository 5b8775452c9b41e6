"""Markdown stays as it is; MDX becomes Markdown."""

import re

from pgrag.ingest.formats.converted import Converted
from pgrag.ingest.formats.decoding import decode
from pgrag.ingest.formats.loss import count_words
from pgrag.ingest.text import mdx
from pgrag.ingest.values import Origin

_HEAD = re.compile(r"\s*^(-{3,}|\+{3,})[ \t]*\n(?:.*\n)*?\1[ \t]*(?:\n|\Z)", re.MULTILINE)
_FIELD = re.compile(
    r"^([\w-]+)[ \t]*[:=][ \t]*(?:\"([^\"\n]*)\"|'([^'\n]*)'|([^\s\"'\[{|>].*))$", re.M
)
#: What no reader sees, one line at a time: the words of a page are counted without its converter.
_UNSEEN = re.compile(
    r"^(?:import|export)[ \t][^\n]*(?:\n(?![ \t]*$|[#<])[^\n]*)*"
    r"|<[A-Za-z/](?:\"[^\"\n]*\"|\{[^{}]*\}|[^<>{}\"]){0,300}>|\{[^{}\n]*\}",
    re.MULTILINE | re.DOTALL,
)
_CODE = re.compile(r"^[ \t>]*(`{3,}+|~{3,}+)[^\n]*+\n.*?(?:^[ \t>]*\1|\Z)|`[^`\n]+`", re.M | re.S)


def convert(key: str, data: bytes, origin: Origin) -> Converted:
    """Decode a file, with the front matter that it has; of MDX what its readers see."""
    text, warnings = decode(key, data, origin)
    words = None
    if mdx.is_mdx(key, text):
        head = _HEAD.match(text)
        start = head.end() if head else 0
        fields = {
            name: double or single or bare.strip()
            for name, double, single, bare in _FIELD.findall(text, 0, start)
        }
        body = mdx.reduce(text[start:], fields)
        words = count_words(_seen(text[start:]), body)
        text = text[:start] + body
    return Converted(text, tuple(warnings), has_ids=False, words=words)


def _seen(text: str) -> str:
    """Return the text that a reader of MDX sees, without what only attributes show."""
    code = " ".join(match[0] for match in _CODE.finditer(text))
    text = _without_comments(_CODE.sub(" ", text), "{/*", "*/}")
    return f"{code} {_UNSEEN.sub(' ', _without_comments(text, '<!--', '-->'))}"


def _without_comments(text: str, opener: str, closer: str) -> str:
    parts: list[str] = []
    at = 0
    while (start := text.find(opener, at)) >= 0 and (end := text.find(closer, start)) >= 0:
        parts.append(text[at:start])
        at = end + len(closer)
    return " ".join((*parts, text[at:]))
