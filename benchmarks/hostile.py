"""Pages that were made to be slow: each is indexed within seconds, or refused by a named limit."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from benchmarks.bench import Bench
from benchmarks.figures import Figure
from pgrag.ground.settings import variable

SECONDS = 10.0
#: The limit that may refuse a page.
LIMIT = variable("max_page_bytes")

#: A page of each shape by its number of parts.
SHAPES: dict[str, Callable[[int], str]] = {
    "headings": lambda n: "".join(f"## Heading {i}\n\nText {i}.\n\n" for i in range(n)),
    "equal sections": lambda n: "## Heading\n\nText.\n\n" * n,
    "links": lambda n: " ".join(f"[word {i}](page{i}.md)" for i in range(n)),
    "links to sections": lambda n: "".join(
        f"## Heading {i}\n\n[text](#heading-{n - i})\n\n" for i in range(n)
    ),
    "links to ids": lambda n: " ".join(f'<b id="b{i}">x</b> [x](#b{n - i})' for i in range(n)),
    "characters in a line": lambda n: "word " * (n // 5),
    "characters in a word": lambda n: "a" * n,
    "distinct words": lambda n: " ".join(f"w{i:x}z" for i in range(n)),
    "tags": lambda n: f"---\ntags: [{', '.join(f't{i}' for i in range(n))}]\n---\nText.\n",
    "brackets in front matter": lambda n: f"---\na: {'[' * n}{']' * n}\n---\nText.\n",
}
SIZES = {
    "headings": 20_000,
    "equal sections": 20_000,
    "links": 50_000,
    "links to sections": 10_000,
    "links to ids": 20_000,
    "characters in a line": 12_000_000,
    "characters in a word": 5_000_000,
    "distinct words": 400_000,
    "tags": 15_000,
    "brackets in front matter": 100_000,
}


def pages(bench: Bench) -> list[Figure]:
    """Index each page alone, in a process and a library of its own."""
    figures = []
    for shape, full_size in SIZES.items():
        size = full_size // 100 if bench.quick else full_size
        name = shape.replace(" ", "-")
        folder = bench.scratch / "hostile" / name
        folder.mkdir(parents=True)
        text = SHAPES[shape](size)
        (folder / "page.md").write_text(text, "utf-8")
        started = perf_counter()
        try:
            bench.index(f"hostile-{name}", "", folder)
            refused = ""
        except RuntimeError as error:
            if LIMIT not in str(error):
                raise
            refused = f", refused by {LIMIT}"
        seconds = perf_counter() - started
        figures.append(
            Figure(
                f"index a page of {size:,} {shape}",
                f"{len(text) / 1e6:.1f} MB",
                f"{seconds:.1f} s{refused}",
                f"< {SECONDS:.0f} s",
                seconds < SECONDS,
            )
        )
    return figures
