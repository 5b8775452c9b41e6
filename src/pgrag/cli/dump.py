"""Dumps that every server can restore."""

import re
from collections.abc import Iterable, Iterator

#: PostgreSQL 17.12 keeps a mark among the options of a column. An older pg_dump writes it as an
#: option, which older servers refuse: a restore that stops at the first error ends there.
_MARKED = re.compile(rb"ALTER TABLE ONLY [^\t]+ ALTER COLUMN [^\t]+ SET \(pg_attver=\d+\);\s*")


def portable(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a dump that any server accepts; archives, which are no SQL, unchanged."""
    is_sql = None
    for line in lines:
        if is_sql is None:
            is_sql = line.startswith(b"--")
        if not (is_sql and _MARKED.fullmatch(line)):
            yield line
