"""The plugin `pgrag` of MkDocs and ProperDocs, which imports `mkdocs` as itself.

`mkdocs build`, `mkdocs gh-deploy` and `mike deploy` index the built site; `mkdocs serve` only shows
the search box.
"""

import logging
import os
from typing import Any

from mkdocs.config import config_options as options
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, event_priority

import pgrag
from pgrag.generators.site import Box, explained, index_site, told

log = logging.getLogger("mkdocs.plugins.pgrag")

#: Where themes have their search; in others the box is a button in the corner.
_PLACES = {
    "material": ".md-header__inner",
    "mkdocs": ".navbar .container",
    "readthedocs": ".wy-side-nav-search",
}
#: The scripts of the theme mkdocs need the dialog of its search, which its key `s` opens. In it
#: GENERATOR is the name of the package that builds.
_DIALOG = """\
<div class="modal" id="GENERATOR_search_modal"><div class="modal-dialog">
  <input id="GENERATOR-search-query" hidden><div id="GENERATOR-search-results"></div>
</div></div>
<script>
  GENERATOR_search_modal.addEventListener("show.bs.modal", (event) => {
    event.preventDefault();
    document.querySelector("pgrag-search").open();
  });
</script>
</body>""".replace("GENERATOR", BasePlugin.__module__.partition(".")[0])


class PgragPlugin(BasePlugin):
    """Indexes the site after its build, and puts a search box in the place of the theme's."""

    config_scheme = (
        ("library", options.Type(str)),
        ("version", options.Optional(options.Type((str, int, float)))),
        ("service", options.Optional(options.Type(str))),
        ("key", options.Type(str, default="")),
        ("box", options.Type(dict, default={})),
        ("index", options.Type(bool, default=True)),
    )

    is_preview = False

    def on_startup(self, *, command: str, dirty: bool) -> None:
        """Remember whether this is a preview."""
        self.is_preview = command == "serve"

    @event_priority(100)  # before the search that is replaced, and before mike changes site_url
    def on_config(self, config: Any) -> Any:
        """Put the box into all pages, and drop the generator's own search."""
        mike = os.environ.get("MIKE_DOCS_VERSION", "")
        self.version = str(self.config["version"] or mike)
        self.address = (config.site_url or "").rstrip("/") + "/" if config.site_url else None
        if mike and self.address:
            self.address += f"{mike}/"
        if not self.config["service"]:
            return config
        place = _PLACES.get(config.theme.name or "", False)
        try:
            box = Box.of(
                self.config["service"],
                self.config["library"],
                self.version,
                self.config["key"],
                {"in": place} | self.config["box"],
            )
        except pgrag.PgragError as error:
            raise PluginError(explained(error)) from error
        if self.address is None:
            log.warning("pgrag: without site_url in the configuration, no hit leads to a page")
        config.extra_javascript.append(box.line)
        _drop_search(config.plugins)
        return config

    def on_pre_build(self, *, config: Any) -> None:
        """Begin the list of files that are not to be found with those that a theme adds."""
        self.excluded = {*config.theme.static_templates}

    def on_page_context(self, context: Any, *, page: Any, config: Any, nav: Any) -> None:
        """Note a page that its author left out of searches."""
        search = page.meta.get("search")
        is_excluded = search.get("exclude") if isinstance(search, dict) else search is False
        if is_excluded or page.meta.get("nosearch"):
            self.excluded.add(page.file.dest_uri)

    def on_post_page(self, output: str, *, page: Any, config: Any) -> str:
        """Let the box open where the theme's own search would."""
        if self.config["service"] and config.theme.name == "mkdocs":
            return _DIALOG.join(output.rsplit("</body>", 1))
        return output

    @event_priority(-100)  # after plugins that still write pages
    def on_post_build(self, *, config: Any) -> None:
        """Index the site."""
        if self.is_preview or not self.config["index"]:
            return
        try:
            report = index_site(
                self.config["library"], self.version, config.site_dir,
                address=self.address, excluded=self.excluded,
            )  # fmt: skip
        except pgrag.PgragError as error:
            raise PluginError(explained(error)) from error
        log.info(told(report))
        for page, reason in report.failed.items():
            log.warning("pgrag: %s: %s", page, reason)


def _drop_search(plugins: Any) -> None:
    """Take the plugin `search`, or that of a theme (`material/search`), out of all events."""
    for name in [name for name in plugins if name.rpartition("/")[2] == "search"]:
        plugin = plugins.pop(name)
        for methods in plugins.events.values():
            methods[:] = [each for each in methods if getattr(each, "__self__", None) is not plugin]
