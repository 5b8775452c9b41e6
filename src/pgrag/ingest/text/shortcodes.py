"""Hugo shortcodes: `{{< note >}}`, `{{% heading "whatsnext" %}}`."""

import re
from collections.abc import Callable

_ARGUMENT = re.compile(r"(?:([\w.-]+)\s*=\s*)?(?:\"((?:\\.|[^\"\\])*)\"|`([^`]*)`|([^\s\"`=]+))")
_CALLOUTS = frozenset({"note", "tip", "info", "warning", "caution", "danger", "important", "alert"})
_SHOWN_FIELDS = ("text", "caption", "title", "alt", "prepend", "heading", "summary")
_HEADINGS = {
    "whatsnext": "What's next",
    "prerequisites": "Before you begin",
    "cleanup": "Clean up",
    "seealso": "See also",
    "parentoptions": "Options inherited from parent commands",
    "envvars": "Environment variables",
}
_SHOWN_POSITION = frozenset({"param", "ref", "relref", "skew", "link"})
_FILE_FIELDS = ("file", "code", "src", "path")

_CODE_TAG = re.compile(
    r"^(?P<indent>[ \t]*)\{\{[<%][ \t]*(?P<end>/?)[ \t]*(?P<name>highlight|mermaid|tab)\b"
    r"(?P<arguments>[^\n]*?)[>%]\}\}[ \t]*$",
    re.MULTILINE,
)
_LIQUID_TAG = re.compile(
    r"^(?P<indent>[ \t]*)\{%-?[ \t]*(?P<end>(?:end)?)(?P<name>highlight)\b(?P<arguments>[^%\n]*)%\}"
    r"[ \t]*$",
    re.MULTILINE,
)
_COMMENT_TAG = re.compile(r"\{\{[<%][ \t]*(?P<end>/?)[ \t]*(?P<name>comment)[ \t]*[>%]\}\}")
_TAB_LANGUAGE = re.compile(r"\bcodelang=\"?([\w+-]+)")
_FIRST_WORD = re.compile(r"\s*([\w+-]*)")


def fence_code(text: str) -> str:
    """Turn shortcodes and tags of Liquid around code into fences, and comments into empty lines;
    the number of lines stays.
    """
    if "comment" in text:
        text = _replace_pairs(text, _COMMENT_TAG, lambda _, body: "\n" * body.count("\n"))
    if "endhighlight" in text:
        text = _replace_pairs(text, _LIQUID_TAG, _fence)
    if "highlight" in text or "mermaid" in text or "codelang" in text:
        text = _replace_pairs(text, _CODE_TAG, _fence)
    return text


def _replace_pairs(
    text: str, tag: re.Pattern[str], replacement: Callable[[re.Match[str], str], str | None]
) -> str:
    """Replace each pair of opening and closing tags, together with the text between them."""
    parts: list[str] = []
    copied = 0
    opened: re.Match[str] | None = None
    for match in tag.finditer(text):
        if not match["end"]:
            opened = match
        elif opened and opened["name"] == match["name"]:
            shown = replacement(opened, text[opened.end() : match.start()])
            if shown is not None:
                parts += (text[copied : opened.start()], shown)
                copied = match.end()
            opened = None
    return "".join((*parts, text[copied:]))


def _fence(opened: re.Match[str], body: str) -> str | None:
    """Fence the body with the shortcode's language; None for a tab without code."""
    indent, name, arguments = opened["indent"], opened["name"], opened["arguments"]
    if name == "tab":
        named = _TAB_LANGUAGE.search(arguments)
        if not named:
            return None
        language = named[1]
    else:
        first = _FIRST_WORD.match(arguments)
        language = name if name == "mermaid" or not first else first[1]
    return f"{indent}```{language}{body}{indent}```"


def words(shortcode: str) -> str:
    """Return the text that one shortcode tag shows; `shortcode` is between `{{<` and `>}}`."""
    shortcode = shortcode.strip().removesuffix("/").strip()
    if shortcode.startswith("/*"):
        return "{{< " + shortcode.strip("/*").strip() + " >}}"
    if not shortcode or shortcode.startswith("/"):
        return ""
    name, *arguments = shortcode.split(None, 1)
    named: dict[str, str] = {}
    positional: list[str] = []
    for field, quoted, raw, bare in _ARGUMENT.findall(arguments[0] if arguments else ""):
        value = quoted or raw or bare
        if field:
            named[field] = value
        else:
            positional.append(value)
    return _shown(name, named, positional)


def _shown(name: str, named: dict[str, str], positional: list[str]) -> str:
    first = positional[0] if positional else ""
    if name in _CALLOUTS:
        words = f"**{named.get('title') or ('Note' if name == 'alert' else name.capitalize())}**"
    elif name == "heading":
        words = _HEADINGS.get(first, first.replace("_", " ").capitalize())
    elif name == "feature-state":
        words = " ".join(filter(None, (named.get("for_k8s_version"), named.get("state"))))
    elif name == "tab":
        words = f"**{named['name']}**" if "name" in named else ""
    elif name in _SHOWN_POSITION and first:
        words = first
    else:
        shown = _SHOWN_FIELDS + (_FILE_FIELDS if name.startswith("code") else ())
        words = next((named[field] for field in shown if named.get(field)), "")
    return words or named.get("term_id", "").replace("-", " ")
