"""One indexing run in a separate process, to measure its memory; prints JSON.

`python -m benchmarks.index_once LIBRARY VERSION SOURCE`; reads the database's URL from stdin, to
hide its password from other users of the machine.
"""

from __future__ import annotations

import json
import resource
import sys

from pydantic import SecretStr

from pgrag.ground.settings import Settings
from pgrag.service.app import App


def main() -> None:
    """Index, then print the report."""
    library, version, source = sys.argv[1:]
    # Always measure the built-in model, whatever the environment sets.
    settings = Settings(database_url=SecretStr(sys.stdin.read()), embedding_url=None)
    with App(settings) as app:
        report = app.index(library, version, source)
    if report.failed:
        raise SystemExit(f"not indexed: {report.failed}")
    # Linux counts in KiB, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    print(
        json.dumps(
            {
                "seconds": report.seconds,
                "pages": report.pages,
                "written": report.written,
                "documents": report.documents,
                "embedded": report.embedded,
                "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit,
            }
        )
    )


if __name__ == "__main__":
    main()
