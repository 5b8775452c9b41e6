"""Repositories at an address: the requested commits, fetched into a bare repository of pgrag,
without hooks, redirects or questions, from an address that was checked and is pinned. Credentials
reach git by its environment, not by arguments, files or errors.
"""

import difflib
import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from pgrag.ground.errors import SourceError
from pgrag.ground.hosts import ascii_host
from pgrag.ground.outgoing import AllowList, reachable_addresses
from pgrag.ingest.source.git import UNCONNECTED, run_git

_SCP = re.compile(r"(?P<user>[\w.-]+)@(?P<host>[\w.-]+):(?P<path>(?!//)[^\\]+)")
#: Programs disagree about where a host begins after other characters (RFC 3986, 3.2.1).
_USERINFO = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})*")
_PORTS = {"https": 443, "http": 80, "ssh": 22}
#: Hosts whose addresses with an owner and a name are repositories.
_FORGES = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"})
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NO_LOGIN = re.compile(
    r"could not read (?:Username|Password)|Authentication failed|terminal prompts disabled"
    r"|Permission denied|error: 40[13]|Host key verification failed"
)
_MISSING = re.compile(
    r"not found|does not exist|error: 404|no such|not appear to be", re.IGNORECASE
)
_BATCH = 100
#: Bytes of all repositories that are kept, and the seconds after its last fetch in which none is
#: removed: a run may be reading it.
MOST_BYTES = 20_000_000_000
IN_USE_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Address:
    """Where a repository is. `url` has no credentials; `userinfo` is USER:PASSWORD, or empty."""

    url: str
    host: str
    port: int
    userinfo: str = ""

    @property
    def scheme(self) -> str:
        """Return the protocol: https, http or ssh."""
        return self.url.partition(":")[0]


def repository_at(source: str, *, is_named: bool = False) -> Address | None:
    """Return the address of a repository; None for other sources. An address of the web is one if
    it ends in .git, begins with git+, is OWNER/NAME on a known forge, or `is_named`: the caller
    asks for a ref or tags. Raises SourceError for an address that git must not follow.
    """
    if found := _SCP.fullmatch(source):
        source = f"ssh://{found['user']}@{found['host']}/{found['path']}"
    scheme, separator, _ = source.partition("://")
    scheme = scheme.lower().removeprefix("git+")
    if not separator or scheme == "file":
        return None
    is_marked = is_named or source.startswith("git+") or scheme in {"ssh", "git"}
    try:
        parts = urlsplit(source.removeprefix("git+"))
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError as error:
        raise SourceError(f"{source.rpartition('@')[2]}: is not an address: {error}.") from error
    path = parts.path.rstrip("/")
    problem = None
    try:
        host = ascii_host(host)
    except ValueError as error:
        problem = error
    is_on_forge = host in _FORGES and path.count("/") == 2
    if not (is_marked or path.endswith(".git") or is_on_forge):
        return None
    if scheme not in _PORTS:
        raise SourceError(
            f"{scheme}://{host}{path}: git does not support this protocol here.",
            hint="Use an address that begins with https:// or ssh://.",
        )
    if problem is not None:
        raise SourceError(f"{scheme}://{host}{path}: is not an address: {problem}.")
    if not path.isprintable() or "\\" in path or port == 0:
        raise SourceError(f"{scheme}://{host}{path}: is not an address of a repository.")
    userinfo = parts.netloc.rpartition("@")[0]
    if not _USERINFO.fullmatch(userinfo):
        raise SourceError(
            f"{scheme}://{host}{path}: the login has characters that addresses lack.",
            hint="Write them with a percent sign: %40 for @, %5C for a backslash.",
        )
    if is_on_forge and not path.endswith(".git"):
        path += ".git"  # what the address without it redirects to
    written = f"[{host}]" if ":" in host else host
    netloc = f"{written}:{port}" if port else written
    if scheme == "ssh" and userinfo:  # a name and no secret
        netloc, userinfo = f"{userinfo.partition(':')[0]}@{netloc}", ""
    return Address(f"{scheme}://{netloc}{path}", host, port or _PORTS[scheme], userinfo)


