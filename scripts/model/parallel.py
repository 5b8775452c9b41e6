"""Gather parallel texts in English and German or Russian: WORK/parallel.jsonl.

    parallel.py WORK

Sources are Debian's packages in parallel.txt: gettext catalogues, documentation whose translation
has the same structure, manual pages, messages of MediaWiki and dictionaries (and a list of English
words for languages.py); and the translated descriptions of packages. A line is `[source, language,
English, translation]`; the order is random.

Texts whose digest is in left_out.txt are skipped: they occur in labelled sets (see held_out.py).
"""

import bz2
import gettext
import gzip
import json
import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from lxml import etree
from texts import HEADINGS, SEED, described, sampled, unpacked, words_of, write

LANGUAGES = {"de": ("de", "de_DE", "de-DE"), "ru": ("ru", "ru_RU", "ru-RU")}
ENGLISH = ("en", "en-US", "C", "en_US")
#: Pairs taken of a package in a language, and of a dictionary: so that large ones do not dominate.
PAIRS, ENTRIES = 20_000, 150_000
LONGEST = 900
#: Elements of HTML, DocBook and Mallard that hold a paragraph.
PARAGRAPHS = {"p", "para", "simpara", "title", "term", "li", "dt", "dd", "td", "th", "caption",
              "desc", *HEADINGS}  # fmt: skip
NOT_READ = {"script", "style", "nav", "pre", "screen", "programlisting", "code", "info", "svg"}
SECTIONS = {"title", *HEADINGS}
#: Placeholders of programs, marks of keys in menus, and colours.
PLACEHOLDER = re.compile(r"%[-#+ 0-9.$]*(?:l|ll|h|z)?[a-zA-Z]\b|%\(\w+\)\w|%[%\d]|%\w+%|\$\{?\w+\}?"
                         r"|\{[\w.:!]*\}|</?[a-zA-Z][^>]*>|&[a-z]+;|\\[ntr\"]|@\w+@")  # fmt: skip
CYRILLIC = re.compile("[\u0400-\u04ff]")
Pair = tuple[str, str]


def main(work: Path) -> None:
    """Download, unpack, read and write."""
    folders = unpacked(work, "parallel.txt", ("en", *LANGUAGES))
    gathered: set[tuple[str, ...]] = set()
    for language in LANGUAGES:
        known: set[Pair] = set()
        for source, pairs in sources(folders, work / "lists", language):
            chance = random.Random(f"{SEED} {source} {language}")
            kept = sorted({pair for pair in map(tidy, pairs) if is_pair(pair, language)} - known)
            known.update(kept)
            size = ENTRIES if source in DICTIONARIES else PAIRS
            kept = sampled(chance, kept, size)
            print(f"{language} {source}: {len(kept):,}", flush=True)
            gathered |= {(source, language, *pair) for pair in kept}
    write(work / "parallel.jsonl", gathered, ascii_only=False)


def sources(
    folders: list[Path], lists: Path, language: str
) -> Iterator[tuple[str, Iterable[Pair]]]:
    """Name and pairs of each source."""
    yield "descriptions", descriptions(lists, language)
    english_manuals = manuals(folders, ".")
    for folder in folders:
        if folder.name in DICTIONARIES:
            if DICTIONARIES[folder.name][0] == language:
                yield folder.name, DICTIONARIES[folder.name][1](folder)
            continue
        yield folder.name, read_package(folder, folders, language, english_manuals)


def read_package(
    folder: Path, folders: list[Path], language: str, english_manuals: dict[str, Path]
) -> Iterator[Pair]:
    """All parallel texts of a package; the English of a document may be in another package."""
    yield from catalogues(folder, language)
    yield from messages(folder, language)
    for path, english in documents(folder, folders, language):
        yield from aligned(blocks(english), blocks(path))
    for name, path in manuals([folder], language).items():
        if name in english_manuals:
            yield from aligned(roff(english_manuals[name]), roff(path))


def tidy(pair: Pair) -> Pair:
    """Without placeholders, markup and marks of keys."""
    english, foreign = (words_of(PLACEHOLDER.sub(" ", text[: 2 * LONGEST])) for text in pair)
    for mark in "_&~":
        if mark in english and (english.count(mark) == 1 or foreign.count(mark) == 1):
            english, foreign = (re.sub(rf"{mark}(?=\w)", "", text) for text in (english, foreign))
    return english.strip(" :.…"), foreign.strip(" :.…")


def is_pair(pair: Pair, language: str) -> bool:
    """Whether these can be a text and its translation."""
    english, foreign = pair
    if not (len(english) > 1 and len(foreign) > 1 and english.lower() != foreign.lower()):
        return False
    if len(english) > LONGEST or not 0.4 < (len(foreign) + 10) / (len(english) + 10) < 2.5:
        return False
    letters = [one for one in foreign if one.isalpha()]
    if len(letters) < 0.5 * len(foreign) or CYRILLIC.search(english):
        return False
    if language == "ru":
        return 2 * len(CYRILLIC.findall(foreign)) > len(letters)
    return not CYRILLIC.search(foreign)


