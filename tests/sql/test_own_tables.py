"""Tables of the user: their rows are pages, and whatever changes a row changes its page."""

import pytest
from library import refused, run, search, value

LONG = "\n\n".join(f"Paragraph {n} tells how valve {n} is opened by hand. " * 6 for n in range(9))


@pytest.fixture
def tickets(connection):
    connection.execute(
        """
        create table public.tickets (
            id bigint generated always as identity primary key,
            subject text, body text, status text, labels text[], opened timestamptz, views integer
        );
        insert into public.tickets (subject, body, status, labels, opened)
        values
            ('Printer jams', 'Paper jams when I print.', 'open', '{printer}', '2026-01-31'),
            ('Cannot sign in', 'After the update my account is locked.', 'closed', '{a,a}', null),
            (null, 'The backup of the router fails at night.', 'open', null, null)
        """
    )
    index(
        connection, "public.tickets", text="body", title="subject", tags="labels",
        created="opened", metadata="status", url="https://desk.example/t/{key}",
    )  # fmt: skip
    refresh(connection)
    return connection


def index(connection, source, **arguments):
    """`pgrag.index_table`; the table as SQL writes it."""
    names = ", ".join(f"{name} => %({name})s" for name in arguments)
    [row] = connection.execute(
        f"select pgrag.index_table(%(source)s, {names}) as library",
        {"source": source, **arguments},
    )
    return row["library"]


def refresh(connection, library="tickets", **arguments):
    """Pages written, rows unchanged, pages removed, notes left, when no row failed."""
    [row] = run(connection, "refresh_table", library=library, **arguments)
    assert row.pop("failed") == 0
    return tuple(row.values())


def noted(connection):
    return [
        row["row_key"]
        for row in connection.execute("select row_key from pgrag.changed_rows order by change_id")
    ]


def pages(connection, library="tickets"):
    rows = connection.execute(
        "select p.* from pgrag.pages as p join pgrag.libraries as l on l.library_id = p.library_id"
        " where l.name = %s order by p.key",
        [library],
    )
    return {row["key"]: row for row in rows}


def test_rows_are_found_filtered_explained_and_joined(tickets):
    [hit] = tickets.execute(
        "select s.score, s.explanation, s.url, s.title, t.status"
        " from pgrag.search('jammed paper', 'tickets', top_k => 1, explain => true,"
        """ filters => '{"front_matter.status": "open"}') as s"""
        " join public.tickets as t on t.id = s.key::bigint"
    )
    assert (hit["title"], hit["status"], hit["url"]) == (
        "Printer jams", "open", "https://desk.example/t/1"
    )  # fmt: skip
    assert hit["explanation"]["score"] == pytest.approx(hit["score"])
    page = pages(tickets)
    assert page["1"]["tags"] == ["printer"]
    assert page["1"]["created"].year == 2026
    assert page["2"]["tags"] == ["a"]
    assert page["3"]["title"] == "The backup of the router fails at night."
    assert page["3"]["front_matter"] == {"status": "open"}
    # By meaning, too: the database has embedded them.
    assert search(tickets, "jammed paper", library="tickets", mode="semantic")[0]["key"] == "1"
    [table] = run(tickets, "indexed_tables")
    assert (table["source"], table["watched"], table["pages"], table["waiting"]) == (
        "tickets", True, 3, 0
    )  # fmt: skip


def test_only_changes_of_indexed_columns_are_noted_once_each(tickets):
    tickets.execute("update public.tickets set views = 7")
    assert noted(tickets) == []
    tickets.execute("update public.tickets set subject = 'Paper', views = 8 where id < 3")
    assert sorted(noted(tickets)) == ["1", "2"]
    assert refresh(tickets, rows=1) == (1, 0, 0, 1)
    assert refresh(tickets) == (1, 0, 0, 0)
    assert pages(tickets)["2"]["title"] == "Paper"
    tickets.execute("delete from public.tickets where id = 2")
    tickets.execute(
        "insert into public.tickets (body) select 'New ' || n from generate_series(1, 3) n"
    )
    tickets.execute(
        "insert into public.tickets overriding system value values (1, 'Ink', 'Dry.')"
        " on conflict (id) do update set subject = 'Ink'"
    )
    with tickets.cursor().copy("copy public.tickets (body) from stdin") as copy:
        copy.write_row(["Copied"])
    tickets.execute("update public.tickets set body = body where id = 3")
    assert refresh(tickets) == (5, 0, 1, 0)
    assert {p["title"] for p in pages(tickets).values()} >= {"Ink", "New 3", "Copied"}
    # A key that changes is one page less and one more.
    tickets.execute("update public.tickets set id = default where id = 3")
    assert refresh(tickets) == (1, 0, 1, 0)


