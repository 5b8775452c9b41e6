"""Which files of a source become pages, and their keys."""

import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.formats import FORMATS
from pgrag.ingest.globs import matcher
from pgrag.ingest.source.dates import SAME_TIMES, GitHistory, without_copied
from pgrag.ingest.source.documentation import documentation
from pgrag.ingest.source.folder import Listing
from pgrag.ingest.source.generators import Generator
from pgrag.ingest.source.source import Source, SourceFile


@dataclass(frozen=True, slots=True)
class Selection:
    """The part of a source that is wanted; see `discover`."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    subfolder: str | None = None
    ref: str | None = None
    include_ignored: bool = False
    versions: str | None = None

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Self:
        """The selection that arguments of indexing state."""
        globs = {
            name: tuple(arguments[name]) for name in ("include", "exclude") if name in arguments
        }
        return cls(**{**arguments, **globs})

    def arguments(self, source: str, **others: Any) -> dict[str, Any]:
        """Return the arguments that name this selection of a source again."""
        mine = asdict(self) | {"include": [*self.include], "exclude": [*self.exclude]}
        return {"source": key_of(source)} | mine | others


def selected(
    location: str,
    listing: Listing[Any],
    selection: Selection,
    files: Iterable[SourceFile],
    *,
    arguments: dict[str, Any],
    revision: str | None = None,
    history: GitHistory | None = None,
    generator: Callable[[], Generator | None] = lambda: None,
    text: Callable[[str], str] = lambda _: "",
    release: Callable[[], None] = lambda: None,
) -> Source:
    """Return the wanted files of a listing. Raises SourceError if there are none."""
    files, are_copied = without_copied([*files])
    is_wanted = matcher(selection.include, selection.exclude)
    named = [file.key for file in files if is_wanted(file.key)]
    pages = {*documentation(named, selection.include, listing.skips)}
    chosen = {file.key: file for file in reversed(files) if file.key in pages}
    warnings = [*listing.warnings, *_ambiguities([name for name, _ in listing.files], chosen)]
    if chosen:
        return Source(
            location,
            tuple(chosen[key] for key in sorted(chosen)),
            revision,
            tuple(warnings),
            listing.ignored,
            listing.skips.grouped(),
            arguments=arguments,
            generator=generator,
            release=release,
            ref=selection.ref,
            head=history.commit if history else None,
            history=history.read if history else None,
            text=text,
            notes=(SAME_TIMES,) if are_copied and not history else (),
        )
    release()
    if files and not named:
        raise SourceError(f"{location}: include and exclude leave none of its {len(files)} files.")
    if listing.ignored:
        raise SourceError(
            f"{location}: .gitignore and .ignore leave out all {listing.ignored} of its files.",
            hint="To read them all the same: --include-ignored.",
        )
    for skipped in listing.skips.grouped():
        raise SourceError(
            f"{location}: no documentation in it; skipped are {skipped.reason}"
            f" ({skipped.count:,}: {', '.join(skipped.examples)}).",
            hint=skipped.hint or None,
        )
    looked_for = ", ".join(each.name for each in FORMATS)
    raise SourceError(f"{location}: no documentation in it (looked for {looked_for}).")


def key_of(name: str) -> str:
    r"""Write undecodable bytes of a file name as `\xe9`, so that the database can store it."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _ambiguities(names: Sequence[str], keys: Container[str]) -> Iterator[str]:
    """Yield a warning for each file whose name gives the key of another; the first is read."""
    first: dict[str, str] = {}
    for name in names:
        if (other := first.setdefault(key_of(name), name)) != name and key_of(name) in keys:
            yield (
                f"{key_of(name)}: stands for two files, {os.fsencode(other)!r} and"
                f" {os.fsencode(name)!r}; the second is skipped"
            )
