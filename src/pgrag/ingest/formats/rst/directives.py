"""The directives of Sphinx that are no objects: versions, pages, conditions, code, glossaries."""

import re
from functools import cache
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from docutils.parsers.rst.languages import en
from docutils.statemachine import StringList

from pgrag.ingest.formats.rst.conditions import Condition
from pgrag.ingest.formats.rst.objects import AnyOption, ObjectDirective, is_object
from pgrag.ingest.formats.rst.scope import Scope, sphinx_id

_DIRECTIVE = re.compile(r"^[ \t]*\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?([\w:.+-]+)::", re.MULTILINE)
#: Directives of Sphinx that show no text of their own.
UNSEEN = frozenset({
    "index", "tabularcolumns", "codeauthor", "sectionauthor", "moduleauthor", "default-domain",
    "default-role", "todo", "todolist", "testsetup", "testcleanup", "meta", "c:namespace",
    "cpp:namespace", "setting", "django-admin", "templatetag", "templatefilter", "fieldlookup",
})  # fmt: skip
_VERSIONS = {
    "versionadded": "New in version {}",
    "versionchanged": "Changed in version {}",
    "versionremoved": "Removed in version {}",
    "deprecated": "Deprecated since version {}",
    "deprecated-removed": "Deprecated since version {}, to be removed in version {}",
}
_CODE = frozenset({
    "code", "code-block", "sourcecode", "prompt", "doctest", "testcode", "testoutput", "ipython",
    "parsed", "productionlist", "grammar-snippet", "jupyter-execute", "graphviz", "digraph",
    "graph", "mermaid", "uml", "console",
})  # fmt: skip
_LANGUAGES = {"graphviz": "dot", "digraph": "dot", "graph": "dot", "mermaid": "mermaid"}
#: Directives of docutils to which Sphinx adds options.
_EXTENDED = ("math", "image", "figure", "table", "list-table", "csv-table", "admonition", "note",
             "warning", "tip", "hint", "important", "caution", "danger", "attention", "error",
             "contents", "topic", "sidebar", "parsed-literal", "rubric", "container")  # fmt: skip
_MODULES = ("module", "py:module", "js:module", "currentmodule", "py:currentmodule", "automodule")
_TITLED = re.compile(r"(?P<title>.+?)\s*<(?P<target>[^<>]+)>")


def register(text: str) -> bool:
    """Make docutils read each directive of a text that it does not know; return whether the text
    has any that only Sphinx knows.
    """
    found = set(map(str.lower, _DIRECTIVE.findall(text)))
    ours = _ours()
    for name in found:
        if name in ours:
            directives.register_directive(name, ours[name])
        elif name not in en.directives:
            directives.register_directive(name, ObjectDirective if is_object(name) else _Unknown)
    return any(is_object(name) and name != "class" for name in found) or "module" in found


class _Ours(Directive):
    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[Any] = AnyOption()

    @property
    def scope(self) -> Scope:
        """The state of the document."""
        scope: Scope = self.state.document.settings.scope
        return scope

    @property
    def argument(self) -> str:
        """What stands behind the name of the directive."""
        return self.arguments[0].strip() if self.arguments else ""

    def inner(self, content: StringList | None = None) -> list[nodes.Node]:
        """Read the content as reStructuredText, which may have headings."""
        holder = nodes.container()
        lines = self.content if content is None else content
        self.state.nested_parse(lines, self.content_offset, holder, match_titles=True)
        return list(holder.children)

    def paragraph(self, text: str, *before: nodes.Node) -> nodes.paragraph:
        """Read a text with inline markup."""
        words, messages = self.state.inline_text(text, self.lineno)
        return nodes.paragraph(text, "", *before, *words, *messages)


class _Unseen(_Ours):
    def run(self) -> list[nodes.Node]:
        return []


class _Version(_Ours):
    """A change of a version, with the words that Sphinx writes before it."""

    option_spec = None

    def run(self) -> list[nodes.Node]:
        pattern = _VERSIONS[self.name.lower()]
        numbers = pattern.count("{}")
        versions = self.argument.split(None, numbers)
        text = "".join(versions[numbers:])
        versions += [""] * numbers
        inner = self.inner()
        start = pattern.format(*versions) + (":" if text or inner else ".")
        paragraph = self.paragraph(text, nodes.emphasis("", start), nodes.Text(" "))
        first = inner[0] if inner else None
        if not text and isinstance(first, nodes.paragraph):
            paragraph += first.children
            inner = inner[1:]
        return [paragraph, *inner]


class _Toctree(_Ours):
    """The pages below this one, as links."""

    def run(self) -> list[nodes.Node]:
        if "hidden" in self.options:
            return []
        items = [nodes.list_item("", nodes.paragraph("", "", each)) for each in self._links()]
        caption = self.options.get("caption")
        shown: list[nodes.Node] = (
            [nodes.paragraph("", "", nodes.strong("", caption))] if caption else []
        )
        return [*shown, nodes.bullet_list("", *items)] if items else []

    def _links(self) -> list[nodes.Node]:
        links: list[nodes.Node] = []
        for line in map(str.strip, self.content):
            titled = _TITLED.fullmatch(line)
            target = titled["target"] if titled else line
            if line and target != "self" and not {"*", "?", "["} & {*target}:
                links.append(
                    nodes.reference("", titled["title"] if titled else line, refuri=target)
                )
        return links


class _Only(_Ours):
    """A part for some builders: it is shown if the one of HTML is among them."""

    def run(self) -> list[nodes.Node]:
        words = re.findall(r"\w+|[()]", self.argument.lower())
        is_shown = Condition(words).value() if self.name.lower() == "only" else True
        return self.inner() if is_shown else []


