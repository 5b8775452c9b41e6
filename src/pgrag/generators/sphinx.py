"""The extension of Sphinx: `extensions = ["pgrag.generators.sphinx"]`, and `pgrag_library`.

A build of HTML indexes what it has written, with the versions of sphinx-multiversion where that
builds.
"""

import logging
import posixpath
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sphinx.errors import ExtensionError
from sphinx.util.logging import getLogger

import pgrag
from pgrag.generators.site import Box, explained, index_site, told

log: logging.LoggerAdapter[Any] = getLogger(__name__)

#: `?q=` of the search page, as browsers and other sites remember it.
_OPEN = """\
<script>
  addEventListener("DOMContentLoaded", async () => {
    await customElements.whenDefined("pgrag-search");
    const words = new URLSearchParams(location.search).get("q");
    if (words) document.querySelector("pgrag-search").open(words);
  });
</script>
"""
#: Themes with a dialog of their own, which opens at the same key, and where the box is instead.
_WITH_DIALOG = {"pydata_sphinx_theme": ".navbar-header-items__end", "sphinx_book_theme": "body"}


def setup(app: Any) -> dict[str, Any]:
    """Register the extension."""
    for name, default, kind in (
        ("library", "", str), ("version", None, str), ("service", "", str), ("key", "", str),
        ("box", {}, dict), ("index", True, bool),
    ):  # fmt: skip
        app.add_config_value(f"pgrag_{name}", default, "html", frozenset({kind, type(default)}))
    # After sphinx-multiversion has restored the release of its version.
    app.connect("config-inited", _configure, priority=900)
    app.connect("builder-inited", _replace_search)
    app.connect("html-collect-pages", _search_page)
    app.connect("build-finished", _index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _configure(app: Any, config: Any) -> None:
    if not config.pgrag_library:
        raise ExtensionError("pgrag: name the library in conf.py: pgrag_library = 'kestrel'")
    if not config.pgrag_service:
        return
    box = _box(config)
    config.html_context["pgrag_box"] = box.element
    # Templates of the site's own come first.
    config.templates_path.append(str(Path(__file__).parent / "templates"))
    if config.html_theme in _WITH_DIALOG:
        config.html_theme_options.setdefault("disable_search", True)


def _box(config: Any) -> Box:
    try:
        return Box.of(
            config.pgrag_service, config.pgrag_library, _version(config), config.pgrag_key,
            {"in": _WITH_DIALOG.get(config.html_theme, False)} | config.pgrag_box,
        )  # fmt: skip
    except pgrag.PgragError as error:
        raise ExtensionError(explained(error)) from error


def _version(config: Any) -> str:
    """The version that is built: as stated, else of sphinx-multiversion, else the release."""
    if config.pgrag_version is not None:
        return str(config.pgrag_version)
    current = getattr(config, "smv_current_version", "")
    if not current:
        return str(config.release)
    from pgrag.ingest.source.sources import label_of  # noqa: PLC0415 - half a second

    return label_of(current)


def _address(config: Any) -> str | None:
    """Where the site is served; sphinx-multiversion gives each version a folder of its own."""
    if not config.html_baseurl:
        return None
    folder, current = "", getattr(config, "smv_current_version", "")
    if current:
        ref = SimpleNamespace(**config.smv_metadata[current])
        folder = config.smv_outputdir_format.format(ref=ref, config=config)
    return posixpath.join(config.html_baseurl, folder)


def _is_site(app: Any) -> bool:
    """Whether this builds a website: other builders of HTML make books and help files of it."""
    return app.builder.name in {"html", "dirhtml"}


def _replace_search(app: Any) -> None:
    """Load the box, and keep the builder from writing an index and the page that reads it."""
    if not _is_site(app) or not app.config.pgrag_service:
        return
    # In a theme without one of our templates the script makes the box.
    app.add_js_file(_box(app.config).line, loading_method="defer")
    app.builder.search = False
    if not app.config.html_baseurl:
        log.warning("pgrag: without html_baseurl in conf.py, no hit leads to a page")


def _search_page(app: Any) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Write search.html, to which links lead, with the box."""
    if _is_site(app) and app.config.pgrag_service:
        title = "Suche" if (app.config.language or "").startswith("de") else "Search"
        body = f"<h1>{title}</h1>\n<p>{_box(app.config).element}</p>\n{_OPEN}"
        yield "search", {"title": title, "body": body}, "page.html"


def _index(app: Any, failure: Exception | None) -> None:
    config = app.config
    if failure is not None or not _is_site(app) or not config.pgrag_index:
        return
    try:
        report = index_site(
            config.pgrag_library, _version(config), str(app.outdir),
            address=_address(config), excluded=_excluded(app),
        )  # fmt: skip
    except pgrag.PgragError as error:
        raise ExtensionError(explained(error)) from error
    log.info(told(report))
    for page, reason in report.failed.items():
        log.warning("pgrag: %s: %s", page, reason)


def _excluded(app: Any) -> Iterator[str]:
    """The files of pages with `:nosearch:`, and of those that list others."""
    hidden = {
        name
        for name, fields in app.env.metadata.items()
        if not {"nosearch", "no-search"}.isdisjoint(fields)
    }
    lists = {"genindex", "search", *(each[0] for each in app.builder.domain_indices)}
    for name in sorted(hidden | lists):
        file = Path(app.builder.get_outfilename(name))
        yield file.relative_to(app.outdir).as_posix()
