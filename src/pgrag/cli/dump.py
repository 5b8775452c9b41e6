"""Dumps that every server can restore, and their restoring."""

import os
import re
import subprocess
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryFile

from pgrag.ground.errors import DatabaseError, SourceError

#: What other servers refuse. PostgreSQL 17.12 keeps a mark among the options of a column, which an
#: older pg_dump writes as an option; servers before 17 lack a setting; and only the owner of the
#: extension may comment on it.
_FOREIGN = re.compile(
    rb"ALTER TABLE ONLY [^\t]+ ALTER COLUMN [^\t]+ SET \(pg_attver=\d+\);\s*"
    rb"|SET transaction_timeout = 0;\s*"
    rb"|COMMENT ON EXTENSION vector IS .*;\s*"
)
#: The schemas are replaced as a whole, unless another program holds one for this long.
_BEFORE = b"""
set lock_timeout = '30s';
drop schema if exists pgrag cascade;
drop schema if exists _pgrag cascade;
"""
#: A dump sets what the next client of a pooler must not find in the session.
_AFTER = b"\nreset all;\n"
_ROWS = re.compile(rb"COPY [^\t]+ FROM stdin;\s*")


def portable(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a dump that any server accepts; archives, which are no SQL, unchanged."""
    is_sql, in_rows = None, False
    for line in lines:
        if is_sql is None:
            is_sql = line.startswith(b"--")
        if in_rows:
            in_rows = line.rstrip() != b"\\."
        elif is_sql and _FOREIGN.fullmatch(line):
            continue
        else:
            in_rows = is_sql and _ROWS.fullmatch(line) is not None
        yield line


def is_archive(path: Path) -> bool:
    """Return whether pg_restore reads a dump, or psql. Raises SourceError if it is neither."""
    if not path.exists():
        raise SourceError(f"{path}: no such file or folder.", hint="`pgrag db dump` writes one.")
    if path.is_dir():
        if (path / "toc.dat").is_file():
            return True
    else:
        with path.open("rb") as file:
            head = file.read(200)
            file.seek(-min(300, path.stat().st_size), os.SEEK_END)
            tail = file.read()
        is_half = b"PostgreSQL database dump" in head
        if head.startswith(b"PGDMP"):
            return True
        if head.startswith(b"toc.dat"):
            if _is_whole_tar(path):
                return True
            is_half = True
        elif b"PostgreSQL database dump complete" in tail:
            return False
        if is_half:
            raise SourceError(
                f"{path}: its end is missing.", hint="Dump it again, or copy it again."
            )
    raise SourceError(f"{path}: is not a dump.", hint="`pgrag db dump` writes one.")


def _is_whole_tar(path: Path) -> bool:
    """Whether a tar file has its end: without it pg_restore may read for ever."""
    try:
        with tarfile.open(path, "r:") as archive, path.open("rb") as file:
            archive.getmembers()
            file.seek(-2 * tarfile.BLOCKSIZE, os.SEEK_END)
            return not any(file.read())
    except (tarfile.TarError, OSError):
        return False


def restore(path: Path, psql: Sequence[str], pg_restore: Path, variables: dict[str, str]) -> None:
    """Replace the schemas by those of a dump, in one transaction.

    `psql` is the command for the database. Raises DatabaseError; then nothing has changed.
    """
    with ExitStack() as opened:
        said = opened.enter_context(TemporaryFile())
        reading = None
        if is_archive(path):
            reads = [str(pg_restore), "--no-owner", "--no-privileges"]
            listed = subprocess.run([*reads, "--list", str(path)], capture_output=True, check=False)
            if listed.returncode:
                raise _not_restored(path, listed.stderr, pg_restore)
            reading = opened.enter_context(
                subprocess.Popen(
                    [*reads, "--file=-", str(path)], stdout=subprocess.PIPE, stderr=said
                )
            )
        script = (reading and reading.stdout) or opened.enter_context(path.open("rb"))
        once = [*psql, "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--single-transaction"]
        writing = opened.enter_context(
            subprocess.Popen(
                [*once, "--file=-"], env=variables, stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL, stderr=said,
            )
        )  # fmt: skip
        assert writing.stdin is not None
        try:
            with suppress(BrokenPipeError):  # psql has failed, and says why
                writing.stdin.write(_BEFORE)
                writing.stdin.writelines(portable(script))
                writing.stdin.write(_AFTER)
            if reading and reading.wait():
                writing.kill()  # or it would commit what it has read
            with suppress(BrokenPipeError):
                writing.stdin.close()
        except BaseException:
            writing.kill()
            raise
        if writing.wait():
            said.seek(0)
            raise _not_restored(path, said.read(), pg_restore)


def _not_restored(path: Path, said: bytes, pg_restore: Path) -> DatabaseError:
    told = said.decode(errors="replace").strip()
    if newer := re.search(r"unsupported version \(([\d.]+)\) in file header", told):
        version = subprocess.run([pg_restore, "--version"], capture_output=True, check=False)
        return DatabaseError(
            f"{path} was written by a newer pg_dump (archive format {newer[1]}) than"
            f" {version.stdout.decode().strip()} reads.",
            hint="Let the pg_restore of that PostgreSQL write it as SQL, and restore this:"
            f" pg_restore --no-owner --file=pgrag.sql {path}.",
        )
    first = next((line for line in told.splitlines() if "ERROR" in line or "error" in line), told)
    reason = re.sub(r"^(psql|pg_restore):(<stdin>:\d+:)? *", "", first)
    return DatabaseError(
        f"{path} is not restored, and nothing has changed: {reason}",
        hint="Dump it again, or copy it again." if first.startswith("pg_restore") else None,
    )
