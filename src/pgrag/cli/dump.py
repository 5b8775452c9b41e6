"""What pg_dump writes, without what only the server that it asked understands."""

import re
from collections.abc import Iterable, Iterator

#: PostgreSQL 17.12 keeps a mark of its own among the options of a column. An older pg_dump takes it
#: for an option that one can set, and older servers refuse the statement, so that a restore that
#: stops at the first error ends there.
_MARKED = re.compile(rb"ALTER TABLE ONLY [^\t]+ ALTER COLUMN [^\t]+ SET \(pg_attver=\d+\);\s*")


def portable(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Return the lines of a dump that any server understands; archives, which are no SQL, stay."""
    is_sql = None
    for line in lines:
        if is_sql is None:
            is_sql = line.startswith(b"--")
        if not (is_sql and _MARKED.fullmatch(line)):
            yield line
