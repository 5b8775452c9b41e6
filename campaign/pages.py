"""Read random and mutated pages: Markdown, front matter, HTML and links.

Pages are read in a child
process. A page may be refused by a declared error. Faults are other errors, a process that crashes,
more processor time than a bound by size, and a page that PostgreSQL cannot hold.
"""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from campaign.arguments import TEXTS
from campaign.corpus import INSTALL, NOTES, VALVE
from campaign.outcome import Faults, Outcome, turns
from campaign.reading import read_measured
from pgrag.ground.errors import SourceError
from pgrag.ingest.child import Child
from pgrag.ingest.page import PageOptions
from pgrag.ingest.values import CHUNK_PROFILES

#: Seconds of processor time that a page may take: some at any size, and some for each byte.
SECONDS_A_PAGE = 0.5
SECONDS_A_BYTE = 20e-6
#: The number of real pages that are mutated, and the largest size.
REAL_PAGES = 500
REAL_BYTES = 60_000
#: Every STORED-th page is written to the database, a batch at a time.
STORED = 50
BATCH = 20
#: PostgreSQL cannot index a name of kilobytes; the indexer reports such a page as failed.
TOO_LONG = "54000"
SHRINKINGS = 300

BLOCKS = [
    "# {}\n\n", "## {}\n\n", "###### {} ######\n", "{}\n===\n\n", "{}\n---\n\n", "{}\n\n", "{}\n",
    "- {}\n", "  - {}\n", "* [ ] {}\n", "1. {}\n", "   {}\n", "    {}\n", "\t{}\n", "> {}\n",
    "> > - {}\n", "```\n{}\n```\n", "~~~{}\nx\n~~~\n", "```{}\n",
    "| {} | b |\n|---|---|\n| {} | d |\n", "|{}|\n", "---\n", "***\n", "[{}]: {} \"{}\"\n",
    "[^1]: {}\n", "[^1]", "<!-- {} -->\n", "<!-- {}\n", "<div>\n\n{}\n\n</div>\n",
    "<details><summary>{}</summary>\n\n{}\n", "<table><tr><td>{}</td></tr>",
    "<script>{}</script>\n", "<style>{}\n", "<pre><code>{}</code></pre>\n", ":::note\n{}\n:::\n",
    "!!! warning \"{}\"\n    {}\n", "=== \"{}\"\n    {}\n", "{{{{< {} >}}}}\n",
    "{{{{% {} %}}}}{}\n", "{{%{}%}}\n", "{{{{{}}}}}\n", "import x from '{}'\n",
    "<Tabs>\n<TabItem value=\"{}\">\n{}\n", "+++\n{}\n", ".. {}::\n",
    "- {} 📅 2026-01-01 ⏫ 🔁 every day\n", "$$\n{}\n$$\n", "[TOC]\n", "%%{}%%\n", "term\n: {}\n",
]  # fmt: skip
INLINES = [
    "{}", "{} {}", "*{}*", "**{}**", "_{}_", "`{}`", "``{}", "~~{}~~", "[{}]({})", "[{}][{}]",
    "[{}]", "![{}]({})", "[{}](<{}> '{}')", "[[{}]]", "[[{}#{}|{}]]", "![[{}]]", "<{}>",
    "<a href=\"{}\">{}</a>", "<a id='{}'></a>", "<img src={} alt=\"{}\">", "<b{}>{}",
    "<kbd>{}</kbd>", "<br/>", "<{} {}={}>", "</{}>", "&{};", "&#x{};", "&#{};", "\\{}", "#{}",
    "{}: {}", "key:: {}", "({}:: {})", "@{}", "^{}", "{{#{}}}", "{{{{{}({})}}}}", "{{% raw %}}{}",
    "https://example.org/{}?{}#{}", "www.{}.org", "<!--{}-->", "$ {} $", "{}\\\n{}", "{}  \n{}",
    "{}\u2028{}", "{}\r{}",
]  # fmt: skip
WORDS = [
    "valve", "Close the valve.", "a", "", " ", "xxxxxxxx", "Größe", "насос", "泵阀门", "\u202e",
    "👩‍👩‍👧", "1.", "install.md", "../install.md#steps", "/a/b", "mailto:x", "javascript:x",
    "#close-the-valve", "%zz", "a b", "note", "sh", "1e999", "2026-02-30", "\x01", "\x7f",
    "\ufeff", "\u00a0", "[", "]", "(", ")", "<", ">", "*", "`", "|", "\\", '"', "'", "{", "}",
    "~", "^", "_", "$", "&", "#", "!", "=", "-", "e\u0301", "\u0130", *TEXTS[:60],
]  # fmt: skip
MATTER = [
    "title: {}", "type: {}", "tags: [{}, {}]", "tags: {}", "tags:\n  - {}\n  - [{}]",
    "path: [{}, {}]", "path: {}", "uuid: {}", "aliases: {}", "aliases: [{}]",
    "created: 2026-01-02", "created: {}", "modified: 2026-99-99T25:00:00Z", "depends_on: [{}]",
    "related: {{{}: {}}}", "url: {}", "slug: {}", "language: {}", "language: german",
    "rating: {}", "rating: .inf", "n: 1e9999", "big: 99999999999999999999", "? {}\n: {}",
    "{}: {}", "{}", "a: &a [{}]", "b: *a", "<<: *a", "c: !!python/object {}", "d: !!binary {}",
    "text: |\n  {}\n  {}", "text: >-\n {}", "- {}", "\t{}", "e: {{{}: [{}, {{}}]}}", "---", "...",
    "# {}", "f: '{}'", 'g: "{}"', "h: 0x1F", "i: 1:30:00", "j: ~", "k: yes", "date: 0000-00-00",
    "z: 12:30", "description: {}", "draft: {}", "weight: {}", "content_tags: [{}]",
    "audience: {}", "links: [[{}]]",
]  # fmt: skip
FENCES = [
    ("---\n", "---\n"),
    ("---\n", "...\n"),
    ("---\r\n", "---\r\n"),
    ("+++\n", "+++\n"),
    ("---\n", ""),
]
CHOICES = [
    PageOptions(),
    PageOptions(),
    PageOptions(base_url="https://docs.example/x/", slugs="mkdocs", language="german"),
    *(
        PageOptions(profile=profile, overlap_size=200, overlap_strategy="sentences")
        for profile in CHUNK_PROFILES.values()
        if not profile.by_meaning
    ),
]