@dataclass(frozen=True, slots=True)
class Network:
    """What fetching may use: a cache folder, and the addresses of an allow-list. With
    `uses_credentials` git may use those of its user, which a service must not do for its callers.
    """

    cache: Path
    allowed: AllowList
    uses_credentials: bool = True


class Repository:
    """A repository at an address, with a folder of its own for what is fetched of it. Raises
    SourceError, and ForbiddenAddress for an address that may not be reached.
    """

    def __init__(self, address: Address, network: Network) -> None:
        cache = network.cache
        self.url = address.url
        self.folder = cache / hashlib.sha256(address.url.encode()).hexdigest()[:32]
        self._userinfo = address.userinfo
        self._environment = _environment(address, network)
        self._options = _options(address, network.allowed)
        self._is_for_others = not network.uses_credentials
        cache.mkdir(parents=True, exist_ok=True, mode=0o700)
        listing = self._run(cache, "ls-remote", "--symref", "--", self.url)
        self._refs: dict[str, str] = {}
        for line in listing.splitlines():
            value, _, name = line.partition("\t")
            if _COMMIT.fullmatch(value):
                # A tag with a text of its own is followed by the commit that it names.
                self._refs[name.removesuffix("^{}")] = value
        if not self._refs:
            raise SourceError(f"{self.url}: has no commits yet.")

    def tags(self) -> list[str]:
        """Return the names of the tags."""
        prefix = "refs/tags/"
        return [name.removeprefix(prefix) for name in self._refs if name.startswith(prefix)]

    def fetch(self, refs: Sequence[str | None]) -> list[str]:
        """Return the commits of branches, tags or ids (None: the default branch)."""
        wanted = [self._wanted(ref) for ref in refs]
        folder = self.folder
        with _alone(folder):
            if not (folder / "HEAD").exists():
                run_git(folder.parent, "init", "--bare", "--quiet", "--template=", str(folder))
            missing = {commit: name for name, commit in wanted if not self._has(commit)}
            if missing and not _make_room(folder) and self._is_for_others:
                raise SourceError(
                    f"{self.url}: there is no room for another repository on this machine.",
                    hint="Try again in an hour: repositories that were not used since make room.",
                )
            specs = [f"+{name}:refs/pgrag/{commit}" for commit, name in missing.items()]
            for start in range(0, len(specs), _BATCH):
                self._run(
                    folder, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head",
                    "--no-recurse-submodules", "--no-auto-maintenance", "--", self.url,
                    *specs[start : start + _BATCH],
                )  # fmt: skip
        return [commit for _, commit in wanted]

    def _wanted(self, ref: str | None) -> tuple[str, str]:
        """Return what to ask the server for, and the commit that it is."""
        if ref is None:
            if "HEAD" not in self._refs:
                raise SourceError(
                    f"{self.url}: has no default branch.", hint=f"Name a ref: {self._some()}."
                )
            return "HEAD", self._refs["HEAD"]
        for name in (f"refs/tags/{ref}", f"refs/heads/{ref}", ref):
            if name in self._refs:
                return name, self._refs[name]
        if _COMMIT.fullmatch(ref):
            return ref, ref
        raise SourceError(
            f"{self.url}: has no branch, tag or commit {ref!r}.", hint=f"It has {self._some(ref)}."
        )

    def _some(self, ref: str = "") -> str:
        names = [name.split("/", 2)[2] for name in self._refs if name.count("/") >= 2]
        near = difflib.get_close_matches(ref, names, 5, 0.3) or names[:5]
        return ", ".join(near) + (" …" if len(names) > len(near) else "")

    def _has(self, commit: str) -> bool:
        try:
            run_git(self.folder, "cat-file", "-e", f"{commit}^{{tree}}")
        except SourceError:
            return False
        return True

    def _run(self, folder: Path, *arguments: str) -> str:
        """Run git with the network. Raises SourceError, in which nothing is secret."""
        try:
            return run_git(folder, *self._options, *arguments, network=self._environment)
        except SourceError as error:
            problem = str(error).partition(" failed: ")[2]
        for secret in filter(None, (self._userinfo, self._userinfo.partition(":")[2])):
            problem = problem.replace(secret, "***")
        if _NO_LOGIN.search(problem):
            raise SourceError(
                f"{self.url}: does not exist, or needs a login that git does not have here.",
                hint="git takes it from a credential helper or an SSH agent; `pgrag index` without"
                " --job also from https://NAME:TOKEN@…, which it does not store.",
            )
        if _MISSING.search(problem):
            raise SourceError(f"{self.url}: there is no repository.")
        if re.search(r"error: 30\d", problem):
            raise SourceError(f"{self.url}: has moved.", hint="Use the address that browsers show.")
        raise SourceError(f"{self.url}: cannot be fetched: {problem}")


