"""Measure quality on labelled sets and write docs/evaluation.md; see there.

benchmarks/evaluation.json stores the results of each set: the next run measures only sets that are
missing there or were measured with different functions. benchmarks/history.json keeps the main
figures of each state.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from benchmarks import bare_search, history, variants
from benchmarks.corpora import Corpora, CorpusMissing
from benchmarks.figures import table, told, write_between
from benchmarks.questions import rows as questions
from pgrag.evaluation import importing, runs
from pgrag.evaluation.runs import Configuration
from pgrag.ground.settings import Settings
from pgrag.service.app import App

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "evaluation.md"
FIGURES = ROOT / "benchmarks" / "evaluation.json"
MARKS = ("<!-- figures: made by `make evaluation` -->", "<!-- end of the figures -->")
HISTORY_MARKS = ("<!-- history: made by `make evaluation` -->", "<!-- end of the history -->")
METRICS = ("ndcg@10", "mrr@10", "recall@20")
#: The metrics for the effect of front matter.
MATTER_METRICS = ("precision@5", "recall@20", "mrr@20")
ARMS = ("keyword", "semantic")
SYSTEMS = (*ARMS, "hybrid", "rrf")
_MARGIN = 0.002


@dataclass(frozen=True, slots=True)
class Labelled:
    """A labelled set: its corpus, if that is a folder of pages, and the target figures.

    Of our own `questions` the open half is measured.
    """

    corpus: str | None = None
    keyword: float | None = None
    semantic: float | None = None
    hybrid: float | None = None
    without_matter: bool = False
    questions: bool = False


SETS = {
    "scifact": Labelled(keyword=0.67, semantic=0.52, hybrid=0.703),
    "xquad-en": Labelled(keyword=0.965, semantic=0.91, hybrid=0.977),
    "xquad-de": Labelled(keyword=0.94, semantic=0.7),
    "xquad-ru": Labelled(keyword=0.94, semantic=0.45),
    "xquad-es": Labelled(keyword=0.96),
    "k8s-anchor": Labelled("k8s-en", keyword=0.645, semantic=0.61, hybrid=0.7, without_matter=True),
    "mdn-anchor": Labelled(
        "mdn-en", keyword=0.68, semantic=0.65, hybrid=0.735, without_matter=True
    ),
    "obsidian-anchor": Labelled("obsidian-help-en", semantic=0.85, hybrid=0.875),
    **{name: Labelled(corpus, questions=True) for name, corpus in questions.SETS.items()},
}
Figures = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure missing sets, print the tables and write them into the page."""
    options = _parser().parse_args(arguments)
    figures = _read_figures(options.figures)
    failed = False
    with tempfile.TemporaryDirectory(prefix="pgrag-evaluation-") as scratch:
        corpora = Corpora(options.data, Path(scratch))
        with lent_app(options.database_url, Path(scratch)) as app:
            for name in options.only or SETS:
                try:
                    with told(name):
                        _measure(app, corpora, name, figures, again=options.again)
                except CorpusMissing as missing:
                    print(f"{name}: not measured: {missing}", file=sys.stderr)
                    failed = True
                    continue
                if options.ablation:
                    with told(f"{name}, ablation"):
                        _ablate(app, corpora, name, figures[name])
                options.figures.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
                history.write(
                    history.add(history.read(options.history), name, figures[name]),
                    options.history,
                )
    text = tables(figures)
    print(text)
    rows = history.read(options.history)
    if options.page:
        write_between(options.page, MARKS, text)
        write_between(options.page, HISTORY_MARKS, history.history_table(rows))
        (options.page.parent / history.PICTURE).write_text(history.picture(rows), "utf-8")
    return int(failed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.evaluation", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--only", nargs="+", choices=[*SETS], metavar="SET", help=", ".join(SETS))
    parser.add_argument("--again", action="store_true", help="also what is measured already")
    parser.add_argument("--ablation", action="store_true", help="change one thing at a time, too")
    parser.add_argument("--page", type=Path, default=PAGE, help="where the tables go")
    parser.add_argument("--figures", type=Path, default=FIGURES, help="what was measured before")
    parser.add_argument(
        "--history", type=Path, default=history.HISTORY, help="the figures of each state"
    )
    parser.add_argument("--database-url", help="a database to use (default: a new embedded server)")
    return parser


