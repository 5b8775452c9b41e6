"""Draw the pictures of docs/: the parts of pgrag, the journey of a page, the journey of a search.

A picture has rows of boxes, from top to bottom, and arrows between boxes.
"""

import sys
from dataclasses import dataclass
from html import escape
from itertools import pairwise

import reference_page

WIDTH, GAP, ROW, TOP = 880, 18, 104, 46
COLOURS = {"python": "#fff4d6", "sql": "#dcecff", "table": "#e4f3e4", "face": "#f1e6fa"}
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1c2733}.note{font-size:11px;fill:#5a6672}"
    ".title{font-size:16px;font-weight:600}rect{stroke:#8a97a5}path{stroke:#5a6672;fill:none}"
)


@dataclass(frozen=True)
class Box:
    """A box: its name, a note on its purpose, and its kind (a key of COLOURS)."""

    name: str
    note: str
    kind: str


@dataclass(frozen=True)
class Picture:
    """Rows of boxes; each arrow joins two names."""

    title: str
    rows: tuple[tuple[Box, ...], ...]
    arrows: tuple[tuple[str, str], ...]

    def svg(self) -> str:
        """Return the drawing."""
        places = self._places()
        height = TOP + ROW * len(self.rows)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
            f"<title>{escape(self.title)}</title><style>{STYLE}</style>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7"'
            ' markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" style="fill:#5a6672"/>'
            "</marker></defs>",
            f'<rect width="{WIDTH}" height="{height}" fill="#fff" style="stroke:none"/>',
            f'<text class="title" x="{GAP}" y="28">{escape(self.title)}</text>',
        ]
        for start, end in self.arrows:
            (x1, y1, w1, h1), (x2, y2, w2, _) = places[start], places[end]
            if y1 == y2:
                line = f"M{x1 + w1} {y1 + h1 / 2:g}L{x2} {y2 + h1 / 2:g}"
            else:
                a, b = x1 + w1 / 2, x2 + w2 / 2
                middle = (y1 + h1 + y2) / 2
                line = f"M{a:g} {y1 + h1}C{a:g} {middle:g} {b:g} {middle:g} {b:g} {y2}"
            parts.append(f'<path d="{line}" marker-end="url(#tip)"/>')
        for row in self.rows:
            for box in row:
                x, y, width, box_height = places[box.name]
                centre = x + width / 2
                parts.append(
                    f'<rect x="{x}" y="{y}" width="{width}" height="{box_height}" rx="6"'
                    f' fill="{COLOURS[box.kind]}"/>'
                    f'<text x="{centre:g}" y="{y + 23}" text-anchor="middle">{escape(box.name)}'
                    f'</text><text class="note" x="{centre:g}" y="{y + 42}"'
                    f' text-anchor="middle">{escape(box.note)}</text>'
                )
        return "\n".join([*parts, "</svg>"]) + "\n"

    def _places(self) -> dict[str, tuple[int, int, int, int]]:
        places = {}
        for number, row in enumerate(self.rows):
            width = (WIDTH - GAP * (len(row) + 1)) // len(row)
            for column, box in enumerate(row):
                x = GAP + column * (width + GAP)
                places[box.name] = (x, TOP + number * ROW, width, 56)
        return places


def _boxes(kind: str, **notes: str) -> tuple[Box, ...]:
    return tuple(Box(name.replace("_", " "), note, kind) for name, note in notes.items())


def _chain(*names: str) -> tuple[tuple[str, str], ...]:
    return tuple(pairwise(names))


PICTURES = {
    "architecture.svg": Picture(
        "pgrag: one database, five faces",
        (
            _boxes("python", sources="folders, files, git")
            + _boxes("python", reader="front matter, sections, links")
            + _boxes("python", models="vectors, rerankers, answers"),
            _boxes(
                "table",
                pages="versions, front matter",
                passages="impacts of terms",
                embeddings="vectors by model",
                edges="links with kind and line",
            ),
            _boxes(
                "sql",
                search="two retrievers, fused",
                context="within a budget",
                navigation="outlines, neighbours",
                graph="backlinks, paths",
                evaluation="runs, tuning",
            ),
            _boxes("sql", the_schema_pgrag="one API, the same for every face"),
            _boxes(
                "face",
                psql="pgrag.search(…)",
                Python="pgrag.connect()",
                REST="/v1/search",
                MCP="search_docs",
                CLI="pgrag search",
            ),
        ),
        (
            ("sources", "reader"), ("reader", "pages"), ("reader", "passages"),
            ("reader", "edges"), ("models", "embeddings"),
            ("passages", "search"), ("embeddings", "search"), ("edges", "graph"),
            ("pages", "context"), ("pages", "navigation"),
            *((name, "the schema pgrag") for name in (
                "search", "context", "navigation", "graph", "evaluation",
            )),
            *(("the schema pgrag", face) for face in ("psql", "Python", "REST", "MCP", "CLI")),
        ),
    ),
    "page-journey.svg": Picture(
        "The journey of a page",
        (
            _boxes(
                "python",
                pipeline="what has changed",
                source="bytes to text",
                matter="front matter",
                text="Markdown to sections",
            ),
            _boxes("python", edges="links, relations, tags")
            + _boxes("python", chunks="passages of three levels")
            + _boxes("python", embeddings="vectors, where a model runs outside"),
            _boxes("sql", ingest_pages="one statement for many pages")
            + _boxes("sql", store_embeddings="one vector a text"),
            _boxes(
                "sql",
                resolve_links="where links lead",
                refresh_page_ranks="how pages are linked",
                refresh_statistics="impacts and counts",
                finish_version="from now on it is searched",
            ),
        ),
        (
            *_chain("pipeline", "source", "matter", "text"), ("text", "chunks"), ("text", "edges"),
            ("chunks", "embeddings"), ("chunks", "ingest pages"), ("edges", "ingest pages"),
            ("embeddings", "store embeddings"), ("ingest pages", "resolve links"),
            ("ingest pages", "refresh statistics"),
            ("store embeddings", "finish version"), ("resolve links", "refresh page ranks")
        ),
    ),
    "search-journey.svg": Picture(
        "The journey of a search",
        (
            _boxes("face", a_face="psql, Python, REST, MCP, CLI")
            + _boxes("sql", check_arguments="one declaration")
            + _boxes("sql", make_request="query, filters, versions, terms"),
            _boxes("sql", keyword_candidates="BM25F, MaxScore pruning")
            + _boxes("sql", vector_candidates="exact scan or HNSW"),
            _boxes("sql", rank="exact scores from both, fused")
            + _boxes("sql", rearrange="links, levels, diversity")
            + _boxes("sql", hits="with place, snippet, reason"),
        ),
        (
            *_chain("a face", "check arguments", "make request"),
            ("make request", "keyword candidates"), ("make request", "vector candidates"),
            ("keyword candidates", "rank"), ("vector candidates", "rank"),
            *_chain("rank", "rearrange", "hits"),
        ),
    ),
}  # fmt: skip


if __name__ == "__main__":
    files = {reference_page.ROOT / "docs" / name: each.svg() for name, each in PICTURES.items()}
    sys.exit(max(reference_page.write(*each, "the script draws") for each in files.items()))