def test_a_restored_library_is_connected_to_its_table_anew(tickets):
    """A dump has the pages, and not what is known of tables that are not in it."""
    tickets.execute("delete from pgrag.indexed_tables")
    with refused(tickets, "PGR01", "holds no table"):
        refresh(tickets)
    assert index(tickets, "public.tickets", text="body", title="subject") == "tickets"
    assert refresh(tickets)[2] == 0
    assert len(pages(tickets)) == 3
    with refused(tickets, "PGR01", "has other pages than rows of"):
        tickets.execute("create table public.others (id integer primary key, body text)")
        index(tickets, "public.others", text="body", library="tickets")


def test_a_rollback_notes_nothing_and_truncate_removes_all(tickets):
    with tickets.transaction(force_rollback=True):
        tickets.execute("delete from public.tickets")
        assert len(noted(tickets)) == 3
    assert noted(tickets) == []
    tickets.execute("truncate public.tickets")
    assert run(tickets, "indexed_tables")[0]["waiting"] is None
    assert refresh(tickets) == (0, 0, 3, 0)
    assert search(tickets, "printer", library="tickets") == []


def test_what_triggers_do_not_see_is_found_by_a_comparison(tickets):
    tickets.execute("set local session_replication_role = replica")
    tickets.execute("update public.tickets set body = 'Unseen.' where id = 1")
    tickets.execute("delete from public.tickets where id = 2")
    assert refresh(tickets) == (0, 0, 0, 0)
    assert refresh(tickets, compare=True) == (1, 0, 1, 0)
    # Times are hashed as they are stored, whatever a session shows.
    tickets.execute("set local timezone = 'Asia/Tokyo'; set local datestyle = 'German'")
    assert refresh(tickets, compare=True) == (0, 0, 0, 0)


def test_keys_of_several_columns_quoted_names_and_uuids(connection):
    connection.execute(
        """
        create schema "My Shop";
        create table "My Shop"."Order Lines" (
            tenant text, "No." integer, "Text" text, day date, primary key (tenant, "No.", day)
        );
        insert into "My Shop"."Order Lines"
        values ('a/b', 1, 'Blue kettle', '2026-02-01'), ('100%', 2, 'Red kettle', '2026-02-01');
        create table public.notes (id uuid primary key default gen_random_uuid(), words text);
        insert into public.notes (words) values ('Green kettle');
        """
    )
    with refused(connection, "PGR01", "The library name 'order lines' cannot be used"):
        index(connection, '"My Shop"."Order Lines"', text="Text")
    index(connection, '"My Shop"."Order Lines"', text="Text", library="lines")
    index(connection, "public.notes", text="words")
    connection.execute("set local datestyle = 'German'")
    connection.execute(
        """update "My Shop"."Order Lines" set "Text" = 'Black kettle' where "No." = 2"""
    )
    assert refresh(connection, "lines")[0] == 2
    assert refresh(connection, "notes")[0] == 1
    connection.execute(
        """update "My Shop"."Order Lines" set "Text" = 'Old kettle' where "No." = 2"""
    )
    assert refresh(connection, "lines") == (1, 0, 0, 0)
    connection.execute("set local datestyle = 'ISO'")
    assert sorted(pages(connection, "lines")) == ["100%25/2/2026-02-01", "a%2Fb/1/2026-02-01"]
    found = connection.execute(
        """
        select o."No." as number
        from pgrag.search('old kettle', 'lines') as s
        join "My Shop"."Order Lines" as o
            on pgrag.row_key(o.tenant, o."No."::text, o.day::text) = s.key
        order by s.score desc
        """
    ).fetchall()
    assert [row["number"] for row in found] == [2, 1]
    joined = (
        "select from pgrag.search('kettle', 'notes') as s"
        " join public.notes as n on n.id = s.key::uuid"
    )
    assert len(connection.execute(joined).fetchall()) == 1
    assert value(connection, "select pgrag.row_key('a', null)") is None


