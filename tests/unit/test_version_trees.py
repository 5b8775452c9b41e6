"""Versions that lie side by side in a source become versions, with the addresses of their site."""

import json
import os
import subprocess
import zipfile
from functools import partial

import pytest
from trees import write

from pgrag.ground.errors import SourceError
from pgrag.ingest.page import PageOptions, read_page
from pgrag.ingest.source.selection import Selection
from pgrag.ingest.source.sources import discover, discover_versions
from pgrag.ingest.source.trees import find_versions, noting_versions

CONFIGURATION = """
// docs: { path: 'nowhere' }
module.exports = {
  url: 'https://harbour.example',
  presets: [['classic', {
    docs: {
      path: '../docs', routeBasePath: 'manual', sidebarPath: require.resolve('./sidebars.json'),
      /* lastVersion: '0.9', */
      versions: { '1.0': { label: 'One', path: 'old' } },
    },
    blog: { path: 'blog', routeBasePath: 'news' },
  }]],
  plugins: [['@docusaurus/plugin-content-docs', {
    id: 'api', path: '../api', routeBasePath: 'reference', lastVersion: 'current',
  }]],
};
"""
DOCUSAURUS = {
    "website/docusaurus.config.js": CONFIGURATION,
    "website/versions.json": '["2.0", "1.0"]',
    "website/versioned_docs/version-2.0/Start.md": "---\nid: start\n---\n# Start\n",
    "website/versioned_docs/version-2.0/01-guide/02-tides.md": "# Tides\n",
    "website/versioned_docs/version-2.0/01-guide/_category_.json": '{"label": "The guide"}',
    "website/versioned_docs/version-2.0/_part.md": "# Part\n",
    "website/versioned_docs/version-1.0/Start.md": "---\nslug: /first\n---\n# Start\n",
    "website/versioned_sidebars/version-2.0-sidebars.json": json.dumps({
        "docs": [{"type": "category", "label": "Basics", "items": [
            {"type": "category", "label": "First steps", "items": ["start"]},
        ]}],
    }),
    "docs/Start.md": "# Start\n",
    "api/index.md": "# API\n",
    "website/api_versioned_docs/version-1.0/index.md": "# API\n",
    "website/api_versions.json": '["1.0"]',
    "README.md": "# Harbour\n",
}  # fmt: skip


def versions(source, **options):
    """Return the keys of each version with how its pages are read."""
    found = discover_versions(str(source), Selection(**options))
    with found.source:
        return {
            label: {
                file.key: partial(read_page, file.key, file.read(), origin=file.origin)
                for file in found.version(label, Selection(**options)).files()
            }
            for label in found.labels
        }


def addresses(files, base_url="", slugs="docusaurus"):
    pages = (read(PageOptions(base_url=base_url, slugs=slugs)) for read in files.values())
    return {page.key: (page.url, page.path) for page in pages}


@pytest.fixture(params=["folder", "archive", "commit"])
def docusaurus(request, tmp_path):
    write(tmp_path / "site", DOCUSAURUS)
    if request.param == "archive":
        with zipfile.ZipFile(tmp_path / "site.zip", "w") as packed:
            for name, text in DOCUSAURUS.items():
                packed.writestr(f"site-1/{name}", text)
        return {"source": tmp_path / "site.zip"}
    if request.param == "commit":
        git = ["git", "-C", str(tmp_path / "site"), "-c", "user.name=A", "-c", "user.email=a@b.c"]
        environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull}
        for step in (["init", "-q"], ["add", "."], ["commit", "-qm", "All"]):
            subprocess.run([*git, *step], check=True, env=environment)
        return {"source": tmp_path / "site", "ref": "HEAD"}
    return {"source": tmp_path / "site"}


def test_docusaurus(docusaurus):
    found = versions(**docusaurus)
    assert list(found) == ["1.0", "2.0", "current", "next"]
    assert addresses(found["2.0"], "https://harbour.example") == {
        "01-guide/02-tides.md": (
            "https://harbour.example/manual/guide/tides", ("The guide", "Tides"),
        ),
        "Start.md": (
            "https://harbour.example/manual/start", ("Basics", "First steps", "Start"),
        ),
    }  # fmt: skip
    assert addresses(found["1.0"], "https://harbour.example/manual/") == {
        "Start.md": ("https://harbour.example/manual/old/first", ("Start",)),
        "api/index.md": ("https://harbour.example/manual/reference/1.0", ("API",)),
    }
    assert addresses(found["next"]) == {"Start.md": ("/manual/next/Start", ("Start",))}
    assert addresses(found["current"], "https://harbour.example") == {
        "api/index.md": ("https://harbour.example/reference", ("API",))
    }


def test_what_lies_outside_is_named(tmp_path):
    write(tmp_path, DOCUSAURUS)
    found = discover_versions(str(tmp_path), Selection())
    last = found.version("next", Selection(), is_last=True)
    assert [(each.count, each.examples) for each in last.skipped] == [(1, ("README.md",))]


