"""A database cluster on disk: where it lies and what is remembered about it."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import secrets
import socket
import stat
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pgrag.embedded.account import Account, account_for
from pgrag.errors import DatabaseUnavailable

_CLUSTERS_OF_ROOT = Path("/var/lib/pgrag")
# A socket's address holds 104 bytes on macOS and 108 on Linux, with the closing NUL.
_LONGEST_SOCKET_PATH = 103


@dataclass(frozen=True, slots=True)
class Cluster:
    """One cluster; all but `directory` is kept in its `server.json`, mode 600.

    `directory` has no symbolic links in it. `port` names the socket, and is the TCP port when
    the server listens. `complete` is set once the data directory was made.
    """

    directory: Path
    socket: Path
    port: int
    password: str
    complete: bool = False

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.directory / "data"

    @property
    def socket_file(self) -> Path:
        """The socket itself, inside the folder `socket`."""
        return self.socket / f".s.PGSQL.{self.port}"

    def account(self) -> Account:
        """Return the account that the server runs as."""
        return account_for(self.data)

    def save(self) -> None:
        """Write `server.json` whole or not at all."""
        values = asdict(self)
        del values["directory"]
        handle, name = tempfile.mkstemp(prefix=".server-", dir=self.directory)  # mode 600
        unfinished = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(values, file, indent=2, default=str)
                file.flush()
                os.fsync(file.fileno())
            if os.geteuid() == 0:
                # Root may look after the cluster of a user, who must still be able to read this.
                owner = self.directory.stat()
                os.chown(unfinished, owner.st_uid, owner.st_gid)
            unfinished.replace(self.directory / "server.json")
        finally:
            unfinished.unlink(missing_ok=True)

    def with_socket_folder(self) -> Cluster:
        """Return this cluster with a folder for the socket that only the server's user enters.

        It is made where needed: beside the data, or in /tmp if that path would be too long for
        a socket, or has characters with a meaning in the lists that PostgreSQL and libpq read.
        """
        account = self.account()
        usual = replace(self, socket=self.directory / "socket")
        short = len(os.fsencode(usual.socket_file)) <= _LONGEST_SOCKET_PATH
        if short and re.fullmatch(r"/[\w/.+-]+", str(usual.socket), re.ASCII):
            usual.socket.mkdir(mode=0o700, exist_ok=True)
            account.own(usual.socket)
            return usual
        if _is_private(self.socket, account):
            return self
        folder = Path(tempfile.mkdtemp(prefix="pgrag-", dir="/tmp"))  # made with mode 700
        account.own(folder)
        return replace(self, socket=folder)


def load(home: Path) -> Cluster | None:
    """Return the cluster of `home`, or None if there is none yet."""
    directory = _directory(home)
    path = directory / "server.json"
    try:
        values = json.loads(path.read_text("utf-8"))
        return Cluster(directory, **{**values, "socket": Path(values["socket"])})
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise DatabaseUnavailable(
            f"{path} cannot be read: {error}.", hint="Put it back from a copy."
        ) from error


def create(home: Path) -> Cluster:
    """Make the folder of a cluster, without data yet.

    Root's own folders are mostly closed to the account that the server runs as, and stay so:
    `home` then holds a symbolic link to a folder in /var/lib/pgrag. If a cluster lies there
    (a home of the same path was deleted), it is taken up again.
    """
    place = home / "cluster"
    account = account_for(place / "data")
    if place.is_symlink() and not place.exists():
        raise DatabaseUnavailable(
            f"The database of {home} lay in {_directory(home)} and is gone.",
            hint=f"Put it back, or remove {place} to begin with an empty one.",
        )
    if not place.exists():
        if account.can_reach(home):
            make_folder(place, mode=0o711 if account.switch else 0o700)
        else:
            label = hashlib.sha256(bytes(home)).hexdigest()[:16]
            make_folder(_CLUSTERS_OF_ROOT, mode=0o711)
            make_folder(_CLUSTERS_OF_ROOT / label, mode=0o711)
            place.symlink_to(_CLUSTERS_OF_ROOT / label)
    directory = _directory(home)
    if not account.can_reach(directory):
        raise DatabaseUnavailable(
            f"The user that runs the database for root cannot enter {directory}.",
            hint="Set PGRAG_HOME to a folder that every user can enter.",
        )
    if known := load(home):
        return known
    if (directory / "data").exists():
        raise DatabaseUnavailable(
            f"The database in {directory} has lost its server.json, which holds the password.",
            hint="Put it back from a copy, or remove that folder to begin with an empty one.",
        )
    return Cluster(directory, directory / "socket", _free_port(), secrets.token_urlsafe(24))


def make_folder(path: Path, *, mode: int) -> None:
    """Make a folder with exactly this mode, whatever the umask; one that exists keeps its own."""
    with suppress(FileExistsError):
        path.mkdir()
        path.chmod(mode)


def _directory(home: Path) -> Path:
    return Path(os.path.realpath(home / "cluster"))


def _free_port() -> int:
    """Return a TCP port of 127.0.0.1 that nobody uses.

    It lies below the range from which systems serve outgoing connections, so that it is most
    probably free the next time too.
    """
    for port in random.sample(range(20000, 32000), 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise DatabaseUnavailable("There is no free TCP port on 127.0.0.1.")


def _is_private(folder: Path, account: Account) -> bool:
    try:
        found = folder.lstat()
    except OSError:
        return False
    return found.st_uid == account.uid and found.st_mode == stat.S_IFDIR | 0o700