class _Code(_Ours):
    def run(self) -> list[nodes.Node]:
        name = self.name.lower()
        code = "\n".join(self.content).strip("\n")
        if name in ("productionlist", "grammar-snippet", "digraph", "graph"):
            code = "\n".join(filter(None, (self.argument, code)))
        language = _LANGUAGES.get(name) or self.argument.split("\n")[0]
        if name in ("code-block", "sourcecode") and not language:
            language = self.scope.language
        block = nodes.literal_block(code, code, classes=["code", language][: 1 + bool(language)])
        if self.options.get("name"):
            self.add_name(block)
        caption = self.options.get("caption")
        shown: list[nodes.Node] = [self.paragraph(caption)] if caption else []
        return [*shown, block] if code else shown


class _Highlight(_Ours):
    def run(self) -> list[nodes.Node]:
        self.scope.language = self.argument
        return []


class _Insertion(_Ours):
    """A file that the document would insert: no file is read, but the reader is told its name."""

    def run(self) -> list[nodes.Node]:
        self.scope.unread.append(self.argument)
        caption = self.options.get("caption")
        shown: list[nodes.Node] = [self.paragraph(caption)] if caption else []
        return [*shown, nodes.paragraph("", "", nodes.literal("", self.argument))]


class _Module(_Ours):
    """The module to which the objects that follow belong."""

    def run(self) -> list[nodes.Node]:
        name = self.name.lower().rpartition(":")[2]
        self.scope.module = "" if self.argument == "None" else self.argument
        if name == "currentmodule" or not self.argument:
            return []
        anchor = f"module-{self.argument}"
        self.scope.ids.setdefault(self.argument, anchor)
        target = nodes.target("", "", ids=[anchor])
        self.state.document.note_explicit_target(target)
        shown = nodes.paragraph("", "", nodes.literal("", self.argument))
        return [target, *([shown] if name == "automodule" else []), *self.inner()]


class _Program(_Ours):
    def run(self) -> list[nodes.Node]:
        self.scope.program = re.sub(r"\s+", "-", self.argument).removesuffix("None")
        return []


class _Class(ObjectDirective):
    """A class of Python; without other words of Sphinx, a style of docutils."""

    def run(self) -> list[nodes.Node]:
        if self.state.document.settings.has_objects or "(" in "".join(self.arguments):
            return super().run()
        holder = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, holder)
        return list(holder.children)


class _SeeAlso(_Ours):
    def run(self) -> list[nodes.Node]:
        text = [self.paragraph(self.argument)] if self.argument else []
        title = nodes.title("", "See also")
        return [nodes.admonition("", title, *text, *self.inner(), classes=["seealso"])]


class _Glossary(_Ours):
    """Terms and their meanings; several terms may share one."""

    def run(self) -> list[nodes.Node]:
        found = nodes.definition_list("", classes=["glossary"])
        start = 0
        while start < len(self.content):
            end = start
            while end < len(self.content) and self.content[end][:1].strip():
                end += 1
            terms = [line for line in self.content[start:end] if not line.startswith(".. ")]
            body = end
            while body < len(self.content) and not self.content[body][:1].strip():
                body += 1
            if terms:
                found += self._item(terms, self.content[end:body])
            start = body
        return [found] if found.children else []

    def _item(self, terms: list[str], lines: StringList) -> nodes.Node:
        item = nodes.definition_list_item()
        for term in terms:
            words = self.paragraph(term.partition(" : ")[0])
            name = words.astext()
            anchor = sphinx_id("term", name)
            self.scope.ids.setdefault(f"term {name.lower()}", anchor)
            item += nodes.term(term, "", *words.children, classes=["entry"], ids=[anchor])
        indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
        lines.trim_left(min(indents, default=0))
        item += nodes.definition("", *self.inner(lines))
        return item


class _Summary(_Ours):
    """A table of objects whose descriptions come from code: their names."""

    def run(self) -> list[nodes.Node]:
        names = [line.strip().lstrip("~") for line in self.content if line.strip()]
        items = (nodes.paragraph("", "", nodes.literal("", name)) for name in names)
        return (
            [nodes.bullet_list("", *(nodes.list_item("", each) for each in items))] if names else []
        )


class _Unknown(_Ours):
    """A directive that is not known: its argument is a title, or the text; its content is text."""

    def run(self) -> list[nodes.Node]:
        inner = self.inner()
        if not self.argument or (inner and re.fullmatch(r"[\d\s]+", self.argument)):
            return inner
        if not inner:
            return [self.paragraph(self.argument)]
        words, _ = self.state.inline_text(self.argument, self.lineno)
        return [nodes.paragraph("", "", nodes.strong("", "", *words)), *inner]


class _MoreOptions(dict[str, Any]):
    def __missing__(self, name: str) -> Any:
        return directives.unchanged


@cache
def _ours() -> dict[str, type[Directive]]:
    found: dict[str, type[Directive]] = dict.fromkeys(UNSEEN, _Unseen)
    found |= dict.fromkeys(_VERSIONS, _Version)
    found |= dict.fromkeys(_CODE, _Code)
    found |= dict.fromkeys(_MODULES, _Module)
    found |= dict.fromkeys(("include", "literalinclude"), _Insertion)
    found |= {
        "toctree": _Toctree, "only": _Only, "ifconfig": _Only, "highlight": _Highlight,
        "program": _Program, "class": _Class, "seealso": _SeeAlso, "glossary": _Glossary,
        "autosummary": _Summary,
    }  # fmt: skip
    for name in _EXTENDED:
        native: Any = directives.directive(name, en, None)[0]  # type: ignore[arg-type]
        options = _MoreOptions(native.option_spec or {})
        found[name] = type(native.__name__, (native,), {"option_spec": options})
    return found
