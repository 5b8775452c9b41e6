"""Formulas in HTML: their TeX where the page has it, else MathML as readable text."""

import re
from collections.abc import Callable
from functools import lru_cache

from pgrag.ingest.formats.escaping import escape
from pgrag.ingest.formats.html import dom
from pgrag.ingest.text.raised import lowered, raised

_MATH = re.compile(r"\\[(\[](.*)\\[)\]]", re.DOTALL)
#: Formulas in a text, which scripts such as MathJax show. None is in another, so that each is
#: sought up to the next one; `\\[` in it breaks a line.
_IN_TEXT = re.compile(
    r"\\\((?P<line>(?:\\\\|(?!\\[()]).){1,2000}+)\\\)"
    r"|\\\[(?P<block>(?:\\\\|(?!\\[\[\]]).){1,5000}+)\\\]"
    r"|\$\$[^$]{1,5000}\$\$|\$(?=[^\s$])[^$\n]{0,500}?[\\^_{][^$\n]{0,500}?(?<=[^\s$\\])\$(?!\d)",
    re.DOTALL,
)
#: What tells TeX between brackets from a regular expression.
_TEX = re.compile(r"\\[A-Za-z]{2}|[A-Za-z0-9}][_^][A-Za-z0-9{\\]")
_RENDERED = frozenset(("katex", "MathJax", "mwe-math-element", "MathJax_Display", "MathJax_SVG"))
#: Elements around a formula, or images of one.
_NAMED = frozenset(("math", "arithmatex", "tex", "latex", "mwe-math-fallback-image-inline"))
_DISPLAY = re.compile(r"^\{\\(?:display|text)style\s*(.*)\}$", re.DOTALL)
_DEEPEST = 60
_ATOM = re.compile(r"[^\W_]*")
_UNSHOWN = frozenset(("annotation", "annotation-xml", "mphantom", "none", "mprescripts"))


def escaped(text: str) -> str:
    """Escape a text, but for the formulas in it, which are written between dollar signs."""
    if "$" not in text and "\\" not in text:
        return escape(text)
    parts: list[str] = []
    start = 0
    for match in _IN_TEXT.finditer(text):
        parts += (escape(text[start : match.start()]), _signed(match))
        start = match.end()
    return "".join((*parts, escape(text[start:])))


def _signed(match: re.Match[str]) -> str:
    tex = match["line"] or match["block"]
    if tex is None:
        return match[0]
    if not _TEX.search(tex):
        return escape(match[0])
    sign = "$" if match["line"] else "$$"
    return f"{sign}{tex.strip()}{sign}"


@lru_cache(1000)
def is_formula_class(written: str | None) -> bool:
    """Whether an element with these classes may be a formula."""
    names = (written or "").split()
    return not (_RENDERED.isdisjoint(names) and _NAMED.isdisjoint(names))


def formula_of(node: dom.Node, tag: str, attributes: dom.Attributes) -> str | None:
    """Return a formula as Markdown, if the element is one; its TeX must not be escaped."""
    if tag == "script":
        kind = attributes.get("type") or ""
        sign = "$$" if "display" in kind else "$"
        return f"{sign}{node.text(deep=True).strip()}{sign}" if kind.startswith("math/") else None
    names = dom.class_of(attributes).split()
    if tag == "img":
        tex = dom.words(attributes.get("alt") or "").strip()
        return f"${_plain_tex(tex)}$" if tex and not _NAMED.isdisjoint(names) else None
    if tag in ("math", "mjx-container") or not _RENDERED.isdisjoint(names):
        return _rendered(node, tag, names)
    if "math" in names or "arithmatex" in names:
        text = dom.all_text(node)
        if match := _MATH.search(text):
            sign = "$$" if text.startswith("\\[") else "$"
            return f"{sign}{match[1].strip()}{sign}"
        image = node.css_first("img[alt]") if not text else None
        if image is not None:
            sign = "$$" if tag == "div" else "$"
            return f"{sign}{_plain_tex(dom.words(image.attributes['alt'] or '').strip())}{sign}"
    return None


