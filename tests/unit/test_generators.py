"""The site generator that publishes a source, told from the configuration around it."""

import pytest
from git_server import commit
from trees import write

from pgrag.ingest.source.sources import discover


def style(source, **options):
    with discover(str(source), **options) as pages:  # type: ignore[arg-type]
        generator = pages.generator()
    return generator and generator.style


@pytest.mark.parametrize(("names", "expected"), [
    (["docs/a.md", "mkdocs.yml"], "mkdocs"),
    (["docs/a.md", "mkdocs.yaml"], "mkdocs"),
    (["docs/a.md", "docs/.vitepress/config.mts"], "vitepress"),
    (["docs/a.md", "docusaurus.config.ts"], "docusaurus"),
    (["docs/a.md", "website/docusaurus.config.js"], "docusaurus"),
    (["docs/a.md", "docs/source/conf.py"], "sphinx"),
    (["docs/a.md", "hugo.toml"], "hugo"),
    (["docs/a.md", "config.toml", "content/b.md"], "hugo"),
    (["docs/a.md", "config/_default/hugo.yaml"], "hugo"),
    (["docs/a.md", "docs/.obsidian/app.json"], "obsidian"),
    (["docs/a.md", "docs/.obsidian/app.json", "docs/mkdocs.yml"], "mkdocs"),
    (["docs/a.md", "docs/.vitepress/config.ts", "mkdocs.yml"], "vitepress"),
    (["docs/a.md", "hugo.toml", "mkdocs.yml"], None),
    (["docs/a.md", "config.toml"], None),
    (["docs/a.md", "docs/node_modules/x/mkdocs.yml"], None),
    (["docs/a.md"], None),
])  # fmt: skip
def test_the_nearest_configuration_tells(tmp_path, names, expected):
    write(tmp_path, dict.fromkeys(names, "extensions = ['myst_parser']\n"))
    (tmp_path / ".git").mkdir()
    assert style(tmp_path / "docs") == expected
    if not any(name.startswith("docs/.") for name in names):
        assert style(tmp_path / "docs" / "a.md") == expected


def test_a_conf_py_without_myst_is_no_site_of_markdown(tmp_path):
    write(tmp_path, {"a.md": "# Kettle\n", "conf.py": "PORT = 8000\n"})
    assert style(tmp_path) is None


def test_a_repository_ends_the_search(tmp_path):
    write(tmp_path, "mkdocs.yml", "inner/docs/a.md")
    assert style(tmp_path / "inner" / "docs") == "mkdocs"
    (tmp_path / "inner" / ".git").mkdir()
    assert style(tmp_path / "inner" / "docs") is None


def test_a_commit_is_searched_and_not_the_files_beside_it(tmp_path):
    write(tmp_path, "docs/en/a.md", "docs/mkdocs.yml")
    commit(tmp_path)
    (tmp_path / "docs" / "mkdocs.yml").rename(tmp_path / "docs" / "hugo.toml")
    assert style(tmp_path, ref="HEAD", subfolder="docs/en") == "mkdocs"
    assert style(tmp_path, ref="HEAD") == "mkdocs"
    assert style(tmp_path, subfolder="docs/en") == "hugo"
