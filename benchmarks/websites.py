"""A website from a folder: how fast it is crawled and indexed, and what a second crawl costs.

    python -m benchmarks.websites FOLDER [--start index.html] [--markdown FOLDER]

serves the folder on loopback and indexes it into a database of its own. With `--markdown`, the
sources of the same site, it also counts how many of their sections the crawled pages have, with the
same heading path and the same anchor.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from urllib.request import urlopen

from pydantic import SecretStr

from pgrag.app import App
from pgrag.db import Row
from pgrag.embedded import EmbeddedServer
from pgrag.ingest.page import PageOptions
from pgrag.settings import Settings

Section = tuple[tuple[str, ...], str | None]


def main() -> None:
    """Serve, index twice, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--start", default="", help="page of the folder where the crawl begins")
    parser.add_argument("--markdown", type=Path, help="sources of the same site")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        server = EmbeddedServer(Path(home))
        try:
            settings = Settings(database_url=SecretStr(server.start()), embedding_url=None)
            with App(settings) as app, _served(arguments.folder) as site:
                app.upgrade()
                _measure(app, f"{site.url}/{arguments.start}")
                if arguments.markdown:
                    app.index("written", "", str(arguments.markdown), PageOptions())
                    _compare(app)
        finally:
            server.remove()


class _served:  # noqa: N801 - a context manager
    """A folder on loopback, served by a process of its own."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]
        self._process = subprocess.Popen(
            [*command, "--directory", str(folder)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        line = self._process.stdout.readline() if self._process.stdout else ""
        self.url = f"http://127.0.0.1:{line.split(' port ')[1].split(' ')[0]}"

    def __enter__(self) -> _served:
        urlopen(self.url).close()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate()


def _measure(app: App, address: str) -> None:
    for title in ("first crawl", "second crawl"):
        started = time.monotonic()
        report = app.index("site", "", address, PageOptions(), allow_private=True)
        seconds = time.monotonic() - started
        print(
            f"{title}: {report.pages:,} pages in {seconds:.1f} s, {report.pages / seconds:,.0f}"
            f" pages/s, {report.seconds:.1f} s of them indexing;"
            f" {report.written:,} written, {report.documents:,} documents,"
            f" {len(report.failed):,} failed"
        )
        for key, reason in list(report.failed.items())[:5]:
            print(f"  failed: {key}: {reason}")
        for group in report.skipped:
            print(f"  {group.count:,} skipped, {group.reason}: {', '.join(group.examples)}")
        print(f"  links: {report.links}")


def _compare(app: App) -> None:
    written, crawled = _sections(app, "written"), _sections(app, "site")
    equal = (written & crawled).total()
    print(f"{equal:,} of {written.total():,} sections are equal: {equal / written.total():.1%}")
    for path, anchor in list((written - crawled).elements())[:20]:
        print(f"  only in the sources: {' / '.join(path)} #{anchor}")
    for path, anchor in list((crawled - written).elements())[:20]:
        print(f"  only on the site: {' / '.join(path)} #{anchor}")


def _sections(app: App, library: str) -> Counter[Section]:
    """The sections of a library: the path of headings within the page, and the anchor."""
    rows: list[Row] = app.database.query(
        "select d.path[cardinality(p.path) + 1 :] as path, d.anchor"
        " from pgrag.documents as d"
        " join pgrag.pages as p using (library_id, page_id)"
        " join pgrag.libraries as l using (library_id)"
        " where l.name = %s and d.level = 1",
        [library],
    )
    return Counter((tuple(row["path"]), row["anchor"]) for row in rows)


if __name__ == "__main__":
    main()