def descriptions(lists: Path, language: str) -> Iterator[Pair]:
    """Short descriptions and paragraphs of the long ones."""
    english = dict(described(lists, "en"))
    for name, foreign in described(lists, language):
        if len(english.get(name, ())) == len(foreign):
            yield from zip(english[name], foreign, strict=True)


def catalogues(folder: Path, language: str) -> Iterator[Pair]:
    """Messages of gettext catalogues."""
    names = LANGUAGES[language]
    for path in sorted(folder.rglob("*.mo")):
        ends = path.stem in names or path.stem.endswith(tuple(f"-{name}" for name in names))
        if path.is_symlink() or not (ends or not set(names).isdisjoint(path.parts)):
            continue
        try:
            with path.open("rb") as file:
                catalogue = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
        except (OSError, UnicodeDecodeError, ValueError):
            continue
        for key, translated in catalogue.items():
            message = key[0] if isinstance(key, tuple) else key
            message = message.split("\x04")[-1]
            if message and " " not in message and re.search(r"[_./\d]", message):
                continue
            for english, foreign in zip(
                message.split("\n\n"), translated.split("\n\n"), strict=False
            ):
                if message.count("\n\n") == translated.count("\n\n"):
                    yield english, foreign


def messages(folder: Path, language: str) -> Iterator[Pair]:
    """Messages of MediaWiki and its extensions."""
    for path in sorted(folder.rglob(f"i18n/**/{language}.json")):
        english = path.with_name("en.json")
        if english.exists():
            originals = json.loads(english.read_text(encoding="utf-8"))
            for key, foreign in json.loads(path.read_text(encoding="utf-8")).items():
                if isinstance(foreign, str) and isinstance(originals.get(key), str):
                    yield originals[key], foreign


def documents(folder: Path, folders: list[Path], language: str) -> Iterator[tuple[Path, Path]]:
    """Translated pages, each with its original."""
    for path in sorted(folder.rglob("*")):
        if not path.name.endswith((".html", ".page", ".docbook", ".cache.bz2", ".html.gz")):
            continue
        relative = str(path.relative_to(folder))
        for candidate in originals(relative, language):
            files = [one / candidate for one in (folder, *folders) if (one / candidate).is_file()]
            if files and path.is_file():
                yield path, files[0]
                break


def originals(path: str, language: str) -> Iterator[str]:
    """Where the English of a page may be."""
    for name in LANGUAGES[language]:
        if f"/{name}/" in path:
            for english in (*(f"/{one}/" for one in ENGLISH), "/"):
                yield path.replace(f"/{name}/", english)
        for form in (".{}.html", "_{}.html"):
            if path.endswith(form.format(name)):
                base = path.removesuffix(form.format(name))
                base = base.replace(f"-{name}/", "/")
                for parent in (base, base.replace(f"/{name}/", "/")):
                    yield parent + form.format("en")
                    yield parent + ".html"
        if f"-{name}/" in path:
            for english in ("-en/", "/"):
                yield path.replace(f"-{name}/", english)


def blocks(path: Path) -> list[tuple[str, str]]:
    """Kind and text of each paragraph of a page; the kind of a heading is in SECTIONS."""
    raw = path.read_bytes()
    raw = gzip.decompress(raw) if path.suffix == ".gz" else raw
    raw = bz2.decompress(raw) if path.suffix == ".bz2" else raw
    if b"<html" in raw[:3000].lower():
        parser: etree.XMLParser | etree.HTMLParser = etree.HTMLParser(encoding="utf-8")
    else:
        parser = etree.XMLParser(recover=True, resolve_entities=False)
    try:
        tree = etree.fromstring(raw, parser)
    except (etree.XMLSyntaxError, ValueError):
        return []
    paragraphs: list[tuple[str, str]] = []
    if tree is not None:
        collect(tree, paragraphs)
    return paragraphs


def collect(element: etree._Element, paragraphs: list[tuple[str, str]]) -> None:
    """Add the innermost paragraphs of an element."""
    for child in element:
        if not isinstance(child.tag, str):
            continue
        tag = etree.QName(child).localname
        if tag in NOT_READ:
            continue
        inner = (etree.QName(one).localname for one in child.iterdescendants() if
                 isinstance(one.tag, str))  # fmt: skip
        if tag in PARAGRAPHS and PARAGRAPHS.isdisjoint(inner):
            paragraphs.append((tag, words_of("".join(child.itertext()))))
        else:
            collect(child, paragraphs)


def aligned(english: list[tuple[str, str]], foreign: list[tuple[str, str]]) -> Iterator[Pair]:
    """Pairs of the sections that have the same kinds of paragraphs in the same order."""
    ours, theirs = map(sections, (english, foreign))
    # A translated manual page ends with a section about its translation.
    if len(theirs) - len(ours) not in {0, 1}:
        return
    for one, other in zip(ours, theirs, strict=False):
        if [kind for kind, _ in one] == [kind for kind, _ in other]:
            yield from ((a, b) for (_, a), (_, b) in zip(one, other, strict=True))


