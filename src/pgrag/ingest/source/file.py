"""Read a regular file, and nothing else: a pipe, socket or device may never end."""

import errno
import os
import stat
from pathlib import Path


def read_file(path: Path, size: int = -1) -> bytes:
    """Return the content of a file, or its first `size` bytes.

    The opened file is checked, not its name, and opening never waits. A symbolic link is not
    followed. Raises OSError: EINVAL for what is no regular file, ELOOP for a link.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", os.fspath(path))
        return file.read(size)
