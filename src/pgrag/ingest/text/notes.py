"""Reduce marks of note-taking programs and of dialects of Markdown to what a reader sees: comments,
relations, ids of blocks, attributes, roles.
"""

import re

from pgrag.ingest.text.code_spans import outside_code, replace

#: Without one of these there is nothing to reduce; to look for them takes little time.
_SIGNS = (
    "%%", "[!", "rel:", "REL:", "Rel:", " ^", "\n^", ":: ", "}`", "8<-", "toc]", "toc_]", "toc}",
    "TOC]", "TOC_]", "<<<", '=== "', '===+ "', '===! "', "!> ", "?> ", ")=\n",
)  # fmt: skip
_BRACE = re.compile(r"(?:^[ \t]*|[\])*`}])\{(?![{%<])", re.MULTILINE)
_ATTRIBUTES = r"\{:?[ \t]*(?:[.#][\w-]|[\w-]+=[\"'\w])[^{}\n]{0,300}\}"
_MARKS = outside_code(
    r"\$\$.*?\$\$|\$(?![\s$])(?:\\.|[^$\n\\]){0,500}?(?<!\s)\$(?![\w$])",
    # Obsidian: a comment within a paragraph, `[!tip]-`, the id of a block
    r"%%(?P<comment>(?!%)(?:(?!%%|\n[ \t]*\n).){0,2000})%%",
    r"(?P<callout>^[ \t]*>[ \t>]*\[![\w-]+)(?:\|[^\]\n]{0,200})?\][+-]",
    r"(?P<block>(?:[ \t]+|^)\^(?=[\w-]*[A-Za-z])[A-Za-z0-9-]{1,100}[ \t]*$)",
    # relations: of the link alone, of the links after it, of a callout
    r"\[\[(?i:rel):[ \t]*\w[\w-]*:?(?P<relation>[ \t]*\]\][ \t]*|[ \t]+)",
    r"(?P<named>(?<![\w:])(?i:rel):[ \t]*\w[\w-]*:?[ \t]+(?=!?\[))",
    r"(?P<edge>\[!(?i:edge)\][+-]?[ \t]*)",
    # Dataview: `[key:: value]`, `(key:: value)`, `key:: value`
    r"\[(?P<pill>[^\W\d][\w /-]{0,60}::[ \t]+(?:\[\[[^\[\]\n]*\]\]|[^\[\]\n]){1,300})\](?!\()",
    r"\((?P<unnamed>[^\W\d][\w /-]{0,60}::[ \t]+(?:\([^()\n]*\)|[^()\n]){1,300})\)",
    r"(?P<field>^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?(?:\[.\][ \t]+)?"
    r"[*_]{0,2}[^\W\d][\w /-]{0,60}[*_]{0,2}):(?P<colon>:)(?=[ \t]+\S)",
    # pandoc, kramdown, attribute lists, MyST
    rf"(?<!\])\[(?P<span>[^\[\]\n]{{1,300}})\]{_ATTRIBUTES}",
    rf"(?P<attributes>(?:^[ \t]*|(?<=[\])*`}}])){_ATTRIBUTES}(?=[ \t]*$|[^\w]))",
    r"(?P<list>^[ \t]*\{:[^{}\n]{1,300}\}[ \t]*$|^[ \t]*\(\w[\w:. -]{0,100}\)=[ \t]*$)",
    # places for what a generator inserts
    r"(?P<place>^[ \t]*(?:\[\[_?toc_?\]\]|\[toc\]|\$\{toc\}|<<<[ \t]*@/[^\n]*"
    r"|-{1,}8<-{1,}(?:[ \t]+\"[^\"\n]*\")?)[ \t]*$)",
    r"^[ \t]*===[+!]*[ \t]+\"(?P<tab>[^\"\n]+)\"[ \t]*$",
    r"^(?P<docsify>[!?])>[ \t]+",
    flags=re.MULTILINE | re.IGNORECASE,
)
_ROLE = outside_code(
    r"\{(?P<role>[A-Za-z][\w:+.-]{0,60})\}(?P<marks>`+)(?P<words>[^`\n]{1,300})(?P=marks)"
)
_LINKS = re.compile(r"(?:\w+:)*(?:ref|doc|numref|eq|term|any|download|abbr|cite\w*)")
_TARGET = re.compile(r"(?P<words>.*\S)[ \t]*<[^<>]*>", re.DOTALL)
_COMMENTED = re.compile(r"^[ \t]*%%(?![^\n]*%%)", re.MULTILINE)
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?P<fence>`{3,}|~{3,})")


def has_marks(text: str) -> bool:
    """Whether `reduce` could change a text; a quick check."""
    for sign in _SIGNS:
        if sign in text:
            return True
    return "{" in text and _BRACE.search(text) is not None


def reduce(text: str) -> str:
    """Reduce the marks of a text without blocks of code; keeps the number of lines."""
    if not has_marks(text):
        return text
    if "}`" in text:
        text = replace(_ROLE, _role, text)
    return replace(_MARKS, _shown, text)


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
        match = _FENCE.match(line)
        if match and not fence:
            fence = match["fence"]
        elif fence:
            if match and match["fence"].startswith(fence) and line.strip() == match["fence"]:
                fence = ""
        elif line.lstrip().startswith("%%") and line.count("%%") == 1:
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


def _role(match: re.Match[str]) -> str:
    words = match["words"]
    if match["role"] == "math":
        return f"${words}$"
    if not _LINKS.fullmatch(match["role"]):
        return match[0][len(match["role"]) + 2 :]
    named = _TARGET.fullmatch(words)
    return named["words"] if named else words.lstrip("~!")


def _shown(match: re.Match[str]) -> str | None:
    kind = match.lastgroup
    if kind is None:
        return None
    if kind == "callout":
        return f"{match['callout']}]"
    if kind == "relation":
        return "" if "]" in match["relation"] else "[["
    if kind == "pill":
        return match["pill"].replace("::", ":", 1)
    if kind == "unnamed":
        return match["unnamed"].partition("::")[2].strip()
    if kind == "colon":
        return f"{match['field']}:"
    if kind == "span":
        return match["span"]
    if kind == "tab":
        return f"**{match['tab']}**"
    if kind == "docsify":
        return "**Warning:** " if match["docsify"] == "!" else "**Tip:** "
    return ""
