"""The report of a check as Markdown, and its faults as annotations of GitHub.

Texts of pages and links come from whoever opens a pull request: all are code, never markup.
"""

from collections.abc import Sequence
from typing import Any

_LISTED = 10


def report(library: str, source: str, before: Any, now: Any, moved: dict[str, Any]) -> str:
    """What a reviewer wants to know; `before` is None without a base. See `check.Measured`."""
    lines = [f"### Documentation: {code(library)}", ""]
    lines += ["| | before | now |", "|---|---|---|"]
    lines += [_row("pages", before and before.pages, now.pages)]
    lines += [_row("broken links", before and len(before.broken), len(now.broken))]
    old = {row["config"]: row["score"] for row in before.scores} if before else {}
    for row in now.scores:
        then = f"{old[row['config']]:.4f}" if row["config"] in old else None
        passed = "" if row["passed"] else f", below {row['baseline']:.4f}"
        lines.append(_row(f"nDCG@10 {row['config']}", then, f"{row['score']:.4f}{passed}"))
    lines += _links(source, now)
    if now.failed:
        failed = [f"{code(page)}: {code(reason)}" for page, reason in now.failed.items()]
        lines += _listed(f"{len(failed)} pages cannot be read", failed)
    pages = moved.get("pages", [])
    if pages:
        lines += _listed(f"{_count(len(pages), 'page')} changed", [_page(each) for each in pages])
    for config, result in moved.get("queries", {}).items():
        lines += _queries(config, result)
    if before is not None and not pages:
        lines += ["", "No page has changed."]
    return "\n".join(lines) + "\n"


def annotation(source: str, row: dict[str, Any]) -> str:
    """A fault at its line, as GitHub shows it in the changed files."""
    file = _path(source, row)
    for sign, written in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"), (":", "%3A"), (",", "%2C")):
        file = file.replace(sign, written)
    text = row["fault"].replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return f"::error file={file},line={row['line']}::{text}"


def code(text: Any) -> str:
    """A text as code in one line, which a cell of a table may hold."""
    plain = " ".join(str(text).replace("`", "'").split())
    return f"`{plain[:200]}`".replace("|", "\\|") if plain else ""


def _row(name: str, before: Any, now: Any) -> str:
    return f"| {name} | {'' if before is None else before} | {now} |"


def _links(source: str, now: Any) -> list[str]:
    links = now.broken if now.new is None else now.new
    if not links:
        return []
    verb = "breaks" if len(links) == 1 else "break"
    title = "Broken links" if now.new is None else f"{_count(len(links), 'link')} {verb}"
    places = [(f"{_path(source, row)}:{row['line']}", row["fault"]) for row in links]
    return _listed(title, [f"{code(place)}: {code(fault)}" for place, fault in places])


def _path(source: str, row: dict[str, Any]) -> str:
    return f"{source.rstrip('/')}/{row['source_page']}".removeprefix("./")


def _page(page: dict[str, Any]) -> str:
    more = f" (from {code(page['old_key'])})" if page["change"] == "moved" else ""
    sections = len(page["sections"])
    of = f", {_count(sections, 'section')}" if page["change"] == "changed" and sections else ""
    return f"{page['change']}: {code(page['key'])}{more}{of}"


def _queries(config: str, result: dict[str, Any]) -> list[str]:
    moved = [row for row in result["moved"] if row["difference"]]
    if not moved:
        return []
    chance = "" if result.get("p_value") is None else f", p = {result['p_value']:.3f}"
    better = f"{result['wins']} better, {result['losses']} worse{chance}"
    lines = ["", f"**Queries that moved, {config}** ({better})", ""]
    lines += ["| query | before | now |", "|---|---|---|"]
    for row in moved[:_LISTED]:
        lines.append(f"| {code(row['query'])} | {row['score']:.2f} | {row['other_score']:.2f} |")
    return lines


def _listed(title: str, items: Sequence[str]) -> list[str]:
    more = [f"- … and {len(items) - _LISTED} more"] if len(items) > _LISTED else []
    return ["", f"**{title}**", "", *(f"- {each}" for each in items[:_LISTED]), *more]


def _count(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}"
