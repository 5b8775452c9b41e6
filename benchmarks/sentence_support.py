"""Calibrate the threshold of doubt: page descriptions against their own page and against others.

    PGRAG_HOME=… python -m benchmarks.sentence_support LIBRARY …

The libraries must be indexed; their front matter has `description`, which is not searched. Each
description is a question; the sources of `pgrag.answer_context` are from its own page or others.
"""

from __future__ import annotations

import json
import sys

from pgrag.answer.details import contradiction
from pgrag.service.app import App

_PAGES = """
select p.page_id, p.title, p.front_matter ->> 'description' as description
from pgrag.pages as p
join pgrag.libraries as l on l.library_id = p.library_id
where l.name = %s and length(p.front_matter ->> 'description') > 40
order by p.page_id
"""
_DOCUMENTS = """
select d.document_id
from pgrag.documents as d
join pgrag.libraries as l on l.library_id = d.library_id
where l.name = %s and d.level = 2
order by md5(d.document_id::text)
"""
_THRESHOLDS = (0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6)


def supports(app: App, library: str) -> tuple[dict[str, list[float]], int]:
    """The support of every description by its own page, by each neighbour, and by any document.

    Beside it, how many descriptions the rules for details doubt against their own page.
    """
    found: dict[str, list[float]] = {"own page": [], "found with it": [], "any": []}
    doubted = 0
    documents = [row["document_id"] for row in app.database.query(_DOCUMENTS, [library])]
    for place, page in enumerate(app.database.query(_PAGES, [library])):
        [material] = app.database.call(
            "answer_context",
            question=f"{page['title']} {page['description']}",
            library=library,
            expand=False,
        )
        own, others = [], []
        for source in material["sources"]:
            (own if source["page_id"] == page["page_id"] else others).append(source["document_id"])
        if not own:
            continue
        said = [s["content"] for s in material["sources"] if s["page_id"] == page["page_id"]]
        doubted += contradiction(page["description"], [page["title"], *said]) is not None
        cited = [own, *([other] for other in others), [documents[place % len(documents)]]]
        rows = app.database.call(
            "sentence_support",
            library=library,
            sentences=[page["description"]] * len(cited),
            documents=json.dumps(cited),
        )
        shares = [row["support"] for row in rows]
        found["own page"].append(shares[0])
        found["found with it"] += shares[1:-1]
        found["any"].append(shares[-1])
    return found, doubted


def main() -> None:
    """Print how many sentences fall below each threshold, and how many are doubted in detail."""
    with App() as app:
        for library in sys.argv[1:]:
            found, in_detail = supports(app, library)
            heads = [f"{name} ({len(values)})" for name, values in found.items()]
            print(f"\n| {library}: doubted below | {' | '.join(heads)} |")
            print("|---|" + "---|" * len(heads))
            for threshold in _THRESHOLDS:
                doubted = [
                    sum(value < threshold for value in values) / max(1, len(values))
                    for values in found.values()
                ]
                print(f"| {threshold} | " + " | ".join(f"{share:.0%}" for share in doubted) + " |")
            print(f"\ndoubted for a detail, own page: {in_detail} of {len(found['own page'])}")


if __name__ == "__main__":
    main()
