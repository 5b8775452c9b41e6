"""Measure quality on labelled sets and write docs/evaluation.md; see there.

benchmarks/evaluation.json stores the results of each set: the next run measures only sets that are
missing there or were measured with different functions.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import bare_search, variants
from benchmarks.bench import lent_app, settle
from benchmarks.corpora import Corpora, CorpusMissing
from benchmarks.figures import read_json, table, told, write_between, write_json
from benchmarks.quality import METRIC, compare, difference
from benchmarks.questions import rows as questions
from pgrag.evaluation import labelled, runs
from pgrag.evaluation.runs import Configuration
from pgrag.service.app import App

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "evaluation.md"
FIGURES = ROOT / "benchmarks" / "evaluation.json"
MARKS = ("<!-- figures: made by `make evaluation` -->", "<!-- end of the figures -->")
METRICS = (METRIC, "mrr@10", "recall@20")
#: The metrics for the effect of front matter.
MATTER_METRICS = ("precision@5", "recall@20", "mrr@20")
ARMS = ("keyword", "semantic")
SYSTEMS = (*ARMS, "hybrid", "rrf")
_OTHERS = [(metric, system) for metric in METRICS[1:] for system in ("ts_rank", *SYSTEMS)]
_MARGIN = 0.002
#: The stored fields of a comparison.
_GAIN = {"gain": "difference", "from": "lower_bound", "to": "upper_bound", "p": "p_value"}


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
    figures = read_json(options.figures)
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
                write_json(options.figures, figures)
    text = tables(figures)
    print(text)
    write_between(options.page, MARKS, text)
    return int(failed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.evaluation", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--only", nargs="+", choices=[*SETS], metavar="SET", help=", ".join(SETS))
    parser.add_argument("--again", action="store_true", help="also what is measured already")
    parser.add_argument("--page", type=Path, default=PAGE, help="where the tables go")
    parser.add_argument("--figures", type=Path, default=FIGURES, help="what was measured before")
    parser.add_argument("--database-url", help="a database to use (default: a new embedded server)")
    return parser


def _measure(app: App, corpora: Corpora, name: str, figures: Figures, *, again: bool) -> None:
    [row] = app.database.query("select max(f.digest) as digest from pgrag.installed_functions as f")
    if figures.get(name, {}).get("functions") == row["digest"] and not again:
        return
    import_labelled(app, corpora, name)
    made = {each.name: runs.run(app, name, each, METRICS) for each in runs.chosen(app, SYSTEMS)}
    best = max(ARMS, key=lambda retriever: made[retriever]["metrics"][METRIC])
    gain = difference(app, made[best], made["hybrid"])
    with bare_search.installed(app, made["hybrid"]["library"]) as configuration:
        made["ts_rank"] = runs.run(app, name, configuration, METRICS)
    figures[name] = {
        "functions": row["digest"],
        "queries": made["hybrid"]["queries"],
        "systems": {
            system: _rounded(result["metrics"] | {"margin": result["margins"][METRIC] or 0})
            for system, result in made.items()
        },
        "over_best_arm": _rounded({name: gain[key] for name, key in _GAIN.items()}),
    }
    if SETS[name].without_matter:
        figures[name]["front_matter"] = _front_matter(app, name)


def import_labelled(app: App, corpora: Corpora, name: str) -> None:
    """Index the corpus of a set as `eval-NAME`, and import the set, held out."""
    corpus = SETS[name].corpus
    labelled.import_set(
        app,
        name,
        labelled_folder(corpora, name),
        corpus=None if corpus is None else corpora.pages(corpus),
        language=questions.LANGUAGES.get(corpus or ""),
        held_out=True,
    )
    settle(app.url)


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
    settle(app.url)
    effects: Figures = {}
    for whole in runs.chosen(app, (*ARMS, "hybrid")):
        plain = Configuration(f"{whole.name}, plain", whole.document | {"library": without})
        before, after, gain = compare(app, name, plain, whole, MATTER_METRICS, by="mrr@20")
        effects[whole.name] = {
            "without": _rounded(before["metrics"]),
            "with": _rounded(after["metrics"]),
            "p_value": round(gain["p_value"], 4),
        }
    return effects


def _rounded(numbers: dict[str, float]) -> dict[str, float]:
    return {name: round(number, 4) for name, number in numbers.items()}


def tables(figures: Figures) -> str:
    """All figures as Markdown."""
    measured = {name: figures[name] for name in SETS if name in figures}
    ranked, gains, others, matter = [], [], [], []
    for name, result in measured.items():
        scores = {system: metrics[METRIC] for system, metrics in result["systems"].items()}
        shown = {system: _with_margin(metrics) for system, metrics in result["systems"].items()}
        better = max(scores[retriever] for retriever in ARMS)
        targets = SETS[name]
        least = max(targets.hybrid or 0, better - _MARGIN, scores["rrf"])
        ranked.append(
            [
                f"{name}, {result['queries']}",
                shown["ts_rank"],
                shown["keyword"] + _judged(scores["keyword"], targets.keyword),
                shown["semantic"] + _judged(scores["semantic"], targets.semantic),
                shown["hybrid"] + _judged(scores["hybrid"], least),
                shown["rrf"],
            ]
        )
        over = result["over_best_arm"]
        interval = f"{over['from']:+.3f} to {over['to']:+.3f}"
        gains.append([name, f"{over['gain']:+.3f}", interval, f"{over['p']:.4f}"])
        others.append([name, *(f"{result['systems'][s][m]:.3f}" for m, s in _OTHERS)])
        for system, pair in result.get("front_matter", {}).items():
            before, after = pair["without"], pair["with"]
            growth = after["mrr@20"] / before["mrr@20"] - 1 if before["mrr@20"] else 0
            changes = (f"{before[m]:.3f} → {after[m]:.3f}" for m in MATTER_METRICS)
            matter.append([name, system, *changes, f"{growth:+.1%}", f"{pair['p_value']:.4f}"])
    parts = {
        "nDCG@10": (("nDCG@10 on", "bare ts_rank", "keyword", "semantic", "hybrid", "rrf"), ranked),
        "Hybrid against its better retriever": (("set", "difference", "95 % interval", "p"), gains),
        "MRR@10 and recall@20": (("set", *(f"{m} {s}" for m, s in _OTHERS)), others),
        "Without and with front matter": (
            ("set", "search", *MATTER_METRICS, "gain of MRR", "p"), matter,
        ),
    }  # fmt: skip
    return "\n\n".join(
        f"### {title}\n\n{table(head, rows)}" for title, (head, rows) in parts.items() if rows
    )


def _with_margin(metrics: dict[str, float]) -> str:
    """The score with half of its 95 % confidence interval; older results lack it."""
    margin = metrics.get("margin")
    return f"{metrics[METRIC]:.3f}" + ("" if margin is None else f" ± {margin:.3f}")


def _judged(score: float, least: float | None) -> str:
    if least is None:
        return ""
    return f" ({'≥' if score >= least else '**missed**:'} {least:.3f})"


if __name__ == "__main__":
    sys.exit(main())
