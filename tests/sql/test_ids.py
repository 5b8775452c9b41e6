"""Ids name their library, are never used twice, and stay when a library moves to a database."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from consistency import assert_consistent
from library import Row, ingest, page, run, value
from psycopg import sql
from psycopg.rows import dict_row

LARGEST = 2**20 - 1
"""The last id of a library."""
IDS = """
select 'version' as kind, v.library_id, v.version_id as id from pgrag.versions as v
union all
select 'page', p.library_id, p.page_id from pgrag.pages as p
union all
select 'document', d.library_id, d.document_id from pgrag.documents as d
union all
select 'edge', e.library_id, e.edge_id from pgrag.edges as e
"""
#: Tables with rows of a library, each after those that its foreign keys lead to.
MOVED = """
with recursive owned as (
    select c.oid, c.relname
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid and a.attname = 'library_id'
    where c.relnamespace = 'pgrag'::regnamespace and c.relkind = 'r'
),
placed as (
    select o.oid, o.relname, 1 as place
    from owned as o
    union
    select o.oid, o.relname, p.place + 1
    from placed as p
    join pg_constraint as k on k.confrelid = p.oid and k.contype = 'f' and k.conrelid <> k.confrelid
    join owned as o on o.oid = k.conrelid
)
select p.relname as table, max(p.place) as place
from placed as p
group by p.relname
order by place, p.relname
"""


def pages(*names: str) -> list[Row]:
    return [
        page(
            f"{name}.md",
            f"The {name} is beside the pump.",
            f"Close the {name} first.",
            edges=[{"target": "valve.md", "kind": "references"}],
        )
        for name in names
    ]


def ids(connection: psycopg.Connection) -> dict[str, set[int]]:
    """All ids by kind; each is used once, names its library, and is exact in JSON."""
    found: dict[str, set[int]] = {"version": set(), "page": set(), "document": set(), "edge": set()}
    numbers: set[int] = set()
    for row in connection.execute(IDS).fetchall():
        bits = 12 if row["kind"] == "version" else 33
        assert row["id"] >> bits == row["library_id"]
        assert row["id"] & (2**bits - 1)
        assert row["id"] < 2**53
        found[row["kind"]].add(row["id"])
        if row["kind"] != "version":
            assert row["id"] not in numbers, "pages, documents and edges share a counter"
            numbers.add(row["id"])
    return found


def last(connection: psycopg.Connection, library: str) -> int:
    return int(value(connection, "select last_id from pgrag.libraries where name = %s", library))


def test_indexing_again_keeps_ids_and_new_ones_are_new(connection):
    ingest(connection, "k", pages("valve", "tank"))
    before = ids(connection)
    ingest(connection, "k", pages("valve", "tank"))
    assert ids(connection) == before

    [longer] = pages("tank")
    longer["documents"] += [{"content": "Drain the tank."}]
    ingest(connection, "k", [longer | {"source_hash": "another"}])
    changed = ids(connection)
    assert (changed["page"], changed["edge"]) == (before["page"], before["edge"])
    assert changed["document"] > before["document"]
    assert len(changed["document"] - before["document"]) == 1

    counter = last(connection, "k")
    run(connection, "remove_pages", library="k", keys=["tank.md"], version="")
    kept = ids(connection)
    ingest(connection, "k", pages("tank", "wheel"))
    for kind in ("page", "document", "edge"):
        new = ids(connection)[kind] - kept[kind]
        assert new
        assert min(new) & (2**33 - 1) > counter


def test_the_number_of_a_removed_version_is_taken_again(connection):
    for version in ("1", "2", "3"):
        ingest(connection, "k", pages("valve"), version)
    numbers = "select label, version_id & 4095 as number from pgrag.versions order by label"
    run(connection, "remove_version", library="k", version="2")
    ingest(connection, "k", pages("tank"), "4")
    rows = connection.execute(numbers).fetchall()
    assert [(row["label"], row["number"]) for row in rows] == [("1", 1), ("3", 3), ("4", 2)]
    for version, keys in (("1", ["valve.md"]), ("4", ["tank.md"])):
        hits = run(connection, "search", query="pump", library="k", version=version)
        assert sorted({hit["key"] for hit in hits}) == keys
    assert_consistent(connection)


def test_the_last_version_of_the_last_library(connection):
    """Its ids are the largest: of lists of postings they are nearly a bigint."""
    connection.execute(f"alter table pgrag.libraries alter library_id restart {LARGEST}")
    ingest(connection, "k", pages("valve"), "0")
    connection.execute(
        "insert into pgrag.versions (library_id, version_id, label, class)"
        " select l.library_id, l.library_id << 12 | n, 'tag-' || n, 'tag'"
        " from pgrag.libraries as l cross join generate_series(2, 4094) as n"
    )
    ingest(connection, "k", pages("valve", "tank"), "1")
    assert 2**32 - 1 in ids(connection)["version"]
    for query in ("close the tank", "tank", '"the tank"', "key:tank.md"):
        hits = run(connection, "search", query=query, library="k", version="1", top_k=1)
        assert [hit["key"] for hit in hits] == ["tank.md"]
    hits = run(connection, "search", query="pump", library="k", version="0")
    assert {hit["key"] for hit in hits} == {"valve.md"}

    before = connection.execute("select to_jsonb(l) from pgrag.libraries as l").fetchall()
    with pytest.raises(psycopg.Error, match="'k' has 4,095 versions, the most") as refused:  # noqa: SIM117
        with connection.transaction():
            ingest(connection, "k", pages("wheel"), "2")
    assert refused.value.sqlstate == "PGR01"
    assert refused.value.diag.message_hint
    assert connection.execute("select to_jsonb(l) from pgrag.libraries as l").fetchall() == before
    assert value(connection, "select count(*) from pgrag.pages") == 3
    # A version that exists is still written.
    ingest(connection, "k", pages("valve", "tank", "wheel"), "1")
    assert value(connection, "select count(*) from pgrag.pages") == 4
    connection.execute("delete from pgrag.versions where page_count = 0")
    assert_consistent(connection)


@pytest.mark.parametrize("libraries", [("k", "k"), ("one", "two")])
def test_two_sessions_take_different_ids(connect, libraries):
    def work(number: int) -> int:
        connection = connect()
        for round_ in range(4):
            names = [f"{number}-{round_}-{n}" for n in range(3)]
            ingest(connection, libraries[number], pages(*names), f"{round_ % 2}.0")
        return 4 * 3

    with ThreadPoolExecutor(2) as threads:
        written = sum(threads.map(work, range(2)))
    connection = connect()
    found = ids(connection)
    assert [len(found[kind]) for kind in ("page", "document", "edge")] == [
        written, 2 * written, written,
    ]  # fmt: skip
    assert_consistent(connection)


def test_a_library_moves_to_another_database_with_its_ids(clone):
    def asked(connection: psycopg.Connection, **more: object) -> list[Row]:
        return run(connection, "search", query="close the pump", library="k", top_k=2, **more)

    with (
        clone() as url,
        clone() as other_url,
        psycopg.connect(url, autocommit=True, row_factory=dict_row) as source,
        psycopg.connect(other_url, autocommit=True, row_factory=dict_row) as target,
    ):
        target.execute("alter sequence pgrag.libraries_library_id_seq increment 16 restart 3")
        ingest(target, "here", pages("valve", "anchor"), "1")
        for version in ("1", "2"):
            ingest(source, "k", pages("valve", "tank", "wheel", "lever"), version)
        run(source, "set_synonyms", library="k", synonyms={"pump": ["device"]})
        first = asked(source)
        rest = asked(source, after=first[-1]["cursor"])
        assert len(first) == len(rest) == 2

        with target.transaction():
            for row in source.execute(MOVED).fetchall():
                move(source, target, row["table"])
        assert asked(target) == first
        assert asked(target, after=first[-1]["cursor"]) == rest
        links = [
            c.execute("select * from pgrag.links('k', '2') order by edge_id").fetchall()
            for c in (source, target)
        ]
        assert links[0] == links[1] != []
        assert run(target, "search", query="anchor", library="here")[0]["key"] == "anchor.md"
        assert_consistent(target)

        before = ids(target)
        ingest(target, "k", [*pages("valve", "tank"), *pages("rope")], "2")
        ingest(target, "k", pages("rope"), "3")
        ingest(target, "new", pages("rope"))
        after = ids(target)
        assert {kind: before[kind] - after[kind] for kind in before} == {k: set() for k in before}
        libraries = "select array_agg(library_id order by library_id) from pgrag.libraries"
        assert value(target, libraries) == [1, 3, 19]
        assert asked(target, version="1") == asked(source, version="1")
        assert_consistent(target)


def move(source: psycopg.Connection, target: psycopg.Connection, table: str) -> None:
    """Copy what a table has of the only library of a database."""
    columns = sql.SQL(", ").join(
        sql.Identifier(row["attname"])
        for row in source.execute(
            "select attname from pg_attribute where attrelid = %s::regclass and attnum > 0"
            " and not attisdropped and attgenerated = '' order by attnum",
            [f"pgrag.{table}"],
        )
    )
    rows = sql.SQL("select {} from pgrag.{} where library_id is not null")
    names = [columns, sql.Identifier(table)]
    with (
        source.cursor().copy(sql.SQL("copy ({}) to stdout").format(rows.format(*names))) as reading,
        target.cursor().copy(sql.SQL("copy pgrag.{1} ({0}) from stdin").format(*names)) as writing,
    ):
        for block in reading:
            writing.write(block)
