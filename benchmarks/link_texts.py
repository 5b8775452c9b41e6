"""Any documentation as a labelled set: texts of its links are queries, their targets the answers.

    python -m benchmarks.link_texts FOLDER [FOLDER …] [--alpha ALPHA …]

indexes each folder into a database of its own and prints the quality of each retriever and of both
fusions. A query has two words at least, or the parts of a name (os.path), side by side, and leads
to one page only; pages that link by this text do not count; at most two queries ask for a page, and
300 for a documentation, chosen by a hash. Texts such as "Section 5.3" name no page and are left
out. With --alpha the hybrid search is also measured with each of these as the library's setting,
and the difference from the default, over the questions of all folders, has its 95 % interval.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.bench import lent_app
from benchmarks.evaluation import ARMS, SYSTEMS
from benchmarks.figures import table, told
from benchmarks.quality import METRIC, import_queries
from pgrag.evaluation import runs
from pgrag.service.app import App

MOST = 300
_QUERIES = """
select t.words as text, jsonb_build_object(t.target, 1) as judgements,
    array_remove(t.sources, t.target) as excluded
from (
    select
        lower(btrim(e.link_text)) as lowered, min(btrim(e.link_text)) as words,
        min(target.key) as target, array_agg(distinct source.key) as sources,
        row_number() over (
            partition by min(target.key) order by md5(lower(btrim(e.link_text)))
        ) as nth_of_page
    from pgrag.edges as e
    join pgrag.libraries as l on l.library_id = e.library_id
    join pgrag.pages as target
        on target.library_id = e.library_id and target.page_id = e.target_page_id
    join pgrag.pages as source
        on source.library_id = e.library_id and source.page_id = e.source_page_id
    where l.name = %s
        and e.target_page_id <> e.source_page_id
        and length(e.link_text) between 6 and 80
        and e.link_text ~ '[[:alpha:]]{2}[^[:alnum:]]+[[:alpha:]]{2}'
        and e.link_text !~* '^(section|chapter|part|appendix|table|figure|next|prev|see)\\y'
    group by lower(btrim(e.link_text))
    having count(distinct target.key) = 1
) as t
where t.nth_of_page <= 2
order by md5(t.lowered)
limit %s
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Index, ask, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.link_texts", description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--alpha", type=float, nargs="+", default=[], metavar="ALPHA")
    parser.add_argument("--database-url", help="a database to use (default: a new embedded server)")
    options = parser.parse_args(arguments)
    with (
        tempfile.TemporaryDirectory(prefix="pgrag-links-") as scratch,
        lent_app(options.database_url, Path(scratch)) as app,
    ):
        print(measure(app, options.folders, options.alpha))


def measure(app: App, folders: Sequence[Path], alphas: Sequence[float] = ()) -> str:
    """The nDCG@10 of the links of each folder, as a Markdown table."""
    rows = []
    gains: list[list[float]] = [[] for _ in alphas]
    for nth, folder in enumerate(folders):
        name = f"links-{nth}"
        with told(str(folder)):
            app.index(name, "", str(folder))
            queries = app.database.query(_QUERIES, [name, MOST])
            if not queries:
                print(f"{folder}: no text of a link leads to one page alone", file=sys.stderr)
                continue
            numbered = [{"id": str(nth), **query} for nth, query in enumerate(queries)]
            import_queries(app, name, name, numbered)
            scores = {
                each.name: runs.run(app, name, each, [METRIC])["metrics"][METRIC]
                for each in runs.chosen(app, SYSTEMS)
            }
        best = max(scores[retriever] for retriever in ARMS)
        default, *others = (_by_query(app, name, alpha) for alpha in (None, *alphas))
        for gain, other in zip(gains, others, strict=True):
            gain += [score - default[query] for query, score in other.items()]
        rows.append(
            [
                f"{folder}, {len(queries)}",
                *(f"{scores[system]:.3f}" for system in SYSTEMS),
                f"{scores['hybrid'] - best:+.3f}",
                *(f"{np.mean(list(other.values())):.3f}" for other in others),
            ]
        )
    if rows and alphas:
        rows.append(["gain on all", *[""] * (len(SYSTEMS) + 1), *map(_with_interval, gains)])
    named = (f"alpha {alpha:g}" for alpha in alphas)
    return table(("nDCG@10 on", *SYSTEMS, "hybrid − better retriever", *named), rows)


def _by_query(app: App, name: str, alpha: float | None) -> dict[str, float]:
    """The score of each query of the hybrid search, with alpha as the library's setting."""
    app.database.call("configure_library", library=name, settings=json.dumps({"alpha": alpha}))
    [hybrid] = runs.chosen(app, ["hybrid"])
    run_id = runs.run(app, name, hybrid, [METRIC])["run"]
    scores = app.database.call("_pgrag.evaluation_scores", run_id=run_id, metrics=[METRIC])
    return {row["query_id"]: row["score"] for row in scores}


def _with_interval(gains: Sequence[float]) -> str:
    margin = 1.96 * np.std(gains, ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else 0
    return f"{np.mean(gains):+.4f} ± {margin:.4f}"


if __name__ == "__main__":
    main()
