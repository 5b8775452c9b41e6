"""The files of a commit, read from the local repository. That may be hostile, so git starts no
program, opens no connection, and its time and output are bounded.
"""

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

from pgrag.ground.errors import SourceError
from pgrag.ingest.source.source import Skips
from pgrag.ingest.values import UNDATED, Dates

#: Seconds for an answer, and for fetching a repository.
ANSWER_SECONDS = 60.0
FETCH_SECONDS = 1800.0
#: Bytes of a file that git writes when it fetches, and of a listing: a million files.
LARGEST_FILE = 8_000_000_000
LONGEST_LISTING = 100_000_000

UNCONNECTED = {
    # A partial clone would fetch what it lacks; old versions obey only GIT_ALLOW_PROTOCOL.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
}
#: Variables that a hook of another repository sets; git would read that one.
_OF_ANOTHER = frozenset({
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX",
})  # fmt: skip
_GIT = ("git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
_PIECE = 1 << 20
_SHA1 = 40
_SUBMODULE = "160000"
_OF_OTHERS = ("submodules", "Each is a repository of its own: index it as a source.")
_FILE_MODES = frozenset({"100644", "100755", "100664"})


class GitTree:
    """One commit of the repository around `folder`, limited to that folder and `subfolder`.
    `prefix` is their path in the repository, with a final "/"; empty at its root. `name` is how the
    location names the folder. Raises SourceError if git is missing, the folder is in no repository,
    or the ref is unknown.
    """

    def __init__(
        self, folder: Path, ref: str, subfolder: str | None, name: str | None = None
    ) -> None:
        if not folder.is_dir():
            raise SourceError(f"{folder}: is a file; a ref is read from a folder.")
        # Below /proc a path can lead elsewhere than its resolved form, which is what was checked.
        self.folder = folder.resolve()
        within = run_git(self.folder, "rev-parse", "--show-prefix").rstrip("\n")
        verify = ("rev-parse", "--verify", "--end-of-options", f"{ref}^{{commit}}")
        try:
            self.commit = run_git(self.folder, *verify).strip()
        except SourceError as error:
            if not run_git(self.folder, "rev-list", "--all", "--max-count=1"):
                raise SourceError(f"{folder}: its repository has no commits yet.") from error
            raise SourceError(
                f"{folder}: its repository has no branch, tag or commit {ref!r} on this machine."
            ) from error
        subfolder = f"{subfolder.strip('/')}/" if subfolder else ""
        self.below = subfolder
        self.prefix = within + subfolder
        path = f"{name or folder}/{subfolder}" if subfolder else str(name or folder)
        self.location = f"{path.rstrip('/')} at {ref}"
        self.skips = Skips()
        self._lock = threading.Lock()
        self._reader: subprocess.Popen[bytes] | None = None

    def blobs(self) -> Iterator[tuple[str, str]]:
        """Yield (path below the folder, blob id) of each file; submodules are added to `skips`."""
        below = ("--", self.prefix) if self.prefix else ()
        listing = run_git(self.folder, "ls-tree", "-r", "-z", "--full-tree", self.commit, *below)
        for row in listing.split("\0"):
            head, _, name = row.partition("\t")
            mode, _, blob = head.partition(" ")
            if mode in _FILE_MODES:
                yield name.removeprefix(self.prefix), blob.rpartition(" ")[2]
            elif mode == _SUBMODULE:
                self.skips.add(name, *_OF_OTHERS)

    def names(self) -> list[str]:
        """Return the path of every file of the commit, also outside the folder."""
        arguments = ("ls-tree", "-r", "-z", "--full-tree", "--name-only", self.commit)
        return run_git(self.folder, *arguments).split("\0")[:-1]

    def read(self, blob: str, size: int = -1) -> bytes:
        """Return the content of a blob, or its first `size` bytes; one process serves all blobs."""
        with self._lock:
            if self._reader is None:
                self._reader = subprocess.Popen(
                    [*_GIT, "-C", str(self.folder), "cat-file", "--batch"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env=_environment(UNCONNECTED),
                )
            timer = threading.Timer(ANSWER_SECONDS, self._reader.kill)
            timer.start()
            try:
                content = _answer(self._reader, blob, size)
            except OSError as error:  # it has ended, and answers nothing else either
                raise SourceError(f"{self.location}: git does not answer.") from error
            finally:
                timer.cancel()
        if content is None:
            raise SourceError(
                f"{self.location}: blob {blob} is not in the repository on this machine.",
                hint="A partial clone lacks it: run `git fetch --refetch` there.",
            )
        return content

    def content(self, path: str) -> bytes | None:
        """Return the content of a file of the commit by its path in the repository, or None."""
        if "\n" in path:  # the protocol of `git cat-file` has a request per line
            return None
        try:
            return self.read(f"{self.commit}:{path}")
        except SourceError:
            return None

    @staticmethod
    def digest(blob: str) -> str | None:
        """Return the digest of a file: the id of its blob, if that is an SHA-1."""
        return blob if len(blob) == _SHA1 else None

    @staticmethod
    def dates(_: str) -> Dates:
        """Return none: the files of a commit have no times of their own."""
        return UNDATED

    def close(self) -> None:
        """End the `git cat-file` process."""
        with self._lock:
            if self._reader is not None:
                self._reader.communicate()
                self._reader = None


def tags_of(folder: Path) -> list[str]:
    """Return the tags of the repository around a folder. Raises SourceError if there is none."""
    return run_git(folder, "for-each-ref", "--format=%(refname:strip=2)", "refs/tags").splitlines()


def object_folders(folder: Path) -> list[Path]:
    """Return the folders from which git reads a repository. Raises SourceError."""
    folder = folder.resolve()
    paths = run_git(
        folder, "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir",
        "--git-path", "objects",
    ).splitlines()  # fmt: skip
    counts = run_git(folder, "-c", "core.quotePath=false", "count-objects", "-v").splitlines()
    paths += (line.partition(": ")[2] for line in counts if line.startswith("alternate: "))
    for path in paths[2:]:
        if path.startswith('"'):
            raise SourceError(f"{folder}: its repository has the alternate {path}, an odd name.")
        for parent, folders, files in os.walk(path):
            entries = (os.path.join(parent, name) for name in (*folders, *files))
            paths += filter(os.path.islink, entries)
    return [Path(os.path.realpath(path)) for path in paths]


def _answer(reader: subprocess.Popen[bytes], blob: str, size: int) -> bytes | None:
    """Ask git for the first bytes of a blob; None if it is missing. Raises OSError."""
    requests, answers = reader.stdin, reader.stdout
    if requests is None or answers is None:
        raise BrokenPipeError
    requests.write(os.fsencode(blob) + b"\n")
    requests.flush()
    line = answers.readline()
    if not line:
        raise BrokenPipeError
    header = line.split()
    if len(header) != 3 or not header[2].isdigit():
        return None
    left = int(header[2])
    content = answers.read(left if size < 0 else min(left, size))
    left += 1 - len(content)  # a line end follows
    while left:
        piece = answers.read(min(left, _PIECE))
        if not piece:
            raise BrokenPipeError
        left -= len(piece)
    return content


def run_git(
    folder: Path,
    *arguments: str,
    network: Mapping[str, str] | None = None,
    seconds: float | None = None,
) -> str:
    """Return what git prints. Raises SourceError if it fails, is slow or prints too much. With
    `network`, an environment that allows connections, git may write files of bounded size.
    """
    seconds = seconds or (ANSWER_SECONDS if network is None else FETCH_SECONDS)
    try:
        with tempfile.TemporaryFile() as complaints:
            process = subprocess.Popen(
                [*_GIT, "-C", str(folder), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
                env=_environment(network or UNCONNECTED),
                start_new_session=True,  # without a terminal nothing can ask for a password
            )
            if network is not None and hasattr(resource, "prlimit"):
                resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
            timer = threading.Timer(seconds, _kill, [process])
            timer.start()
            with process:
                try:
                    output = process.stdout.read(LONGEST_LISTING + 1)  # type: ignore[union-attr]
                    if len(output) > LONGEST_LISTING:
                        _kill(process)
                    process.wait()
                finally:
                    is_late = not timer.is_alive()
                    timer.cancel()
                    _kill(process)  # after Ctrl+C, which git does not get
            complaints.seek(0)
            problem = complaints.read(_PIECE).decode(errors="replace").strip()
    except FileNotFoundError as error:
        raise SourceError("git is not installed, so no ref can be read.") from error
    if process.returncode == 0:
        return os.fsdecode(output)
    if is_late:
        problem = f"it did not end in {seconds:.0f} seconds"
    elif len(output) > LONGEST_LISTING:
        problem = f"it lists more than {LONGEST_LISTING:,} bytes"
    problem = problem.removeprefix("fatal: ").rstrip(".") or str(process.returncode)
    command = next(each for each in arguments if each != "-c" and "=" not in each)
    raise SourceError(f"{folder}: git {command} failed: {problem}.")


def _environment(network: Mapping[str, str]) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if name not in _OF_ANOTHER}
    return own | {**network}


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End git, if it runs, with the processes that it started."""
    if process.poll() is None:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
