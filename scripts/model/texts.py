"""Gather the texts of the built-in model: what the teacher reads, and pairs of question and answer.

Sources are Debian's packages in packages.txt, the descriptions of all packages, FOLDOC and WordNet.
Writes into the working folder:

- `texts.txt`: a JSON string per line, in random order: any beginning is a fair sample.
- `pairs.jsonl`: `[source, question, document]` per line; a document has the form of the texts
  that pgrag embeds (`_pgrag.embedding_text`).

packages.txt names packages as `name=version`; a name alone gets its version. apt checks what it
fetches.

Texts whose digest is in left_out.txt are skipped: they occur in labelled sets (see held_out.py).
"""

import gzip
import hashlib
import json
import random
import re
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from os.path import normpath
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lxml import etree, html

HERE = Path(__file__).parent
SEED = 14
#: Pages read of a package, and texts taken of it: so that large packages do not dominate.
PAGES, PAGES_OF_FOLDER = 300, 60
PASSAGES, SHORT_TEXTS, PAIRS = 250, 500, 800
#: Glosses taken of WordNet, and descriptions of packages.
GLOSSES, DESCRIPTIONS = 60_000, 20_000
DESCRIPTIONS_FILE = "*_debian_dists_bookworm_main_i18n_Translation-"
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
BLOCKS = {"p", "li", "pre", "dd", "dt", "td", "th", "blockquote"}
SKIPPED = {"script", "style", "nav", "header", "footer", "form", "svg", "math", "noscript"}
CHROME = re.compile(
    r"nav(bar|header|footer|igation)?|sidebar.*|sphinxsidebar.*|(local)?toc.*|headerlink|related|menu"
    r"|(wy-)?breadcrumbs?|wy-nav-(side|top)|footer|contents|searchbox|linenos|skip.*"
)
NUMBER = re.compile(r"^(Chapter |Appendix |Part )?([\dA-Z]{0,2}(\.\d+)+\.?|\d+\.|[IVX]+\.)\s+")
NUMBERED = re.compile(r"(Section|Table|Chapter|Figure|Appendix|Part|Example|\W*\d)\b|.*¶")
STOP_WORDS = frozenset(
    "the of to and a in is for that with this be it are as on or by".split()  # noqa: SIM905
)
#: Words of headings that say nothing without the page's title.
GENERIC = frozenset(
    "introduction overview example examples usage description options parameters notes see also"  # noqa: SIM905
    " summary installation configuration synopsis name returns requirements".split()
)
FOREIGN = re.compile(r"(^|[/._])(de|fr|es|it|ja|ru|zh|pt|pl|nl|cs|ko|tr|uk|vi|id|ar|el|da|nb|sv)"
                     r"([-_][A-Za-z]{2,4})?([/.]|$)")  # fmt: skip


@dataclass
class Section:
    """A heading with the text up to the next one."""

    path: list[str]
    anchors: set[str] = field(default_factory=set)
    blocks: list[str] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)

    @property
    def content(self) -> str:
        """The text below the heading."""
        return "\n\n".join(self.blocks)


