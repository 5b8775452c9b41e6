"""The search box on real sites, built by the generators that docs/widget.md names.

`make test-generators` installs the generators and runs this; each is built with the plugin or the
line of configuration that the page gives, indexed from what it built, and searched in a browser.
"""

import functools
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlencode

import pytest
from foreign_site import field, search
from playwright.sync_api import expect

from pgrag.ground.settings import Settings
from pgrag.service.app import App

#: Where the generators are installed: bin/ and, for those of Node, NAME/node_modules.
INSTALLED = os.environ.get("PGRAG_GENERATORS")
SITES = Path(__file__).parents[1] / "generators" / "sites"
PAGES = SITES.parent / "pages"


@dataclass(frozen=True)
class Generator:
    """How a generator builds, where it writes, and where the page on tides then is."""

    command: str
    output: str = "site"
    page: str = "/guide/tides/"
    navigates: bool = False
    """Whether its pages follow links without loading a document."""
    indexes: bool = False
    """Whether its plugin indexes what it builds."""


GENERATORS = {
    "mkdocs": Generator("mkdocs --quiet build --strict", indexes=True),
    "properdocs": Generator("properdocs --quiet build --strict", indexes=True),
    "zensical": Generator("zensical build"),
    "sphinx": Generator("sphinx-build -q -W . site", page="/guide/tides.html", indexes=True),
    "hugo": Generator("hugo --quiet --destination site"),
    "vitepress": Generator(
        "node node_modules/vitepress/bin/vitepress.js build",
        output=".vitepress/dist", page="/guide/tides.html", navigates=True,
    ),
    "docusaurus": Generator(
        "node node_modules/@docusaurus/core/bin/docusaurus.mjs build",
        output="build", page="/guide/tides", navigates=True,
    ),
}  # fmt: skip


#: Docusaurus takes minutes, so it is there only by `make test-generators DOCUSAURUS=1`.
PRESENT = [
    name for name in GENERATORS
    if name != "docusaurus" or (INSTALLED and (Path(INSTALLED) / name).exists())
]  # fmt: skip

pytestmark = pytest.mark.skipif(INSTALLED is None, reason="make test-generators installs them")


class _Quiet(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/favicon.ico":
            self.send_response(204)
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder, which may still be empty."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def build(name: str, folder: Path, database_url: str, **values: str) -> None:
    """Write a site into a folder, with these values in its configuration, and build it."""
    assert INSTALLED is not None
    shutil.copytree(SITES / name, folder, dirs_exist_ok=True)
    if name != "sphinx":
        shutil.copytree(PAGES, folder / "docs")
    if name == "hugo":
        (folder / "docs" / "index.md").rename(folder / "docs" / "_index.md")
    for file in (file for file in folder.rglob("*") if file.is_file()):
        text = file.read_text(encoding="utf-8")
        for value, replacement in values.items():
            text = text.replace(f"{{{value}}}", replacement)
        file.write_text(text, encoding="utf-8")
    packages = Path(INSTALLED) / name / "node_modules"
    if packages.exists():
        (folder / "node_modules").symlink_to(packages.resolve())
    path = f"{Path(INSTALLED).resolve() / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        GENERATORS[name].command.split(),
        cwd=folder, capture_output=True, text=True, check=False, timeout=300,
        env={
            **os.environ, "PATH": path, "CI": "1", "DISABLE_VERSION_CHECK": "1",
            "PGRAG_DATABASE_URL": database_url,
        },
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", PRESENT)
def test_a_built_site_is_searched_and_opened(name, closed_service, new_page, page_faults, tmp_path):
    generator = GENERATORS[name]
    folder = tmp_path / generator.output
    folder.mkdir(parents=True)
    with served(folder) as url:
        key = closed_service.make_key(kind="publishable", origins=[url], libraries=[name])
        script = f"{closed_service.url}/widget.js?{urlencode({'library': name, 'key': key})}"
        values = {"service": closed_service.url, "key": key, "script": script, "site": f"{url}/"}
        build(name, tmp_path, closed_service.database_url, **values)
        if not generator.indexes:
            with App(Settings(database_url=closed_service.database_url, pool_size=2)) as app:
                app.index(name, "", str(folder), base_url=f"{url}/")
        for address in (url, closed_service.url):
            page_faults.allow(address)
        page = new_page(viewport={"width": 1000, "height": 400})
        page.goto(f"{url}/")
        expect(page.get_by_role("button", name="Search").last).to_be_visible()
        page.wait_for_load_state("networkidle")
        page.evaluate("window.isSame = true")
        found = search(page, "depth over the sill")
        expect(found.first).to_contain_text("Depth over the sill")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{url}{generator.page}#depth-over-the-sill")
        heading = page.get_by_role("heading", name="Depth over the sill")
        expect(heading).to_be_in_viewport()
        assert page.evaluate("scrollY") > 0
        assert page.evaluate("window.isSame === true") == generator.navigates
        # The box is still there, and still knows the words.
        page.keyboard.press("Control+k")
        expect(field(page)).to_be_focused()
        if generator.indexes and name != "sphinx":
            # The key of the theme's own search.
            page.keyboard.press("Escape")
            page.keyboard.press("s")
            expect(field(page)).to_be_focused()
