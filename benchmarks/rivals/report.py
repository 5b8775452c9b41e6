"""The figures of the comparison as Markdown and as pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks import drawing
from benchmarks.figures import table
from benchmarks.rivals.rival import INSTALL

MARKS = ("<!-- rivals: made by `make bench RIVALS=1` -->", "<!-- end of the rivals -->")
#: The name of the picture of a set, beside the page.
PICTURE = "rivals-{}.svg"
YARDSTICK = "usual recipe in SQL"

Found = Mapping[str, Any]


def tables(figures: Mapping[str, Found]) -> str:
    """A table for each set, and the versions that were measured."""
    parts = [f"### {name}\n\n{_about(found)}\n\n{_table(found)}" for name, found in figures.items()]
    if figures:
        parts.append(_versions([*figures.values()][-1]))
    return "\n\n".join(parts)


def picture(name: str, found: Found) -> str:
    """Quality against latency: the best system is in the upper left corner."""
    systems = found["systems"]
    scores = [row["ndcg@10"] for row in systems.values()]
    lowest, highest = int(min(scores) * 20), int(max(scores) * 20) + 1
    ticks = [(nth / 20, (f"{nth / 20:.2f}",)) for nth in range(lowest, highest + 1)]
    return drawing.picture(
        f"{name}: nDCG@10 against the median time of a search in milliseconds",
        drawing.Axis.by_size([row["p50"] for row in systems.values()]),
        drawing.Axis(lowest / 20, highest / 20, ticks),
        [drawing.Series(system, [(row["p50"], row["ndcg@10"])]) for system, row in systems.items()],
        joined=False,
    )


def _about(found: Found) -> str:
    return (
        f"{found['passages']:,} passages; nDCG and recall of {found['judged']:,} queries,"
        f" times of {found['timed']:,}. {found['machine']}."
    )


def _table(found: Found) -> str:
    yardstick = found["systems"][YARDSTICK]["p50"]
    return table(
        ("system", "nDCG@10", "recall@10", "p50, ms", "p95, ms", f"{YARDSTICK} : system, p50"),
        [
            (name, "not run", *[""] * 4)
            if row is None
            else (
                name, f"{row['ndcg@10']:.3f}", f"{row['recall@10']:.3f}", f"{row['p50']:.1f}",
                f"{row['p95']:.1f}", f"{yardstick / row['p50']:.1f}",
            )
            for name in found["versions"]
            for row in [found["systems"].get(name)]
        ],
    )  # fmt: skip


def _versions(found: Found) -> str:
    known = [
        f"{package} {number}"
        for packages in found["versions"].values()
        for package, number in (packages or {}).items()
    ]
    missing = [name for name, packages in found["versions"].items() if packages is None]
    lines = [f"Versions: {', '.join(known)}."] if known else []
    if missing:
        lines.append(f"Not run: {', '.join(missing)}. To install them: {INSTALL}.")
    return "\n\n".join(lines)