def main(work: Path) -> None:
    """Download, unpack, read, and write texts and pairs."""
    texts: list[str] = []
    pairs: list[tuple[str, str, str]] = []
    folders = unpacked(work, "packages.txt")
    for folder in folders:
        name = folder.name
        chance = random.Random(f"{SEED} {name}")
        if name == "dict-foldoc":
            glosses = list(foldoc(folder))
        elif name == "wordnet-base":
            glosses = sampled(chance, list(wordnet(folder)), GLOSSES)
        else:
            of_texts, of_pairs = documentation(name, folder, chance)
            texts += of_texts
            pairs += of_pairs
            continue
        texts += [f"{term}: {gloss}" for term, gloss in glosses[::2]]
        texts += [text for pair in glosses[1::2] for text in pair]
        pairs += [(name, term, gloss) for term, gloss in glosses[: GLOSSES // 3]]
    known = list(descriptions(work / "lists"))
    for name, short, long in sampled(random.Random(SEED), known, DESCRIPTIONS):
        texts += [short, long[:700]]
        pairs.append(("descriptions", short, f"{name}\n\n{long}"))

    write(work / "texts.txt", {(text.strip()[:800],) for text in texts} - {("",)})
    write(work / "pairs.jsonl", set(pairs))
    print(f"texts and pairs are from {len(folders):,} packages")


def unpacked(work: Path, listing: str, languages: tuple[str, ...] = ("en",)) -> list[Path]:
    """The folders of packages; lists and packages are fetched by apt, unless they are there.

    Changes nothing on the system.
    """
    packages, lists = work / "packages", work / "lists"
    for path in (packages, lists / "partial", work / "unpacked"):
        path.mkdir(parents=True, exist_ok=True)
    apt = ["apt-get", "-qq", "-o", f"Dir::State::lists={lists}", "-o", f"Dir::Cache={lists}"]
    apt += ["-o", "Acquire::GzipIndexes=false", "-o", "APT::Get::List-Cleanup=false"]
    for language in languages:
        if not any(lists.glob(DESCRIPTIONS_FILE + language)):
            subprocess.run([*apt, "-o", f"Acquire::Languages={language}", "update"], check=True)
    listed = (HERE / listing).read_text().split()
    missing = [each for each in listed if not any(packages.glob(f"{name_of(each)}_*.deb"))]
    for start in range(0, len(missing), 20):
        subprocess.run([*apt, "download", *missing[start : start + 20]], cwd=packages, check=True)
    versions, folders = [], []
    for name in sorted(map(name_of, listed)):
        archive = next(packages.glob(f"{name}_*.deb"))
        versions.append(f"{name}={unquote(archive.name).split('_')[1]}")
        folders.append(work / "unpacked" / name)
        if not folders[-1].exists():
            subprocess.run(["dpkg", "-x", archive, folders[-1]], check=True)
    write_list(listing, versions)
    return folders


def name_of(package: str) -> str:
    """The name of a package, without its version."""
    return package.partition("=")[0]


def packages_checksum(work: Path, listing: str) -> str:
    """A checksum of all packages: equal packages give equal texts."""
    lines = []
    for package in (HERE / listing).read_text().split():
        name, _, version = package.partition("=")
        archive = next((work / "packages").glob(f"{name}_*.deb"))
        lines.append(f"{name} {version} {hashlib.sha256(archive.read_bytes()).hexdigest()}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def write_list(file: str, words: Iterable[str]) -> None:
    """Write a wrapped list of words beside the scripts."""
    text = textwrap.fill(" ".join(words), 100, break_long_words=False, break_on_hyphens=False)
    (HERE / file).write_text(f"{text}\n")


def write(path: Path, items: set[tuple[str, ...]], *, ascii_only: bool = True) -> None:
    """Write items as lines of JSON, without those that occur in labelled sets, in random order."""
    left_out = frozenset((HERE / "left_out.txt").read_text().split())
    kept = [item for item in items if left_out.isdisjoint(map(digest, item))]
    plain = [item[0] if len(item) == 1 else item for item in kept]
    # The order of two items does not depend on the others.
    plain.sort(key=lambda item: hashlib.sha256(json.dumps(item).encode()).digest())
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(item, ensure_ascii=ascii_only) + "\n" for item in plain)
    print(f"{path.name}: {len(plain):,}")


def digest(text: str) -> str:
    """Name a text, whatever its spaces and capitals."""
    return hashlib.sha256(" ".join(text.lower().split()).encode()).hexdigest()[:12]


def documentation(
    name: str, folder: Path, chance: random.Random
) -> tuple[list[str], list[tuple[str, str, str]]]:
    """Read the English HTML pages of a package."""
    files = sorted(
        path
        for path in folder.rglob("*")
        if path.name.endswith((".html", ".htm", ".html.gz", ".xhtml"))
        and path.is_file()
        and not path.is_symlink()
        and not FOREIGN.search(str(path.relative_to(folder)))
    )
    chance.shuffle(files)
    of_folder = Counter[Path]()
    chosen = []
    for path in files:
        of_folder[path.parent] += 1
        if of_folder[path.parent] <= PAGES_OF_FOLDER or len(of_folder) < 4:
            chosen.append(path)
    files = sorted(chosen[:PAGES])
    pages = {}
    for path in files:
        sections = read_page(path)
        if sections and is_english(" ".join(s.content for s in sections)):
            pages[path] = sections
    passages, short, pairs = [], [], []
    for path, sections in pages.items():
        title = sections[0].path[0]
        url = path.name.removesuffix(".gz").removesuffix(".html")
        for section in sections:
            heading = section.path[-1]
            short.append(heading)
            if not len(section.content) >= 80:
                continue
            document = written(title, url, section.path, section.content)
            passages.append(document[:800])
            sentence, rest = first_sentence(section.content)
            short.append(sentence)
            if len(rest) > 80:
                pairs.append((name, sentence, written(title, url, section.path, rest)))
            words = heading.lower().split()
            if words and not GENERIC.issuperset(words):
                hidden = section.path[:-1] if chance.random() < 0.8 else section.path
                pairs.append((name, heading, written(title, url, hidden, section.content)))
            else:
                question = f"{title} {heading}"
                pairs.append((name, question, written(title, url, section.path, section.content)))
            for text, target in section.links:
                short.append(text)
                linked = resolved(pages, path, target)
                if linked is not None and len(linked.content) >= 80:
                    home = linked.path[0]
                    document = written(home, target.split("#")[0], linked.path, linked.content)
                    pairs.append((name, text, document))
    some = [sampled(chance, list(dict.fromkeys(one)), size) for one, size in (
        (passages, PASSAGES), (short, SHORT_TEXTS), (pairs, PAIRS))]  # fmt: skip
    return some[0] + some[1], some[2]


def sampled(chance: random.Random, items: list[Any], size: int) -> list[Any]:
    """Take `size` items at random, or all."""
    return items if len(items) <= size else chance.sample(items, size)


def written(title: str, url: str, path: list[str], content: str) -> str:
    """Write a section like `_pgrag.embedding_text`."""
    header = [part for part in (title, url, " / ".join(path)) if part]
    return "\n".join([*header, "", content[:1200]])


def resolved(pages: dict[Path, list[Section]], page: Path, target: str) -> Section | None:
    """The section that a link leads to, if it is among the pages read."""
    address, _, anchor = target.partition("#")
    if ":" in address or address.startswith("/"):
        return None
    sections = pages.get(Path(normpath(page.parent / unquote(address))) if address else page)
    if sections is None:
        return None
    return next((s for s in sections if anchor in s.anchors), None if anchor else sections[0])


def read_page(path: Path) -> list[Section]:
    """Cut a page into sections; empty if it cannot be read or is in another language."""
    raw = path.read_bytes()
    if path.suffix == ".gz":
        raw = gzip.decompress(raw)
    if not 500 < len(raw) < 2_000_000:
        return []
    try:
        tree = html.fromstring(raw, parser=html.HTMLParser(encoding=charset(raw)))
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return []
    body = tree.find(".//body")
    if body is None or not (tree.get("lang") or "en").lower().startswith("en"):
        return []
    title = words_of(tree.findtext(".//title") or "")
    title = re.split(r" [—–|-] ", NUMBER.sub("", title))[0].strip() or path.stem
    sections = [Section([title])]
    levels = [0]
    walk(body, sections, levels)
    return [s for s in sections if s.blocks or s.anchors or s is sections[0]]


def charset(raw: bytes) -> str:
    """The encoding that a page declares, if Debian's pages use it; else UTF-8."""
    declared = re.search(rb"charset=[\"']?([\w-]+)", raw[:2000])
    name = declared[1].decode().lower() if declared else "utf-8"
    return name if name in {"utf-8", "iso-8859-1", "iso-8859-15", "us-ascii"} else "utf-8"


def walk(element: html.HtmlElement, sections: list[Section], levels: list[int]) -> None:
    """Collect headings, blocks, anchors and links in the order of the page."""
    for child in element:
        tag = child.tag
        if not isinstance(tag, str) or tag in SKIPPED:
            continue
        classes = (child.get("class") or "").split()
        if any(map(CHROME.fullmatch, classes)) or child.get("role") in {"navigation", "search"}:
            continue
        anchors = {a for a in (child.get("id"), child.get("name")) if a}
        if tag in HEADINGS:
            text = words_of(plain(child)).strip("¶# ")
            text = NUMBER.sub("", text)
            level = int(tag[1])
            while levels and levels[-1] >= level and len(levels) > 1:
                levels.pop()
            path = sections[-1].path[: len(levels)]
            if text and text != path[-1]:
                levels.append(level)
                # An anchor may precede its heading.
                early = set() if sections[-1].blocks else sections[-1].anchors
                sections.append(Section([*path, text][:6], anchors | early))
            else:
                sections[-1].anchors |= anchors
            continue
        sections[-1].anchors |= anchors
        if tag in BLOCKS and not any(True for _ in child.iter("p", "li", "dd", "pre", *HEADINGS)
                                     if _ is not child):  # fmt: skip
            text = plain(child) if tag == "pre" else words_of(plain(child))
            if text.strip("¶ "):
                sections[-1].blocks.append(text.strip("¶ ")[:1500])
            for link in child.iter("a"):
                label = words_of(plain(link))
                if link.get("href") and 3 < len(label) < 80 and not NUMBERED.match(label):
                    sections[-1].links.append((label, link.get("href")))
            sections[-1].anchors |= {a for e in child.iter() for a in [e.get("id")] if a}
        else:
            walk(child, sections, levels)


def plain(element: html.HtmlElement) -> str:
    """The text of an element, with its spaces."""
    return "".join(element.itertext())


def words_of(text: str) -> str:
    """Text on one line."""
    return " ".join(text.split())


def first_sentence(text: str) -> tuple[str, str]:
    """Split a text after its first sentence of 20 to 250 characters."""
    first = re.match(r"(.{20,250}?[.?!])\s+(?=[A-Z`\"(])", text, re.DOTALL)
    return (first[1], text[first.end() :]) if first else (text[:200], "")


def is_english(text: str) -> bool:
    """Whether enough of the words are English stop words."""
    words = text.lower().split()[:3000]
    return len(words) > 30 and sum(word in STOP_WORDS for word in words) > 0.12 * len(words)


def foldoc(folder: Path) -> Iterator[tuple[str, str]]:
    """The terms of the dictionary of computing, and the beginning of their definitions."""
    [archive] = folder.rglob("foldoc.dict.dz")
    for entry in re.split(r"\n(?=\S)", gzip.decompress(archive.read_bytes()).decode("utf-8")):
        term, _, body = entry.partition("\n")
        gloss = words_of(re.sub(r"[{}]|<[^>]*>", "", body))[:500]
        if len(gloss) > 30 and len(term) < 60 and not term.startswith("00-database"):
            yield term.strip(), gloss


def wordnet(folder: Path) -> Iterator[tuple[str, str]]:
    """The first words of the synonym sets, and their glosses without examples."""
    for path in sorted(folder.rglob("data.*")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("  "):
                continue
            data, _, gloss = line.partition(" | ")
            fields = data.split()
            terms = fields[4 : 4 + 2 * int(fields[3], 16) : 2][:3]
            yield re.sub(r"\(\w+\)$", "", ", ".join(terms)).replace("_", " "), gloss.split('; "')[0]


def descriptions(lists: Path) -> Iterator[tuple[str, str, str]]:
    """Name, short and long description of Debian's packages."""
    for (name, _), (short, *paragraphs) in described(lists, "en"):
        long = words_of(" ".join(paragraphs))
        if len(long) > 60 and not name.endswith(("-dbg", "-dbgsym", "-dev")):
            yield name, short, long[:1000]


def described(lists: Path, language: str) -> Iterator[tuple[tuple[str, str], list[str]]]:
    """Package and digest of the English, then the short description and the paragraphs."""
    [path] = lists.glob(DESCRIPTIONS_FILE + language)
    for record in path.read_text(encoding="utf-8").split("\n\n"):
        name = re.search(r"^Package: (.+)\nDescription-md5: (.+)$", record, re.M)
        text = re.search(rf"^Description-{language}: (.+)\n((?: .*\n?)*)", record, re.M)
        if name and text:
            yield (name[1], name[2]), [text[1], *re.split(r"^ \.$", text[2], flags=re.M)]


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
