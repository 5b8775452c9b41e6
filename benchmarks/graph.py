"""The benefit and the cost of links in a search."""

import numpy as np
from psycopg.types.json import Jsonb

from benchmarks import variants
from benchmarks.bench import Bench, settle, value
from benchmarks.evaluation import import_labelled
from benchmarks.figures import Figure, judged
from benchmarks.quality import compare
from benchmarks.timing import Call, by_turns, p50_p95, shown
from pgrag.evaluation import labelled
from pgrag.evaluation.runs import Configuration
from pgrag.service.app import App

QUERIES = 200
#: Labelled sets, and the folders of their pages.
SETS = {"obsidian-anchor": "obsidian-help-en", "k8s-anchor": "k8s-en"}
#: Our own questions, of which the open half is asked.
QUESTIONS = ("k8s-questions", "fastapi-questions")
SEARCHABLE = (
    "select coalesce(sum(v.document_count), 0)::bigint from pgrag.versions as v"
    " join pgrag.libraries as l on l.library_id = v.library_id where l.name = any (%s)"
)
SEARCH = b"select * from pgrag.search(%s, filters => %s::jsonb, graph => %s)"
#: p50 and p95 of a search with links in MDN alone, in milliseconds.
MOST = (8, 20)


def in_search(bench: Bench) -> list[Figure]:
    """Evaluate questions, and anchor sets without link texts in the index; time MDN, alone and with
    others.
    """
    with bench.app() as app:
        figures = [_of_anchors(app, bench, name, corpus) for name, corpus in SETS.items()]
        figures += [_of_questions(app, bench, name) for name in QUESTIONS]
        mdn = bench.mdn()
        app.database.call("refresh_page_ranks", library=mdn)
    settle(bench.url)
    others = [labelled.library_of(name) for name in SETS]
    unlinked = [variants.library_of(name, variants.UNLINKED) for name in SETS]
    return [*figures, *_latency(bench, [mdn]), *_latency(bench, [mdn, *others, *unlinked])]


def _of_anchors(app: App, bench: Bench, name: str, corpus: str) -> Figure:
    labelled.import_set(app, name, bench.corpora.folder(name), corpus=bench.corpora.pages(corpus))
    library = variants.index(app, name, variants.UNLINKED)
    return _quality(app, name, library, ", no words of links in the index")


def _of_questions(app: App, bench: Bench, name: str) -> Figure:
    import_labelled(app, bench.corpora, name)
    return _quality(app, name, labelled.library_of(name), "")


def _quality(app: App, name: str, library: str, on: str) -> Figure:
    app.database.call("refresh_page_ranks", library=library)
    before, after = (
        Configuration(
            f"graph {graph}",
            {"function": "search", "library": library, "arguments": {"graph": graph}},
        )
        for graph in (False, True)
    )
    return compare(app, name, before, after).figure("links", on, has_target=bool(on))


def _latency(bench: Bench, libraries: list[str]) -> list[Figure]:
    """Run every query with and without links by turns."""
    queries = bench.mdn_queries(QUERIES)
    filters = Jsonb({"library": libraries})
    with bench.connect() as connection:

        def search(graph: bool) -> Call:
            return lambda query: connection.execute(SEARCH, (query, filters, graph)).fetchall()

        passages = value(connection, SEARCHABLE, libraries)
        systems = {"without": search(False), "with": search(True)}
        times = by_turns(systems, queries, warm_up=len(queries))
    on = f"{passages:,} searchable passages, {len(queries)} queries"
    middle, slow = p50_p95(times["with"])
    more = float(np.median(np.array(times["with"]) - np.array(times["without"])))
    if len(libraries) == 1:
        figures = [judged("search with links: p50", on, middle, MOST[0]),
                   judged("— p95", on, slow, MOST[1])]  # fmt: skip
    else:
        figures = [Figure("search with links: p50, p95", on, shown(times["with"]))]
    return [
        *figures,
        Figure("— without links", on, shown(times["without"])),
        Figure("— median of the differences", on, f"{more:.1f} ms"),
    ]
