"""`pgrag links`: where links lead, for people, programs and CI."""

from pathlib import Path

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pgrag.ground.embedded import EmbeddedServer

PAGES = [
    {"key": "b/x.md", "title": "X", "body": "x", "documents": [
        {"content": "One.", "heading": "One", "anchor": "one"},
    ]},
    {"key": "c/x.md", "title": "X", "body": "x"},
    {"key": "a.md", "title": "A", "body": "x", "edges": [
        {"target": "b/x.md", "fragment": "one", "line": 3},
        {"target": "x", "line": 4},
        {"target": "nowhere.md", "line": 5},
        {"target": "b/x.md", "fragment": "two", "line": 6},
        {"target": "https://example.org", "line": 7},
        {"target": "a.png", "line": 8, "rule": "explicit:embed", "kind": "embeds"},
    ]},
]  # fmt: skip


@pytest.fixture
def vault(pgrag):
    """Three pages with links of each kind."""
    with psycopg.connect(pgrag.variables["PGRAG_DATABASE_URL"]) as connection:
        connection.execute("select pgrag.ingest_pages('vault', %s)", [Jsonb(PAGES)])
        connection.execute("select pgrag.finish_version('vault')")
    return pgrag


def test_links_are_listed_and_checked(vault):
    table, embeds, fault, by_page = vault.run_all(
        ("links", "vault"),
        ("links", "vault", "--kind", "embeds", "--json"),
        ("links", "vault", "--state", "fragment"),
        ("links", "vault", "--page", "c/x", "--json"),
    )
    assert [line.split() for line in table.out.splitlines()[2:]] == [
        ["a.md:3", "references", "b/x.md#one", "b/x.md"],
        ["a.md:4", "references", "x", "ambiguous:", "b/x.md,", "c/x.md"],
        ["a.md:5", "references", "nowhere.md", "unresolved"],
        ["a.md:6", "references", "b/x.md#two", "b/x.md", "(no", "heading)"],
        ["a.md:7", "references", "https://example.org", "external"],
        ["a.md:8", "embeds", "a.png", "asset"],
    ]
    assert "6 links." in table.err
    [embed] = embeds.json
    assert (embed["source_page"], embed["target"], embed["state"]) == ("a.md", "a.png", "asset")
    assert (embed["target_page"], embed["rule"], embed["line"]) == (None, "explicit:embed", 8)
    assert "b/x.md#two" in fault.out
    assert by_page.json == []

    checked, as_json = vault.run_all(
        ("links", "vault", "--check"), ("links", "vault", "--check", "--json"), code=1
    )
    assert checked.out.splitlines() == [
        "a.md:4: x could be b/x.md or c/x.md",
        "a.md:5: nowhere.md leads to no page",
        "a.md:6: b/x.md has no heading or block #two",
    ]
    assert "3 links broken" in checked.err
    assert [row["line"] for row in as_json.json] == [4, 5, 6]

    orphans, sound, wrong = (
        vault.run("links", "vault", "--state", "orphan"),
        vault.run("links", "vault", "--check", "--page", "b/x.md"),
        vault.run("links", "vault", "--check", "--state", "orphan", code=2),
    )
    assert orphans.out.split() == ["a.md", "c/x.md"]
    assert sound.out == ""
    assert "--check" in wrong.err
    assert "has no page" in vault.run("links", "vault", "--page", "gone", code=1).err


def test_links_of_files(pgrag, tmp_path):
    """From Markdown to the report, and healed by the next run."""
    source = tmp_path / "notes"
    source.mkdir()
    (source / "a.md").write_text("# A\n\nSee [[b]] and\n[more](sub/c.md#part).\n", "utf-8")
    told = pgrag.run("index", "notes", source)
    assert "links: 2 lead to no page; see `pgrag links notes --check`" in told.out
    assert pgrag.run("links", "notes", "--check", code=1).out.splitlines() == [
        "a.md:3: b leads to no page", "a.md:4: sub/c.md#part leads to no page",
    ]  # fmt: skip
    (source / "sub").mkdir()
    (source / "sub" / "c.md").write_text("# C\n\n## Part\n\nText.\n", "utf-8")
    (source / "b.md").write_text("# B\n\nText.\n", "utf-8")
    report = pgrag.json("index", "notes", source)
    assert (report["links"]["resolved"], report["links"]["unresolved"]) == (2, 0)
    assert pgrag.run("links", "notes", "--check").out == ""


def test_links_of_a_folder_need_no_library(pgrag):
    """As a hook before a commit: nothing is left in the user's database, and no server runs."""
    pages = pgrag.folder / "notes" / "pages"
    pages.mkdir(parents=True)
    (pages / "a.md").write_text("# A\n\nSee [[b]] and [code](../a%20b.py).\n", "utf-8")
    (pages.parent / "a b.py").touch()
    server = EmbeddedServer(Path(pgrag.environment["PGRAG_HOME"]) / "links")
    try:
        broken = pgrag.run("links", "notes/", "--check", code=1)
        assert "1 link broken" in broken.err
        assert broken.out == "notes/pages/a.md:3: b leads to no page\n"
        assert not server.status().running
        (pages / "b.md").write_text("# B\n\nBack to [A](a.md#z).\n", "utf-8")
        (pages / "long.md").write_text(f"[a]({'a' * 300})", "utf-8")
        row, _ = pgrag.run("links", "./notes", "--check", "--json", code=1).json
        assert (row["source_page"], row["target_page"]) == ("notes/pages/b.md", "notes/pages/a.md")
        (pages / "b.md").write_text("# B\n\nBack to [A](a.md#a).\n", "utf-8")
        (pages / "long.md").unlink()
        assert "No link is broken" in pgrag.run("links", "notes/pages/..", "--check").err
        refused = pgrag.run("links", "notes/pages/a.md", code=1).err
        assert "notes/pages/a.md is no folder" in refused
    finally:
        server.remove()
    hint = pgrag.run("links", "notes", code=1).err
    assert "For the folder: pgrag links notes/" in hint


def test_a_version_that_was_interrupted_is_said(vault):
    with psycopg.connect(vault.variables["PGRAG_DATABASE_URL"]) as connection:
        connection.execute(
            "select pgrag.ingest_pages('half', %s, resolve => false)", [Jsonb(PAGES)]
        )
    checked = vault.run("links", "half", "--check")
    assert checked.out == ""  # its links wait for the pages to come
    assert "half is not indexed to its end" in " ".join(checked.err.split())
    assert "half is not indexed to its end" in " ".join(
        vault.run("backlinks", "half", "a").err.split()
    )
    assert "not indexed" not in vault.run("links", "vault").err
    with psycopg.connect(vault.variables["PGRAG_DATABASE_URL"]) as connection:
        changed = [PAGES[2] | {"body": "y", "source_hash": "other"}]
        connection.execute(
            "select pgrag.ingest_pages('vault', %s, resolve => false)", [Jsonb(changed)]
        )
    assert "vault is not indexed to its end" in " ".join(
        vault.run("backlinks", "vault", "a").err.split()
    )