def _measure(app: App, corpora: Corpora, name: str, figures: Figures, *, again: bool) -> None:
    digest = _digest(app)
    if figures.get(name, {}).get("functions") == digest and not again:
        return
    import_labelled(app, corpora, name)
    made = {system: _run(app, name, _builtin(app, system)) for system in SYSTEMS}
    best = max(ARMS, key=lambda retriever: made[retriever]["metrics"]["ndcg@10"])
    [compared] = app.database.call(
        "compare_evaluations", run_id=made[best]["run"], other_run_id=made["hybrid"]["run"]
    )
    with bare_search.installed(app, made["hybrid"]["library"]) as configuration:
        made["ts_rank"] = _run(app, name, configuration)
    found: Figures = {
        "functions": digest,
        "queries": made["hybrid"]["queries"],
        "systems": {system: _rounded(result) for system, result in made.items()},
        "over_best_arm": {
            key: round(compared[key], 4)
            for key in ("difference", "lower_bound", "upper_bound", "p_value")
        },
    }
    if SETS[name].without_matter:
        found["front_matter"] = _front_matter(app, name)
    figures[name] = found


def import_labelled(app: App, corpora: Corpora, name: str) -> None:
    """Index the corpus of a set as `eval-NAME`, and import the set, held out."""
    corpus = SETS[name].corpus
    importing.import_set(
        app,
        name,
        labelled_folder(corpora, name),
        corpus=None if corpus is None else corpora.pages(corpus),
        language=questions.LANGUAGES.get(corpus or ""),
        held_out=True,
    )
    _settle(app)


def labelled_folder(corpora: Corpora, name: str) -> Path:
    """The folder of a set in BEIR's layout."""
    if not SETS[name].questions:
        return corpora.folder(name)
    return questions.write_set(
        questions.half(questions.read(name), "open"), corpora.scratch / "sets" / name
    )


def _front_matter(app: App, name: str) -> Figures:
    """Run the same queries in the library and in its copy without front matter."""
    without = variants.index(app, name, variants.PLAIN)
    _settle(app)
    found: Figures = {}
    for system in (*ARMS, "hybrid"):
        whole = _builtin(app, system)
        plain = Configuration(f"{system}, plain", whole.document | {"library": without})
        pair = [_run(app, name, c, MATTER_METRICS) for c in (plain, whole)]
        [compared] = app.database.call(
            "compare_evaluations",
            run_id=pair[0]["run"],
            other_run_id=pair[1]["run"],
            metric="mrr@20",
        )
        found[system] = {
            "without": _rounded(pair[0]),
            "with": _rounded(pair[1]),
            "p_value": round(compared["p_value"], 4),
        }
    return found


def _ablate(app: App, corpora: Corpora, name: str, found: Figures) -> None:
    import_labelled(app, corpora, name)
    for variant in variants.VARIANTS:
        variants.index(app, name, variant)
    _settle(app)
    found["ablation"] = {
        configuration.name: _rounded(_run(app, name, configuration))
        for configuration in [*runs.ablation(app), *variants.ablation(name)]
    }


def _run(
    app: App, name: str, configuration: Configuration, metrics: Sequence[str] = METRICS
) -> dict[str, Any]:
    return runs.run(app, name, configuration, metrics)


def _builtin(app: App, system: str) -> Configuration:
    [configuration] = runs.chosen(app, [system])
    return configuration


def _rounded(result: dict[str, Any]) -> dict[str, float]:
    return {metric: round(score, 4) for metric, score in result["metrics"].items()}


def tables(figures: Figures) -> str:
    """All figures as Markdown."""
    measured = {name: figures[name] for name in SETS if name in figures}
    parts = [_ndcg_table(measured), _arms_table(measured), _other_metrics_table(measured)]
    matter = {name: found for name, found in measured.items() if "front_matter" in found}
    if matter:
        parts.append(_matter_table(matter))
    ablated = {name: found for name, found in measured.items() if "ablation" in found}
    if ablated:
        parts.append(_ablation_table(ablated))
    return "\n\n".join(parts)


