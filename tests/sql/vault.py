"""Small vaults of linked notes: their pages, their edges as rows, and what graphs are held to."""

import random
from collections import defaultdict, deque
from dataclasses import dataclass

from library import ingest, page

#: Of the states of an edge, what an inserted row says besides.
_INSERT = """
insert into pgrag.edges (
    library_id, edge_id, version_id, source_page_id, source_document_id, target_page_id, confidence,
    place, line, state, how, rule, kind, target, name, link_text, sentence
)
select
    s.library_id, _pgrag.take_ids(s.library_id, 1) + 1, s.version_id, s.page_id,
    (
        select max(d.document_id)
        from pgrag.documents as d
        where d.library_id = s.library_id and d.page_id = s.page_id and d.level = 2
    ),
    t.page_id, %(confidence)s, %(place)s, %(line)s,
    case when t.page_id is null then 'unresolved' else 'resolved' end,
    case when t.page_id is not null then 'path' end,
    'explicit:wikilink', %(kind)s, %(target)s, %(target)s, %(target)s, %(sentence)s
from pgrag.pages as s
join pgrag.libraries as l on l.library_id = s.library_id and l.name = %(library)s
left join pgrag.pages as t
    on t.library_id = s.library_id and t.version_id = s.version_id and t.key = %(target)s || '.md'
where s.key = %(source)s || '.md'
returning edge_id
"""


@dataclass(frozen=True)
class Link:
    """One edge between two notes, named without suffix."""

    source: str
    target: str
    kind: str = "link"
    confidence: float = 1.0
    sentence: str = ""


def write(connection, library, notes, links):
    """Write notes and their links; the ids of the pages by name."""
    ingest(connection, library, notes, embed=False)
    for place, link in enumerate(links):
        connection.execute(
            _INSERT,
            {
                "library": library, "source": link.source, "target": link.target,
                "kind": link.kind, "confidence": link.confidence, "place": place,
                "line": place + 3, "sentence": link.sentence,
            },
        )  # fmt: skip
    rows = connection.execute(
        "select p.key, p.page_id from pgrag.pages as p"
        " join pgrag.libraries as l on l.library_id = p.library_id where l.name = %s",
        [library],
    ).fetchall()
    return {row["key"].removesuffix(".md"): row["page_id"] for row in rows}


def random_links(size, count, seed=7):
    """Links among notes n0, n1 …, some of them double, to themselves, or weak; n0 has none."""
    dice = random.Random(seed)
    return [
        Link(
            f"n{dice.randrange(1, size)}",
            f"n{int(size * dice.random() ** 2)}",
            dice.choice(["link", "depends_on"]),
            dice.choice([1.0, 0.95, 0.5]),
        )
        for _ in range(count)
    ]


def random_notes(size):
    return [page(f"n{place}.md", f"Note {place}.") for place in range(size)]


def distances(links, start, *, both=False):
    """Steps from a note to all that are reached from it, by breadth-first search."""
    beside = defaultdict(set)
    for link in links:
        beside[link.source].add(link.target)
        if both:
            beside[link.target].add(link.source)
    steps = {start: 0}
    waiting = deque([start])
    while waiting:
        note = waiting.popleft()
        for other in sorted(beside[note] - set(steps)):
            steps[other] = steps[note] + 1
            waiting.append(other)
    return steps


def page_ranks(names, links, kind_weights):
    """PageRank by plain loops, until nothing moves any more."""
    weights = defaultdict(float)
    for link in links:
        if link.source != link.target:
            weight = link.confidence * kind_weights.get(link.kind, 1)
            weights[link.source, link.target] += weight
    out = defaultdict(float)
    for (source, _), weight in weights.items():
        out[source] += weight
    ranks = dict.fromkeys(names, 1 / len(names))
    for _ in range(500):
        lost = sum(ranks[name] for name in names if not out[name])
        moved = dict.fromkeys(names, (0.15 + 0.85 * lost) / len(names))
        for (source, target), weight in weights.items():
            moved[target] += 0.85 * ranks[source] * weight / out[source]
        ranks = moved
    return ranks
