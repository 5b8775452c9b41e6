"""The figures of the comparison as Markdown."""

from collections.abc import Mapping
from typing import Any

from benchmarks.figures import table
from benchmarks.rivals.rival import INSTALL

MARKS = ("<!-- rivals: made by `make bench RIVALS=1` -->", "<!-- end of the rivals -->")
YARDSTICK = "usual recipe in SQL"

Results = Mapping[str, Any]


def tables(figures: Mapping[str, Results]) -> str:
    """A table for each set, and the versions that were measured."""
    parts = [
        f"### {name}\n\n{_about(results)}\n\n{_table(results)}" for name, results in figures.items()
    ]
    if figures:
        parts.append(_versions([*figures.values()][-1]))
    return "\n\n".join(parts)


def _about(results: Results) -> str:
    return (
        f"{results['passages']:,} passages; nDCG and recall of {results['judged']:,} queries,"
        f" times of {results['timed']:,}. {results['machine']}."
    )


def _table(results: Results) -> str:
    yardstick = results["systems"][YARDSTICK]
    return table(
        ("system", "nDCG@10", "behind pgrag", "recall@10", "p50, ms", "p95, ms",
         "processor, ms", f"{YARDSTICK} : system, processor"),
        [
            (name, "not run", *[""] * 6)
            if row is None
            else (
                name, f"{row['ndcg@10']:.3f}" + _margin(row), _behind(row),
                f"{row['recall@10']:.3f}", f"{row['p50']:.1f}", f"{row['p95']:.1f}",
                *_processor(row, yardstick),
            )
            for name in results["versions"]
            for row in [results["systems"].get(name)]
        ],
    )  # fmt: skip


# Results of before November 2026 lack the next three.
def _margin(row: Results) -> str:
    return f" ± {row['margin']:.3f}" if "margin" in row else ""


def _behind(row: Results) -> str:
    behind = row.get("behind", {})
    if not any(behind.values()):
        return ""
    return f"{behind['by']:.3f} ({behind['from']:+.3f} to {behind['to']:+.3f})"


def _processor(row: Results, yardstick: Results) -> tuple[str, str]:
    if "processor" not in row or "processor" not in yardstick:
        return "", ""
    spent = row["processor"]
    return f"{spent:.1f}", f"{yardstick['processor'] / spent:.1f}"


def _versions(results: Results) -> str:
    known = [
        f"{package} {number}"
        for packages in results["versions"].values()
        for package, number in (packages or {}).items()
    ]
    missing = [name for name, packages in results["versions"].items() if packages is None]
    lines = [f"Versions: {', '.join(known)}."] if known else []
    if missing:
        lines.append(f"Not run: {', '.join(missing)}. To install them: {INSTALL}.")
    return "\n\n".join(lines)
