"""KumaScript, the macros of MDN's pages: `{{domxref("Document.cookie")}}`."""

import re

_ARGUMENT = re.compile(r"\"((?:\\.|[^\"\\])*)\"|'((?:\\.|[^'\\])*)'|([^\s,\"']+)")
_ELEMENTS = frozenset({"htmlelement", "svgelement", "mathmlelement"})
_LABELS = {
    "deprecatedinline": "(deprecated)",
    "deprecatedheader": "Deprecated.",
    "experimentalinline": "(experimental)",
    "seecompattable": "Experimental.",
    "nonstandardinline": "(non-standard)",
    "nonstandardheader": "Non-standard.",
    "optionalinline": "(optional)",
    "readonlyinline": "(read-only)",
    "securecontextinline": "(secure context)",
    "securecontextheader": "Available only in secure contexts.",
    "unimplementedinline": "(unimplemented)",
}
_PREFIXES = {
    "rfc": "RFC ",
    "bug": "bug ",
    "webkitbug": "WebKit bug ",
    "gecko": "Gecko ",
    "geckorelease": "Gecko ",
}
#: Macros whose second argument is not the text to show.
_OWN_SECOND_ARGUMENT = frozenset({"htmlattrxref", "sectiononpage", *_PREFIXES})

_NO_WORDS = re.compile(
    r".*sidebar|.*sidebarmenu|(?:api|css|js|svg|html|http|xslt|mathml|defaultapi|canvas)ref"
    r"|compat|specifications|embed\w+|jsfiddleembed|previous\w*|next\w*|quicklinks\w*"
    r"|listsubpages\w*|landingpagelistsubpages|subpages\w*|listgroups|listsummary"
    r"|inheritancediagram|cssinfo|csssyntax|svginfo|jspropertyattributes|notagomission"
    r"|availableinworkers|htmlreftable|domattributemethods|glossarydisambiguation"
    r"|webext\w+|firefoxfordevelopers|todo\w*|csskeyconcepts|animatedpropertylist"
)
_CROSS_REFERENCE = re.compile(r".*xref|webextapiref|glossary|http\w+|csp|svgattr|ariarole|link")


def words(name: str, arguments: str | None) -> str | None:
    """Return the text that a macro shows; None for a name that is not one of MDN."""
    name = name.lower().replace("-", "").replace("_", "")
    if name in _LABELS:
        return _LABELS[name]
    values = _values(arguments)
    if _NO_WORDS.fullmatch(name) and not (name == "webextapiref" and values):
        return ""
    if not values:
        return "" if arguments is not None or _CROSS_REFERENCE.fullmatch(name) else None
    if name in _ELEMENTS:
        return f"`<{values[0]}>`"
    if len(values) > 1 and values[1] and name not in _OWN_SECOND_ARGUMENT:
        return values[1]
    return _PREFIXES.get(name, "") + values[0]


def _values(arguments: str | None) -> list[str]:
    return [a or b or c for a, b, c in _ARGUMENT.findall(arguments or "")]


_FOLDERS = {
    "domxref": "Web/API/",
    "cssxref": "Web/CSS/",
    "htmlelement": "Web/HTML/Element/",
    "svgelement": "Web/SVG/Element/",
    "svgattr": "Web/SVG/Attribute/",
    "mathmlelement": "Web/MathML/Element/",
    "httpheader": "Web/HTTP/Headers/",
    "httpmethod": "Web/HTTP/Methods/",
    "httpstatus": "Web/HTTP/Status/",
    "csp": "Web/HTTP/Headers/Content-Security-Policy/",
    "glossary": "Glossary/",
    "jsxref": "Web/JavaScript/Reference/",
}
_JAVASCRIPT_PARTS = re.compile(
    r"(?:Global_Objects|Statements|Operators|Functions|Classes|Strict_mode|Iteration_protocols"
    r"|Lexical_grammar|Template_literals|Trailing_commas|Errors|Deprecated_and_obsolete_features)"
    r"(?:/|$)"
)
_DOT = re.compile(r"(?<!\.)\.(?!\.)")
_NOT_IN_SLUG = re.compile(r"\(.*?\)|&[lg]t;|[<>]")


def target(name: str, arguments: str | None) -> str | None:
    """Return the slug of the page that a macro links to, or None for a macro without a link."""
    folder = _FOLDERS.get(name.lower())
    values = _values(arguments)
    if folder is None or not values:
        return None
    page = "_".join(_NOT_IN_SLUG.sub("", values[0]).split())
    if name.lower() in {"domxref", "jsxref"}:
        page = _DOT.sub("/", page.replace(".prototype.", "."))
    if name.lower() == "jsxref" and not _JAVASCRIPT_PARTS.match(page):
        folder += "Global_Objects/"
    return folder + page if page else None
