"""Page ranks against plain loops."""

import pytest
import vault
from library import page, refused, run, value
from vault import Link

SIZE = 40


def ranks(connection, library):
    rows = connection.execute(
        "select p.key, r.* from pgrag.page_ranks as r"
        " join pgrag.pages as p on p.library_id = r.library_id and p.page_id = r.page_id"
        " join pgrag.libraries as l on l.library_id = r.library_id where l.name = %s",
        [library],
    ).fetchall()
    return {row["key"].removesuffix(".md"): row for row in rows}


def test_ranks_are_those_of_the_oracle(connection):
    links = vault.random_links(SIZE, 150)
    vault.write(connection, "random", vault.random_notes(SIZE), links)
    connection.execute(
        "insert into pgrag.edge_kinds (name, weight) values ('depends_on', 3), ('link', 1)"
        " on conflict (name) do update set weight = excluded.weight"
    )
    [report] = run(connection, "refresh_page_ranks", library="random")
    found = ranks(connection, "random")
    expected = vault.page_ranks([f"n{n}" for n in range(SIZE)], links, {"depends_on": 3})
    assert {name: row["rank"] for name, row in found.items()} == pytest.approx(expected, abs=2e-6)
    assert sum(row["rank"] for row in found.values()) == pytest.approx(1, abs=1e-5)
    assert report["pages"] == SIZE
    pairs = {(link.source, link.target) for link in links if link.source != link.target}
    assert report["links"] == len(pairs)
    assert 2 < report["rounds"] <= 50
    assert {name: (row["in_degree"], row["out_degree"]) for name, row in found.items()} == {
        name: (sum(t == name for _, t in pairs), sum(s == name for s, _ in pairs)) for name in found
    }


def test_what_stays_is_not_written_again(connection):
    vault.write(connection, "calm", vault.random_notes(5), [Link("n1", "n2"), Link("n2", "n3")])
    run(connection, "refresh_page_ranks", library="calm", version="")
    before = value(connection, "select array_agg(ctid order by page_id) from pgrag.page_ranks")
    run(connection, "refresh_page_ranks", library="calm", version="")
    after = value(connection, "select array_agg(ctid order by page_id) from pgrag.page_ranks")
    assert before == after


def test_links_that_change_places_are_ranked_anew(connection):
    """Each page keeps its numbers of links; only where they come from has changed."""
    links = [Link("n0", "n1"), Link("n1", "n2"), Link("n3", "n4")]
    vault.write(connection, "swap", vault.random_notes(5), links)
    run(connection, "finish_version", library="swap")
    before = ranks(connection, "swap")
    connection.execute(
        "update pgrag.edges set target_page_id = case target_page_id"
        " when %(n2)s then %(n4)s when %(n4)s then %(n2)s else target_page_id end",
        {name: before[name]["page_id"] for name in ("n2", "n4")},
    )
    run(connection, "finish_version", library="swap")
    after = ranks(connection, "swap")
    assert before["n2"]["rank"] > before["n4"]["rank"]
    assert after["n4"]["rank"] == pytest.approx(before["n2"]["rank"], abs=1e-6)
    assert after["n2"]["rank"] == pytest.approx(before["n4"]["rank"], abs=1e-6)


def test_a_finished_version_is_ranked_where_links_have_changed(connection):
    vault.write(connection, "live", vault.random_notes(5), [Link("n1", "n2")])
    assert {round(row["rank"], 6) for row in ranks(connection, "live").values()} == {0.2}
    run(connection, "finish_version", library="live")
    found = ranks(connection, "live")
    assert found["n2"]["rank"] > 0.25 > 0.2 > found["n1"]["rank"]
    connection.execute("update pgrag.page_ranks set rank = 0.5")
    run(connection, "finish_version", library="live")
    assert {row["rank"] for row in ranks(connection, "live").values()} == {0.5}
    connection.execute(
        "update pgrag.edges set target_page_id = (select page_id from pgrag.pages"
        " where key = 'n3.md' and version_id = edges.version_id)"
    )
    run(connection, "finish_version", library="live")
    found = ranks(connection, "live")
    assert found["n3"]["rank"] > found["n2"]["rank"]


def test_links_without_weight_and_versions_without_links(connection):
    vault.write(connection, "loose", vault.random_notes(4), [Link("n1", "n1"), Link("n2", "gone")])
    run(connection, "refresh_page_ranks", library="loose")
    assert {row["rank"] for row in ranks(connection, "loose").values()} == {0.25}
    vault.write(connection, "mute", vault.random_notes(3), [Link("n1", "n2", "whispers")])
    connection.execute("insert into pgrag.edge_kinds (name, weight) values ('whispers', 0)")
    [report] = run(connection, "refresh_page_ranks", library="mute")
    assert report["links"] == 0
    run(connection, "open_version", library="empty")
    [report] = run(connection, "refresh_page_ranks", library="empty")
    assert (report["pages"], report["links"], report["rounds"]) == (0, 0, 0)
    with refused(connection, "PGR02", "no library 'nothing'"):
        run(connection, "refresh_page_ranks", library="nothing")
    with refused(connection, "PGR03", "no version '9'"):
        run(connection, "refresh_page_ranks", library="empty", version="9")


def test_versions_are_ranked_apart(connection):
    vault.write(connection, "tool", [page("a.md", "A."), page("b.md", "B.")], [Link("a", "b")])
    run(connection, "open_version", library="tool", version="2")
    reports = run(connection, "refresh_page_ranks", library="tool")
    assert [(row["version_label"], row["pages"]) for row in reports] == [("", 2), ("2", 0)]
