"""Pages that clients send: one by one, as lines of JSON, as files or as an archive."""

import hashlib
import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from pgrag.ground.errors import InvalidInput, SourceError
from pgrag.ground.json_text import read_json
from pgrag.ingest.formats.formats import (
    EPUB,
    FORMATS,
    OFFICE,
    OPENDOCUMENT,
    SUFFIXES,
    named_format,
)
from pgrag.ingest.source.archive import has_archive
from pgrag.ingest.source.source import Source, SourceFile
from pgrag.ingest.source.sources import discover
from pgrag.ingest.values import Origin

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_PREFIX = "pgrag-upload-"


@contextmanager
def upload_folder() -> Iterator[Path]:
    """Make a folder, which is removed at the end; its lock tells others that it is in use."""
    while True:
        with tempfile.TemporaryDirectory(prefix=_PREFIX) as name, _locked(Path(name)) as is_locked:
            # Not locked: a worker that starts has found it first, and removes it.
            if is_locked:
                yield Path(name)
                return


def remove_left() -> None:
    """Remove the folders of those that were killed: their locks ended with them."""
    if fcntl is None:
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with _locked(folder) as is_locked:
            if is_locked:
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Lock a folder for the block, and say whether it is there and no other has it."""
    if fcntl is None:
        yield True
        return
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # gone, or of another user
        yield False
        return
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield folder.is_dir()
    finally:
        os.close(opened)


#: The media type of pages as lines of JSON, and the maximum bytes of a line.
LINES = "application/x-ndjson"
LONGEST_LINE = 100_000_000

_LONGEST_KEY = 1000
#: Warnings about lines that are not pages; the others are counted.
_NAMED_LINES = 1_000
_ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")


@dataclass(frozen=True, slots=True)
class UploadedPage:
    """A page as it was sent."""

    key: str
    content: bytes
    media_type: str = "text/markdown"

    @property
    def origin(self) -> Origin:
        """Its origin, with the media type that the client stated."""
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
            self.key, lambda size: content if size < 0 else content[:size], self.origin
        )


def as_utf_8(media_type: str) -> str:
    """Return a media type for a text that has been decoded, whatever its head declares."""
    name = media_type.partition(";")[0]
    return name if name == "text/markdown" else f"{name}; charset=utf-8"


def media_types() -> list[str]:
    """Return the media types in which pages are sent."""
    return sorted({media_type for each in FORMATS for media_type in each.media_types} | {LINES})


def is_known_upload(name: str) -> bool:
    """Whether the suffix of a file is that of a page, of an archive or of lines of JSON."""
    return name.lower().endswith((*SUFFIXES, *_ARCHIVES, ".ndjson"))


def unnamed(media_type: str, head: bytes) -> str:
    """Return the name of an upload that has none, from its media type or first bytes; the same
    content gets the same name. Raises InvalidInput if neither tells its format.
    """
    suffix = None
    if media_type == LINES:
        suffix = ".ndjson"
    elif OFFICE.recognises(head[:2048]):
        members = {b"word/": ".docx", b"ppt/": ".pptx", b"xl/": ".xlsx"}
        suffix = next((own for member, own in members.items() if member in head), None)
    elif has_archive(head) and not (EPUB.recognises(head) or OPENDOCUMENT.recognises(head)):
        suffix = ".zip"
    else:
        recognised = (each for each in FORMATS if each.recognises(head[:2048]))
        by_content = next(recognised, None)
        known = by_content or named_format("", Origin(media_type=media_type))
        suffix = known.suffixes[0] if known and known is not OFFICE else None
    if suffix is None:
        raise InvalidInput(
            "The upload has no name, and its content does not tell its format.",
            hint="Give ?name=docs.zip and the file as the body, or send a form with files.",
        )
    return f"upload-{hashlib.sha256(head).hexdigest()[:12]}{suffix}"


def sent_page(fields: Mapping[str, Any]) -> UploadedPage:
    """Return the page that a JSON object describes. Raises InvalidInput. Members: `key`, `content`,
    optionally `media_type` and, for Markdown, `properties`, its front matter.
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
    if not isinstance(media_type, str):
        raise InvalidInput(f"media_type is a text such as text/html, not {media_type!r:.80}.")
    if properties := fields.get("properties"):
        if media_type != "text/markdown" or not isinstance(properties, Mapping):
            raise InvalidInput(
                "properties are an object, and only for pages in Markdown.",
                hint="Pages in other formats have their own title and description.",
            )
        # JSON is YAML, so it can be the front matter.
        written = json.dumps(dict(properties), ensure_ascii=False)
        content = f"---\n{written}\n---\n{content}"
    return UploadedPage(checked_key(fields.get("key")), content.encode(), as_utf_8(media_type))


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


