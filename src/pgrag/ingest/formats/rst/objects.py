"""Directives of Sphinx that describe an object, such as py:function or option: a signature with
the id with which Sphinx publishes the object, and its description.
"""

import re
from dataclasses import dataclass
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive, directives

from pgrag.ingest.formats.rst.scope import Scope, sphinx_id


class AnyOption(dict[str, Any]):
    """Options of a directive: every name is one, and its value stays as it is written."""

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, name: str) -> Any:
        return directives.unchanged


@dataclass(frozen=True, slots=True)
class _Domain:
    """How the objects of a language are named: `name` finds the name in a signature, which has the
    `prefix` of its id, and the module before it if `has_modules`.
    """

    name: re.Pattern[str]
    prefix: str = ""
    has_modules: bool = False


_DOTTED = re.compile(r"@?([\w.$]+)")
_DECLARED = re.compile(r"([A-Za-z_][\w.]*)(?=\s*(?:\(|\[|$))")
_DOMAINS = {
    "py": _Domain(_DOTTED, has_modules=True),
    "js": _Domain(_DOTTED),
    "c": _Domain(_DECLARED, "c."),
}
_PYTHON = frozenset({
    "function", "method", "classmethod", "staticmethod", "attribute", "data", "exception",
    "decorator", "decoratormethod", "property", "class", "pydata", "coroutinefunction",
    "coroutinemethod", "awaitablefunction", "awaitablemethod", "abstractmethod", "opcode",
})  # fmt: skip
_STANDARD = frozenset(("option", "cmdoption", "envvar", "confval", "describe", "object"))
_PLAIN = frozenset(("autofunction", "autoclass", "autoexception", "automethod", "autoattribute"))
#: Words that Sphinx shows before a signature.
_BEFORE = {"class": "class ", "exception": "exception ", "decorator": "@", "property": "property "}
_OPTION_WORDS = {"classmethod": "classmethod ", "staticmethod": "static ", "async": "async "}
_HOLDERS = frozenset(("class", "exception", "interface"))
_OPTION = re.compile(r"((?:/|--|-|\+)?[^\s=\[]+)")


def is_object(name: str) -> bool:
    """Whether a directive describes an object, as far as its name tells."""
    domain, _, kind = name.lower().rpartition(":")
    if kind in ("module", "currentmodule", "namespace", "alias"):
        return False
    return bool(domain) or kind in _PYTHON or kind in _STANDARD or kind in _PLAIN


class ObjectDirective(Directive):
    """Describes one object, or several with one description."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = AnyOption()

    def run(self) -> list[nodes.Node]:
        """Return a list with the signatures as terms."""
        domain, _, kind = self.name.lower().rpartition(":")
        domain = domain or ("std" if kind in _STANDARD else "py")
        kind = kind.removeprefix("auto")
        scope: Scope = self.state.document.settings.scope
        item = nodes.definition_list_item()
        names = [
            self._add_term(item, scope, domain, kind, line)
            for line in _signatures(self.arguments[0] if self.arguments else "")
        ]
        body = nodes.definition()
        is_holder = bool(names) and (kind in _HOLDERS or domain == "c")
        scope.within += [names[0]] if is_holder else []
        self.state.nested_parse(self.content, self.content_offset, body)
        del scope.within[len(scope.within) - is_holder :]
        if not names:
            return list(body.children)
        item += body
        return [nodes.definition_list("", item, classes=["sphinx"])]

    def _add_term(
        self, item: nodes.Element, scope: Scope, domain: str, kind: str, signature: str
    ) -> str:
        module = scope.module
        scope.module = self.options.get("module", module)
        name, ids, shown = _named(scope, domain, kind, signature)
        scope.module = module
        if domain == "py":
            words = [word for option, word in _OPTION_WORDS.items() if option in self.options]
            shown = "".join(words) + _BEFORE.get(kind, "") + shown
        ids = [each for each in ids if each not in scope.ids.values()]
        term = nodes.term(shown, shown, classes=["sig", "sig-object"], ids=ids)
        item += term
        for each in ids:
            scope.ids.setdefault(each.removeprefix("c."), each)
        return name


def _signatures(written: str) -> list[str]:
    lines = re.sub(r"\\\n\s*", "", written).split("\n")
    return [re.sub(r"\\(.)", r"\1", line.strip()) for line in lines if line.strip()]


def _named(scope: Scope, domain: str, kind: str, signature: str) -> tuple[str, list[str], str]:
    """Return the name of an object in its module, its ids, and its signature as shown."""
    if domain == "std":
        return _standard(scope, kind, signature)
    if domain == "rst":
        name = re.split(r"[\s(]", signature.strip(".: "))[0]
        shown = f".. {signature}::" if kind == "directive" else f":{signature}:"
        return name, [sphinx_id(kind, name)], signature if ":" in signature else shown
    if domain == "http":
        path = re.sub(r"[<>:/]", "-", re.sub(r"[{}]", "", signature))
        return signature, [f"{kind}-{path}"], f"{kind.upper()} {signature}"
    rule = _DOMAINS.get(domain)
    found = rule.name.search(signature) if rule else None
    if rule is None or found is None:
        return "", [], signature
    outer = scope.within[-1] if scope.within else ""
    name = found[1]
    inner = name if not outer or name.startswith(f"{outer}.") else f"{outer}.{name}"
    full = f"{scope.module}.{inner}" if rule.has_modules and scope.module else inner
    shown = signature
    if not outer and full != name and kind not in _METHODS:
        shown = signature.replace(name, full, 1)
    return inner, [rule.prefix + sphinx_id("", full.replace("$", "_S_"))], shown


_METHODS = frozenset(("method", "classmethod", "staticmethod", "attribute", "property"))


def _standard(scope: Scope, kind: str, signature: str) -> tuple[str, list[str], str]:
    if kind in ("describe", "object"):
        return "", [], signature
    if kind not in ("option", "cmdoption"):
        return signature, [sphinx_id(kind, signature)], signature
    prefix = f"cmdoption-{scope.program}" if scope.program else "cmdoption"
    names = [match[1] for each in signature.split(", ") if (match := _OPTION.match(each.strip()))]
    return (names or [""])[0], [sphinx_id(prefix, name) for name in names], signature


_FIELDS = {
    "param": "Parameter", "parameter": "Parameter", "arg": "Parameter", "argument": "Parameter",
    "key": "Parameter", "keyword": "Parameter", "kwarg": "Parameter", "raises": "Raises",
    "raise": "Raises", "except": "Raises", "exception": "Raises", "returns": "Returns",
    "return": "Returns", "rtype": "Return type", "var": "Variable", "ivar": "Variable",
    "cvar": "Variable", "vartype": "Type of", "type": "Type of",
}  # fmt: skip


def field_name(written: str) -> str:
    """Return what Sphinx shows for a field of a description, such as `param int depth`; empty for
    other fields.
    """
    kind, *words = written.split()
    if kind not in _FIELDS or (kind in ("type", "key", "exception", "vartype") and not words):
        return ""
    kinds = f" ({' '.join(words[:-1])})" if len(words) > 1 else ""
    return f"{_FIELDS[kind]} {words[-1] if words else ''}{kinds}".rstrip()
