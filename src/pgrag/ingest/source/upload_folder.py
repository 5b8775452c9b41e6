"""Folders for uploaded files while they are read; whoever is killed leaves one behind."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
            # Not if a worker that begins has just found it without its lock.
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