def check_together(names: Sequence[str]) -> None:
    """Refuse files that cannot be one upload. Raises InvalidInput."""
    for name, count in Counter(names).items():
        if count > 1:
            raise InvalidInput(
                f"{count} files of the upload are called {name!r}.",
                hint="Give each its path: curl -F 'file=@a/x.md;filename=a/x.md' …",
            )
        if len(names) > 1 and name.lower().endswith((*_ARCHIVES, ".ndjson")):
            raise InvalidInput(
                f"{name} is an archive or lines of JSON, beside other files.",
                hint="Upload it alone; each upload is a job of its own.",
            )


def sent_pages(pages: Sequence[UploadedPage]) -> Source:
    """Return a source of pages that were sent; of several with one key the last."""
    files = {page.key: page.as_file() for page in pages}
    return Source("pages sent by a client", tuple(files[key] for key in sorted(files)))


def received(location: str, pieces: Iterable[Mapping[str, Any]], folder: Path) -> Source:
    """Write uploaded files into an empty folder, and open them as one source. A single file may be
    an archive, or hold pages as lines of JSON; a file of number -1 is a field of a form that is no
    file. Raises SourceError.
    """
    names: list[str] = []
    unread: list[str] = []
    media_type = ""
    for piece in pieces:
        if piece["file"] < 0:
            # Programs send names of their users, for example.
            unread.append(piece["name"])
            continue
        name = checked_key(piece["name"])
        if piece["piece"] == 0:
            names.append(name)
            media_type = piece["media_type"]
        try:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            with (folder / name).open("ab") as file:
                file.write(piece["data"])
        except OSError as error:
            raise SourceError(f"{name}: cannot be unpacked: {error.strerror}.") from error
    if not names:
        raise SourceError(f"{location}: is empty.")
    check_together(names)
    first = names[0]
    if len(names) == 1 and (media_type == LINES or first.lower().endswith(".ndjson")):
        opened = _lines(folder / first)
    else:
        opened = _files(location, names, media_type, folder)
    if unread:
        warning = f"The form has fields that nothing reads: {', '.join(unread)}."
        opened = replace(opened, warnings=(*opened.warnings, warning))
    return replace(opened, location=location, arguments=None)


def _files(location: str, names: list[str], media_type: str, folder: Path) -> Source:
    first = names[0]
    is_alone = len(names) == 1 and ("/" not in first or first.lower().endswith(_ARCHIVES))
    try:
        opened = discover(str(folder / first if is_alone else folder), include_ignored=True)
    except SourceError as error:
        # The client does not know the folder.
        said = error.message.replace(f"{folder}/", "").replace(str(folder), location)
        raise SourceError(said, hint=error.hint) from error
    listed = opened.listed
    if len(listed) == 1 and "charset" in media_type.lower():
        listed = (replace(listed[0], origin=Origin(media_type)),)
    return replace(opened, listed=listed)


def _lines(path: Path) -> Source:
    files: dict[str, SourceFile] = {}
    warnings: list[str] = []
    unnamed = 0
    for number, start, line in _numbered(path):
        try:
            page = sent_page(_object(line))
        except (InvalidInput, ValueError) as error:
            if len(warnings) < _NAMED_LINES:
                warnings.append(f"line {number}: {error}")
            else:
                unnamed += 1
            continue
        load = partial(_content, path, start, len(line))
        files[page.key] = SourceFile(page.key, load, page.origin)
    chosen = tuple(files[key] for key in sorted(files))
    if not chosen:
        raise SourceError("; ".join(warnings[:3]) or "There is no page in it.")
    if unnamed:
        warnings.append(f"{unnamed:,} more lines are not pages")
    return Source(str(path), chosen, warnings=tuple(warnings))


def _content(path: Path, start: int, length: int, size: int) -> bytes:
    with path.open("rb") as file:
        file.seek(start)
        content = sent_page(_object(file.read(length))).content
    return content if size < 0 else content[:size]


def _numbered(path: Path) -> Iterator[tuple[int, int, bytes]]:
    start = 0
    with path.open("rb") as file:
        for number, line in enumerate(iter(partial(file.readline, LONGEST_LINE + 1), b""), start=1):
            if len(line) > LONGEST_LINE:
                raise InvalidInput(
                    f"Line {number} is longer than {LONGEST_LINE:,} bytes.",
                    hint="Each line is one page.",
                )
            if line.strip():
                yield number, start, line
            start += len(line)


def _object(line: bytes) -> dict[str, Any]:
    """Read a line of JSON, of bounded depth. Raises ValueError, InvalidInput for no object."""
    value = read_json(line)
    if not isinstance(value, dict):
        raise InvalidInput("It is not an object.", hint='Write {"key": "a.md", "content": "…"}.')
    return value
