"""Variants of a labelled set's library that lack one feature, to measure its contribution.

Without front matter; without the words of links, which are what anchor sets use as queries: an
index with these words has seen the answers.
"""

import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pgrag.evaluation import runs
from pgrag.evaluation.labelled import open_corpus
from pgrag.ingest import document, reader
from pgrag.ingest.formats import decoding
from pgrag.ingest.matter import front_matter
from pgrag.ingest.page import read_page
from pgrag.ingest.source.source import Source, SourceFile
from pgrag.service.app import App

PLAIN = "plain"
UNLINKED = "unlinked"
_CODE = re.compile(r"^(?P<fence>`{3,}|~{3,}).*?^(?P=fence)[`~]*[ \t]*$|`+[^`\n]+`+", re.M | re.S)
_WIKILINK = re.compile(r"!?\[\[[^\[\]\n]+\]\]")
_WORDS = r"\[(?:[^\[\]]|\[[^\[\]]*\]|\\[\[\]])*\]"
_ADDRESS = r"\((?:<[^<>\n]*>|[^()\s]*(?:\([^()]*\)[^()\s]*)*)(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)"
#: `[words](address)` or `[words][reference]`, but not an image, whose words are not a link's.
_LINK = re.compile(rf"(?<!!){_WORDS}(?:{_ADDRESS}|\[[^\[\]\n]*\])")


def library_of(evaluation_set: str, variant: str) -> str:
    """The name of a variant of a set's library."""
    return f"eval-{evaluation_set}-{variant}"


def index(app: App, name: str, variant: str) -> str:
    """Index a variant of a set's library; return the name of the library."""
    source = runs.find_set(app, name)["source"]
    library = library_of(name, variant)
    with open_corpus(Path(source["corpus"])) as whole, links_lose_words(variant):
        pages = without_front_matter(whole) if variant == PLAIN else whole
        app.index(library, "", pages, language=source.get("language"))
    return library


def without_front_matter(pages: Source) -> Source:
    """The same pages without front matter."""
    bare = tuple(SourceFile(file.key, _bare(file)) for file in pages.files())
    return Source(pages.location, bare, arguments=pages.arguments)


def _bare(file: SourceFile) -> Callable[[int], bytes]:
    def read(_: int) -> bytes:
        text, _ = decoding.decode(file.key, file.read())
        return front_matter.split(file.key, text).body.encode()

    return read


@contextmanager
def links_lose_words(variant: str) -> Iterator[None]:
    """Within the block, pages of the variant `unlinked` are read without their link texts."""

    def read(key: str, data: bytes, *others: Any, **options: Any) -> Any:
        page = read_page(key, data, *others, **options)
        text, _ = decoding.decode(key, data)
        bare = read_page(key, without_link_texts(text).encode(), *others, **options)
        return replace(bare, edges=page.edges, source_hash=page.source_hash)

    if variant != UNLINKED:
        yield
        return
    # Processes of their own would read the pages with these words.
    with patch.object(document, "read_page", read), patch.object(reader, "WORTH", math.inf):
        yield


def without_link_texts(text: str) -> str:
    """Remove all links with their words, except in code; preserves line numbers."""
    parts = []
    end = 0
    for code in _CODE.finditer(text):
        parts += [_strip(text[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*parts, _strip(text[end:])])


def _strip(prose: str) -> str:
    return _LINK.sub(lambda link: "\n" * link[0].count("\n"), _WIKILINK.sub("", prose))
