"""Compare what pgrag and others make of PDFs with outlines that people wrote from the pages.

`python -m benchmarks.pdf_quality FOLDER` reads the Debian packages of `pdf_outlines.json`, unpacked
below FOLDER by name (`dpkg-deb -x`), and prints a table. Words and their order are compared with
poppler's `pdftotext`, and a rival that is not installed is left out.
"""

import argparse
import gzip
import io
import json
import logging
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

from pypdf import PdfWriter

from pgrag.ingest.formats.pdf.reading import convert
from pgrag.ingest.values import NOWHERE

_OUTLINES = Path(__file__).with_name("pdf_outlines.json")
_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*(?:\{#[^}]*\})?\s*$", re.MULTILINE)
_WORD = re.compile(r"[^\W_]+")
_MARKS = re.compile(r"[*_`\\]|</?[a-z]+\s?/?>")
_LABEL = re.compile(r"(?:chapter\s+)?(?:\d+(?:\.\d+)*)[.:]?\s+", re.IGNORECASE)


@dataclass(slots=True)
class Score:
    """Sums over the documents; `pairs` are neighbouring words of the page."""

    shown: int = 0
    found: int = 0
    extra: int = 0
    level_right: int = 0
    words: int = 0
    words_kept: int = 0
    pairs: int = 0
    pairs_kept: int = 0
    seconds: float = 0.0
    pages: int = 0

    def row(self, name: str) -> str:
        """Return the figures as a row of a Markdown table."""
        return (
            f"| {name} | {self.found / self.shown:.2f} | {self.extra} "
            f"| {self.level_right / max(self.found, 1):.2f} | {self.words_kept / self.words:.3f} "
            f"| {self.pairs_kept / self.pairs:.3f} | {self.seconds / self.pages * 1000:.0f} |"
        )


def slice_of(data: bytes, first: int, last: int, *, has_bookmarks: bool) -> bytes:
    """Return the pages from first to last as a PDF, with the bookmarks that lead there."""
    writer = PdfWriter()
    writer.append(io.BytesIO(data), pages=(first - 1, last), import_outline=has_bookmarks)
    copy = io.BytesIO()
    writer.write(copy)
    return copy.getvalue()


def readers() -> dict[str, Callable[[bytes], str]]:
    """Return the readers that are installed."""
    found: dict[str, Callable[[bytes], str]] = {"pgrag": _read}
    if find_spec("pymupdf4llm"):
        pymupdf, pymupdf4llm = import_module("pymupdf"), import_module("pymupdf4llm")
        found["pymupdf4llm"] = lambda data: str(
            pymupdf4llm.to_markdown(pymupdf.open(stream=data, filetype="pdf"))
        )
    if find_spec("markitdown"):
        convert_file = import_module("markitdown").MarkItDown().convert
        found["markitdown"] = lambda data: str(
            convert_file(io.BytesIO(data), file_extension=".pdf").markdown
        )
    return found


def _read(data: bytes) -> str:
    return convert("a.pdf", data, NOWHERE).markdown


def _shown(data: bytes) -> str:
    """Return the words in reading order as poppler's pdftotext finds them."""
    command = ["pdftotext", "-", "-"]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout.decode()


def measure(score: Score, headings: list[str], shown: str, markdown: str) -> None:
    """Add one document: levels are compared after the offset that most headings have."""
    expected = [(int(level), _key(title)) for level, title in (h.split(" ", 1) for h in headings)]
    rest = [(len(marks), _key(title)) for marks, title in _HEADING.findall(markdown)]
    offsets: Counter[int] = Counter()
    for level, title in expected:
        same = next((each for each in rest if each[1] == title), None)
        if same:
            rest.remove(same)
            offsets[same[0] - level] += 1
    score.shown += len(expected)
    score.found += offsets.total()
    score.extra += len(rest)
    score.level_right += max(offsets.values(), default=0)
    words, kept = _words(shown), _words(_MARKS.sub("", markdown))
    score.words += len(words)
    score.words_kept += _common(words, kept)
    score.pairs += len(words) - 1
    score.pairs_kept += _common(pairwise(words), pairwise(kept))


def _key(title: str) -> str:
    return "".join(_WORD.findall(_LABEL.sub("", _MARKS.sub("", title), count=1).casefold()))


def _words(text: str) -> list[str]:
    return _WORD.findall(re.sub(r"(?<=\w)-\n(?=[a-z])", "", text).casefold())


def _common(one: Iterable[Any], other: Iterable[Any]) -> int:
    return (Counter(one) & Counter(other)).total()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pdf_quality", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--each", action="store_true", help="print a row for each document")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    scores: dict[str, Score] = {}
    for document in json.loads(_OUTLINES.read_text("utf-8")):
        path = options.folder / document["package"] / document["path"]
        data = path.read_bytes()
        data = gzip.decompress(data) if path.suffix == ".gz" else data
        first, last = document["pages"]
        bare = slice_of(data, first, last, has_bookmarks=False)
        marked = slice_of(data, first, last, has_bookmarks=True)
        shown = _shown(bare)
        for name, read in readers().items():
            for pdf, kind in ((marked, ""), (bare, " without bookmarks")):
                score = Score()
                start = time.process_time()
                markdown = read(pdf)
                score.seconds, score.pages = time.process_time() - start, last - first + 1
                measure(score, document["headings"], shown, markdown)
                if options.each:
                    print(score.row(f"{path.name}: {name}{kind}"), flush=True)
                total = scores.setdefault(name + kind, Score())
                for figure in Score.__dataclass_fields__:
                    setattr(total, figure, getattr(total, figure) + getattr(score, figure))
    print("\n| | headings found | others | level right | words | word pairs | ms a page |")
    print("|---|---|---|---|---|---|---|")
    for name, score in scores.items():
        print(score.row(name))


if __name__ == "__main__":
    main()