def test_keys_of_several_collations_are_compared(connection):
    connection.execute(
        """
        create table public.parts (
            maker text collate "C", number text collate "POSIX", body text,
            primary key (maker, number)
        )
        """
    )
    index(connection, "public.parts", text="body")
    connection.execute("insert into public.parts values ('a', 'b', 'valve'), ('c', 'd', 'pump')")
    refresh(connection, "parts")
    connection.execute("update public.parts set body = 'drain' where maker = 'a'")
    assert noted(connection) == ["a/b"]
    assert refresh(connection, "parts") == (1, 0, 0, 0)


def test_a_key_is_the_same_text_whatever_a_session_has_set(connection):
    connection.execute(
        """
        create table public.readings (
            digest bytea, length interval, share float8, body text,
            primary key (digest, length, share)
        )
        """
    )
    index(connection, "public.readings", text="body")
    refresh(connection, "readings")
    connection.execute(
        """
        set local bytea_output = 'escape';
        set local intervalstyle = 'iso_8601';
        set local extra_float_digits = -5;
        insert into public.readings values ('\\x00ff', '1 day', 1.0 / 3, 'valve')
        """
    )
    assert refresh(connection, "readings") == (1, 0, 0, 0)
    assert list(pages(connection, "readings")) == ["\\x00ff/1 day/0.3333333333333333"]


def test_a_comparison_reads_what_is_noted_once(tickets):
    tickets.execute("update public.tickets set body = body || ' Again.' where id < 3")
    tickets.execute("delete from public.tickets where id = 3")
    assert refresh(tickets, compare=True, rows=2)[3] == 1
    refresh(tickets)
    assert list(pages(tickets)) == ["1", "2"]
    assert pages(tickets)["2"]["body"].endswith("Again.")


def test_virtual_columns_are_followed(connection):
    if connection.info.server_version < 180000:
        pytest.skip("Virtual columns are of PostgreSQL 18.")
    connection.execute(
        """
        create table public.parts (
            id integer primary key, name text, stock integer,
            label text generated always as ('Part: ' || name) virtual
        );
        insert into public.parts (id, name, stock) values (1, 'valve', 1), (2, 'pump', 1)
        """
    )
    index(connection, "public.parts", text="label")
    refresh(connection, "parts")
    connection.execute("update public.parts set name = 'drain' where id = 1")
    assert noted(connection) == ["1"]
    assert refresh(connection, "parts") == (1, 0, 0, 0)
    assert pages(connection, "parts")["1"]["body"] == "Part: drain"


def test_long_texts_are_cut_and_html_is_read(connection):
    connection.execute(
        "create table public.articles (id integer primary key, body text, html text)"
    )
    sentence = "One sentence without a break in sight. "
    connection.execute(
        "insert into public.articles values (1, %s, null), (2, %s, %s), (3, null, ' ')",
        [
            f"Intro.\n\n# Valves\n\n{LONG}\n\n## Pumps #\n\n"
            "```sh\n# no heading\n\nrun\n```\nC# here",
            sentence * 90,
            "<style>p {}</style><h2>Oil &amp; gas</h2><p>Tank&nbsp;7<br>"
            "is &lt;full&gt; &#8211; x &#x1F600;&#55296;</p>"
            "<!-- a --><ul><li>One</li><li>Zwei &uuml;ber</li></ul><script>alert(1)</script>",
        ],
    )
    index(connection, "public.articles", text="body", format="markdown")
    refresh(connection, "articles")
    documents = connection.execute(
        "select p.key, d.* from pgrag.documents as d join pgrag.pages as p using (page_id)"
        " order by p.key, d.sort_order"
    ).fetchall()
    cut = [d for d in documents if d["key"] == "1" and d["level"] == 2]
    assert max(len(d["content"]) for d in documents) <= 1200
    assert len(cut) > 4
    assert cut[0]["content"] == "Intro."
    assert cut[1]["heading"] == "Valves"
    assert cut[-1]["path"] == ["Intro.", "Valves", "Pumps"]
    assert "# no heading\n\nrun" in cut[-1]["content"]
    assert (cut[-1]["line_start"], cut[-1]["line_end"]) == (25, 30)
    [summary] = [d for d in documents if d["key"] == "1" and d["level"] == 0]
    assert summary["covers"] == 1
    # Every word of a line without an end is in one of its parts, and parts end with sentences.
    parts = [d["content"] for d in documents if d["key"] == "2" and d["level"] == 2]
    assert " ".join(parts) == (sentence * 90).strip()
    assert all(part.endswith(".") for part in parts)
    assert pages(connection, "articles")["3"]["title"] == "3"
    index(connection, "public.articles", text="html", format="html")
    refresh(connection, "articles")
    assert pages(connection, "articles")["2"]["body"] == (
        "## Oil & gas\n\nTank 7\nis <full> – x 😀&#55296;\n\n- One\n- Zwei über"
    )


