"""How much of what a browser shows the readers of HTML keep: unpacked packages, page by page.

    python -m benchmarks.html_loss FOLDER              # a folder for each package
    python -m benchmarks.html_loss FOLDER --rivals     # beside trafilatura and markdownify

It needs Chromium, and the packages of the extra `rivals`. The words are those of the browser
(`innerText`, without scripts), less what `benchmarks/browser.py` names: navigation as HTML and the
generators mark it, not as pgrag recognises it. Pages that only lead to another are left out.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import islice
from pathlib import Path
from statistics import fmean
from urllib.parse import unquote, urlsplit

from benchmarks.browser import Shown, chromium
from benchmarks.figures import table, told
from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.formats import convert
from pgrag.ingest.formats.loss import count_words

#: Pages of a package that are read without `--all`, evenly spaced over its sorted paths.
MOST = 300
#: The share of the shown words that a page has to keep.
WANTED = 0.97
HEAD = (
    "package", "reader", "pages", "least", "1 %", "mean", f"below {WANTED}", "not shown",
    "headings", "links",
)  # fmt: skip

Reader = Callable[[Path], str]
_REFRESH = re.compile(rb"http-equiv=[\"']?refresh", re.IGNORECASE)
_MARKS = re.compile(r"[`*~\\\[]+|\]\([^()\s]*\)|\]|<a id=\"[^\"]*\"/>|\{#\S+\}$", re.MULTILINE)
_TITLE = re.compile(r"(?:#+|> \[!(?=\w+\]$)|> \[!\w+\]|(?:> )*\*\*(?=.*\*\*$))\s*(.*)")
_LINK = re.compile(r"\]\(([^()\s]+)\)")
_ANCHOR = re.compile(r"\{#(\S+)\}$|<a id=\"([^\"]+)\"/>", re.MULTILINE)
_ID = re.compile(r"\s(?:id|name)\s*=\s*[\"']?([^\"'\s>]+)")


@dataclass(slots=True)
class Tally:
    """The figures of a package: shares by page, and counts over all pages."""

    shares: dict[str, float] = field(default_factory=dict)
    lost: dict[str, list[str]] = field(default_factory=dict)
    surplus: list[float] = field(default_factory=list)
    headings: Counter[bool] = field(default_factory=Counter)
    links: Counter[bool] = field(default_factory=Counter)

    def add(self, name: str, shown: Shown, markdown: str) -> None:
        """Compare a page with what the browser shows of it."""
        words = count_words(shown.text, markdown)
        self.shares[name] = words.kept / words.shown if words.shown else 1.0
        written = count_words(markdown, shown.text)
        self.surplus.append(1 - written.kept / written.shown if written.shown else 0.0)
        seen, kept = Counter(_words(shown.text)), Counter(_words(_MARKS.sub("", markdown)))
        self.lost[name] = [*islice(seen - kept, 6)]
        titles = [match[1] for line in markdown.split("\n") if (match := _TITLE.match(line))]
        found = Counter(" ".join(_words(_MARKS.sub("", title))) for title in titles)
        wanted = Counter(filter(None, (" ".join(_words(each)) for each in shown.headings)))
        self.headings[True] += (wanted & found).total()
        self.headings[False] += (wanted - found).total()

    def row(self, package: str, reader: str) -> tuple[str, ...]:
        """The figures as a row of the table."""
        shares = sorted(self.shares.values())
        return (
            package, reader, f"{len(shares):,}", f"{shares[0]:.3f}",
            f"{shares[len(shares) // 100]:.3f}", f"{fmean(shares):.4f}",
            f"{sum(share < WANTED for share in shares)}", f"{fmean(self.surplus):.3f}",
            f"{self.headings[True]:,} of {self.headings.total():,}",
            f"{self.links[True]:,} of {self.links.total():,}" if self.links else "—",
        )  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row for each package and reader, and the pages that lose more."""
    options = _parser().parse_args(arguments)
    rows: list[tuple[str, ...]] = []
    below: list[str] = []
    for package in sorted(path for path in options.folder.iterdir() if path.is_dir()):
        pages = _pages(package, options.all)
        if not pages or (options.only and package.name not in options.only):
            continue
        with told(package.name), chromium(options.chromium) as browser:
            shown = {page: browser.shown(page) for page in pages}
        for reader, read in _readers(options.rivals).items():
            tally = Tally()
            for page in pages:
                tally.add(str(page.relative_to(package)), shown[page], read(page))
            if reader == "pgrag":
                tally.links = _followed(pages, package)
                below += _named(package.name, tally)
            rows.append(tally.row(package.name, reader))
    print(table(HEAD, rows), *below, sep="\n")
    return int(bool(below))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.html_loss", description=__doc__)
    parser.add_argument("folder", type=Path, help="holds a folder for each unpacked package")
    parser.add_argument("--only", nargs="+", metavar="PACKAGE", help="read only these packages")
    parser.add_argument("--all", action="store_true", help=f"read all pages, not {MOST} of each")
    parser.add_argument("--rivals", action="store_true", help="measure the others, too")
    parser.add_argument("--chromium", default="chromium", help="its command (default: chromium)")
    return parser


