"""Links: their targets compared with those of another program, and links that are missed."""

import csv
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from markdown_it import MarkdownIt

from benchmarks.bench import Bench
from benchmarks.figures import Figure, judged
from pgrag.ingest.text import templating

AGREEMENT = 0.99
#: Links in captions of shortcodes are not read.
READ = 0.999
#: Maximum number of broken links to print per corpus.
_LISTED = 20

LINKS = """
select l.source_page, l.line, l.kind, l.rule, l.target, l.fragment, l.target_page, l.state
from pgrag.links(%s, %s, top_k => 10000000) as l
order by l.edge_id
"""

BODIES = """
select p.key, p.body
from pgrag.pages as p
join pgrag.libraries as l on l.library_id = p.library_id
join pgrag.versions as v on v.library_id = p.library_id and v.version_id = p.version_id
where l.name = %s and v.label = %s
order by p.key
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A link as pgrag stored it; `target_page` is None unless it leads to a page."""

    source_page: str
    line: int
    kind: str
    rule: str
    target: str
    fragment: str | None
    target_page: str | None
    state: str

    @property
    def written(self) -> str:
        """The target with its fragment."""
        return self.target if self.fragment is None else f"{self.target}#{self.fragment}"


def follow(bench: Bench) -> list[Figure]:
    """Compare with the vault's `edges.tsv`, then count the links of two corpora."""
    figures = [_agreement(bench)]
    bench.index("k8s", "", bench.corpora.pages("k8s-en"))
    figures.append(_states(bench, "k8s", "", "Kubernetes"))
    figures.append(_read_share(bench, "k8s", "", "Kubernetes"))
    for label, folder in bench.corpora.versions("jest-versions").items():
        bench.index("jest-links", label, folder)
        figures.append(_states(bench, "jest-links", label, f"Jest {label}"))
        figures.append(_read_share(bench, "jest-links", label, f"Jest {label}"))
    return figures


def _links(bench: Bench, library: str, version: str) -> list[Row]:
    with bench.connect() as connection:
        return [Row(*row) for row in connection.execute(LINKS, (library, version))]


def _agreement(bench: Bench) -> Figure:
    """The share of the links resolved by another program that lead to the same file here.

    Links are paired in page order. Attachments are not pages: for those it suffices that the link
    is classified as an asset.
    """
    vault = bench.corpora.folder("obsidian-help-en")
    bench.index("vault", "", vault / "files")
    stored: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in _links(bench, "vault", ""):
        if row.rule in {"explicit:wikilink", "explicit:embed"}:
            form = "embed" if row.kind == "embeds" else "link"
            stored[row.source_page, form, row.target].append(row)
    expected = [row for row in _read(vault / "edges.tsv") if row["resolved"]]
    agreed = 0
    for row in expected:
        # in a table the other program leaves the backslash of `\|` at the target
        written = (row["source"], row["type"], row["target_raw"].rstrip("\\"))
        link = stored[written].pop(0) if stored[written] else None
        if link is not None and _leads_to(link, row["resolved"]):
            agreed += 1
            continue
        ours = link and f"line {link.line}, {link.state}: {link.target_page}"
        print(
            f"{row['source']}: {row['target_raw']!r}: {row['resolved']} ({row['how']});"
            f" pgrag: {ours or 'no such link'}",
            file=sys.stderr,
        )
    on = f"Obsidian's help, {agreed:,} of {len(expected):,} links"
    return judged("links that lead to the same file as by another program", on,
                  100 * agreed / len(expected), 100 * AGREEMENT, "%", digits=2,
                  is_least=True)  # fmt: skip


def _leads_to(link: Row, file: str) -> bool:
    return link.target_page == file or (link.state == "asset" and not file.endswith(".md"))


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def _read_share(bench: Bench, library: str, version: str, name: str) -> Figure:
    """The share of the links that a renderer of CommonMark makes which are stored, by page.

    Mail addresses and empty links (`#`) lead to no page and are not counted.
    """
    stored: dict[str, Counter[str]] = defaultdict(Counter)
    for link in _links(bench, library, version):
        stored[link.source_page][unquote(link.written)] += 1
    renderer = MarkdownIt("commonmark").enable("table")
    total = missing = 0
    with bench.connect() as connection:
        pages = connection.execute(BODIES, (library, version)).fetchall()
    for key, body in pages:
        rendered = Counter(
            unquote(address)
            for block in renderer.parse(templating.prepare(body))
            for token in block.children or ()
            if (address := str(token.attrs.get("href") or token.attrs.get("src") or ""))
            and address != "#"
            and not address.startswith(("mailto:", "data:"))
        )
        lost = rendered - stored[key]
        for address in lost:
            print(f"{key}: not read: {address}", file=sys.stderr)
        total += rendered.total()
        missing += lost.total()
    on = f"{name}, {total - missing:,} of {total:,} links and pictures"
    share = 100 * (1 - missing / total) if total else 100
    return judged("links of CommonMark that are stored", on, share, 100 * READ, "%", digits=2,
                  is_least=True)  # fmt: skip


def _states(bench: Bench, library: str, version: str, name: str) -> Figure:
    """Count the links by state; list unresolved and ambiguous links."""
    links = _links(bench, library, version)
    states = Counter(link.state for link in links)
    broken = [link for link in links if link.state in {"unresolved", "ambiguous"}]
    for link in broken[:_LISTED]:
        print(f"{link.source_page}:{link.line}: {link.state}: {link.written}", file=sys.stderr)
    if len(broken) > _LISTED:
        print(f"… and {len(broken) - _LISTED:,} more of {name}: pgrag links", file=sys.stderr)
    internal = states["resolved"] + len(broken)
    unknown = sum(states.values()) - internal - states["external"] - states["asset"] - states["tag"]
    lost = [link for link in links if (link.state == "resolved") != (link.target_page is not None)]
    listed = ("resolved", "unresolved", "ambiguous", "asset", "external", "tag")
    on = f"{name}: {', '.join(f'{states[state]:,} {state}' for state in listed)}"
    reached = f"{unknown + len(lost):,} of {internal:,}"
    return Figure("links between pages that are neither resolved nor reported", on, reached, "0",
                  unknown + len(lost) == 0)  # fmt: skip