def test_views_are_compared_and_their_keys_must_be_unique(tickets):
    tickets.execute(
        "create view public.open_tickets as"
        " select id % 3 as third, id, body from public.tickets where status = 'open'"
    )
    with refused(tickets, "PGR01", "open_tickets has no primary key"):
        index(tickets, "public.open_tickets", text="body")
    index(tickets, "public.open_tickets", text="body", id="id")
    assert refresh(tickets, "open_tickets") == (2, 0, 0, 0)
    tickets.execute("update public.tickets set status = 'closed' where id = 1")
    assert refresh(tickets, "open_tickets") == (0, 0, 1, 0)
    assert refresh(tickets, "open_tickets") == (0, 0, 0, 0)
    tickets.execute("update public.tickets set status = 'open'")
    tickets.execute("insert into public.tickets (body, status) values ('Twin', 'open')")
    index(tickets, "public.open_tickets", text="body", id="third")
    with refused(tickets, "PGR01", "Several rows of open_tickets have the key '1'"):
        refresh(tickets, "open_tickets")


def test_partitions_are_watched_by_either_name(connection):
    connection.execute(
        """
        create table public.events (id integer, year integer, words text, primary key (id, year))
            partition by list (year);
        create table public.events_2025 partition of public.events for values in (2025);
        create table public.events_2026 (words text, year integer not null, id integer not null);
        alter table public.events attach partition public.events_2026 for values in (2026);
        """
    )
    index(connection, "public.events", text="words")
    refresh(connection, "events")
    connection.execute("insert into public.events values (1, 2025, 'Old'), (2, 2026, 'New')")
    connection.execute("insert into public.events_2026 values ('Direct', 2026, 3)")
    assert refresh(connection, "events") == (3, 0, 0, 0)
    connection.execute("update public.events set year = 2026 where id = 1")
    connection.execute("delete from public.events_2026 where id = 3")
    assert refresh(connection, "events") == (1, 0, 2, 0)
    assert sorted(pages(connection, "events")) == ["1/2026", "2/2026"]


def test_renamed_and_dropped_columns_and_tables(tickets):
    tickets.execute("alter table public.tickets rename to requests")
    tickets.execute("alter table public.requests rename column body to words")
    # Whoever changes the table is not held up.
    tickets.execute("insert into public.requests (subject, words) values ('Later', 'Not lost.')")
    with refused(tickets, "PGR01", "requests has no column 'body' any more", "words"):
        refresh(tickets)
    index(tickets, "public.requests", text="words", title="subject", library="tickets")
    # Its title, and so its page, is another one than before.
    assert refresh(tickets)[0] == 4
    assert "Later" in {page["title"] for page in pages(tickets).values()}
    tickets.execute("drop table public.requests")
    with refused(tickets, "PGR01", "has been dropped"):
        refresh(tickets)
    assert run(tickets, "indexed_tables")[0]["source"] is None
    assert run(tickets, "remove_library", library="tickets")[0]["remove_library"] == 4


def test_a_removed_library_leaves_no_trigger(tickets):
    count = "select count(*) from pg_trigger where tgname like 'pgrag%%'"
    assert value(tickets, count) == 4
    run(tickets, "remove_library", library="tickets")
    assert value(tickets, count) == 0
    assert run(tickets, "indexed_tables") == []