def _pages(package: Path, is_all: bool) -> list[Path]:
    found = sorted(
        path
        for path in package.rglob("*.htm*")
        if path.suffix in (".html", ".htm") and path.is_file() and not path.is_symlink()
    )
    step = 1 if is_all else max(1, -(-len(found) // MOST))
    return [path for path in found[::step] if not _REFRESH.search(path.read_bytes()[:3000])]


def _readers(with_rivals: bool) -> dict[str, Reader]:
    readers: dict[str, Reader] = {"pgrag": _ours}
    if with_rivals:
        import markdownify  # noqa: PLC0415  (optional packages)
        import trafilatura  # noqa: PLC0415

        extract = partial(
            trafilatura.extract, output_format="markdown", include_links=True, favor_recall=True
        )
        readers["trafilatura"] = lambda page: extract(page.read_bytes()) or ""
        readers["markdownify"] = partial(_markdownified, markdownify.markdownify)
    return readers


@cache
def _ours(page: Path) -> str:
    try:
        markdown = convert(page.name, page.read_bytes()).markdown
    except SourceError as error:
        print(error, file=sys.stderr)
        return ""
    return markdown.partition("---\n\n")[2] if markdown.startswith("---\n") else markdown


def _markdownified(markdownify: Callable[..., str], page: Path) -> str:
    try:
        return markdownify(page.read_bytes(), heading_style="ATX")
    except RecursionError:
        return ""


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def _named(package: str, tally: Tally) -> Iterator[str]:
    for name, share in sorted(tally.shares.items(), key=lambda each: each[1]):
        if share < WANTED:
            yield f"- {package}: `{name}` keeps {share:.3f}; lost: {', '.join(tally.lost[name])}"


def _followed(pages: Sequence[Path], package: Path) -> Counter[bool]:
    """Follow the links of the pages to pages and ids that exist: whether the Markdown has them."""
    found: Counter[bool] = Counter()
    for page in pages:
        for link in _LINK.findall(_ours(page)):
            parts = urlsplit(link)
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if parts.scheme or parts.netloc or target.suffix != ".html" or not target.is_file():
                continue
            name = unquote(parts.fragment)
            if package.resolve() in target.parents and (not name or name in _ids(target)):
                found[not name or name in _anchors(target)] += 1
    return found


@cache
def _ids(page: Path) -> frozenset[str]:
    return frozenset(_ID.findall(page.read_text("utf-8", "replace")))


@cache
def _anchors(page: Path) -> frozenset[str]:
    return frozenset(filter(None, (a or b for a, b in _ANCHOR.findall(_ours(page)))))


if __name__ == "__main__":
    sys.exit(main())
