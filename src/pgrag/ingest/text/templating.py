"""Reduce template macros to the words that a reader of the rendered page sees. Documentation is
Markdown plus the macros of a site generator: KumaScript (MDN), Hugo shortcodes, MDX, admonition
fences. Both steps preserve the number of lines, so line ranges stay valid. Macros in code are
documentation about macros and remain unchanged.
"""

import re

from pgrag.ingest.text import directives, kumascript, shortcodes
from pgrag.ingest.text.code_spans import CODE_SPAN

_MACRO_SIGNS = ("{{", "{%", "{*", "{/*", "<!--", "///", ":::", "!!!", "???")
_COMPONENT = re.compile(r"^[ \t]*</?[A-Z]\w*[a-z]", re.MULTILINE)
_MODULE = re.compile(r"^(?:import|export)[ \t]", re.MULTILINE)

_COMMENT = r"(?P<comment><!--|\{/\*)"
_SHORTCODE = (
    r"\{\{[<%](?P<shortcode>(?:\"(?:\\.|[^\"\\]){0,1000}\"|[^\"{]|\{(?!\{)){0,1000}?)[>%]\}\}"
)
_KUMASCRIPT = (
    r"\{\{[ \t\n]*(?P<macro>[A-Za-z][\w-]*)[ \t\n]*"
    r"(?:\((?P<arguments>[^{}]{0,1000}?)\)[ \t\n]*)?\}\}"
)
_RAW = r"\{%-?[ \t]*(?:end)?raw[ \t]*-?%\}"
#: Tags of Liquid and GitBook; in a text about other templates the rest may be words.
_LIQUID = (
    r"\{%-?[ \t]*(?:(?P<liquid>hint|tab|code|embed|file|swagger|step)\b|(?:end[a-z-]+|tabs|stepper"
    r"|content-ref|include(?:_relative|_cached)?|if|elsif|else|unless|for|assign|capture|comment)\b)"
    r"(?P<parameters>[^%\n]{0,500})%\}"
)
_INSERTED = r"\{\{#(?:include|rustdoc_include|playground|template|title)\b[^{}\n]{0,300}\}\}"
_INCLUDE = r"^[ \t]*\{\*[ \t]*(?P<include>[^ \t\n*}]+)[^*}\n]*\*\}"
_ADMONITION = (
    r"^(?P<indent>[ \t]*)(?:(?:!{3}|\?{3}\+?)[ \t]+(?P<box>[\w-]+)(?:[ \t]+[\w-]+)*"
    r"(?:[ \t]+\"(?P<boxed>[^\"\n]*)\")?[ \t]*|(?:/{3,}|:{3,}|!{3}|\?{3}\+?)[ \t]*"
    rf"(?:(?P<kind>(?i:{'|'.join(directives.ADMONITIONS)}))\b[ \t]*"
    r"(?:\|[ \t]*|\[(?=[^\]\n]*\]))?(?P<caption>[^\n]*))?)$"
)
_ELEMENT = (
    r"^[ \t]*(?P<element></?[A-Z]\w*[a-z][\w.]*"
    r"(?P<attributes>(?:\s(?:\"[^\"]{0,500}\"|\{[^{}]{0,500}\}|[^<>\"{}]){0,500})?)>)"
)
_IMPORTS = (
    r"(?<![^\n]\n)^(?P<imports>(?:(?:import[ \t]+(?:[\w$*{}\s,]{1,500}?\sfrom[ \t]*)?"
    r"[\"'][^\"'\n]{1,300}[\"'];?|export[ \t]+(?:const|let|default|function)[ \t][^\n]*;)"
    r"[ \t]*\n?)+)"
)
_MACRO = re.compile(
    "|".join([
        CODE_SPAN, _COMMENT, _SHORTCODE, _KUMASCRIPT, _RAW, _LIQUID,
        _INSERTED, _INCLUDE, _ADMONITION, _ELEMENT,
        _IMPORTS,
    ]),
    re.MULTILINE | re.DOTALL,
)  # fmt: skip
#: Where a macro or a code span may begin: most of a text is passed over by this quick pattern.
_BEGINNING = re.compile(
    r"[`{<]|^[ \t]*(?:/{3}|:{3}|!{3}|\?{3}|\{\*|<)|^(?:import|export)[ \t]", re.MULTILINE
)
_COMMENT_ENDS = {"<!--": "-->", "{/*": "*/}"}
_SHOWN_ATTRIBUTE = re.compile(r"\b(?:label|title|summary|heading|alt)=\{?[\"']([^\"'\n]+)[\"']")

_PARAMETER = re.compile(r"\b(?:title|caption|style|url|src)=[\"']([^\"'\n]+)[\"']")
_BRACES = re.compile(r"[ \t]*\{[^{}]*\}[ \t]*$")


def prepare(text: str) -> str:
    """Rewrite, before Markdown is parsed, the macros that affect what counts as code."""
    if "{{" in text or "{%" in text:
        text = shortcodes.fence_code(text)
    return text


def has_macros(text: str) -> bool:
    """Whether `reduce` could change a text; a quick check."""
    return (
        any(sign in text for sign in _MACRO_SIGNS)
        or _COMPONENT.search(text) is not None
        or _MODULE.search(text) is not None
    )


def reduce(text: str) -> str:
    """Reduce the macros of a text without code blocks to words; preserves the number of lines."""
    parts: list[str] = []
    copied = position = 0
    unclosed: set[str] = set()
    while beginning := _BEGINNING.search(text, position):
        match = _MACRO.match(text, beginning.start())
        if match is None:
            position = beginning.start() + 1
            continue
        position = match.end()
        if match["code"] is not None:
            continue
        if opener := match["comment"]:
            closer = _COMMENT_ENDS[opener]
            # repeated failing searches for a closer would take quadratic time
            end = -1 if opener in unclosed else text.find(closer, position)
            if end < 0:
                unclosed.add(opener)
                continue
            position = end + len(closer)
        words = "" if opener else _shown(match)
        lines = text.count("\n", match.start(), position) - words.count("\n")
        parts += (text[copied : match.start()], words, "\n" * lines)
        copied = position
    return "".join((*parts, text[copied:])) if parts else text


def _shown(match: re.Match[str]) -> str:
    if match["shortcode"] is not None:
        return shortcodes.words(match["shortcode"])
    if (macro := match["macro"]) is not None:
        words = kumascript.words(macro, match["arguments"])
        return match[0] if words is None else words
    if (include := match["include"]) is not None:
        return include.removeprefix("../").removeprefix("../")
    if match["indent"] is not None:
        kind, caption = (
            match.group("box", "boxed") if match["box"] else match.group("kind", "caption")
        )
        return match["indent"] + _admonition(kind, caption)
    if match["element"] is not None:
        return " ".join(_SHOWN_ATTRIBUTE.findall(match["attributes"]))
    return _liquid(match["liquid"], match["parameters"]) if match["liquid"] else ""


def _liquid(tag: str, parameters: str) -> str:
    shown = _PARAMETER.search(parameters)
    words = shown[1] if shown else ""
    return f"**{words.capitalize() if tag == 'hint' else words}**" if words else ""


def _admonition(kind: str | None, caption: str | None) -> str:
    if kind is None:
        return ""
    caption = _BRACES.sub("", caption or "").replace("**", "")
    caption = caption.strip().rstrip("]").strip("\"' ")
    return f"**{caption or kind.capitalize()}**"