def test_applications_without_rights_in_pgrag_change_their_tables(tickets):
    tickets.execute("create role clerk")
    tickets.execute("grant select, insert, update, delete on public.tickets to clerk")
    with tickets.transaction():
        tickets.execute("set local role clerk")
        tickets.execute(
            "insert into public.tickets (subject, body) values ('From a clerk', 'Hello')"
        )
        tickets.execute("reset role")
    assert refresh(tickets)[0] == 1
    tickets.execute("set local role clerk")
    for statement in ("select from pgrag.changed_rows", "delete from pgrag.changed_rows"):
        with refused(tickets, "42501"):
            tickets.execute(statement)
    with refused(tickets, "42501", "clerk may not make triggers of tickets"):
        index(tickets, "public.tickets", text="body")


def test_every_column_named_must_be_readable(tickets):
    tickets.execute(
        "create role reader in role pgrag_writer; grant trigger on public.tickets to reader;"
        " grant select (id, body) on public.tickets to reader; set local role reader"
    )
    with refused(tickets, "42501", "reader may not read tickets", "grant select on tickets"):
        index(tickets, "public.tickets", text="body", title="subject", library="secret")


def test_a_trigger_calls_no_function_of_the_search_path_of_an_application(tickets):
    tickets.execute(
        "create schema trap; create table trap.calls (who text);"
        " create function trap.format(text, text) returns text language sql as"
        " $$ insert into trap.calls values (current_user) returning 'trap' $$;"
        " set local search_path = public, trap"
    )
    tickets.execute("update public.tickets set body = 'Changed.' where id = 1")
    assert value(tickets, "select count(*) from trap.calls") == 0
    assert noted(tickets) == ["1"]


def test_hidden_rows_are_an_error_not_a_removal(tickets):
    tickets.execute(
        "create role agent in role pgrag_writer; grant select on public.tickets to agent;"
        " alter table public.tickets enable row level security;"
        " create policy own on public.tickets using (status = 'open');"
        " select pgrag.grant_libraries('agent', '{tickets}')"
    )
    tickets.execute("update public.tickets set body = 'Changed.'")
    with refused(tickets, "42501", "row-level security"):
        tickets.execute("set local session authorization agent")
        refresh(tickets)
    assert refresh(tickets) == (3, 0, 0, 0)


def test_nobody_runs_functions_of_a_view_of_a_lesser_role(tickets):
    tickets.execute(
        "create role mallory in role pgrag_writer; grant create on schema public to mallory;"
        " select pgrag.grant_libraries('mallory', '{*}')"
    )
    tickets.execute("set local session authorization mallory")
    tickets.execute("create view public.trap as select 1 as id, current_user::text as body")
    index(tickets, "public.trap", text="body", id="id")
    assert refresh(tickets, "trap") == (1, 0, 0, 0)
    tickets.execute("reset session authorization")
    with refused(tickets, "42501", "trap belongs to mallory"):
        refresh(tickets, "trap")
    # A table of hers is read, also one with an enumeration, unless a cast calls a function.
    tickets.execute("set local session authorization mallory")
    tickets.execute(
        "create type public.mood as enum ('glad');"
        "create table public.moods (id integer primary key, body text, mood public.mood);"
        "insert into public.moods values (1, 'Hello', 'glad')"
    )
    index(tickets, "public.moods", text="body", metadata="mood")
    tickets.execute("reset session authorization")
    assert refresh(tickets, "moods") == (1, 0, 0, 0)
    tickets.execute("set local session authorization mallory")
    tickets.execute(
        "create function public.shown(public.mood) returns text language sql"
        " return current_user::text; create cast (public.mood as text)"
        " with function public.shown(public.mood)"
    )
    tickets.execute("reset session authorization")
    with refused(tickets, "42501", "moods belongs to mallory"):
        refresh(tickets, "moods")


