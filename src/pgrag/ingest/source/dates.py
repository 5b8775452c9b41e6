"""When the files of a source were made and changed: by the commits of its repository, else by the
times that a disk, an archive or a server gives.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

from pgrag.ground.errors import SourceError
from pgrag.ingest.source.git import object_folders, run_git
from pgrag.ingest.source.source import Commit, History, SourceFile
from pgrag.ingest.values import UNDATED, Dates

#: Seconds for the walk through the commits.
_SECONDS = 20.0
#: Archives and images write these in place of times that they do not have.
_EARLIEST = datetime(1980, 1, 2, tzinfo=UTC).timestamp()
#: A copy writes its files one after another: seconds from each to the next, and the share of the
#: files that shows a copy.
_COPYING = 60.0
_COPIED = 0.8

SAME_TIMES = (
    "The files have the same time, as those of a copy: the time says nothing about their pages,"
    " which have no date unless their text or name states one."
)


def dates_of_time(seconds: float, said_by: str = "file") -> Dates:
    """Return the dates of a file that was last changed at this time; none for an impossible one."""
    if not _EARLIEST <= seconds <= (datetime.now(UTC) + timedelta(days=1)).timestamp():
        return UNDATED
    moment = datetime.fromtimestamp(int(seconds), UTC).isoformat()
    return Dates(moment, said_by, moment, said_by)


def without_copied(files: Sequence[SourceFile]) -> tuple[list[SourceFile], bool]:
    """Return the files, those without dates that have the time of a copy, and whether any has."""
    dated = sorted(file.dates.modified for file in files if file.dates.modified)
    runs: list[list[str]] = [dated[:1]]
    for before, after in pairwise(dated):
        gap = datetime.fromisoformat(after) - datetime.fromisoformat(before)
        if gap.total_seconds() > _COPYING:
            runs.append([])
        runs[-1].append(after)
    longest = max(runs, key=len)
    if len(longest) < max(2, _COPIED * len(dated)):
        return [*files], False
    copied = {*longest}
    return [
        replace(file, dates=UNDATED) if file.dates.modified in copied else file for file in files
    ], True


@dataclass(frozen=True, slots=True)
class GitHistory:
    """The commits of the files below `prefix`, up to `commit`, of the repository around `folder`;
    `below` is the part of the prefix that lies below the folder. With `is_confined` a repository
    that reads from outside its own folder tells nothing.
    """

    folder: Path
    commit: str
    prefix: str
    below: str = ""
    is_confined: bool = field(default=False, kw_only=True)

    def read(self) -> History:
        """Walk through the commits once."""
        try:
            if self.is_confined and not self._is_alone():
                return History({})
            is_shallow = run_git(self.folder, "rev-parse", "--is-shallow-repository").strip()
            log = run_git(
                self.folder, "-c", "log.follow=false", "log", "--no-show-signature", "--no-renames",
                "--no-ext-diff", "--raw", "--no-abbrev", "-z", "--format=%x01%at %P", self.commit,
                *(("--", self.below or ".") if self.prefix else ()), seconds=_SECONDS,
            )  # fmt: skip
        except SourceError as error:
            return History({}, f"{error.message} Pages have no dates of their commits.")
        commits = _commits(log, self.prefix, is_shallow=is_shallow == "true")
        if is_shallow == "true":
            return History(
                commits,
                "The repository is a shallow clone: pages that its few commits do not change have"
                " no dates of their commits. `git fetch --unshallow` in a clone brings the others.",
            )
        return History(commits)

    def _is_alone(self) -> bool:
        top = Path(run_git(self.folder, "rev-parse", "--show-toplevel").rstrip("\n")).resolve()
        return all(path.is_relative_to(top) for path in object_folders(self.folder))


def history_around(folder: Path, *, is_confined: bool) -> GitHistory | None:
    """Return the history of a folder on the disk; None without a repository that has commits."""
    if not any((path / ".git").exists() for path in (folder, *folder.parents)):
        return None
    try:
        prefix, commit = run_git(folder, "rev-parse", "--show-prefix", "HEAD").split("\n")[:2]
    except (SourceError, ValueError):
        return None
    return GitHistory(folder, commit, prefix, is_confined=is_confined)


def _commits(log: str, prefix: str, *, is_shallow: bool) -> dict[str, Commit]:
    """Return the commits of each file by its path below the prefix. What the last commits of a
    shallow clone seem to add is older.
    """
    found: dict[str, Commit] = {}
    for moment, is_known, status, blob, path in _changes(log):
        if is_shallow and not is_known:
            continue
        key = path.removeprefix(prefix)
        latest = found.get(key, Commit(blob, None, moment))
        created = latest.created
        if status == "A":
            created = min(created, moment) if created else moment
        found[key] = Commit(latest.blob, created, max(latest.modified, moment))
    return found


def _changes(log: str) -> Iterator[tuple[str, bool, str, str, str]]:
    """Yield (time, whether the commit has a parent, status, blob, path), the last change first."""
    moment, is_known = "", False
    parts = (part.lstrip("\n") for part in log.split("\0"))
    for part in parts:
        if part.startswith("\1"):
            seconds, _, parents = part[1:].partition(" ")
            moment = datetime.fromtimestamp(int(seconds), UTC).isoformat()
            is_known = bool(parents.strip())
        elif part.startswith(":"):
            *_, blob, status = part.split(" ")
            yield moment, is_known, status, blob, next(parts, "")


@dataclass(slots=True)
class Dating:
    """Dates the pages of a run. The walk through the commits begins when a page needs it: not if
    everything is as it was at the commit that the version remembers.
    """

    history: Callable[[], History] | None
    is_same_commit: bool
    notes: list[str] = field(default_factory=list)
    _read: Mapping[str, Commit] | None = None

    def of(self, file: SourceFile, digest: str) -> Dates:
        """Return the dates of a file with these bytes: those of its commits, and if it was changed
        since them, that of its time.
        """
        commit = self._commits().get(file.path or file.key)
        if commit is None:
            return file.dates
        changed = file.dates.modified
        if digest != commit.blob and changed and changed > commit.modified:
            return Dates(
                commit.created, commit.created and "git", changed, file.dates.modified_from
            )
        return Dates(commit.created, commit.created and "git", commit.modified, "git")

    def again(self, file: SourceFile, digest: str, stored: Dates) -> Dates:
        """Return the dates of an unchanged file whose page has these."""
        if self.is_same_commit and "git" in (stored.created_from, stored.modified_from):
            return stored
        return file.dates if self.is_same_commit else self.of(file, digest)

    def _commits(self) -> Mapping[str, Commit]:
        if self._read is None:
            history = self.history() if self.history else History({})
            self._read = history.commits
            self.notes += filter(None, (history.note,))
        return self._read
