"""A database cluster on disk: its folder and its stored properties."""

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

from pgrag.ground.embedded.account import Account, account_for
from pgrag.ground.errors import DatabaseUnavailable

_CLUSTERS_OF_ROOT = Path("/var/lib/pgrag")
# A socket address has 104 bytes on macOS and 108 on Linux, including the final NUL.
_LONGEST_SOCKET_PATH = 103


@dataclass(frozen=True, slots=True)
class Cluster:
    """One cluster; all fields but `directory` are stored in its `server.json`, mode 600.
    `directory` is free of symbolic links. `port` names the socket, and is the TCP port if the
    server listens. `complete` is set after the data directory has been initialised.
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
        """The socket file in the folder `socket`."""
        return self.socket / f".s.PGSQL.{self.port}"

    def account(self) -> Account:
        """Return the account under which the server runs."""
        return account_for(self.data)

    def save(self) -> None:
        """Write `server.json` atomically."""
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
                # Root may maintain a user's cluster; the user must still be able to read the file.
                owner = self.directory.stat()
                os.chown(unfinished, owner.st_uid, owner.st_gid)
            unfinished.replace(self.directory / "server.json")
        finally:
            unfinished.unlink(missing_ok=True)

    def with_socket_folder(self) -> "Cluster":
        """Return this cluster with a socket folder for the server's user alone: next to the data,
        else in /tmp if that path is too long or has special characters.
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
    """Return the cluster of `home`, or None if it has none yet."""
    directory = _directory(home)
    path = directory / "server.json"
    try:
        values = json.loads(path.read_text("utf-8"))
        return Cluster(directory, **{**values, "socket": Path(values["socket"])})
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise DatabaseUnavailable(
            f"{path} cannot be read: {error}.", hint="Restore it from a copy."
        ) from error


def create(home: Path) -> Cluster:
    """Create the folder of a cluster, without data. The server's account usually cannot enter
    root's folders, and pgrag does not open them: `home` then contains a symbolic link to a folder
    in /var/lib/pgrag. If that folder already has a cluster (a home of the same path was deleted),
    the cluster is reused.
    """
    link = home / "cluster"
    account = account_for(link / "data")
    if link.is_symlink() and not link.exists():
        raise DatabaseUnavailable(
            f"The database of {home} lay in {_directory(home)} and is gone.",
            hint=f"Put it back, or remove {link} to begin with an empty one.",
        )
    if not link.exists():
        if account.can_reach(home):
            make_folder(link, mode=0o711 if account.switch else 0o700)
        else:
            label = hashlib.sha256(bytes(home)).hexdigest()[:16]
            make_folder(_CLUSTERS_OF_ROOT, mode=0o711)
            make_folder(_CLUSTERS_OF_ROOT / label, mode=0o711)
            link.symlink_to(_CLUSTERS_OF_ROOT / label)
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
            hint="Restore it from a copy, or remove that folder to begin with an empty one.",
        )
    return Cluster(directory, directory / "socket", _free_port(), secrets.token_urlsafe(24))


def make_folder(path: Path, *, mode: int) -> None:
    """Create a folder with exactly this mode, whatever the umask; an existing one is unchanged."""
    with suppress(FileExistsError):
        path.mkdir()
        path.chmod(mode)


def _directory(home: Path) -> Path:
    return Path(os.path.realpath(home / "cluster"))


def _free_port() -> int:
    """Return a free port below those of outgoing connections: it will probably stay free."""
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
        state = folder.lstat()
    except OSError:
        return False
    return state.st_uid == account.uid and state.st_mode == stat.S_IFDIR | 0o700