class Pages:
    """Makes pages by chance; the n-th of a seed does not depend on those before it."""

    def __init__(self, seed: int, real: list[bytes]) -> None:
        self._seed = seed
        self._real = [text.encode() for text in (INSTALL, VALVE, NOTES)] + real

    def page(self, number: int) -> tuple[bytes, PageOptions]:
        """The page and the options to read it with."""
        random = Random(f"{self._seed}/{number}")
        roll = random.random()
        if roll < 0.45:
            data = _encoded(_made(random))
        elif roll < 0.97:
            data = self._mutated(random)
        else:
            data = _encoded(_repeated(random))
        return data, random.choice(CHOICES)

    def _mutated(self, random: Random) -> bytes:
        data = random.choice(self._real)
        for _ in range(random.choice([1, 1, 2, 4, 10])):
            start = random.randrange(len(data) + 1)
            end = min(len(data), start + random.choice([0, 1, 3, 20, 200]))
            data = data[:start] + self._part(random, data[start:end]) + data[end:]
        if random.random() < 0.02:
            return data.decode("utf-8", "replace").encode(random.choice(["utf-16", "utf-8-sig"]))
        return data[: 4 * REAL_BYTES]

    def _part(self, random: Random, part: bytes) -> bytes:
        """The replacement of a part of a page."""
        other = random.choice(self._real)
        start = random.randrange(len(other) + 1)
        replacements: list[Callable[[], bytes]] = [
            lambda: b"",
            lambda: part * random.choice([2, 3, 50]),
            lambda: other[start : start + random.choice([5, 100, 2000])],
            lambda: _encoded(_block(random)),
            lambda: _encoded(_matter(random)),
            lambda: random.randbytes(random.choice([1, 2, 4])),
            lambda: _encoded(random.choice(TEXTS)),
            lambda: random.choice([b"\r\n", b"\n\n"]),
            lambda: part[::-1],
        ]
        return random.choice(replacements)()


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _made(random: Random) -> str:
    head = _matter(random) if random.random() < 0.5 else ""
    return head + "".join(_block(random) for _ in range(random.choice([1, 2, 5, 20, 60])))


def _filled(random: Random, template: str, depth: int) -> str:
    """A filled template, by other inline templates while depth allows."""
    fillings = (
        _filled(random, random.choice(INLINES), depth - 1)
        if depth and random.random() < 0.5
        else random.choice(WORDS)
        for _ in range(template.count("{}"))
    )
    return template.format(*fillings)


def _block(random: Random) -> str:
    return _filled(random, random.choice(BLOCKS), 3)


def _matter(random: Random) -> str:
    opening, closing = random.choice(FENCES)
    lines = (_filled(random, random.choice(MATTER), 1) + "\n" for _ in range(random.randint(0, 8)))
    return opening + "".join(lines) + closing