def test_globs_are_over_the_keys_of_a_version(tmp_path):
    write(tmp_path, "docs/1.0/guide/a.md", "docs/1.0/b.md", "docs/2.0/guide/a.md")
    found = versions(tmp_path, include=("guide/**",))
    assert {label: [*files] for label, files in found.items()} == {
        "1.0": ["guide/a.md"], "2.0": ["guide/a.md"],
    }  # fmt: skip
    with discover(str(tmp_path), include=["guide/**"], versions="auto", version="2.0") as source:
        assert [file.key for file in source.files()] == ["guide/a.md"]
        assert source.arguments is not None
        assert (source.arguments["versions"], source.arguments["include"]) == (
            "auto", ["guide/**"],
        )  # fmt: skip


def test_mike(tmp_path):
    pages = {
        f"{name}/guide/index.html": "<h1>Guide</h1>\n" for name in ("1.0", "1.1", "dev", "latest")
    }
    write(tmp_path, pages, {"versions.json": json.dumps([
        {"version": "dev", "title": "dev", "aliases": []},
        {"version": "1.1", "title": "1.1", "aliases": ["latest"]},
        {"version": "1.0", "title": "1.0", "aliases": []},
    ])})  # fmt: skip
    found = versions(tmp_path)
    assert list(found) == ["1.0", "1.1", "dev"]
    assert addresses(found["1.0"], "https://harbour.example/kestrel", "github") == {
        "guide/index.html": ("https://harbour.example/kestrel/1.0/guide", ("Guide",))
    }


def test_antora(tmp_path):
    for name, version in (("server", "1.9"), ("server", "'1.10'"), ("cli", "1.10")):
        folder = f"{name}-{version.strip(chr(39))}"
        write(tmp_path, {f"{folder}/antora.yml": f"name: {name}\nversion: {version} # as named\n"})
        write(tmp_path, f"{folder}/modules/ROOT/pages/index.md", f"{folder}/modules/ops/pages/a.md")
    found = versions(tmp_path)
    assert list(found) == ["1.9", "1.10"]
    assert {
        key: url for key, (url, _) in addresses(found["1.10"], "https://h.example").items()
    } == {
        "cli/index.md": "https://h.example/cli/1.10",
        "cli/ops/a.md": "https://h.example/cli/1.10/ops/a",
        "server/index.md": "https://h.example/server/1.10",
        "server/ops/a.md": "https://h.example/server/1.10/ops/a",
    }


def test_folders_named_like_versions(tmp_path):
    for language in ("en", "de"):
        write(tmp_path, *(f"{language}/{name}/a.md" for name in ("v1.0", "2.x", "latest")))
    for language in ("en", "de"):
        write(tmp_path, {f"{language}/stable/a.md": f"# {language}/2.x/a.md\n"})
    found = versions(tmp_path)
    assert list(found) == ["1.0", "2.x", "latest"]  # stable is a copy
    assert addresses(found["1.0"], "https://h.example", "github") == {
        f"{language}/a.md": (f"https://h.example/{language}/v1.0/a", (f"{language}/v1.0/a.md",))
        for language in ("de", "en")
    }


def test_a_moving_name_may_have_a_prefix_too(tmp_path):
    write(tmp_path, "version-27.0/a.md", "version-next/a.md", "other/a.md")
    assert list(versions(tmp_path)) == ["27.0", "next"]


@pytest.mark.parametrize("names", [
    ("2023/a.md", "2024/a.md"), ("01/a.md", "02/a.md"), ("guide/a.md", "latest/a.md"),
    ("1.0/a.md", "guide/b.md"), ("a/1.0/x.md", "b/2.0/x.md"),
])  # fmt: skip
def test_other_folders_are_no_versions(tmp_path, names):
    write(tmp_path, *names)
    with discover(str(tmp_path)) as source:
        assert find_versions(source) is None
    with pytest.raises(SourceError, match="no versions lie side by side"):
        versions(tmp_path)


def test_a_run_says_what_it_saw_and_the_command(tmp_path):
    write(tmp_path, DOCUSAURUS)
    with discover(str(tmp_path)) as source:
        [*_, note] = noting_versions(
            source, "harbour", "my site", {"base_url": "https://h.example"}
        ).notes
    assert "4 versions lie side by side in it (website/versions.json)" in note
    assert note.endswith(
        "pgrag index harbour 'my site' --versions auto --base-url https://h.example"
    )


def test_release_notes_by_version_are_pages_of_one_version(tmp_path):
    write(tmp_path, "notes/1.0/what-is-new.md", "notes/2.0/changes.md")
    with discover(str(tmp_path)) as source:
        assert noting_versions(source, "harbour", "x", {}) is source


def test_a_version_that_is_gone_names_the_others(tmp_path):
    write(tmp_path, "1.0/a.md", "2.0/a.md")
    with pytest.raises(SourceError, match=r"has no version '3\.0'") as caught:
        discover(str(tmp_path), versions="auto", version="3.0")
    assert caught.value.hint == "Its versions: 1.0, 2.0."
