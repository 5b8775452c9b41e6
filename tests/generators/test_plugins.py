"""The plugins of MkDocs and Sphinx in real builds: what is indexed, where, and what replaces what.

`make test-generators` installs the generators, with themes and what builds versions.
"""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from git_server import commit, run_git

import pgrag

INSTALLED = os.environ.get("PGRAG_GENERATORS")
pytestmark = pytest.mark.skipif(INSTALLED is None, reason="make test-generators installs them")

SERVICE = "https://search.example"
SITE = "https://harbour.example/docs/"
_HIDDEN = "Walruses sleep on the northern pontoon."


@pytest.fixture
def db(database_url) -> Iterator[pgrag.Client]:
    with pgrag.connect(database_url) as client:
        yield client


@pytest.fixture
def run(database_url):
    """Run a generator in a folder; returns its exit status and all that it says."""
    assert INSTALLED is not None
    programs = Path(INSTALLED).resolve() / "bin"

    def run(folder: Path, *command: str, **environment: str) -> tuple[int, str]:
        paths = [environment.pop("PYTHONPATH", ""), os.environ.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        done = subprocess.run(
            [programs / command[0], *command[1:]],
            cwd=folder, text=True, check=False, timeout=120, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={
                **os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
                "PGRAG_DATABASE_URL": database_url, "NO_MKDOCS_2_WARNING": "1", "NO_COLOR": "1",
                "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org",
                "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org", **environment,
            },
        )  # fmt: skip
        return done.returncode, done.stdout

    return run


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def mkdocs(folder: Path, options: str = "", *, theme: str = "material", plugins: str = "") -> Path:
    own = f"{{library: harbour, service: '{SERVICE}', key: pgrag_pk_x{options}}}"
    return write(folder, {
        "mkdocs.yml": f"site_name: Harbour\nsite_url: {SITE}\ntheme: {{name: {theme}}}\n"
        f"plugins:\n  - search\n{plugins}  - pgrag: {own}\n",
        ".gitignore": "site/\n",
        "docs/index.md": "# Harbour\n\nWhat skippers ask.\n",
        "docs/tides[1].md": "# Tides\n\n## Depth over the sill\n\nMinus 1.8 metres.\n",
        "docs/hidden.md": f"---\nsearch:\n  exclude: true\n---\n# Hidden\n\n{_HIDDEN}\n",
        "docs/secret[2].md": f"---\nnosearch: true\n---\n# Secret\n\n{_HIDDEN}\n",
    })  # fmt: skip


def sphinx(folder: Path, settings: str = "") -> Path:
    own = "project = 'Harbour'\nrelease = '2.1'\nextensions = ['pgrag.generators.sphinx']\n"
    own += f"pgrag_library = 'harbour'\npgrag_service = '{SERVICE}'\nhtml_baseurl = '{SITE}'\n"
    below = "Depth over the sill\n-------------------\n\nMinus 1.8 metres.\n"
    return write(folder, {
        "conf.py": own + settings,
        "index.rst": "Harbour\n=======\n\nFor skippers.\n\n.. toctree::\n\n   tides\n   hidden\n",
        "tides.rst": f"Tides\n=====\n\n{below}",
        "hidden.rst": f":nosearch:\n\nHidden\n======\n\n{_HIDDEN}\n",
    })  # fmt: skip


def keys(db: pgrag.Client, version: str = "-") -> list[str]:
    return sorted(page.key for page in db.pages("harbour", version))


def test_material_loses_its_search_and_keeps_pages_out_that_ask_for_it(db, run, tmp_path):
    status, said = run(mkdocs(tmp_path), "mkdocs", "build", "--strict")
    assert status == 0, said
    assert "pgrag: harbour: 2 pages written" in said
    assert keys(db) == ["index.html", "tides[1]/index.html"]
    [hit] = db.search("depth over the sill", "harbour", top_k=1)
    assert (hit.url, hit.anchor) == (f"{SITE}tides[1]", "depth-over-the-sill")
    page = (tmp_path / "site/index.html").read_text()
    assert (
        f"{SERVICE}/widget.js?library=harbour&amp;key=pgrag_pk_x&amp;in=.md-header__inner" in page
    )
    assert 'data-md-component="search"' not in page
    assert not (tmp_path / "site/search").exists()
    # What goes from the site goes from the index.
    (tmp_path / "docs/tides[1].md").unlink()
    status, said = run(tmp_path, "mkdocs", "build")
    assert "1 removed" in said
    assert keys(db) == ["index.html"]


def test_without_a_service_the_theme_keeps_its_search(db, run, tmp_path):
    mkdocs(tmp_path, theme="readthedocs")
    configuration = (tmp_path / "mkdocs.yml").read_text().replace(f"service: '{SERVICE}', ", "")
    write(tmp_path, {"mkdocs.yml": configuration})
    status, said = run(tmp_path, "mkdocs", "build", "--strict")
    assert status == 0, said
    assert (tmp_path / "site/search/search_index.json").exists()
    assert "widget.js" not in (tmp_path / "site/index.html").read_text()
    assert len(keys(db)) == 2


def test_a_preview_and_a_build_without_index_write_nothing(db, run, tmp_path):
    mkdocs(tmp_path, ", index: !ENV [PGRAG_INDEX, true]")
    status, said = run(tmp_path, "mkdocs", "build", PGRAG_INDEX="false")
    assert status == 0, said
    assert "widget.js" in (tmp_path / "site/index.html").read_text()
    stopping = (
        "import atexit, mkdocs.livereload as l\nl.LiveReloadServer.serve = lambda *_, **__: None"
    )
    write(tmp_path, {"stop/sitecustomize.py": stopping})
    status, said = run(tmp_path, "mkdocs", "serve", PYTHONPATH=str(tmp_path / "stop"))
    assert status == 0, said
    assert "Documentation built" in said
    assert "harbour" not in [each.library for each in db.libraries()]


def test_mike_names_the_versions(db, run, tmp_path):
    mike = "  - mike: {canonical_version: latest}\n"
    commit(mkdocs(tmp_path, theme="mkdocs", plugins=mike))
    for version in ("1.0", "1.1"):
        status, said = run(tmp_path, "mike", "deploy", version, "latest", "--update-aliases")
        assert status == 0, said
    assert [each.version for each in db.versions("harbour")] == ["1.1", "1.0"]
    [hit] = db.search("depth over the sill", "harbour", version="1.0", top_k=1)
    assert hit.url.startswith(f"{SITE}1.0/tides")
    page = run_git(tmp_path, "show", "gh-pages:1.0/index.html")
    assert "&amp;version=1.0&amp;" in page


def test_builds_end_with_words_that_name_the_way_out(run, tmp_path):
    mkdocs(tmp_path)
    nowhere = "postgresql://nobody@127.0.0.1:1/nothing"
    status, said = run(tmp_path, "mkdocs", "build", PGRAG_DATABASE_URL=nowhere)
    assert status != 0
    assert re.search(r"pgrag: The database cannot be used.* PGRAG_DATABASE_URL is right", said)
    mkdocs(tmp_path, ", box: {hotkye: j}")
    status, said = run(tmp_path, "mkdocs", "build")
    assert status != 0
    assert "pgrag: box has no attribute 'hotkye'. Did you mean 'hotkey'?" in said
    sphinx(tmp_path / "sphinx", "pgrag_library = ''\n")
    status, said = run(tmp_path / "sphinx", "sphinx-build", "-q", ".", "_build")
    assert status != 0
    assert "name the library in conf.py" in said


@pytest.mark.parametrize("theme", ["alabaster", "furo", "sphinx_rtd_theme"])
def test_sphinx_has_the_box_where_the_search_was(theme, db, run, tmp_path):
    sphinx(tmp_path, f"html_theme = '{theme}'\npgrag_box = {{'lang': 'de'}}\n")
    status, said = run(tmp_path, "sphinx-build", "-W", ".", "_build", "-b", "dirhtml")
    assert status == 0, said
    assert "pgrag: harbour 2.1: 2 pages written" in said
    element = '<pgrag-search library="harbour" version="2.1" lang="de"></pgrag-search>'
    for page in ("index.html", "search/index.html"):
        text = (tmp_path / "_build" / page).read_text()
        assert text.count(element) == 1
        assert 'name="q"' not in text
    assert not (tmp_path / "_build/searchindex.js").exists()
    assert keys(db, "2.1") == ["index.html", "tides/index.html"]
    [hit] = db.search("depth over the sill", "harbour", top_k=1)
    assert (hit.url, hit.anchor) == (f"{SITE}tides", "depth-over-the-sill")


def test_sphinx_multiversion_names_the_versions(db, run, tmp_path):
    extensions = "extensions += ['sphinx_multiversion']\nsmv_branch_whitelist = '^$'\n"
    commit(sphinx(tmp_path, extensions + "html_theme = 'classic'\n"))
    run_git(tmp_path, "tag", "v1.0")
    write(tmp_path, {"tides.rst": "Tides\n=====\n\nMinus two metres.\n"})
    commit(tmp_path)
    run_git(tmp_path, "tag", "v2.0")
    # It does not work with Sphinx 9, so both are in a folder of their own.
    older = {"PYTHONPATH": str(Path(INSTALLED or "").resolve() / "multiversion")}
    status, said = run(tmp_path, "python", "-m", "sphinx_multiversion", ".", "_build", **older)
    assert status == 0, said
    assert [each.version for each in db.versions("harbour")] == ["2.0", "1.0"]
    [hit] = db.search("depth over the sill", "harbour", version="1.0", top_k=1)
    assert (hit.url, hit.anchor) == (f"{SITE}v1.0/tides.html", "depth-over-the-sill")
    assert 'version="2.0"' in (tmp_path / "_build/v2.0/index.html").read_text()
