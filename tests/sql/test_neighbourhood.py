"""The pages around a page: how far, by which edges, and how many."""

import pytest
import vault
from library import ingest, keys, page, refused, run
from vault import Link

#: beds and compost lead to each other; worms is three steps from the index.
LINKS = [
    Link("index", "beds", sentence="Start with the [[beds]]."),
    Link("index", "tools", confidence=0.7),
    Link("beds", "compost", "depends_on", 0.95, "Beds want [[rel:depends_on compost]]."),
    Link("beds", "tomatoes"),
    Link("beds", "beds"),
    Link("compost", "beds"),
    Link("compost", "worms"),
    Link("tomatoes", "basil", "companion", 0.9),
    Link("tomatoes", "basil"),
    Link("basil", "nowhere"),
]
NOTES = ("index", "beds", "tools", "compost", "worms", "tomatoes", "basil", "lonely")


@pytest.fixture(scope="module")
def ids(module_connection):
    notes = [page(f"{name}.md", f"About {name}.") for name in NOTES]
    return vault.write(module_connection, "garden", notes, LINKS)


def around(connection, page_id, **arguments):
    return run(connection, "neighbourhood", page_id=page_id, **arguments)


def names(rows):
    return [key.removesuffix(".md") for key in keys(rows)]


def test_a_walk_keeps_to_directions_kinds_and_totals(connection, ids):
    assert names(around(connection, ids["beds"], direction="out")) == ["tomatoes", "compost"]
    assert sorted(names(around(connection, ids["beds"], direction="in"))) == ["compost", "index"]
    assert sorted(names(around(connection, ids["beds"]))) == ["compost", "index", "tomatoes"]
    assert around(connection, ids["lonely"], depth=5) == []
    rows = around(connection, ids["beds"], depth=10)
    assert len(rows) == len({row["page_id"] for row in rows}) == len(NOTES) - 2
    assert ids["beds"] not in {row["page_id"] for row in rows}
    assert next(row for row in rows if row["key"] == "index.md")["forward"] is False
    only = around(connection, ids["beds"], depth=4, kinds=["depends_on", "companion"])
    assert names(only) == ["compost"]
    assert around(connection, ids["beds"], kinds=["no_such_kind"]) == []
    assert around(connection, ids["beds"], kinds=[]) == []
    assert len(around(connection, ids["beds"], depth=5, total=4)) == 4
    nearest = around(connection, ids["beds"], depth=5, total=3)
    assert {row["depth"] for row in nearest} == {1}
    rows = around(connection, ids["tools"], page_ids=[ids["worms"], ids["worms"], ids["tools"]])
    assert sorted(names(rows)) == ["compost", "index"]
    assert names(around(connection, None, page_ids=[ids["worms"]])) == ["compost"]


def test_rows_tell_how_a_page_was_reached(connection, ids):
    rows = {row["key"]: row for row in around(connection, ids["index"], depth=3, direction="out")}
    compost = rows["compost.md"]
    assert (compost["depth"], compost["via_page"]) == (2, "beds.md")
    assert compost["path"] == [ids["index"], ids["beds"], ids["compost"]]
    assert (compost["weight"], compost["kind"]) == (pytest.approx(0.95), "depends_on")
    assert (compost["sentence"], compost["line"]) == ("Beds want [[rel:depends_on compost]].", 5)
    assert compost["forward"] is True
    assert (rows["basil.md"]["edge_count"], rows["basil.md"]["kind"]) == (2, "link")
    assert {key: row["depth"] for key, row in rows.items()} == {
        "beds.md": 1, "tools.md": 1, "compost.md": 2, "tomatoes.md": 2, "basil.md": 3,
        "worms.md": 3,
    }  # fmt: skip


def test_fan_out_takes_the_strongest_by_confidence_and_kind(connection, ids):
    assert names(around(connection, ids["beds"], direction="out", fan_out=1)) == ["tomatoes"]
    connection.execute(
        "insert into pgrag.edge_kinds (name, weight) values ('depends_on', 2)"
        " on conflict (name) do update set weight = 2"
    )
    [row] = around(connection, ids["beds"], direction="out", fan_out=1)
    assert (row["key"], row["weight"]) == ("compost.md", pytest.approx(1.9))


def test_bad_arguments_are_named(connection, ids):
    [row] = ingest(connection, "other", [page("a.md", "Alone.")], embed=False)
    other = row["page_id"]
    for arguments, message in [
        ({"depth": 0}, "depth must be between 1 and 10, got 0."),
        ({"depth": -3}, "got -3"),
        ({"depth": None}, "got null"),
        ({"fan_out": 0}, "fan_out"),
        ({"total": 0}, "total"),
        ({"direction": "sideways"}, "direction must be in, out or both, got 'sideways'"),
        ({"page_ids": [other]}, "different versions or libraries"),
    ]:
        with refused(connection, "PGR01", message):
            around(connection, ids["beds"], **arguments)
    with refused(connection, "PGR04", "no page 999999999"):
        around(connection, 999999999)
    with refused(connection, "PGR04", "no page 999999999"):
        around(connection, ids["beds"], page_ids=[999999999])


@pytest.mark.parametrize("both", [False, True])
def test_depths_are_those_of_a_breadth_first_search(connection, both):
    links = vault.random_links(60, 110)
    found = vault.write(connection, "random", vault.random_notes(60), links)
    for start in ("n0", "n1", "n17", "n33"):
        rows = around(
            connection, found[start], depth=6, fan_out=1000, direction="both" if both else "out"
        )
        expected = vault.distances(links, start, both=both)
        depths = dict(zip(names(rows), (row["depth"] for row in rows), strict=True))
        assert depths == {n: d for n, d in expected.items() if 0 < d <= 6}
