"""The slug rules of site generators; `scripts/make_heading_ids.py` compares them with these."""

import re
import unicodedata
from collections.abc import Callable
from typing import Literal

SlugStyle = Literal["github", "vitepress", "docusaurus", "mkdocs", "sphinx", "hugo", "obsidian"]
"""The generators whose slug rules are known; GitHub's is also the rule of unknown generators."""

_WORD = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"})
_CIRCLED_LETTER = re.compile("[Ⓐ-ⓩ🄰-🅉🅐-🅩🅰-🆉]")
_VITEPRESS_CONTROL = re.compile(r"[\u0300-\u036f\x00-\x1f]")
_VITEPRESS_SPECIAL = re.compile(r"[\s~`!@#$%^&*()\-_+=\[\]{}|\\;:\"'“”‘’<>,.?/]+")
_MKDOCS_PUNCTUATION = re.compile(r"[^\w\s-]")
_MKDOCS_SEPARATOR = re.compile(r"[-\s]+")
_MKDOCS_NUMBERED = re.compile(r"(.*)_([0-9]+)", re.DOTALL)
_DOCUTILS_LETTERS = str.maketrans(
    "øđħıłŧƀƃƈƌƒƙƚƞƥƫƭƴƶǥȥȴȵȶȷȼȿɀɇɉɋɍɏ", "odhiltbbcdfklnpttyzgzlntjcszejqry"
) | {ord("ß"): "sz", ord("æ"): "ae", ord("œ"): "oe", ord("ȸ"): "db", ord("ȹ"): "qp"}
_DOCUTILS_OTHER = re.compile(r"[^a-z0-9]+")
_DOCUTILS_ENDS = re.compile(r"^[-0-9]+|-+$")
_OBSIDIAN_SPECIAL = re.compile(r"[#|^:\\\s]|%%|\[\[|\]\]")


def slug(words: str, style: SlugStyle) -> str:
    """Return the id of a heading with these words, before duplicates are numbered."""
    return _SLUGS.get(style, _github)(words)


def _github(words: str) -> str:
    """The packages github-slugger (index.js, regex.js) and rehype-slug; Docusaurus uses them too.
    Letters, marks, digits, connectors and hyphens stay; no run of hyphens is shortened.
    """
    kept = (c for c in words.lower() if c in " -" or _is_word(c))
    return "".join(kept).replace(" ", "-")


def _is_word(character: str) -> bool:
    if character.isascii():
        return character.isalnum() or character == "_"
    return unicodedata.category(character) in _WORD or bool(_CIRCLED_LETTER.match(character))


def _vitepress(words: str) -> str:
    """The function `slugify` of the package @mdit-vue/shared, VitePress' default."""
    words = _VITEPRESS_CONTROL.sub("", unicodedata.normalize("NFKD", words))
    words = _VITEPRESS_SPECIAL.sub("-", words).strip("-")
    return (f"_{words}" if words[:1] in tuple("0123456789") else words).lower()


def _mkdocs(words: str) -> str:
    """The function `slugify` of Python-Markdown's extension toc, MkDocs' default: ASCII only."""
    words = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode()
    return _MKDOCS_SEPARATOR.sub("-", _MKDOCS_PUNCTUATION.sub("", words).strip().lower())


def _docutils(words: str) -> str:
    """The function `docutils.nodes.make_id`, which makes the ids of sections in Sphinx."""
    words = unicodedata.normalize("NFKD", words.lower().translate(_DOCUTILS_LETTERS))
    words = words.encode("ascii", "ignore").decode()
    return _DOCUTILS_ENDS.sub("", _DOCUTILS_OTHER.sub("-", " ".join(words.split())))


def _hugo(words: str) -> str:
    """Hugo's markup/goldmark/autoid.go with the default autoIDType, `github`. Unlike GitHub, Hugo
    drops marks and lowers each character alone.
    """
    kept = (
        "-" if c in " \t-" else c.lower()[0]
        for c in words
        if c in " \t-_" or unicodedata.category(c) in ("Lu", "Ll", "Lt", "Lm", "Lo", "Nd")
    )
    return "".join(kept)


def _obsidian(words: str) -> str:
    """The form in which Obsidian Publish links to headings: https://help.obsidian.md/links.
    Characters that have a meaning in a link become spaces, and spaces become "+".
    """
    return "+".join(_OBSIDIAN_SPECIAL.sub(" ", words).split())


_SLUGS: dict[SlugStyle, Callable[[str], str]] = {
    "vitepress": _vitepress, "mkdocs": _mkdocs, "sphinx": _docutils, "hugo": _hugo,
    "obsidian": _obsidian,
}  # fmt: skip


class Numbers:
    """Makes the slugs of one page unique, as its generator does."""

    def __init__(self, style: SlugStyle) -> None:
        self._style = style
        self._used: set[str] = set()
        self._counter = 0
        # The last number of each slug: without it many equal headings take quadratic time.
        self._numbers: dict[str, int] = {}
        self._last: dict[str, str] = {}

    def take(self, anchor: str) -> None:
        """Note an id that no later heading may get."""
        self._used.add(anchor)

    def count(self) -> None:
        """Note an element that gets a number of its own in Sphinx, such as a footnote mark."""
        self._counter += 1

    def unique(self, slug: str) -> str:
        """Return the slug, or the slug with a number, and note it as used."""
        match self._style:
            case "obsidian":  # a link leads to the first of several headings
                return slug
            case "mkdocs":
                anchor = self._after_underscore(slug)
            case "sphinx":
                anchor = self._of_document(slug)
            case "hugo":
                anchor = self._after_hyphen(slug or "heading")
            case _:
                anchor = self._after_hyphen(slug)
        self._used.add(anchor)
        return anchor

    def _after_hyphen(self, slug: str) -> str:
        """x, x-1, x-2: github-slugger, markdown-it-anchor (VitePress) and Hugo."""
        number = self._numbers.get(slug, 0)
        anchor = f"{slug}-{number}" if number else slug
        while anchor in self._used:
            number += 1
            anchor = f"{slug}-{number}"
        self._numbers[slug] = number
        return anchor

    def _after_underscore(self, slug: str) -> str:
        """x, x_1, x_2, and after x_7 x_8: the function `unique` of Python-Markdown's toc."""
        anchor = slug
        passed: list[str] = []
        while anchor in self._used or not anchor:
            passed.append(anchor)
            if anchor in self._last:
                anchor = self._last[anchor]
                continue
            numbered = _MKDOCS_NUMBERED.fullmatch(anchor)
            base, number = (numbered[1], int(numbered[2])) if numbered else (anchor, 0)
            anchor = f"{base}_{number + 1}"
        self._last.update(dict.fromkeys(passed, anchor))
        return anchor

    def _of_document(self, slug: str) -> str:
        """x, then id1, id2: `docutils.nodes.document.set_id` with Sphinx' auto_id_prefix."""
        anchor = slug
        while anchor in self._used or not anchor:
            self._counter += 1
            anchor = f"id{self._counter}"
        return anchor
