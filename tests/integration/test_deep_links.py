"""Options that a version remembers, and links to the anchors that a site has."""

import pytest
from pipeline_runs import Recorder, index, write

SITE = {
    "state.mdx": (
        "# State\n\n## `set` functions, like `setSomething(next)` {/*setstate*/}\n\nThey act.\n\n"
        "## Pitfalls {/* #traps */}\n\nSee [setters](#setstate) and [below](#examples-basic).\n\n"
        '<Recipes titleText="Basic" titleId="examples-basic">\n\nSome examples.\n\n</Recipes>\n'
    ),
    "links.md": (
        "# Links\n\n[a](state.mdx#setstate) [b](state.mdx#traps) [c](state.mdx#examples-basic)\n"
        "[d](html.md#old-name) [e](html.md#before) [f](html.md#inline) [g](html.md#attribute)\n"
        "[h](html.md#label) [i](state.mdx#nowhere) [j](html.md#late)\n"
    ),
    "html.md": (
        "---\ntitle: HTML\n---\n\n# HTML\n\nFirst.\n\n"
        '## <a name="old-name"></a>New name\n\nA text.\n\n'
        'More of it.\n\n<a id="before"></a>\n\n## Second\n\nIt has <b id="inline">a part</b>.\n\n'
        "A paragraph. {#attribute}\n\n(label)=\n\n## Third\n\nThe end.\n\n"
        '## Late <a id="late"></a>\n\nReally.\n'
    ),
}


@pytest.fixture(scope="module")
def embedder():
    return Recorder()


def leads_to(database):
    """The heading of the passage to which each link with a fragment leads."""
    rows = database.query(
        """
        select e.fragment, e.fragment_found, d.heading
        from pgrag.edges as e
        left join pgrag.documents as d
            on d.library_id = e.library_id and d.document_id = e.target_document_id
        where e.fragment is not null
        """
    )
    return {row["fragment"]: row["heading"] for row in rows if row["fragment_found"]}


def anchors(database):
    rows = database.query("select distinct anchor from pgrag.documents where anchor <> ''")
    return {row["anchor"] for row in rows}


def urls(database, **version):
    return {row["url"] for row in database.call("pages", library="guide", **version)}


def test_links_lead_to_headings_by_every_kind_of_id(database, embedder, tmp_path):
    write(tmp_path, SITE)
    assert index(database, embedder, tmp_path).links["fragment"] == 1, "only #nowhere is broken"
    assert leads_to(database) == {
        "setstate": "set functions, like setSomething(next)",
        "traps": "Pitfalls",
        "examples-basic": "Pitfalls",
        "old-name": "New name",
        "before": "Second",
        "inline": "Second",
        "attribute": "Second",
        "label": "Third",
        "late": "Late",
    }


def test_the_generator_beside_the_source_gives_the_anchors(database, embedder, tmp_path):
    page = "# Größe\n\n## Größe\n\nA.\n"
    write(tmp_path, {"mkdocs.yml": "site_name: Kettle\n", "docs/a.md": page})
    report = index(database, embedder, tmp_path / "docs")
    assert (report.slugs, report.changes) == ("mkdocs", [])
    assert report.slugs_from == str(tmp_path / "mkdocs.yml")
    assert anchors(database) == {"groe", "groe_1"}

    again = index(database, embedder, tmp_path / "docs")
    assert (again.slugs, again.slugs_from, again.written) == ("mkdocs", None, 0)

    (tmp_path / "mkdocs.yml").rename(tmp_path / "hugo.toml")
    assert index(database, embedder, tmp_path / "docs").written == 0, "the version remembers"

    planned = index(database, embedder, tmp_path / "docs", slugs="", dry_run=True)
    assert planned.changes == ["slug style: mkdocs → hugo; rewrites the anchors of 1 page"]
    assert anchors(database) == {"groe", "groe_1"}
    styled = index(database, embedder, tmp_path / "docs", slugs="sphinx")
    assert styled.changes == ["slug style: mkdocs → sphinx; rewrites the anchors of 1 page"]
    assert (styled.written, anchors(database)) == (1, {"grosze", "id1"})


def test_options_are_remembered_and_changes_are_said(database, embedder, tmp_path):
    write(tmp_path, {"a.md": "# Kettle\n\nIt boils.\n", "b.md": "# Pot\n\nIt pours.\n"})
    options = {"base_url": "https://kettle.example/docs", "language": "de"}
    assert index(database, embedder, tmp_path, **options).changes == []
    before = urls(database)
    assert before == {"https://kettle.example/docs/a", "https://kettle.example/docs/b"}

    again = index(database, embedder, tmp_path)
    assert (again.written, again.changes, urls(database)) == (0, [], before)

    assert index(database, embedder, tmp_path, base_url="https://tea.example").changes == [
        "base URL: https://kettle.example/docs → https://tea.example; rewrites the URLs of 2 pages"
    ]
    assert urls(database) == {"https://tea.example/a", "https://tea.example/b"}

    assert index(database, embedder, tmp_path, base_url="", language="").changes == [
        "base URL: https://tea.example → none; rewrites the URLs of 2 pages",
        "language: de → none; reads 2 pages again",
    ]
    assert urls(database) == {"/a", "/b"}
    [row] = database.call("version_source", library="guide")
    source = row["version_source"]
    assert (source["base_url"], source["language"], source["slugs"]) == ("", None, "github")
    # Every version has its own memory.
    index(database, embedder, tmp_path, "1.0", base_url="https://kettle.example/1")
    assert index(database, embedder, tmp_path, "2.0").changes == []
    assert urls(database, version="2.0") == {"/a", "/b"}
