"""Whether the verdicts of `pgrag tune` hold on labelled questions that it has not seen.

Each library is tuned from its own text without keeping anything; then each value that was tried
is measured on the labelled sets of the library. docs/tuning.md has the table.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import evaluation
from benchmarks.bench import lent_app
from benchmarks.corpora import Corpora, CorpusMissing
from benchmarks.figures import table, told
from benchmarks.quality import compare, import_queries
from pgrag.evaluation.labelled import library_of, read_labelled_set
from pgrag.evaluation.runs import Configuration
from pgrag.service.app import App

#: The sets whose corpora are tuned, and further sets about the same pages.
LIBRARIES: dict[str, tuple[str, ...]] = {
    "obsidian-anchor": (),
    "fastapi-questions": (),
    "k8s-anchor": ("k8s-questions",),
    "mdn-anchor": ("mdn-questions",),
    "scifact": (),
}
COLUMNS = (
    "library", "tried", "own questions", "p", "verdict", "labelled set", "gain", "95 % interval",
)  # fmt: skip
Row = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row for each setting of each library, and each of its labelled sets."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tuning", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--only", nargs="+", choices=[*LIBRARIES], default=[*LIBRARIES])
    parser.add_argument("--queries", type=int, default=400, help="own questions of a library")
    parser.add_argument("--seed", type=int, default=42, help="seed of a tuning")
    parser.add_argument("--database-url", help="a database to use (default: a new embedded server)")
    options = parser.parse_args(arguments)
    rows: list[Sequence[str]] = []
    failed = False
    with tempfile.TemporaryDirectory(prefix="pgrag-tuning-") as scratch:
        corpora = Corpora(options.data, Path(scratch))
        with lent_app(options.database_url, Path(scratch)) as app:
            for name in options.only:
                try:
                    rows += _rows(app, corpora, name, options.queries, options.seed)
                except CorpusMissing as missing:
                    print(f"{name}: not measured: {missing}", file=sys.stderr)
                    failed = True
    print(table(COLUMNS, rows))
    return int(failed)


def _rows(
    app: App, corpora: Corpora, name: str, queries: int, seed: int
) -> Iterator[Sequence[str]]:
    evaluation.import_labelled(app, corpora, name)
    library = library_of(name)
    for other in LIBRARIES[name]:
        document = read_labelled_set(evaluation.labelled_folder(corpora, other)).document()
        import_queries(app, other, library, document)
    with told(name):
        [tuning] = app.database.call(
            "tune", library=library, query_count=queries, seed=seed, dry_run=True, source="library"
        )
    for verdict in tuning["verdicts"]:
        own = verdict["validation"]
        value = json.dumps(verdict["value"]).translate(str.maketrans("", "", '{}"'))
        gains = (f"{own['difference']:+.3f}", f"{own['p_value']:.3f}") if own else ("–", "–")
        for labelled in (name, *LIBRARIES[name]):
            gain = _gain(app, labelled, verdict)
            yield (
                name,
                f"{verdict['setting']}: {value}",
                *gains,
                "kept" if verdict["kept"] else "rejected",
                labelled,
                f"{gain['difference']:+.3f}",
                f"{gain['lower_bound']:+.3f} to {gain['upper_bound']:+.3f}",
            )


def _gain(app: App, labelled: str, verdict: Row) -> Row:
    """What the tried value gains on a labelled set, over the defaults."""
    setting, value = verdict["setting"], verdict["value"]
    document: Row = {"function": "search", "arguments": {"unit": "page"}}
    changed = {"arguments": document["arguments"] | {setting: value}}
    if setting == "weights":
        changed = {"settings": value}
    before, after = Configuration("defaults", document), Configuration(setting, document | changed)
    return compare(app, labelled, before, after).difference


if __name__ == "__main__":
    sys.exit(main())
