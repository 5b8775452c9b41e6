"""A website from a folder: how fast it is crawled and indexed, and what a second crawl costs.

    python -m benchmarks.websites FOLDER [--start index.html] [--markdown FOLDER [--labelled SET]]

serves the folder on loopback and indexes it into a database of its own. With `--markdown`, the
sources of the same site, it also counts how many of their sections the crawled pages have, with the
same headings and the same anchor, and which part of their words, code and tables. With
`--labelled`, queries whose answers are pages of these sources, it measures a search in both, among
the pages that both have.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Set
from dataclasses import asdict
from pathlib import Path

from pydantic import SecretStr

from benchmarks import equality
from benchmarks.served import Served
from pgrag.evaluation import runs
from pgrag.evaluation.labelled import read_labelled_set
from pgrag.ground.embedded import EmbeddedServer
from pgrag.ground.settings import Settings
from pgrag.service.app import App


def main() -> None:
    """Serve, index twice, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--start", default="", help="page of the folder where the crawl begins")
    parser.add_argument("--markdown", type=Path, help="sources of the same site")
    parser.add_argument("--labelled", type=Path, help="a set of queries over these sources")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        server = EmbeddedServer(Path(home))
        try:
            settings = Settings(database_url=SecretStr(server.start()), embedding_url=None)
            with App(settings) as app, Served(arguments.folder) as site:
                app.upgrade()
                _measure(app, site, arguments.start)
                if arguments.markdown:
                    app.index("written", "", str(arguments.markdown))
                    written, crawled = (equality.read_pages(app, n) for n in ("written", "site"))
                    print(*equality.told(equality.compare(written, crawled)), sep="\n")
                    if arguments.labelled:
                        pairs = equality.pairs(written, crawled)
                        _remove(app, "written", written.keys() - pairs.keys())
                        _remove(app, "site", crawled.keys() - {*pairs.values()})
                        _search(app, arguments.labelled, pairs)
        finally:
            server.remove()


def _measure(app: App, site: Served, start: str) -> None:
    for title in ("first crawl", "second crawl"):
        started = time.monotonic()
        report = app.index("site", "", f"{site.url}/{start}", allow_private=True)
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
        told = ", ".join(f"{count:,} with {code}" for code, count in site.answers().most_common())
        print(f"  answers: {told}")


def _remove(app: App, library: str, keys: Set[str]) -> None:
    """Leave only the pages that both have, so that a search has the same choice in both."""
    app.database.call("remove_pages", library=library, keys=[*keys])


def _search(app: App, folder: Path, pairs: dict[str, str]) -> None:
    """Print nDCG@10 of the queries whose pages the site has too, in the sources and on the site."""
    queries = [q for q in read_labelled_set(folder).queries if q.judgements.keys() <= pairs.keys()]
    own = {key: key for key in pairs}
    [hybrid] = runs.chosen(app, ["hybrid"])
    for library, names in (("written", own), ("site", pairs)):
        document = [
            asdict(query)
            | {
                "judgements": {names[key]: grade for key, grade in query.judgements.items()},
                "excluded": [names[key] for key in query.excluded if key in names],
            }
            for query in queries
        ]
        app.database.call(
            "import_evaluation_set",
            name=library,
            library=library,
            queries=json.dumps(document),
            unit="page",
            source={"held_out": True},
        )
        found = runs.run(app, library, hybrid, ("ndcg@10",))
        print(f"nDCG@10 in {library}, {len(queries):,} queries: {found['metrics']['ndcg@10']:.4f}")


if __name__ == "__main__":
    main()