def _make_room(own: Path) -> bool:
    """Remove the repositories beside one that were fetched longest ago, until all are within their
    limit; return whether they are.
    """
    used = {lock.with_suffix(""): lock.stat().st_mtime for lock in own.parent.glob("*.lock")}
    sizes = {folder: _size(folder) for folder in used}
    total = sum(sizes.values())
    for folder in sorted(used.keys() - {own}, key=used.__getitem__):
        if total <= MOST_BYTES or time.time() - used[folder] < IN_USE_SECONDS:
            break
        shutil.rmtree(folder, ignore_errors=True)
        total -= sizes[folder]
    return total <= MOST_BYTES


def _size(folder: Path) -> int:
    total = 0
    with suppress(OSError):  # another process is fetching, or removes it
        for file in folder.rglob("*"):
            total += file.stat().st_size
    return total


def _lock_of(folder: Path) -> Path:
    return folder.with_suffix(".lock")


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other processes from a repository, and clear what a killed git left in it."""
    _lock_of(folder).touch()
    with _lock_of(folder).open("w") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        for pattern in ("*.lock", "refs/**/*.lock", "objects/pack/tmp_*"):
            for left in folder.glob(pattern):
                left.unlink(missing_ok=True)
        yield


def _environment(address: Address, network: Network) -> Mapping[str, str]:
    """Return the environment of a git that may use one protocol, and ask nobody."""
    environment = UNCONNECTED | {
        "GIT_ALLOW_PROTOCOL": address.scheme,
        "SSH_ASKPASS_REQUIRE": "never",
        "GIT_ASKPASS": "",
        "NO_PROXY": "*",  # a proxy would resolve the name again
        "no_proxy": "*",
        "LC_ALL": "C",
    }
    if not network.uses_credentials:
        home = str(network.cache)
        environment |= {
            "HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1", "SSH_AUTH_SOCK": "",
        }  # fmt: skip
    if address.userinfo:
        scheme, _, rest = address.url.partition("://")
        environment |= {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{scheme}://{address.userinfo}@{rest}.insteadOf",
            "GIT_CONFIG_VALUE_0": address.url,
        }
    return environment


def _options(address: Address, allowed: AllowList) -> list[str]:
    """Return git's options for an address that may be reached; it is pinned to what was checked.
    SSH resolves names by its own configuration, so a name that DNS does not know is left to it.
    """
    settings = [
        "http.followRedirects=false", "http.lowSpeedLimit=1000", "http.lowSpeedTime=60",
        "protocol.version=2", "gc.auto=0", "submodule.recurse=false",
    ]  # fmt: skip
    try:
        addresses = reachable_addresses(allowed, address.host, address.port)
    except OSError as error:
        if address.scheme != "ssh":
            raise SourceError(f"{address.url}: its host is not known: {error.strerror}.") from error
    else:
        if address.scheme != "ssh":
            pinned = ",".join(f"[{each}]" if each.version == 6 else str(each) for each in addresses)
            settings.append(f"http.curloptResolve={address.host}:{address.port}:{pinned}")
    return [part for setting in settings for part in ("-c", setting)]
