"""A page as the JSON document that `pgrag.ingest_page` takes, made where the page is read: another
process sends bytes, and no objects.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from pgrag.ground.errors import PgragError
from pgrag.ingest.formats.loss import Words
from pgrag.ingest.matter.properties import Properties
from pgrag.ingest.page import read_page
from pgrag.ingest.values import Chunk, Dates, Edge, SourcePage


@dataclass(frozen=True, slots=True)
class PageDocument:
    """What a run has to know of a page, and the rest as `json`, in UTF-8. `dates` are those that
    the page states; they are not in `json` yet, see `dated`. `stated_path` is the path of a page
    whose front matter has one. `passages` counts all its rows.
    """

    key: str
    url: str
    uuid: str | None
    stated_path: tuple[str, ...] | None
    dates: Dates
    warnings: tuple[str, ...]
    words: Words | None
    passages: int
    edges: int
    json: bytes

    def dated(self, dates: Dates) -> "PageDocument":
        """Return the complete document, with the dates of the page."""
        fields = _dumps(asdict(dates)).encode()
        return replace(self, dates=dates, json=fields[:-1] + b"," + self.json[1:])


#: Classes in what `read_each` and `read_properties_of` return, for a child that calls them.
ANSWERS = (PageDocument, Dates, Words, Properties)


def read_document(*arguments: Any, **options: Any) -> PageDocument:
    """Read a file as `read_page` does, which takes the same arguments."""
    page = read_page(*arguments, **options)
    document = page_document(page)
    dates = Dates(**{name: document.pop(name) for name in Dates.__slots__})
    return PageDocument(
        key=page.key,
        url=page.url,
        uuid=page.uuid,
        stated_path=page.path if "path" in page.front_matter else None,
        dates=dates,
        warnings=page.warnings,
        words=_words(page),
        passages=len(page.chunks),
        edges=len(page.edges),
        # The database refuses half a pair of surrogates, and only that page.
        json=_dumps(document).encode(errors="surrogatepass"),
    )


def read_each(
    names: str,
    function: Callable[..., PageDocument],
    files: Sequence[dict[str, Any]],
    **options: Any,
) -> list[PageDocument | PgragError]:
    """Read files with the same options: in place of a page that cannot be read stands its error."""
    answers: list[PageDocument | PgragError] = []
    for file in files:
        try:
            answers.append(function(**file, **options))
        except PgragError as error:
            answers.append(error)
    return answers


def page_document(page: SourcePage) -> dict[str, Any]:
    """The page as the JSON document that `pgrag.ingest_page` takes."""
    document = _fields(page)
    document["documents"] = [_fields(chunk) for chunk in document.pop("chunks")]
    document["edges"] = [_fields(edge) for edge in page.edges]
    return document


def _words(page: SourcePage) -> Words | None:
    if page.words_shown is None or page.words_kept is None:
        return None
    return Words(page.words_shown, page.words_kept)


def _fields(value: SourcePage | Chunk | Edge) -> dict[str, Any]:
    """Return the fields of a value without the deep copy of `asdict`: pages have many."""
    return {name: getattr(value, name) for name in value.__slots__}


_dumps = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