def _ndcg_table(measured: Figures) -> str:
    rows = []
    for name, found in measured.items():
        scores = {system: s["ndcg@10"] for system, s in found["systems"].items()}
        better = max(scores[retriever] for retriever in ARMS)
        least = max(SETS[name].hybrid or 0, better - _MARGIN, scores["rrf"])
        rows.append(
            [
                f"{name}, {found['queries']}",
                f"{scores['ts_rank']:.3f}",
                _judged(scores["keyword"], SETS[name].keyword),
                _judged(scores["semantic"], SETS[name].semantic),
                _judged(scores["hybrid"], least),
                f"{scores['rrf']:.3f}",
            ]
        )
    columns = ("nDCG@10 on", "bare ts_rank", "keyword", "semantic", "hybrid", "rrf")
    return f"### nDCG@10\n\n{table(columns, rows)}"


def _judged(score: float, least: float | None) -> str:
    if least is None:
        return f"{score:.3f}"
    return f"{score:.3f} ({'≥' if score >= least else '**missed**:'} {least:.3f})"


def _arms_table(measured: Figures) -> str:
    rows = []
    for name, found in measured.items():
        over = found["over_best_arm"]
        rows.append(
            [
                name,
                f"{over['difference']:+.3f}",
                f"{over['lower_bound']:+.3f} to {over['upper_bound']:+.3f}",
                f"{over['p_value']:.4f}",
            ]
        )
    columns = ("set", "difference", "95 % interval", "p")
    return f"### Hybrid against its better retriever\n\n{table(columns, rows)}"


def _other_metrics_table(measured: Figures) -> str:
    rows = [
        [
            name,
            *(
                f"{found['systems'][system][metric]:.3f}"
                for metric in METRICS[1:]
                for system in ("ts_rank", *SYSTEMS)
            ),
        ]
        for name, found in measured.items()
    ]
    columns = (
        "set",
        *(f"{metric} {system}" for metric in METRICS[1:] for system in ("ts_rank", *SYSTEMS)),
    )
    return f"### MRR@10 and recall@20\n\n{table(columns, rows)}"


def _matter_table(measured: Figures) -> str:
    rows = []
    for name, found in measured.items():
        for system, pair in found["front_matter"].items():
            before, after = (pair[side]["mrr@20"] for side in ("without", "with"))
            rows.append(
                [
                    name,
                    system,
                    *(
                        f"{pair['without'][metric]:.3f} → {pair['with'][metric]:.3f}"
                        for metric in MATTER_METRICS
                    ),
                    f"{after / before - 1:+.1%}" if before else "–",
                    f"{pair['p_value']:.4f}",
                ]
            )
    columns = ("set", "search", *MATTER_METRICS, "gain of MRR", "p")
    return f"### Without and with front matter\n\n{table(columns, rows)}"


def _ablation_table(measured: Figures) -> str:
    names = list(dict.fromkeys(name for found in measured.values() for name in found["ablation"]))
    rows = [
        [
            row,
            *(
                f"{found['ablation'][row]['ndcg@10']:.3f}" if row in found["ablation"] else "–"
                for found in measured.values()
            ),
        ]
        for row in names
    ]
    return f"### One thing changed at a time: nDCG@10\n\n{table(('search', *measured), rows)}"


def _read_figures(path: Path) -> Figures:
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def _digest(app: App) -> str:
    [row] = app.database.query("select max(f.digest) as digest from pgrag.installed_functions as f")
    return str(row["digest"])


def _settle(app: App) -> None:
    """Vacuum and analyse now, so that autovacuum does not interfere with a run."""
    with app.database.connection() as connection:
        connection.execute(
            "vacuum (analyze) pgrag.pages, pgrag.documents, pgrag.embeddings,"
            " pgrag.lexeme_statistics"
        )


@contextmanager
def lent_app(given: str | None, scratch: Path) -> Iterator[App]:
    """Lend an app with a migrated database; without a URL, of a temporary embedded server."""
    # Root's server runs as another user, who must be able to traverse the folder.
    scratch.chmod(0o711)
    url = None if given is None else SecretStr(given)
    settings = Settings(database_url=url, home=scratch / "home", embedding_url=None)
    with App(settings) as app:
        try:
            app.upgrade()
            yield app
        finally:
            app.close()
            if given is None:
                app.server.remove()


if __name__ == "__main__":
    sys.exit(main())
