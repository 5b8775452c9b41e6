"""Watch a folder: when it changes, and which of its files are unchanged."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from watchfiles import watch

from pgrag.ground.errors import SourceError
from pgrag.ingest.source.documentation import is_known, is_skipped
from pgrag.ingest.source.ignored import NAMES
from pgrag.ingest.source.local import open_folder
from pgrag.ingest.source.selection import Selection
from pgrag.ingest.source.source import Source, SourceFile, digest_of

#: Milliseconds without a change that end a burst, and the longest burst.
REST = 100
LONGEST_BURST = 500
#: Milliseconds to wait for changes before anything is yielded.
_FIRST = 100

#: What shows that a file is unchanged: times of content and name, size, inode.
_State = tuple[int, int, int, int]


class Folder:
    """A folder that is listed repeatedly; only files that have changed are read again."""

    def __init__(self, path: Path, selection: Selection) -> None:
        self.path = path / (selection.subfolder or "").strip("/")
        self._root = path
        self._selection = selection
        self._digests: dict[str, tuple[_State, str]] = {}
        if not self.path.is_dir():
            raise SourceError(f"{self.path}: is not a folder, so it cannot be watched.")

    def changes(self) -> Iterator[None]:
        """Yield at once, then after each burst of changes. Raises SourceError."""
        try:
            batches = watch(
                self.path,
                watch_filter=lambda _, path: self._may_matter(path),
                debounce=LONGEST_BURST,
                step=REST,
                rust_timeout=_FIRST,
                yield_on_timeout=True,
            )
            next(batches)
            yield
            for batch in batches:
                if batch:
                    yield
        except OSError as error:
            raise SourceError(
                f"{self.path}: cannot be watched: {error}.",
                hint="Watch a smaller folder (--subfolder), or raise fs.inotify.max_user_watches;"
                " where the system tells of no changes: WATCHFILES_FORCE_POLLING=1.",
            ) from error

    def listed(self) -> Source:
        """List the folder as it is. Raises SourceError as `open_folder` does."""
        source = open_folder(self._root, self._selection)
        return replace(source, listed=tuple(map(self._remembered, source.listed)))

    def _may_matter(self, path: str) -> bool:
        *folders, name = os.path.relpath(path, self.path).split(os.sep)
        is_folder = not os.path.splitext(name)[1] and not name.startswith(".")
        return not is_skipped(folders) and (is_known(name) or name in NAMES or is_folder)

    def _remembered(self, file: SourceFile) -> SourceFile:
        state = self._state(file.key)
        known = self._digests.get(file.key)
        if state is not None and known is not None and known[0] == state:
            return replace(file, digest=known[1])
        return replace(file, load=partial(self._read, file.key, file.load))

    def _read(self, key: str, load: Callable[[int], bytes], size: int) -> bytes:
        before = self._state(key)
        data = load(size)
        if before is not None and len(data) == before[1] and before == self._state(key):
            self._digests[key] = (before, digest_of(data))
        return data

    def _state(self, key: str) -> _State | None:
        try:
            status = os.stat(self.path / key)
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino, status.st_ctime_ns