def _rendered(node: dom.Node, tag: str, names: list[str]) -> str | None:
    """Return a formula that is shown as MathML or by a script: its TeX, else its MathML as text."""
    tex = node.css_first('annotation[encoding="application/x-tex"], annotation[encoding="TeX"]')
    math = node if tag == "math" else node.css_first("math")
    written = dom.all_text(tex) if tex is not None else ""
    if not written and math is not None:
        written = dom.words(math.attributes.get("alttext") or "").strip()
    if written:
        is_block = math is not None and math.attributes.get("display") == "block"
        sign = "$$" if is_block or "katex-display" in names else "$"
        return f"{sign}{_plain_tex(written)}{sign}"
    if math is not None:
        return escape(mathml_text(math)).replace("\\_(", "_(")
    # MathJax keeps the source in a script beside what it shows
    following = node.next
    is_copy = following is not None and dom.tag_of(following) == "script"
    return "" if is_copy else None


def _plain_tex(tex: str) -> str:
    match = _DISPLAY.match(tex)
    return match[1].strip() if match else tex


def mathml_text(node: dom.Node, depth: int = 0) -> str:
    """Return MathML on one line as it is read: E = mc², (a + b)/2, √(x)."""
    tag = dom.tag_of(node)
    if tag[0] == "-" or tag in _UNSHOWN:
        return dom.words(node.text_content or "").strip() if tag == dom.TEXT else ""
    if depth > _DEEPEST:
        return dom.all_text(node)
    if tag in _TOKENS:
        return _TOKENS[tag](node)
    parts = [mathml_text(child, depth + 1) for child in dom.children(node)]
    if tag == "mfenced":
        ends = (node.attributes.get("open", "("), node.attributes.get("close", ")"))
        return f"{ends[0] or ''}{', '.join(filter(None, map(str.strip, parts)))}{ends[1] or ''}"
    if reader := _SHAPES.get(tag):
        return reader([part for part in parts if part] if tag in _LISTS else _arguments(parts))
    text = "".join(parts)
    return " ".join(text.split()) if depth == 0 else text


def _arguments(parts: list[str]) -> list[str]:
    """Return three arguments, without the white space between elements."""
    return [*(part.strip() for part in parts if part.strip()), "", "", ""]


def _operator(node: dom.Node) -> str:
    sign = dom.all_text(node)
    if sign in ("\u2061", "\u2062", "\u2063", "\u2064"):  # function of, times: not shown
        return " "
    is_first = node.prev is None or (
        dom.tag_of(node.prev) == dom.TEXT and not (node.prev.text_content or "").strip()
    )
    spaced = sign in _SPACED and not (is_first and sign in "+-−±")
    return f" {sign} " if spaced else f"{sign} " if sign in (",", ";") else sign


_SPACED = frozenset("=<>≤≥≠≈≡∼≅∝∈∉⊂⊆∪∩→←↔⇒⇔↦+-−±∓×⋅·∗*/∧∨∣≔")


def _grouped(text: str) -> str:
    return text if _ATOM.fullmatch(text) or _is_bracketed(text) else f"({text})"


def _is_bracketed(text: str) -> bool:
    return text[:1] in "([{|" and text[-1:] in ")]}|" and text.count("(") <= 1


_ACCENTS = {
    "¯": "\u0304", "‾": "\u0304", "^": "\u0302", "ˆ": "\u0302", "~": "\u0303", "˜": "\u0303",
    "˙": "\u0307", "→": "\u20d7", "⃗": "\u20d7",
}  # fmt: skip
_TOKENS: dict[str, Callable[[dom.Node], str]] = {
    "mo": _operator,
    "mtext": lambda node: dom.words(node.text(deep=True)),
    "ms": lambda node: f'"{dom.all_text(node)}"',
}
_LISTS = frozenset(("mtable", "mtr", "mlabeledtr", "mtd"))
_SHAPES: dict[str, Callable[[list[str]], str]] = {
    "msup": lambda a: a[0] + raised(a[1]),
    "msub": lambda a: a[0] + lowered(a[1]),
    "msubsup": lambda a: a[0] + lowered(a[1]) + raised(a[2]),
    "munder": lambda a: a[0] + lowered(a[1]),
    "mover": lambda a: a[0] + (_ACCENTS.get(a[1].strip()) or raised(a[1])),
    "munderover": lambda a: f"{a[0]}{lowered(a[1])}{raised(a[2])} ",
    "mfrac": lambda a: f"{_grouped(a[0])}/{_grouped(a[1])}",
    "msqrt": lambda a: f"√({''.join(a)})",
    "mroot": lambda a: f"{raised(a[1])}√({a[0]})",
    "mtable": lambda a: f"[{'; '.join(a)}]",
    "mtr": ", ".join,
    "mlabeledtr": lambda a: ", ".join(a[1:]),
    "mtd": lambda a: "".join(a).strip(),
}
