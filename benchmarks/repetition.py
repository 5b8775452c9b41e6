"""What a search, a context or an answer says twice, although its sources say it once."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.bench import Bench, Connection
from benchmarks.figures import Figure
from benchmarks.questions import rows
from pgrag.evaluation.labelled import read_labelled_set

DOCS = Path(__file__).parents[1] / "docs"
EACH = 50
#: Shorter sentences are headings, calls and the like, which repeat by chance.
SHORTEST = 30
CONTEXT = "select c.page_id, c.content from pgrag.context(%s, %s{}) as c"
CALLS = {
    "search": "select s.page_id, s.content from pgrag.search(%s, %s) as s",
    "search, 50 hits": "select s.page_id, s.content from pgrag.search(%s, %s, top_k => 50) as s",
    "context": CONTEXT.format(""),
    "context with parents, 20 siblings, other types": CONTEXT.format(
        ", token_budget => 20000, parents => true, siblings => 20,"
        " inject_types => '{reference,guide}'"
    ),
    "answer": """
        select (s.source ->> 'page_id')::bigint, s.source ->> 'content'
        from pgrag.answer_context(%s, %s, parents => true) as a
        cross join lateral jsonb_array_elements(a.sources) as s (source)
    """,
}
HEADINGS = """
select distinct d.heading
from pgrag.documents as d
join pgrag.libraries as l on l.library_id = d.library_id
where l.name = %s and d.level = 1 and length(d.heading) > 8
order by d.heading
"""
PARAGRAPHS = "select d.content from pgrag.documents as d where d.page_id = %s and d.level = 2"


def of_lists(bench: Bench) -> list[Figure]:
    """The share of the characters that are said again, over 200 questions to four libraries."""
    asked = [(library, text) for library, texts in _questions(bench) for text in texts]
    figures = []
    with bench.connect() as connection:
        pages: dict[int, Counter[str]] = {}
        for name, call in CALLS.items():
            said = again = 0
            for library, text in asked:
                passages = connection.execute(call.encode(), [text, library]).fetchall()
                for sentence, is_again in _sentences_of(connection, passages, pages):
                    said += len(sentence)
                    again += len(sentence) * is_again
            share = f"{again / max(said, 1):.2%}"
            what = f"characters said again: {name}"
            figures.append(
                Figure(what, f"{len(asked)} questions", share, "0.1 %", again < said / 1000)
            )
    return figures


def _questions(bench: Bench) -> Iterator[tuple[str, list[str]]]:
    k8s = bench.require("k8s", bench.corpora.pages("k8s-en"))
    fastapi = bench.require("fastapi", bench.corpora.pages("fastapi-en"))
    obsidian = bench.require("obsidian", bench.corpora.pages("obsidian-help-en"))
    own = bench.require("docs", DOCS)
    linked = read_labelled_set(bench.corpora.folder("obsidian-anchor")).queries
    texts = {
        k8s: [each.text for each in rows.half(rows.read("k8s-questions"), "open")],
        fastapi: [each.text for each in rows.half(rows.read("fastapi-questions"), "open")],
        obsidian: [each.text for each in linked],
        own: [],
    }
    with bench.connect() as connection:
        for library, known in texts.items():
            first = bench.sample(known, EACH)
            headings = [heading for (heading,) in connection.execute(HEADINGS, [library])]
            yield library, [*first, *bench.sample(headings, EACH - len(first))]


def _sentences_of(
    connection: Connection, passages: Iterable[tuple[int, str]], pages: dict[int, Counter[str]]
) -> Iterator[tuple[str, bool]]:
    """Yield the sentences of passages, and whether the response has said each as often as its page
    does, or has had the same passage of another page.
    """
    said: Counter[tuple[int, str]] = Counter()
    texts: set[str] = set()
    for page_id, content in passages:
        whole = _words(content)
        if len(whole) >= SHORTEST and whole in texts:
            yield whole, True
            continue
        texts.add(whole)
        if page_id not in pages:
            paragraphs = connection.execute(PARAGRAPHS, [page_id])
            pages[page_id] = Counter(s for (text,) in paragraphs for s in _sentences(text))
        for sentence in _sentences(content):
            said[page_id, sentence] += 1
            yield sentence, said[page_id, sentence] > max(pages[page_id][sentence], 1)


def _sentences(text: str) -> list[str]:
    parts = map(_words, re.split(r"\n|(?<=[.!?…:])\s+", text))
    return [part for part in parts if len(part) >= SHORTEST]


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", re.sub(r"\]\([^)]*\)", "]", text.lower())))
