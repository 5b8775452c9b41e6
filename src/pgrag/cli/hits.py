"""How a hit is shown to a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from pgrag.cli.arguments import label
from pgrag.cli.output import marked, notice, print_indented, printable, stdout

if TYPE_CHECKING:
    from pgrag.app import App

_INDENT = 8


def print_hit(rank: int, hit: dict[str, Any]) -> None:
    """Print one hit: rank, score, title, where it stands, its address, and its text."""
    console = stdout()
    if rank > 1:
        console.print()
    console.print(
        Text.assemble(
            f"{rank:>3}  ",
            (f"{hit['score']:.3f}  ", "cyan"),
            (printable(hit["title"]), "bold"),
        ),
        soft_wrap=True,
    )
    path = hit["path"][1:] if hit["path"][:1] == [hit["library"]] else hit["path"]
    place = " › ".join([label(hit["library"], hit["version"]), *path])
    anchor = f"#{hit['anchor']}" if hit["anchor"] else ""
    print_indented(Text(printable(place), style="dim"), indent=_INDENT)
    print_indented(Text(printable(hit["url"] + anchor), style="blue"), indent=_INDENT)
    excerpt = hit["snippet"]
    text = Text(printable(hit["content"])) if excerpt is None else marked(excerpt)
    print_indented(text, indent=_INDENT)
    if hit["explanation"] is not None:
        print_indented(explained(hit["explanation"]), indent=_INDENT)


def explained(explanation: dict[str, Any]) -> Text:
    """Return what led to a score: the reasons in words, then the numbers, one arm a line."""
    keyword, semantic = explanation["keyword"], explanation["semantic"]
    words = [word for word in keyword["lexemes"] if word["adds"] > 0]
    lines = [
        *explanation["reasons"],
        f"score {explanation['score']:.4f} by {explanation['fusion']} fusion,"
        f" alpha {_number(explanation['alpha'])}",
        f"keyword {_number(keyword['score'])}, rank {keyword['rank'] or 'none'}:"
        f" passage {_number(keyword['passage_score'])}, page {_number(keyword['page_score'])}"
        f" (share {_number(keyword['page_evidence'])})",
        f"  page: BM25F {_number(keyword['page_bm25'])}, titles {_number(keyword['title_score'])}"
        f" (share {_number(keyword['title_evidence'])})",
        *(
            f"  {word['lexeme']}: {word['adds']:.3f} = weight {word['weight']:.3f}"
            f" × impact {word['impact']:.3f}; idf {word['idf']:.3f},"
            f" in {word['documents']:,} documents"
            for word in words
        ),
        f"semantic {_number(semantic['score'])}, rank {semantic['rank'] or 'none'}"
        f" by {semantic['model'] or 'no model'}",
        *_graph(explanation["graph"]),
        *(_plan(plan) for plan in explanation["plans"]),
    ]
    return Text(printable("\n".join(lines)), style="dim")


def _graph(parts: dict[str, Any] | None) -> list[str]:
    """Return the parts of a score with links."""
    if parts is None:
        return []
    return [
        f"graph {_number(parts['score'])}: semantic {_number(parts['semantic'])}"
        f" (type weight {_number(parts['type_weight'])}), edges {_number(parts['edge'])},"
        f" centrality {_number(parts['centrality'])}"
    ]


def say_nothing_found(app: App, query: str) -> None:
    """Say that there is no hit, and why if nothing is indexed at all."""
    if app.database.call("libraries"):
        notice(f"No hit for {query!r}.")
    else:
        notice("No library is indexed yet: pgrag index LIBRARY SOURCE.")


def _plan(plan: dict[str, Any]) -> str:
    """Return how an arm was read: `keyword arm: exhaustive; lexemes: a, b; candidates: 8`."""
    facts = [f"{plan['arm']} arm: {plan['plan']}"]
    for name, value in plan.items():
        if name not in {"arm", "plan"}:
            shown = ", ".join(map(str, value)) if isinstance(value, list) else value
            facts.append(f"{name.replace('_', ' ')}: {shown}")
    return "; ".join(facts)


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}".rstrip("0").rstrip(".")