def sections(paragraphs: list[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Cut at headings."""
    starts = [i for i, (kind, _) in enumerate(paragraphs) if kind in SECTIONS]
    return [paragraphs[start:end] for start, end in pairwise([0, *starts, len(paragraphs)])]


def manuals(folders: list[Path], language: str) -> dict[str, Path]:
    """Manual pages by section and name; `.` is English."""
    return {
        path.name: path
        for folder in folders
        for path in sorted(folder.glob(f"usr/share/man/{language}/man*/*.gz"))
        if path.is_file()
    }


def roff(path: Path) -> list[tuple[str, str]]:
    """Kind and text of each paragraph of a manual page."""
    lines = gzip.decompress(path.read_bytes()).decode("utf-8", errors="replace").splitlines()
    if len(lines) < 5:
        return []
    paragraphs, kind, words = [], "", list[str]()
    for line in lines:
        macro = re.match(r"[.'] *([A-Za-z]{1,2})\b *(.*)", line)
        if macro and macro[1] in {"SH", "SS", "PP", "P", "LP", "TP", "IP", "Sh", "Ss", "Pp", "It"}:
            paragraphs.append((kind, unescaped(words)))
            kind, words = macro[1], []
            if macro[1] in {"SH", "SS", "Sh", "Ss"}:
                kind = "title"
                words = [macro[2]]
        elif macro and macro[1] in {"B", "I", "BR", "IR", "RB", "RI", "BI", "IB", "Nm", "Fl"}:
            words.append(macro[2].replace('"', ""))
        elif not line.startswith((".", "'")):
            words.append(line)
    return [*paragraphs, (kind, unescaped(words))]


def unescaped(words: list[str]) -> str:
    """Text of a manual page without its markup."""
    text = re.sub(r"\\f(\[\w*\]|\(..|.)|\\[&/,|^]|\\s[+-]?\d", "", " ".join(words))
    text = re.sub(r"\\\(?(en|em|aq|dq|lq|rq|Bq|cq)|\\\[\w+\]", " ", text)
    return text.replace("\\-", "-").replace('"', "").replace("\\", "")


def ding(folder: Path) -> Iterator[Pair]:
    """The German dictionary of the TU Chemnitz: `German; synonym | form :: English | form`."""
    for line in (folder / "usr/share/trans/de-en").read_text(encoding="utf-8").splitlines():
        sides = line.split(" :: ")
        if line.startswith("#") or len(sides) != 2:
            continue
        german, english = ([noteless(part) for part in side.split("|")] for side in sides)
        if len(german) == len(english):
            for one, other in zip(german, english, strict=True):
                meanings = [part.strip() for part in other.split(";") if part.strip()]
                for word in one.split(";"):
                    if word.strip() and meanings:
                        yield "; ".join(meanings[:3]), word.strip()


def noteless(text: str) -> str:
    """Without grammar and notes in brackets."""
    return words_of(re.sub(r"\{[^}]*\}|\[[^]]*\]|\([^)]*\)|<[^>]*>|/[^/]*/", " ", text))


def entries(folder: Path) -> Iterator[tuple[str, str]]:
    """Headwords and bodies of a dictionary in the format of dictd."""
    [index] = folder.glob("usr/share/dictd/*.index")
    [archive] = folder.glob("usr/share/dictd/*.dict.dz")
    text = gzip.decompress(archive.read_bytes())
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    for line in index.read_text(encoding="utf-8").splitlines():
        word, *range_ = line.split("\t")[:3]
        start, size = (
            sum(digits.index(d) * 64**power for power, d in enumerate(reversed(number)))
            for number in range_
        )
        if word and not word.startswith("00"):
            yield word, text[start : start + size].decode("utf-8", errors="replace")


def mueller(folder: Path) -> Iterator[Pair]:
    """The meanings of English words in Russian."""
    notes = re.compile(r"\[[^]]*\]|\([^)]*\)|_\w+\.|\b\w{1,4}\.(?=\s)")
    for word, body in entries(folder):
        text = words_of(notes.sub(" ", body.partition("\n")[2]))
        for meaning in re.split(r"\d+[.)]|[а-е]\)", text):
            # Idioms follow the meaning.
            for part in re.split("[A-Za-z~]", meaning)[0].split(";")[0].split(","):
                if CYRILLIC.search(part):
                    yield word, part.strip(" -")


def freedict(folder: Path) -> Iterator[Pair]:
    """German words and their meanings in English."""
    for _, body in entries(folder):
        head, _, meaning = body.partition("\n")
        german = noteless(head)
        meanings = [noteless(one) for one in meaning.split("\n")[0].split(",")]
        if german and any(meanings):
            yield "; ".join([one for one in meanings if one][:3]), german


DICTIONARIES: dict[str, tuple[str, Callable[[Path], Iterator[Pair]]]] = {
    "trans-de-en": ("de", ding),
    "dict-freedict-deu-eng": ("de", freedict),
    "mueller7-dict": ("ru", mueller),
    "dict-freedict-eng-rus": ("ru", mueller),
}


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
