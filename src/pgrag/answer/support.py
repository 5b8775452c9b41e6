"""Whether the sentences of an answer say what their sources say."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pgrag.answer.citations import Citation
from pgrag.answer.claims import Claim, find_claims, without_citations
from pgrag.answer.values import Doubt, Sentence
from pgrag.db import Database, Row

LEAST_SUPPORT = 0.4
"""Share of a sentence's weight that its sources must have.

Measured by `python -m benchmarks.sentence_support`: of the sentences by which authors describe
pages of a manual in words of their own, 4 % (English) and 12 % (German) stay below it against their
own page, 44 % and 57 % against a passage of another page that the same question finds, all against
any other.
"""


def checked_sentences(
    database: Database, text: str, citations: Sequence[Citation], sources: Mapping[int, Row]
) -> list[Sentence]:
    """Return the sentences of a text with what speaks for each; `sources` are by number."""
    claims = find_claims(text, citations)
    supports = _supports(database, without_citations(text, citations), claims, sources)
    sentences = []
    for place, claim in enumerate(claims):
        cited = tuple(number for number in claim.numbers if number in sources)
        support = supports.get(place)
        doubt = _doubt(claim, cited, support)
        sentences.append(
            Sentence(
                start=claim.start,
                end=claim.end,
                text=text[claim.start : claim.end],
                cited=cited,
                support=support,
                is_supported=doubt is None,
                doubt=doubt,
            )
        )
    return sentences


def _doubt(claim: Claim, cited: tuple[int, ...], support: float | None) -> Doubt | None:
    if not cited:
        return "unknown source" if claim.numbers else "no citation"
    if support is not None and support < LEAST_SUPPORT:
        return "other words than its sources"
    return None


def _supports(
    database: Database, text: str, claims: Sequence[Claim], sources: Mapping[int, Row]
) -> dict[int, float]:
    """The support of each claim, by its place; a library is asked for its own documents."""
    supports: dict[int, float] = {}
    for library in {row["library"] for row in sources.values()}:
        asked = {
            place: documents
            for place, claim in enumerate(claims)
            if (
                documents := [
                    sources[number]["document_id"]
                    for number in claim.numbers
                    if number in sources and sources[number]["library"] == library
                ]
            )
        }
        if not asked:
            continue
        rows = database.call(
            "sentence_support",
            library=library,
            sentences=[text[claims[place].start : claims[place].end] for place in asked],
            documents=json.dumps(list(asked.values())),
        )
        for place, row in zip(asked, rows, strict=True):
            supports[place] = max(supports.get(place, 0.0), float(row["support"] or 0.0))
    return supports
