"""Hugo shortcodes: `{{< note >}}`, `{{% heading "whatsnext" %}}`."""

from __future__ import annotations

import re

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

_CODE = re.compile(
    r"^(?P<indent>[ \t]*)\{\{[<%][ \t]*(?P<name>highlight|mermaid|tab)\b"
    r"(?P<arguments>[^\n]*?)[>%]\}\}[ \t]*\n(?P<body>.*?\n)?[ \t]*"
    r"\{\{[<%][ \t]*/[ \t]*(?P=name)[ \t]*[>%]\}\}[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_COMMENT = re.compile(
    r"\{\{[<%][ \t]*comment[ \t]*[>%]\}\}.*?\{\{[<%][ \t]*/[ \t]*comment[ \t]*[>%]\}\}", re.DOTALL
)
_LANGUAGE = re.compile(r"\bcodelang=\"?([\w+-]+)|^\s*([\w+-]+)")


def fence_code(text: str) -> str:
    """Turn shortcodes around code into fences and comments into empty lines, line by line."""
    if "comment" in text:
        text = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)
    if "highlight" in text or "mermaid" in text or "codelang" in text:
        text = _CODE.sub(_fence, text)
    return text


def _fence(match: re.Match[str]) -> str:
    arguments = match["arguments"]
    if match["name"] == "tab" and "codelang" not in arguments:
        return match[0]
    language = "mermaid"
    if match["name"] != "mermaid" and (found := _LANGUAGE.search(arguments)):
        language = found[1] or found[2]
    indent = match["indent"]
    return f"{indent}```{language}\n{match['body'] or ''}{indent}```"


def words(shortcode: str) -> str:
    """Return what a shortcode shows by itself; the text between two of them is not its affair.

    `shortcode` is what stands between `{{<` and `>}}`.
    """
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
