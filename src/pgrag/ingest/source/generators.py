"""Which site generator publishes a folder of Markdown, told from the configuration around it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from pgrag.ingest.text.slugs import SlugStyle

Listing = Callable[[PurePath], Mapping[str, bool]]
"""Maps the names in a folder to whether they are folders; empty for what is not a folder."""

_HUGO_CONFIG = re.compile(r"config\.(?:toml|ya?ml|json)")
_HUGO_FOLDERS = frozenset({"archetypes", "content", "layouts", "themes"})
_FILES: tuple[tuple[SlugStyle, re.Pattern[str]], ...] = (
    ("docusaurus", re.compile(r"docusaurus\.config\.[cm]?[jt]s")),
    ("mkdocs", re.compile(r"mkdocs\.ya?ml")),
    ("hugo", re.compile(r"hugo\.(?:toml|ya?ml|json)")),
)
_FOLDERS: Mapping[str, SlugStyle] = {".vitepress": "vitepress", ".obsidian": "obsidian"}


@dataclass(frozen=True, slots=True)
class Generator:
    """A site generator and the file or folder that shows it."""

    style: SlugStyle
    evidence: str


def find_generator(
    folders: Iterable[tuple[PurePath, int]], listing: Listing, read: Callable[[PurePath], str]
) -> Generator | None:
    """Return the generator whose configuration is nearest; None if none or several are. Obsidian
    counts only if no other is as near.
    """
    for folder, levels in folders:
        level = [folder]
        for depth in range(levels + 1):
            shown = [each for path in level for each in _shown(path, listing(path), listing, read)]
            sites = [each for each in shown if each.style != "obsidian"] or shown
            if sites:
                return sites[0] if len({each.style for each in sites}) == 1 else None
            if depth < levels:
                level = [
                    path / name
                    for path in level
                    for name, is_folder in sorted(listing(path).items())
                    if is_folder and not name.startswith(".") and name != "node_modules"
                ]
    return None


def _shown(
    folder: PurePath, names: Mapping[str, bool], listing: Listing, read: Callable[[PurePath], str]
) -> Iterator[Generator]:
    for name in sorted(names):
        evidence = str(folder / name)
        for style, pattern in _FILES:
            if pattern.fullmatch(name):
                yield Generator(style, evidence)
        if _HUGO_CONFIG.fullmatch(name) and not _HUGO_FOLDERS.isdisjoint(names):
            yield Generator("hugo", evidence)
        if name == "conf.py" and "myst" in read(folder / name):
            yield Generator("sphinx", evidence)
        if name == "config" and "_default" in listing(folder / name):
            yield Generator("hugo", str(folder / name / "_default"))
        if names[name] and name in _FOLDERS:
            yield Generator(_FOLDERS[name], evidence)
