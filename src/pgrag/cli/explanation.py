"""Why a hit has its rank, in lines of text: what `--explain` prints below a hit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pgrag.cli import texts
from pgrag.ground.printable import printable

if TYPE_CHECKING:
    from rich.text import Text


def explained(explanation: dict[str, Any]) -> Text:
    """Return the reasons for the rank of a hit, and its numbers."""
    keyword, semantic = explanation["keyword"], explanation["semantic"]
    words = [word for word in keyword["lexemes"] if word["adds"] > 0]
    reranked, graph = explanation["rerank_score"], explanation["graph"]
    weight, phrases = explanation["language_weight"], explanation["phrase_weight"]
    lines = [
        *explanation["reasons"],
        *([] if reranked is None else [f"score {reranked:.4f} by the reranker"]),
        f"score {explanation['hybrid_score']:.4f} by {explanation['fusion']} fusion,"
        f" alpha {_number(explanation['alpha'])}, type weight {explanation['type_weight']:g}"
        + ("" if weight == 1 else f", language weight {weight:g}")
        + ("" if phrases == 1 else f", phrase weight {phrases:g}"),
        f"keyword {_number(keyword['score'])}, rank {keyword['rank'] or 'none'}:"
        f" passage {_number(keyword['passage_score'])}, page {_number(keyword['page_score'])}"
        f" (share {_number(keyword['page_evidence'])})",
        f"  page: BM25F {_number(keyword['page_bm25'])}, titles {_number(keyword['title_score'])}"
        f" (share {_number(keyword['title_evidence'])})",
        *(
            f"  {word['lexeme']}: {word['adds']:.3f} = weight {word['weight']:.3f}"
            f" × impact {word['impact']:.3f}; idf {word['idf']:.3f},"
            f" in {word['documents']:,} passages"
            for word in words
        ),
        f"semantic {_number(semantic['score'])}, rank {semantic['rank'] or 'none'}"
        f" by {semantic['model'] or 'no model'}",
        *([] if "tokens" not in explanation["parts"] else [_tokens(explanation)]),
        *([] if graph is None else [_graph(graph)]),
        _confidence(explanation["confidence"]),
        *(_plan(plan) for plan in explanation["plans"]),
    ]
    return texts.Text(printable("\n".join(lines)), style="dim")


def _tokens(explanation: dict[str, Any]) -> str:
    tokens = explanation["tokens"]
    words = ", ".join(f"{word['word']} {_number(word['match'])}" for word in tokens["words"])
    return (
        f"tokens: {explanation['parts']['tokens']:.4f} of the score; match"
        f" {_number(tokens['score'])}, token weight {_number(tokens['weight'])}; {words}"
    )


def _graph(parts: dict[str, Any]) -> str:
    return (
        f"graph {_number(parts['score'])}: semantic {_number(parts['semantic'])}"
        f" (type weight {_number(parts['type_weight'])}), edges {_number(parts['edge'])},"
        f" centrality {_number(parts['centrality'])}"
    )


def _confidence(parts: dict[str, Any]) -> str:
    return (
        f"confidence {_number(parts['value'])}: coverage {_number(parts['coverage'])}, page"
        f" {_number(parts['page'])}, cosine {_number(parts['cosine'])}, known"
        f" {_number(parts['known'])}"
    )


def _plan(plan: dict[str, Any]) -> str:
    """Return how a retriever ran: `keyword retriever: exhaustive; candidates: 8`."""
    facts = [f"{plan['retriever']} retriever: {plan['plan']}"]
    for name, value in plan.items():
        if name not in {"retriever", "plan"}:
            shown = ", ".join(map(str, value)) if isinstance(value, list) else value
            facts.append(f"{name.replace('_', ' ')}: {shown}")
    return "; ".join(facts)


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}".rstrip("0").rstrip(".")
