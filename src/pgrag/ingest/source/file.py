"""Read a regular file, and nothing else: a pipe, socket or device may never end."""

import errno
import os
import stat
from pathlib import Path


def read_file(path: Path, size: int = -1) -> bytes:
    """Return the content of a file, or its first `size` bytes. Opening never waits, and the opened
    file is checked, not its name. Raises OSError: EINVAL for what is not a regular file, ELOOP for
    a symbolic link, which is not followed.
    """
    if not hasattr(os, "O_NOFOLLOW") and path.is_symlink():  # Windows
        raise OSError(errno.ELOOP, "it is a symbolic link", os.fspath(path))
    flags = os.O_RDONLY
    for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC"):
        flags |= getattr(os, name, 0)
    with open(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
        return file.read(size)
