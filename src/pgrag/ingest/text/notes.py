"""Reduce marks of note-taking programs and of dialects of Markdown to what a reader sees: comments,
relations, ids of blocks, fields, attributes, roles.
"""

import re

from pgrag.ingest.text.code_spans import Marks
from pgrag.ingest.text.fences import fence_after

_MATH = r"\$\$.*?\$\$|\$(?![\s$])(?:\\.|[^$\n\\]){0,500}?(?<!\s)\$(?![\w$])"
_ATTRIBUTES = r"\{:?[ \t]*(?:[.#][\w-]|[\w-]+=[\"'\w])[^{}\n]{0,300}\}"
_KEY = r"[^\W\d][\w /-]{0,60}"
#: Within a line; formulas are passed over.
_INLINE = Marks(
    r"[`$%\[({]|rel:",
    _MATH,
    # Obsidian: a comment
    r"(?<!%)%%(?P<comment>(?!%)(?:(?!%%|\n[ \t]*\n).){0,2000})%%",
    # relations: of the link alone, of the links after it, of a callout
    r"\[\[rel:[ \t]*\w[\w-]*:?(?P<relation>[ \t]*\]\][ \t]*|[ \t]+)",
    r"(?P<named>(?<![\w:])rel:[ \t]*\w[\w-]*:?[ \t]+(?=!?\[))",
    r"(?P<edge>\[!edge\][+-]?[ \t]*)",
    # Dataview: `[key:: value]`, `(key:: value)`
    rf"\[(?P<shown>{_KEY}::[ \t]+(?:\[\[[^\[\]\n]*\]\]|[^\[\]\n]){{1,300}})\](?!\()",
    rf"\((?P<keyless>{_KEY}::[ \t]+(?:\([^()\n]*\)|[^()\n]){{1,300}})\)",
    # pandoc, kramdown, attribute lists; MyST: `{ref}`words <target>``
    rf"(?<!\])\[(?P<span>[^\[\]\n]{{1,300}})\]{_ATTRIBUTES}",
    rf"(?P<attributes>(?<=[\])*`]){_ATTRIBUTES})",
    r"\{(?P<role>[A-Za-z][\w:+.-]{0,60})\}(?P<marks>`+)(?P<words>[^`\n]{1,300})(?P=marks)",
    flags=re.IGNORECASE,
)
_LINKS = re.compile(r"(?:\w+:)*(?:ref|doc|numref|eq|term|any|download|abbr|cite\w*)")
_TARGET = re.compile(r"(?P<words>.*\S)[ \t]*<[^<>]*>", re.DOTALL)
#: At the front or the end of lines: signs of which a text has one, the pattern, its replacement.
_LINES = tuple(
    (signs, re.compile(pattern, re.MULTILINE | re.IGNORECASE), replacement)
    for signs, pattern, replacement in (
        # Obsidian: `> [!tip]-`, the id of a block; Dataview: `key:: value`
        (("[!",), r"^([ \t]*>[ \t>]*\[![\w-]+)(?:\|[^\]\n]{0,200})?\][+-]", r"\1]"),
        (
            (" ^", "\n^"),
            r"(?:[ \t]+|^)\^(?=[\w-]*[A-Za-z])[A-Za-z0-9-]{1,100}[ \t]*$",
            "",
        ),
        (
            (":: ",),
            r"^([ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?(?:\[.\][ \t]+)?"
            rf"[*_]{{0,2}}{_KEY}[*_]{{0,2}}:):(?=[ \t]+\S)",
            r"\1",
        ),
        # attributes of what is above, MyST's labels
        (
            ("{:", "{.", "{ .", "{ #", "\n{#"),
            rf"^[ \t]*(?:{_ATTRIBUTES}|\{{:[^{{}}\n]{{1,300}}\}})[ \t]*$",
            "",
        ),
        ((")=\n",), r"^[ \t]*\(\w[\w:. -]{0,100}\)=[ \t]*$", ""),
        # places for what a generator inserts
        (
            ("toc]", "toc_]", "toc}", "TOC]", "TOC_]"),
            r"^[ \t]*(?:\[\[_?toc_?\]\]|\[toc\]|\$\{toc\})[ \t]*$",
            "",
        ),
        (("8<-", "<<<"), r"^[ \t]*(?:<<<[ \t]*@/.*|-+8<-+(?:[ \t]+\"[^\"\n]*\")?[ \t]*$)", ""),
        # tabs of MkDocs, hints of Docsify
        (('=== "', '===+ "', '===! "'), r"^[ \t]*===[+!]*[ \t]+\"([^\"\n]+)\"[ \t]*$", r"**\1**"),
        (("!> ",), r"^!>[ \t]+", "**Warning:** "),
        (("?> ",), r"^\?>[ \t]+", "**Tip:** "),
    )
)
_SIGNS = ("%%", "[!", "rel:", "REL:", "Rel:", ":: ", "}`")
_BRACE = re.compile(r"[\])*`]\{(?![{%<])")
_COMMENTED = re.compile(r"^[ \t]*%%(?![^\n]*%%)", re.MULTILINE)


def reduce(text: str) -> str:
    """Reduce the marks of a text without blocks of code; keeps the number of lines."""
    for signs, pattern, replacement in _LINES:
        for sign in signs:
            if sign in text:
                text = pattern.sub(replacement, text)
                break
    return _INLINE.replace(_shown, text) if _has_inline(text) else text


def has_marks(text: str) -> bool:
    """Whether `reduce` could change a text; a quick check."""
    return _has_inline(text) or any(sign in text for signs, *_ in _LINES for sign in signs)


def _has_inline(text: str) -> bool:
    for sign in _SIGNS:
        if sign in text:
            return True
    return "{" in text and _BRACE.search(text) is not None


def without_comments(text: str) -> str:
    """Empty the lines of Obsidian's comments from a line that begins with `%%` to a later one, in
    which Markdown means nothing.
    """
    if "%%" not in text or not _COMMENTED.search(text):
        return text
    lines = text.split("\n")
    fence = ""
    number = 0
    while number < len(lines):
        line = lines[number]
        was, fence = fence, fence_after(line, fence)
        if not was and not fence and line.lstrip().startswith("%%") and line.count("%%") == 1:
            end = number + 1
            while end < len(lines) and "%%" not in lines[end]:
                end += 1
            if end == len(lines):
                break
            lines[number:end] = [""] * (end - number)
            lines[end] = lines[end].partition("%%")[2]
            number = end
        number += 1
    return "\n".join(lines)


def _shown(match: re.Match[str]) -> str | None:
    kind = match.lastgroup
    if kind is None:
        return None
    if kind == "relation":
        return "" if "]" in match["relation"] else "[["
    if kind == "shown":
        return match["shown"].replace("::", ":", 1)
    if kind == "keyless":
        return match["keyless"].partition("::")[2].strip()
    if kind == "span":
        return match["span"]
    return _role(match) if kind == "words" else ""


def _role(match: re.Match[str]) -> str:
    words = match["words"]
    if match["role"] == "math":
        return f"${words}$"
    if not _LINKS.fullmatch(match["role"]):
        return match[0][len(match["role"]) + 2 :]
    named = _TARGET.fullmatch(words)
    return named["words"] if named else words.lstrip("~!")
