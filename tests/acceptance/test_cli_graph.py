"""`pgrag backlinks`, `related`, `neighbourhood`, `path` and `edges` on a small vault."""

import shutil

import pytest


@pytest.fixture
def garden(pgrag, fixtures_folder):
    pgrag.run("index", "garden", fixtures_folder / "garden")
    return pgrag


def test_the_graph_is_shown(garden):
    backlinks, related, around, way, listed = garden.run_all(
        ("backlinks", "garden", "compost.md", "--json"),
        ("related", "garden", "compost", "-n", "3", "--json"),
        ("neighbourhood", "garden", "index.md", "--depth", "2", "--direction", "out", "--json"),
        ("path", "garden", "index.md", "worms.md", "--json"),
        ("edges", "garden", "--page", "beds.md", "--kind", "depends_on", "--json"),
    )
    found = {row["key"]: row for row in backlinks.json}
    assert set(found) == {"beds.md", "tools.md", "worms.md"}
    beds = found["beds.md"]
    assert (beds["line"], beds["kind"], beds["rule"]) == (12, "depends_on", "inline:rel")
    assert beds["section"] == "Raised beds / Filling"
    assert "fresh soil" in beds["sentence"]
    assert found["worms.md"]["fragment"] == "Helpers"

    assert related.json[0]["key"] == "worms.md"
    assert "link to each other" in related.json[0]["reason"]
    assert [row["key"] for row in around.json if row["depth"] == 1] == ["beds.md", "tools.md"]
    assert {row["key"]: row["via_page"] for row in around.json if row["depth"] == 2} == {
        "compost.md": "tools.md",
        "plants/tomatoes.md": "beds.md",
    }
    assert [row["key"] for row in way.json] in [
        ["index.md", middle, "compost.md", "worms.md"] for middle in ("beds.md", "tools.md")
    ]
    assert [row["target_page"] for row in listed.json] == ["compost.md"]

    tables = garden.run_all(
        ("backlinks", "garden", "compost.md"),
        ("related", "garden", "compost.md"),
        ("neighbourhood", "garden", "compost.md"),
        ("path", "garden", "index.md", "worms.md"),
        ("edges", "garden", "--page", "beds.md", "--structure"),
    )
    words = (
        "depends_on", "shares #soil", "compost.md   ← references   tools.md", "→ references",
        "belongs_to",
    )  # fmt: skip
    assert [word for word, table in zip(words, tables, strict=True) if word not in table.out] == []


def test_edges_by_words_and_by_meaning(garden):
    words = garden.run("edges", "garden", "turn kitchen waste barrow")
    assert "tools.md" in words.out
    assert "have no vectors" in words.err
    assert "pgrag embed garden --edges" in words.err
    assert "embedded" in garden.run("embed", "garden", "--edges").out
    [best, *_] = garden.json("edges", "garden", "which tool digs: spade or fork")
    assert (best["matched_by"], best["source_page"]) == ("meaning", "tools.md")
    assert "edge_vectors" in garden.run("configure", "garden").out


def test_indexing_keeps_up_the_vectors_of_edges(pgrag, fixtures_folder, tmp_path):
    source = shutil.copytree(fixtures_folder / "garden", tmp_path / "garden")
    pgrag.run("index", "garden", source)
    pgrag.run("embed", "garden", "--edges")
    (source / "tools.md").write_text("# Tools\n\nA ladder leans on the fence by the [[beds]].\n")
    pgrag.run("index", "garden", source)
    [best, *_] = pgrag.json("edges", "garden", "ladder leaning on a fence")
    assert (best["matched_by"], best["target_page"]) == ("meaning", "beds.md")
    assert best["sentence"].startswith("A ladder leans")


def test_what_is_not_there_is_told(garden):
    nothing, lonely = garden.run_all(
        ("path", "garden", "plants/basil.md", "index.md"), ("backlinks", "garden", "index.md")
    )
    assert (nothing.out, lonely.out) == ("", "")
    assert "No path of at most 8 steps" in nothing.err
    assert "No page links there." in lonely.err
    assert "has no page" in garden.run("related", "garden", "gone.md", code=1).err
    assert "needs --page" in garden.run("edges", "garden", "--structure", code=2).err
    far = garden.run("neighbourhood", "garden", "index.md", "--depth", "99", code=1)
    assert "depth must be" in far.err
    garden.run("edges", "garden", "query", "--page", "index.md", code=2)
    for command in (
        ("links", "garden"), ("edges", "garden"), ("backlinks", "garden", "raised beds"),
    ):  # fmt: skip
        shown = garden.run(*command, "--kind", "reference")
        assert "No edge is of the kind 'reference'. Did you mean references?" in shown.err


def test_a_search_with_links_is_explained(garden):
    asked = ("search", "compost for beds", "-l", "garden", "-n", "3")
    plain, linked, told, off = garden.run_all(
        (*asked, "--json"),
        (*asked, "--graph", "--explain", "--json"),
        (*asked, "--graph", "--explain"),
        (*asked, "--no-graph", "--json"),
    )
    first = linked.json["hits"][0]
    assert first["score"] > first["hybrid_score"]
    assert first["explanation"]["graph"]["score"] == first["score"]
    shown = " ".join(told.out.split())
    for words in (*first["explanation"]["reasons"], "best pages", "graph 0."):
        assert " ".join(words.split()) in shown
    lists = [each.json["hits"] for each in (plain, off)]
    by_id = [{hit["document_id"]: hit["score"] for hit in hits} for hits in lists]
    assert by_id[0] == by_id[1]
