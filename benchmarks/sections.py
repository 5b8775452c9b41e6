"""Count the sections with text that no hit can name."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.corpora import CorpusMissing
from benchmarks.figures import Figure
from pgrag.ingest.formats.decoding import decode
from pgrag.ingest.matter import front_matter
from pgrag.ingest.source.sources import discover
from pgrag.ingest.text import markdown

CORPORA = ("k8s-en", "mdn-en", "obsidian-help-en", "jest-versions")
NAMED = """
select distinct p.key, d.anchor
from pgrag.documents as d
join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
join pgrag.libraries as l on l.library_id = d.library_id
where l.name = %s and d.covers & 6 > 0
"""

Section = tuple[str, str]
"""The key of a page, and the anchor of a heading."""


def unnamed(bench: Bench) -> list[Figure]:
    """Compare the headings with text below them, as read, with the passages that searches find."""
    figures = []
    for corpus in CORPORA:
        try:
            folder = bench.corpora.pages(corpus)
        except CorpusMissing:
            continue
        library = bench.require(corpus.removesuffix("-en"), folder)
        with bench.connect() as connection:
            named = set(connection.execute(NAMED, [library]).fetchall())
        sections = _sections(folder)
        missing = sorted(sections - named)
        for key, anchor in missing[:5]:
            print(f"{corpus}: no hit can name {key}#{anchor}", file=sys.stderr)
        figures.append(
            Figure(
                "sections with text that no hit can name",
                f"{corpus}, {len(sections):,} sections",
                f"{len(missing):,}",
                "0",
                not missing,
            )
        )
    if not figures:
        raise CorpusMissing(f"the data folder holds none of {', '.join(CORPORA)}")
    return figures


def _sections(folder: Path) -> set[Section]:
    sections: set[Section] = set()
    with discover(str(folder)) as source:
        generator = source.generator()
        style = generator.style if generator else "github"
        for file in source.files():
            text, _ = decode(file.key, file.read())
            matter = front_matter.split(file.key, text)
            sections.update(
                (file.key, section.anchor)
                for section in markdown.read(matter.body, matter.first_line, style)[0]
                if section.level and section.blocks
            )
    return sections