def test_a_worker_reads_no_more_than_the_role_that_indexed_a_table(tickets):
    tickets.execute(
        "create role mallory in role pgrag_writer;"
        " create table public.pay (id integer primary key, name text, sum text);"
        " insert into public.pay values (1, 'Ann', 'a million');"
        " grant select (id, name) on public.pay to mallory;"
        " select pgrag.grant_libraries('mallory', '{*}')"
    )
    mallory = "set local session authorization mallory"
    tickets.execute(mallory)
    index(tickets, "public.pay", text="name", watch=False)
    tickets.execute("reset session authorization")
    assert refresh(tickets, "pay") == (1, 0, 0, 0)
    # Past index_table, and in the name of another role.
    forged = """update pgrag.indexed_tables set columns = '{"id": ["id"], "text": ["sum"]}'"""
    tickets.execute(mallory)
    tickets.execute(f"{forged} where source = 'public.pay'::regclass")
    with refused(tickets, "42501", "row-level security"):
        tickets.execute(f"{forged}, indexed_by = (select usename from pg_user limit 1)")
    tickets.execute("reset session authorization")
    with refused(tickets, "42501", "mallory may not read all of pay"):
        refresh(tickets, "pay")
    # All columns, but not all rows; then in a role that sees all.
    tickets.execute("grant select on public.pay to mallory")
    assert refresh(tickets, "pay", compare=True) == (1, 0, 0, 0)
    tickets.execute("alter table public.pay enable row level security")
    with refused(tickets, "42501", "mallory may not read all of pay"):
        refresh(tickets, "pay", compare=True)
    index(tickets, "public.pay", text="sum", watch=False)
    assert refresh(tickets, "pay", compare=True) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"text": "bodi"}, "tickets has no column 'bodi', which text names"),
        ({"text": "body", "title": "subject, status"}, "title takes one column"),
        ({"text": "body", "id": "status"}, "may have the same"),
        ({"text": "body", "format": "pdf"}, "format"),
        ({"text": "body", "language": "klingonisch"}, "which language names"),
        ({"text": None}, "text must name the columns"),
        ({"text": " "}, "text must name the columns"),
        ({"text": "body", "library": "a b"}, "cannot be used"),
    ],
)
def test_wrong_arguments_are_named(tickets, arguments, complaint):
    with refused(tickets, "PGR01", complaint):
        index(tickets, "public.tickets", **arguments)


def test_a_table_is_named_with_its_schema_or_without(connection):
    connection.execute(
        "create schema app; create table app.tickets (id integer primary key, body text);"
        "create schema b; create table b.notes (id integer primary key, body text)"
    )
    assert index(connection, "tickets", text="body") == "tickets"
    assert run(connection, "indexed_tables")[0]["source"] == "app.tickets"
    connection.execute("create table app.notes (id integer primary key, body text)")
    with refused(connection, "PGR01", "There is no table 'other.public.notes'"):
        index(connection, "other.public.notes", text="body")
    with refused(connection, "PGR01", "There is no table 'notes'", "app.notes"):
        index(connection, "notes", text="body")
    with refused(
        connection, "PGR01", "There is no table 'app.tickest'", "Did you mean app.tickets"
    ):
        index(connection, "app.tickest", text="body")
    connection.execute("create table pgrag.letters (id integer primary key, body text)")
    with refused(
        connection, "PGR01", "There is no table 'public.letters'", "Did you mean pgrag.letters"
    ):
        index(connection, "public.letters", text="body")


def test_a_row_that_cannot_be_stored_fails_alone(connection, notices):
    connection.execute(
        "create table public.words (id text primary key, body text, kind text);"
        "insert into public.words values ('good', 'A pump hums.', 'a');"
        "insert into public.words select 'bad', 'x',"
        " string_agg(md5(g::text), ' ') from generate_series(1, 900) as g"
    )
    index(connection, "public.words", text="body", type="kind", created="body")
    [row] = run(connection, "refresh_table", library="words")
    assert (row["written"], row["failed"], row["waiting"]) == (1, 1, 0)
    assert any("The row 'bad' of words cannot be stored: index row" in n for n in notices)
    assert pages(connection, "words")["good"]["warnings"] == [
        "good: created is no time: A pump hums."
    ]
    connection.execute("update public.words set kind = 'c' where id = 'bad'")
    assert refresh(connection, "words") == (1, 0, 0, 0)
    assert search(connection, "humming", library="words")[0]["key"] == "good"


def test_other_pages_are_not_mixed_with_rows(tickets, manual):
    with refused(tickets, "PGR01", "has other pages"):
        index(tickets, "public.tickets", text="body", library=manual)
    with refused(tickets, "PGR01", "holds no table", "tickets"):
        refresh(tickets, manual)
