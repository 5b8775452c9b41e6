"""Markdown whose links have lost their words, for measuring what the graph is worth without them.

The words of a link are what anchor sets ask for: an index that holds them has seen the answers.
"""

from __future__ import annotations

import re

_CODE = re.compile(r"^(?P<fence>`{3,}|~{3,}).*?^(?P=fence)[`~]*[ \t]*$|`+[^`\n]+`+", re.M | re.S)
_WIKILINK = re.compile(r"!?\[\[[^\[\]\n]+\]\]")
_WORDS = r"\[(?:[^\[\]]|\[[^\[\]]*\]|\\[\[\]])*\]"
_ADDRESS = r"\((?:<[^<>\n]*>|[^()\s]*(?:\([^()]*\)[^()\s]*)*)(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)"
#: No picture: its words are not those of a link; `[words](address)`, `[words][reference]`.
_LINK = re.compile(rf"(?<!!){_WORDS}(?:{_ADDRESS}|\[[^\[\]\n]*\])")


def without_link_texts(text: str) -> str:
    """Take out all links, with their words; code keeps them, and every line its number."""
    parts = []
    end = 0
    for code in _CODE.finditer(text):
        parts += [_strip(text[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*parts, _strip(text[end:])])


def _strip(prose: str) -> str:
    return _LINK.sub(_lines, _WIKILINK.sub("", prose))


def _lines(link: re.Match[str]) -> str:
    return "\n" * link[0].count("\n")
