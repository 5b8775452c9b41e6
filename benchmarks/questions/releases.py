"""What the pages of each release of a documentation say about its options, read from Markdown.

This is the truth that questions about versions are made from; it shares no code with the reading
of pages by pgrag.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

_HEADING = re.compile(r"^#{2,3} ", re.MULTILINE)
_NAME = re.compile(r"`+\s*(?:--)?(\.?[A-Za-z][\w.-]*)")
_DEFAULT = re.compile(r"^Default: `([^`\n]+)`", re.MULTILINE)
_GONE = re.compile(r"removed|renamed|replaced|deprecated|no longer", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Release:
    """A release: its label, the default (None: not stated) and section of each option, all text."""

    label: str
    options: Mapping[str, str | None]
    sections: Mapping[str, str]
    text: str

    def mentions(self, name: str) -> bool:
        """Whether any page has the name, or its last part, as a word of its own."""
        last = re.escape(name.rpartition(".")[2])
        return re.search(rf"(?<!\w){last}(?![\w-])", self.text) is not None

    def tells_end_of(self, name: str) -> bool:
        """Whether a line says of the option that it was removed or has another name."""
        return says_gone(name, self.text)


def says_gone(name: str, text: str) -> bool:
    """Whether a line of a text says of an option that it was removed or has another name."""
    return any(
        re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", line) and _GONE.search(line)
        for line in text.splitlines()
    )


@dataclass(frozen=True, slots=True)
class Change:
    """What differs between two neighbouring releases: one option."""

    kind: str
    """`added`, `removed` or `default`."""
    name: str
    old: Release
    new: Release


def read_release(label: str, pages: Mapping[str, str]) -> Release:
    """A release from its pages."""
    options: dict[str, str | None] = {}
    sections: dict[str, str] = {}
    for text in pages.values():
        for section in _HEADING.split(text)[1:]:
            heading, _, body = section.partition("\n")
            if named := _NAME.match(heading):
                default = _DEFAULT.search(body)
                options.setdefault(named[1], None)
                options[named[1]] = options[named[1]] or (default and default[1])
                sections.setdefault(named[1], body.strip())
    return Release(label, options, sections, "\n".join(pages.values()))


def read_folder(label: str, folder: Path) -> Release:
    """A release from a folder of Markdown."""
    pages = {str(path): path.read_text("utf-8") for path in sorted(folder.rglob("*.md"))}
    return read_release(label, pages)


def changes(releases: Sequence[Release]) -> Iterator[Change]:
    """The differences between neighbours, oldest release first."""
    for old, new in pairwise(releases):
        for name in dict.fromkeys([*old.options, *new.options]):
            if name not in old.options:
                yield Change("added", name, old, new)
            elif name not in new.options:
                yield Change("removed", name, old, new)
            elif (
                None not in (old.options[name], new.options[name])
                and old.options[name] != new.options[name]
            ):
                yield Change("default", name, old, new)
