"""`pgrag tables`, as a user calls it."""

import psycopg


def test_a_table_is_indexed_refreshed_listed_and_removed(pgrag):
    url = pgrag.variables["PGRAG_DATABASE_URL"]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "create table public.tickets (id integer primary key, subject text, body text);"
            " insert into public.tickets values (1, 'Printer', 'Paper jams.')"
        )
        assert pgrag.run("tables", "list").err.startswith("No table is indexed")
        made = pgrag.run(
            "tables", "index", "public.tickets", "--text", "body", "--title", "subject",
            "--metadata", "*", "-l", "desk",
        )  # fmt: skip
        assert made.out == "desk: 1 page written, 0 unchanged, 0 removed.\n"
        connection.execute("insert into public.tickets values (2, 'Door', 'The door squeaks.')")
        assert "triggers" in pgrag.run("tables", "list").out
        assert pgrag.json("tables", "list")[0]["waiting"] == 1
        assert pgrag.json("tables", "refresh", "desk")["written"] == 1
        assert "Door" in pgrag.run("search", "squeaking door", "--library", "desk").out
        assert pgrag.json("tables", "refresh", "desk", "--compare")["written"] == 0
        told = pgrag.run("tables", "index", "tickets", "--text", "subjct", code=1).err
        assert "has no column 'subjct'" in told
        assert "Did you mean subject?" in told
        pgrag.run("remove", "desk", "--yes")
        [(left,)] = connection.execute("select count(*) from pg_trigger where not tgisinternal")
        assert left == 0
