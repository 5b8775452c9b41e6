"""The operating system account of the server: PostgreSQL refuses to run as root."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from pgrag.ground.errors import DatabaseUnavailable

_ACCOUNTS_FOR_ROOT = ("postgres", "nobody")


class _Switch(TypedDict, total=False):
    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True, slots=True)
class Account:
    """A user and group id, and whether a process must switch to them."""

    uid: int
    gid: int
    switch: bool

    @property
    def popen_arguments(self) -> _Switch:
        """The arguments with which `subprocess` starts a program under this account."""
        if not self.switch:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own(self, path: Path) -> None:
        """Make this account the owner of `path`."""
        if self.switch:
            os.chown(path, self.uid, self.gid)

    def can_reach(self, *paths: Path) -> bool:
        """Test whether this account can enter the folders and run the programs in `paths`, by an
        attempt. Raises DatabaseUnavailable.
        """
        if not self.switch:
            return True
        test = 'for path do test -x "$path" || exit 1; done'
        command = ["/bin/sh", "-c", test, "sh", *map(str, paths)]
        try:
            tried = subprocess.run(command, check=False, cwd="/", **self.popen_arguments)
        except OSError as error:
            raise DatabaseUnavailable(
                "PostgreSQL does not run as root, and this root may not become user "
                f"{_name(self.uid)}: {error.strerror}.",
                hint="Run pgrag as an unprivileged user, or give the container the capabilities "
                "SETUID, SETGID and CHOWN.",
            ) from error
        return tried.returncode == 0


def account_for(data_directory: Path) -> Account:
    """Return the account of a cluster: its owner, else the caller, for root `postgres` or `nobody`.
    Raises DatabaseUnavailable.
    """
    caller, group = os.geteuid(), os.getegid()
    if data_directory.is_dir():
        owner = data_directory.stat()
        if caller not in (0, owner.st_uid):
            raise DatabaseUnavailable(
                f"The database in {data_directory} belongs to user {_name(owner.st_uid)}, not to "
                f"{_name(caller)}.",
                hint="Run pgrag as that user, or set PGRAG_HOME to a folder of your own.",
            )
        if owner.st_uid != 0:
            return Account(owner.st_uid, owner.st_gid, switch=caller == 0)
    if caller != 0:
        return Account(caller, group, switch=False)
    import pwd  # noqa: PLC0415 - Windows has none

    for name in _ACCOUNTS_FOR_ROOT:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid, switch=True)
    raise DatabaseUnavailable(
        "PostgreSQL does not run as root, and this system has neither a user `postgres` nor "
        "`nobody` to run it as.",
        hint="Run pgrag as an unprivileged user.",
    )


def _name(uid: int) -> str:
    import pwd  # noqa: PLC0415 - Windows has none

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