def _repeated(random: Random) -> str:
    """One part many times, which shows work that grows faster than the page."""
    templates = random.choice([BLOCKS, INLINES, MATTER])
    part = _filled(random, random.choice(templates), 1) or "x"
    text = part * (random.choice([5_000, 20_000, 60_000]) // len(part) + 1)
    if templates is MATTER:
        text = f"---\n{text if random.random() < 0.5 else 'a: ' + text}\n---\nText.\n"
    return text


def _fault(child: Child, key: str, data: bytes, options: PageOptions) -> tuple[str, str]:
    """What is wrong with reading a page, or nothing; and the page as JSON."""
    allowed = SECONDS_A_PAGE + SECONDS_A_BYTE * len(data)
    for _ in range(2):
        try:
            fault, seconds, document = child.run(read_measured, key, data, options)
        except SourceError as error:
            return str(error).removeprefix(f"{key}: "), ""
        if fault or seconds <= allowed:
            return fault, document
    return f"{seconds:.1f} s for {len(data):,} bytes", ""


def shrunk(data: bytes, fails: Callable[[bytes], bool]) -> bytes:
    """The page without the parts that the fault does not need."""
    tries, size = 0, len(data) // 2
    while size and tries < SHRINKINGS:
        start = 0
        while start < len(data) and tries < SHRINKINGS:
            tries += 1
            shorter = data[:start] + data[start + size :]
            if fails(shorter):
                data = shorter
            else:
                start += size
        size //= 2
    return data


def real_pages(folder: Path | None, random: Random) -> list[bytes]:
    """Some of a folder's Markdown files, none of them large."""
    files = sorted(folder.rglob("*.md"))[:20_000] if folder else []
    small = [file for file in files if file.is_file() and file.stat().st_size <= REAL_BYTES]
    return [file.read_bytes() for file in random.sample(small, min(REAL_PAGES, len(small)))]


class _Store:
    """Writes pages to a library in batches, and checks it in the end."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._batch: dict[str, str] = {}
        self.pages = 0

    def add(self, key: str, document: str) -> list[str]:
        self._batch[key] = document
        return self.write() if len(self._batch) >= BATCH else []

    def write(self) -> list[str]:
        """Write the batch, page by page if it fails as a whole; return the faults."""
        batch, self._batch = self._batch, {}
        if not batch or self._written([*batch.values()]) is None:
            self.pages += len(batch)
            return []
        faults = []
        for key, document in batch.items():
            fault = self._written([document])
            self.pages += fault is None
            if fault and not fault.startswith(("PGR", TOO_LONG)):
                faults.append(f"{key}: {fault}")
        return faults

    def _written(self, documents: list[str]) -> str | None:
        try:
            self._connection.execute(
                "select pgrag.ingest_pages('pages', %s)",
                [Jsonb([json.loads(document) for document in documents])],
            )
        except psycopg.Error as error:
            return f"{error.sqlstate} {error.diag.message_primary}"
        return None

    def faults(self) -> list[str]:
        """What `check_library` reports, except that nothing was embedded."""
        if not self.pages:
            return []
        self._connection.execute("select pgrag.finish_version('pages')")
        rows = self._connection.execute(
            "select problem, count, examples from pgrag.check_library('pages')"
            " where not starts_with(problem, 'a text without a vector')"
        ).fetchall()
        return [f"check_library: {row}" for row in rows]


def run(
    url: str, *, count: int = 200_000, seed: int, minutes: float | None = None,
    data: Path | None = None,
) -> Outcome:  # fmt: skip
    """Read pages, and store some of them in a migrated database."""
    pages = Pages(seed, real_pages(data, Random(seed)))
    counts = {"pages": 0, "bytes": 0, "refused": 0}
    faults = Faults()
    with Child() as child, psycopg.connect(url, autocommit=True) as connection:
        connection.execute("select pgrag.open_version('pages')")
        store = _Store(connection)
        stored: list[str] = []
        for number in turns(count, minutes):
            content, options = pages.page(number)
            key = f"page{number}.md"
            fault, document = _fault(child, key, content, options)
            counts["pages"] += 1
            counts["bytes"] += len(content)
            counts["refused"] += not document
            kind = fault.partition(":")[0]
            if fault and kind not in faults:

                def fails(shorter: bytes, kind: str = kind, options: PageOptions = options) -> bool:
                    return _fault(child, "page.md", shorter, options)[0].startswith(kind)

                told = f"page {number} of seed {seed}: {fault}\n{options}"
                if " s for " not in fault:
                    told += f"\n{shrunk(content, fails)[:500]!r}"
                faults.add(kind, told)
            if document and number % STORED == 0:
                stored += store.add(key, document)
        for told in [*stored, *store.write(), *store.faults()]:
            faults.add(told, told)
    return Outcome("pages", {**counts, "stored": store.pages}, [*faults.values()])
