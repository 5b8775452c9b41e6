"""What counts as documentation in folders that hold other things as well."""

import re

import pytest

from pgrag.ingest.formats.formats import MANUAL, Format
from pgrag.ingest.source.documentation import documentation, is_known, is_skipped
from pgrag.ingest.source.source import Skips


@pytest.fixture(autouse=True)
def formats(monkeypatch):
    """The formats that the rules name, and one that they do not name."""
    names = {
        ".md": "Markdown", ".mdx": "Markdown", ".rst": "reStructuredText", ".html": "HTML",
        ".txt": "text", ".pdf": "PDF", ".1": MANUAL.name, ".1.gz": MANUAL.name, ".asc": "AsciiDoc",
    }  # fmt: skip
    table = {suffix: Format(name, (suffix,), (), "") for suffix, name in names.items()}
    monkeypatch.setattr("pgrag.ingest.source.documentation.SUFFIXES", table)


def chosen(names, *include):
    """The names that are documentation, and how many are not, by reason."""
    skips = Skips()
    known = [name for name in names if is_known(name) and not is_skipped(name.split("/")[:-1])]
    pages = {*documentation(known, include, skips)}
    return pages, {group.reason: group.count for group in skips.grouped()}


def test_pages_are_documentation_and_what_programs_and_builds_add_is_not():
    pages = {"README.md", "docs/index.md", "docs/guide.mdx", "docs/handbook.pdf"}
    others = {
        "requirements.txt", "docs/requirements.txt", "CMakeLists.txt", "notes.txt",
        "theme/base.html", "node_modules/x/README.md", "docs/_static/demo.html", ".github/a.md",
        "logo.svg", "setup.py", "docs/_templates/layout.html",
    }  # fmt: skip
    kept, skipped = chosen(pages | others)
    assert kept == pages
    assert skipped == {
        "text for programs": 3, "HTML beside as much Markdown": 1, "parts and sources of pages": 2,
        "plain text beside other formats": 1,
    }  # fmt: skip
    pages = {
        "index.html", "guide/install.html", "api.html", "search-syntax.html", "all-options.html",
    }  # fmt: skip
    others = {
        "genindex.html", "genindex-A.html", "py-modindex.html", "search.html", "404.html",
        "_sources/index.rst.txt", "_static/page.html", "_modules/x.html", "index-all.html",
        "com/x/class-use/Y.html", "robots.txt", "print.html",
    }  # fmt: skip
    kept, skipped = chosen(pages | others)
    assert kept == pages
    assert sum(skipped.values()) == len(others)
    # A stray README changes nothing.
    assert chosen(pages | others | {"README.md"})[0] == pages | {"README.md"}


def test_a_mix_keeps_what_is_more_and_the_way_out_names_the_suffix():
    mixed = {"a.html", "b.html", "c.html", "notes.md", "plan.txt"}
    assert chosen(mixed)[0] == mixed - {"plan.txt"}
    assert chosen(mixed | {"d.md", "e.md"})[0] == {"notes.md", "d.md", "e.md"}
    assert chosen({"a.txt", "system-requirements.txt", "dev-requirements.txt"})[0] == {
        "a.txt", "system-requirements.txt",
    }  # fmt: skip
    assert chosen({"requirements.txt", "robots.txt", "LICENSE.txt"})[0] == set()
    assert chosen({"a.txt", "b.md"})[0] == {"b.md"}
    assert chosen({"a.md", "._a.md", "__MACOSX/._a.md"})[0] == {"a.md"}
    skips = Skips()
    assert [*documentation(["a.md", "b.txt"], (), skips)] == ["a.md"]
    [group] = skips.grouped()
    hint = "To read them as well: --include '**/*.txt' --include '**'."
    assert (group.examples, group.hint) == (("b.txt",), hint)
    # What it says reads the others too.
    assert chosen({"a.md", "b.txt"}, *re.findall("'([^']+)'", hint))[0] == {"a.md", "b.txt"}


@pytest.mark.parametrize(("include", "expected"), [
    (("**/*.txt",), {"requirements.txt", "a.txt"}),
    (("**/*.html",), {"genindex.html"}),
    (("a.txt",), {"requirements.txt", "a.txt"}),
    (("**",), {"a.md"}),
])  # fmt: skip
def test_who_names_a_suffix_means_it(include, expected):
    """The globs have been applied already; here only their suffixes count."""
    assert chosen({"a.md", "requirements.txt", "a.txt", "genindex.html"}, *include)[0] >= expected


def test_what_ends_like_a_manual_page_or_asciidoc_and_is_none_is_told():
    pages = {"man/kiln.1", "man/kiln.1.gz", "x86_64.1", "guide.asc"}
    others = {"syslog.1", "kiln.log.1", "lib/libkiln.so.1", "NEWS-2.1", "v1.0.1"}
    kept, skipped = chosen(pages | others | {"kiln.tar.gz.asc", "release-key.asc"})
    assert kept == pages
    assert skipped == {
        "logs, libraries and versions that are named like manual pages": len(others),
        "signatures and keys": 2,
    }
