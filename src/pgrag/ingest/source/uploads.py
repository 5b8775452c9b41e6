"""Pages that somebody sends: one by one, as lines of JSON, as files or as an archive."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from pgrag.errors import InvalidInput, SourceError
from pgrag.ingest.formats.formats import FORMATS, SUFFIXES, named_format
from pgrag.ingest.source.source import ListedSource, Source, SourceFile
from pgrag.ingest.source.sources import discover
from pgrag.models import Origin

LINES = "application/x-ndjson"
"""The media type of pages as lines of JSON."""

_LONGEST_KEY = 1000
_ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it was sent."""

    key: str
    content: bytes
    media_type: str = "text/markdown"

    @property
    def origin(self) -> Origin:
        """Where it comes from, as formats ask for it."""
        return Origin(media_type=self.media_type or None)

    def has_known_format(self) -> bool:
        """Whether a format is named by its media type, its key or its bytes."""
        sample = self.content[:2048]
        return named_format(self.key, self.origin) is not None or any(
            each.recognises(sample) for each in FORMATS
        )

    def as_file(self) -> SourceFile:
        """The page as a file of a source."""
        content = self.content
        return SourceFile(
            self.key,
            lambda size: content if size < 0 else content[:size],
            self.origin,
        )


def media_types() -> list[str]:
    """Return the media types in which pages are sent."""
    return sorted({media_type for each in FORMATS for media_type in each.media_types} | {LINES})


def is_known_upload(name: str) -> bool:
    """Whether the suffix of a file is that of a page, of an archive or of lines of JSON."""
    return name.lower().endswith((*SUFFIXES, *_ARCHIVES, ".ndjson"))


def sent_page(fields: Mapping[str, Any]) -> Page:
    """Return the page that a JSON object describes. Raises InvalidInput.

    Its members are `key`, `content`, and optionally `media_type` and, for a page in Markdown,
    `properties`, its front matter.
    """
    unknown = sorted(set(fields) - {"key", "content", "media_type", "properties"})
    if unknown:
        raise InvalidInput(
            f"A page has no member {unknown[0]!r}.",
            hint="It has key and content, and may have media_type and properties.",
        )
    content = fields.get("content")
    if not isinstance(content, str):
        raise InvalidInput("A page needs a content, which is a text.")
    media_type = fields.get("media_type") or "text/markdown"
    if properties := fields.get("properties"):
        if media_type != "text/markdown" or not isinstance(properties, Mapping):
            raise InvalidInput(
                "properties are an object, and only for pages in Markdown.",
                hint="Pages in other formats have their own title and description.",
            )
        # JSON is YAML, so no other writer of front matter is needed.
        written = json.dumps(dict(properties), ensure_ascii=False)
        content = f"---\n{written}\n---\n{content}"
    return Page(checked_key(fields.get("key")), content.encode(), media_type)


def checked_key(key: Any) -> str:
    """Return the key of a page: a relative path with "/". Raises InvalidInput."""
    path = PurePosixPath(key) if isinstance(key, str) else PurePosixPath()
    if (
        not path.parts
        or path.is_absolute()
        or str(path) != key
        or ".." in path.parts
        or len(key) > _LONGEST_KEY
        or any(ord(character) < 32 or character == "\\" for character in key)
    ):
        raise InvalidInput(
            f"{key!r} cannot be the key of a page.",
            hint="It is a relative path with a suffix, such as guide/install.md.",
        )
    return str(key)


def sent_pages(pages: Sequence[Page]) -> ListedSource:
    """Return a source of pages that were sent; of several with one key the last."""
    files = {page.key: page.as_file() for page in pages}
    return ListedSource("pages sent by a client", tuple(files[key] for key in sorted(files)))


def received(location: str, pieces: Iterable[Mapping[str, Any]], folder: Path) -> Source:
    """Write uploaded files into an empty folder, and open them as one source.

    A single file may be an archive, or hold pages as lines of JSON. Raises SourceError.
    """
    names: list[str] = []
    media_type = ""
    for piece in pieces:
        path = folder / checked_key(piece["name"])
        if piece["piece"] == 0:
            names.append(piece["name"])
            media_type = piece["media_type"]
            path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(piece["data"])
    if not names:
        raise SourceError(f"{location}: is empty.")
    opened: Source
    if len(names) == 1 and (media_type == LINES or names[0].lower().endswith(".ndjson")):
        opened = _lines(folder / names[0])
    else:
        root = folder
        if len(names) == 1 and "/" not in names[0]:
            root = folder / names[0]
        opened = discover(str(root), include_ignored=True)
    if isinstance(opened, ListedSource):
        return replace(opened, location=location, arguments=None)
    return opened


def _lines(path: Path) -> ListedSource:
    """Open a file of pages as lines of JSON; a line is read again when its page is."""
    files: dict[str, SourceFile] = {}
    warnings: list[str] = []
    for number, start, line in _numbered(path):
        try:
            page = sent_page(_object(line))
        except (InvalidInput, ValueError) as error:
            warnings.append(f"line {number}: {error}")
            continue
        files[page.key] = SourceFile(page.key, _Line(path, start, len(line)), page.origin)
    chosen = tuple(files[key] for key in sorted(files))
    if not chosen:
        raise SourceError("; ".join(warnings[:3]) or "There is no page in it.")
    return ListedSource(str(path), chosen, warnings=tuple(warnings))


@dataclass(frozen=True, slots=True)
class _Line:
    path: Path
    start: int
    length: int

    def __call__(self, size: int) -> bytes:
        """Return the content of the page."""
        with self.path.open("rb") as file:
            file.seek(self.start)
            content = sent_page(_object(file.read(self.length))).content
        return content if size < 0 else content[:size]


def _numbered(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Yield each line that is not empty with its number and where it begins."""
    start = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, start, line
            start += len(line)


def _object(line: bytes) -> dict[str, Any]:
    value = json.loads(line)
    if not isinstance(value, dict):
        raise InvalidInput("It is no object.", hint='Write {"key": "a.md", "content": "…"}.')
    return value
