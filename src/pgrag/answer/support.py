"""Whether the sources that a sentence cites support the sentence: by its words, then in detail."""

import json
from collections.abc import Mapping, Sequence

from pgrag.answer.citations import Citation
from pgrag.answer.claims import Claim, find_claims, without_citations
from pgrag.answer.details import contradiction
from pgrag.ground.calls import Row
from pgrag.ground.connections import Database
from pgrag.ground.values.answers import Doubt, Sentence, Verdict

LEAST_SUPPORT = 0.4
"""Share of a sentence's weight that its sources must cover.

Chosen on sentences in which authors describe pages of a manual in their own words: 4 % (English)
and 12 % (German) stay below it against their own page, nearly all against any other page.
"""

_LACKING = {"other words than its sources", "names that its sources lack"}


def checked_sentences(
    database: Database, text: str, citations: Sequence[Citation], sources: Mapping[int, Row]
) -> list[Sentence]:
    """Return the sentences of a text with their support; `sources` are keyed by number.

    A sentence that cites nothing is compared with all sources, for its verdict only.
    """
    claims = find_claims(text, citations)
    bare = without_citations(text, citations)
    supports = _supports(database, bare, claims, sources)
    sentences = []
    for index, claim in enumerate(claims):
        start, end, support = claim.start, claim.end, supports.get(index)
        cited = tuple(number for number in claim.numbers if number in sources)
        fault = _fault(bare[start:end], support, [sources[number] for number in cited or sources])
        doubt = fault if cited else "unknown source" if claim.numbers else "no citation"
        sentences.append(Sentence(
            start=start, end=end, text=text[start:end], cited=cited,
            support=support if cited else None, is_supported=doubt is None, doubt=doubt,
            verdict=_verdict(fault, doubt, is_cited=bool(cited)),
        ))  # fmt: skip
    return sentences


def _fault(said: str, support: float | None, rows: Sequence[Row]) -> Doubt | None:
    if support is not None and support < LEAST_SUPPORT:
        return "other words than its sources"
    texts = ([row["library"], row["title"], *(row["path"] or ()), row["content"]] for row in rows)
    return contradiction(said, ["\n\n".join(parts) for parts in texts])


def _verdict(fault: Doubt | None, doubt: Doubt | None, *, is_cited: bool) -> Verdict:
    if doubt is None:
        return "supported"
    # What cites nothing has only its words to speak for it: all of them must be right.
    is_lacking = fault in _LACKING if is_cited else fault is not None
    return "not in the sources" if is_lacking else "doubtful"


def _supports(
    database: Database, text: str, claims: Sequence[Claim], sources: Mapping[int, Row]
) -> dict[int, float]:
    """The support by index of the claim; each library scores its own passages."""
    supports: dict[int, float] = {}
    for library in {row["library"] for row in sources.values()}:
        ids = {n: row["document_id"] for n, row in sources.items() if row["library"] == library}
        cited = (
            [ids[n] for n in (sources.keys() & claim.numbers or sources) if n in ids]
            for claim in claims
        )
        documents_of = {index: documents for index, documents in enumerate(cited) if documents}
        if not documents_of:
            continue
        rows = database.call(
            "sentence_support",
            library=library,
            sentences=[text[claims[index].start : claims[index].end] for index in documents_of],
            documents=json.dumps(list(documents_of.values())),
        )
        for index, row in zip(documents_of, rows, strict=True):
            supports[index] = max(supports.get(index, 0.0), float(row["support"] or 0.0))
    return supports
