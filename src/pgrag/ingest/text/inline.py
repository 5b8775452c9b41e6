"""From inline Markdown to words: plain text and headings."""

import html
import re
from collections.abc import Collection

#: Characters of a heading that are read: parsing inline Markdown is not linear.
MAX_HEADING_SOURCE = 2000
_MAX_HEADING = 200
_INLINE = re.compile(
    r"(?P<ticks>`+)(?P<code>[^\n]{1,300}?)(?<!`)(?P=ticks)(?!`)"
    r"|!\[\[[^\]\n]{0,300}\]\]"
    r"|\[\[(?:[^\]|\n]{0,300}\|)?(?P<wiki>[^\]|\n]{1,300})\]\]"
    r"|!?\[(?P<label>(?:\\.|!?\[[^\[\]\n]{0,200}\](?:\([^()\n]{0,500}\))?+|[^\[\]\\]){0,500}+)\]"
    r"(?:\([^()\n]{0,500}(?:\([^()\n]{0,200}\)[^()\n]{0,200})?\)|\[[^\[\]\n]{0,200}\])"
    r"|<(?P<url>https?://[^<>\s]{1,500})>"
    r"|</?[A-Za-z!][^<>\n]{0,500}>"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<mark>\*{1,3}|~~|(?<![^\W_])_{1,3})(?=\S)(?P<marked>(?:(?!(?P=mark)).){1,300}?)(?<=\S)"
    r"(?P=mark)(?!(?<=_)[^\W_])"
)
#: Images in headings that are none of the words: "Kettle logo", "build status".
_ORNAMENT = re.compile(
    r"\b(?:logo|icon|banner|badge|build|status|coverage|license|version|downloads)\b",
    re.IGNORECASE,
)
_SIGN = re.compile(r"[`\[<\\*_~]")
EXPLICIT_ID = re.compile(
    r"\{(?::?[ \t]*(?:[#.]|[\w-]{1,50}=|data-)[^{}\n]{0,500}|/\*[^*]{0,200}\*/)\}[ \t]*$"
)
_ROLE = re.compile(r"\{[\w:+.-]{1,100}\}(?=`)")
_SHORTCUT = re.compile(r"(?<![!\]\\])\[([^\[\]\n]{1,300})\](?:\[\])?(?![\[(:])")
_CLOSING_HASHES = re.compile(r"(?:^|(?<=[ \t]))#+[ \t]*$")


def plain(text: str, *, with_ornaments: bool = True) -> str:
    """Reduce inline Markdown to its words on one line; what is in code spans stays. Images are
    their alternative texts, those of logos and badges only `with_ornaments`.
    """
    if sign := _SIGN.search(text):
        text = _reduced(text, sign, with_ornaments)
    return " ".join(html.unescape(text).split() if "&" in text else text.split())


def _reduced(text: str, sign: re.Match[str] | None, with_ornaments: bool) -> str:
    """Replace the syntax in a text, trying only at its signs: to try it anywhere takes long."""
    parts: list[str] = []
    copied = 0
    while sign:
        start = sign.start()
        if text[start] == "[" and start > copied and text[start - 1] == "!":
            start -= 1
        if match := _INLINE.match(text, start) or _INLINE.match(text, sign.start()):
            parts += (text[copied : match.start()], _words(match, with_ornaments))
            copied = match.end()
        sign = _SIGN.search(text, match.end() if match else sign.end())
    return "".join((*parts, text[copied:]))


def _words(match: re.Match[str], with_ornaments: bool) -> str:
    if match[0][0] == "!" and not with_ornaments and _ORNAMENT.search(match["label"] or ""):
        return ""
    if (code := match["code"]) is not None:
        # entities are literal in a code span: escape "&", so that `plain` does not unescape them
        return code.strip().replace("&", "&amp;")
    for group in ("wiki", "url", "escaped"):
        if match[group] is not None:
            return match[group]
    return plain(match["label"] or match["marked"] or "", with_ornaments=with_ornaments)


def heading_text(source: str, definitions: Collection[str] = ()) -> str:
    """Return the words of a heading, 200 characters at most, without its explicit id and roles. Of
    link `definitions` (labels in capitals) only the labels stay. A logo or a badge beside words is
    none of them; a heading that is an image has its alternative text.
    """
    source = EXPLICIT_ID.sub("", _CLOSING_HASHES.sub("", source))[:MAX_HEADING_SOURCE]
    if definitions and "[" in source:
        source = _SHORTCUT.sub(
            lambda m: m[1] if " ".join(m[1].split()).upper() in definitions else m[0], source
        )
    source = _ROLE.sub("", source) if "}`" in source else source
    words = plain(source, with_ornaments="![" not in source)
    if not any(map(str.isalnum, words)):
        words = plain(source)
    if len(words) > _MAX_HEADING:
        words = words[: _MAX_HEADING - 1].rsplit(" ", 1)[0] + "…"
    return words
