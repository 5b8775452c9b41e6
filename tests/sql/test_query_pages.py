"""Queries over pages: every clause, every operator, and what each mistake is told."""

from datetime import date, timedelta

import projects
import psycopg
import pytest
from library import ingest, keys, page, refused, run, value


@pytest.fixture(scope="module", autouse=True)
def written(module_connection):
    projects.write(module_connection)
    module_connection.execute("delete from pgrag.edges")
    projects.link(module_connection, "projects/roof.md", "people/ada.md", "people/ada")
    projects.link(module_connection, "projects/garden.md", "people/bob.md", "Bob")
    projects.link(module_connection, "people/ada.md", "people/bob.md", "bob")
    projects.link(module_connection, "people/bob.md", None, "nobody")


def ask(connection, query, **arguments):
    return run(connection, "query_pages", **({"query": query, "library": "vault"} | arguments))


def names(connection, query):
    """The file names of the pages that a query finds, in its order."""
    return [key.rpartition("/")[2].removesuffix(".md") for key in keys(ask(connection, query))]


def one(connection, expression, page="projects/roof"):
    """The value of an expression on one page."""
    [row] = ask(connection, f'TABLE WITHOUT ID {expression} FROM "{page}"')
    [found] = row["values"]
    return found


def test_tables_and_lists_have_the_page_and_columns_in_order(connection):
    [row] = ask(connection, 'TABLE status, priority AS Rank, due AS "Due on" FROM "projects/roof"')
    assert row["columns"] == ["File", "status", "Rank", "Due on"]
    assert row["values"] == ["[[projects/roof]]", "open", 3, "2024-06-01"]
    assert list(row["fields"].items()) == list(zip(row["columns"], row["values"], strict=True))
    assert (row["key"], row["title"]) == ("projects/roof.md", "Mend the roof")
    assert row["page_id"] == value(
        connection, "select page_id from pgrag.pages where key = 'projects/roof.md'"
    )
    [row] = ask(connection, 'table without id status from "projects/roof"')
    assert row["fields"] == {"status": "open"}
    [row] = ask(connection, 'LIST WITHOUT ID "is " + status FROM "projects/roof"')
    assert row["values"] == ["is open"]
    [row] = ask(connection, 'TABLE WITHOUT ID FROM "projects/roof"')
    assert row["fields"] == {"File": "[[projects/roof]]"}
    assert names(connection, "LIST") == [
        "2024-05-06", "ada", "bob", "garden", "shed", "roof",
    ]  # fmt: skip
    assert names(connection, "LIST ") == names(connection, "  list\n")


def test_sources(connection):
    for source, found in [
        ('"projects"', "garden shed roof"),
        ('"/projects/"', "garden shed roof"),
        ('"project"', ""),
        ('""', "2024-05-06 ada bob garden shed roof"),
        ('"projects/roof"', "roof"),
        ('"projects/roof.md"', "roof"),
        ("#project", "garden roof"),
        ("#Project/House", "roof"),
        ("#proj", ""),
        ("#project and #urgent", "roof"),
        ("#urgent or #diary", "2024-05-06 roof"),
        ('"projects" and -#project', "shed"),
        ('"projects" and !#project', "shed"),
        ('-("projects" or "people")', "2024-05-06"),
        ('#diary or #archive and "people"', "2024-05-06"),
        ('(#diary or #archive) and "projects"', "shed"),
        ("[[ada]]", "roof"),
        ("[[people/ada]]", "roof"),
        ("[[Robert]]", "ada garden"),
        ("[[Bob|him]] and #project", "garden"),
        ("[[nobody]]", "bob"),
        ("[[nowhere]]", ""),
        ("outgoing([[roof]])", "ada"),
        ("outgoing([[Mend the roof]]) or outgoing([[ada]])", "ada bob"),
        ('-[[bob]] and "people"', "bob"),
    ]:
        assert names(connection, f"LIST FROM {source}") == found.split()


def test_conditions(connection):
    for condition, found in [
        ('status = "open"', "shed roof"),
        ('"open" = status', "shed roof"),
        ('status != "open"', "2024-05-06 ada bob garden"),
        ('status = "Open"', ""),
        ("priority = 3", "roof"),
        ("priority = 3.0", "roof"),
        ('priority = "3"', ""),
        ("priority > 3", "garden shed"),
        ('priority >= 3 and typeof(priority) = "number"', "garden roof"),
        ("priority < 4 and priority", "roof"),
        ("priority <= 3", "2024-05-06 ada bob roof"),
        ("done = true", "garden"),
        ("done = false", "roof"),
        ("done", "garden"),
        ("!done", "2024-05-06 ada bob shed roof"),
        ("not done and status", "shed roof"),
        ('NOT status = "open" AND status', "garden"),
        ("due = null", "2024-05-06 ada bob shed"),
        ("due != null", "garden roof"),
        ("due", "garden roof"),
        ("costs", "roof"),
        ("due = date(2024-06-01)", "roof"),
        ('due = date("2024-06-01")', "roof"),
        ("due > date(2024-05-01)", "garden roof"),
        ("due > date(2024-05-01T08:00) and due < date(2024-06-01) + dur(1 day)", "roof"),
        ("due < date(2024-05-15) and due", "garden"),
        ("due and due < date(today)", "garden roof"),
        ("born.year = 1990", "bob"),
        ("born.month = 12 or born.day = 3", "ada bob"),
        ("due - date(2024-05-31) = dur(24 hours)", "roof"),
        ("effort-left > dur(2 days)", "roof"),
        ("effort-left = dur(72 h)", "roof"),
        ('row["Effort Left"]', "roof"),
        ("owner = [[ada]]", "roof"),
        ("owner = [[people/bob]]", "garden"),
        ('site.city = "Oslo"', "roof"),
        ('site["zip"] = "0150"', "roof"),
        ('contains(materials, "soil")', "garden"),
        ('contains(materials, "oo")', "shed"),
        ('icontains(materials, "SOIL")', "garden"),
        ('contains(materials, "so")', ""),
        ("contains(costs, 30.5)", "roof"),
        ('contains(site, "city")', "roof"),
        ('contains(tags, "urgent")', "roof"),
        ('contains(tags, "project")', ""),
        ('contains(file.tags, "#project")', "garden roof"),
        ('contains(file.etags, "#project")', ""),
        ("contains(file.outlinks, [[ada]])", "roof"),
        ("contains(file.inlinks, [[garden]])", "bob"),
        ("length(file.inlinks) > 1", "bob"),
        ("length(materials) = 2", "garden"),
        ('startswith(status, "op")', "shed roof"),
        ('endswith(file.name, "den")', "garden"),
        ('lower(file.title) = "bob"', "bob"),
        ('upper(status) = "DONE"', "garden"),
        ('regexmatch("o.*n", status)', "shed roof"),
        ('regexmatch("pe", status)', ""),
        ('regextest("pe", status)', "shed roof"),
        ('regextest("^\\d{4}-", file.name)', "2024-05-06"),
        ('default(status, "none") = "none"', "2024-05-06 ada bob"),
        ("choice(done, 1, 2) = 1", "garden"),
        ('file.folder = "projects/old"', "shed"),
        ('file.path = "people/ada.md" | file.name = "bob"', "ada bob"),
        ('file.ext = "md" & status', "garden shed roof"),
        ("file.day = date(2024-05-06)", "2024-05-06"),
        ("file.cday = date(2024-03-01)", "roof"),
        ("file.mtime > date(2024-04-02T10:00) and file.mday = date(2024-04-02)", "roof"),
        ('contains(file.aliases, "Robert")', "bob"),
        ("file.frontmatter.born", "ada bob"),
        ("any(costs, done)", "garden roof"),
        ('status = "done" or status = "open" and priority = 3', "garden roof"),
        ('(status = "done" or status = "open") and priority = 3', "roof"),
        ('status = "open" WHERE priority = 3', "roof"),
        ("priority * 2 + 1 = 7", "roof"),
        ("priority = 3 and -priority < 0 - 2", "roof"),
        ("nothing.at.all", ""),
        ("nothing + 1 > 2", ""),
        ("status = status", "2024-05-06 ada bob garden shed roof"),
    ]:
        assert names(connection, f"LIST WHERE {condition}") == found.split()


def test_expressions(connection):
    for expression, result in [
        ("1 + 2 * 3 - 4 / 2", 5),
        ("(1 + 2) * 3 % 4", 1),
        ("1 / 0", None),
        ("1 / 3", 0.33333333333333333333),
        ("round(1 / 3, 2)", 0.33),
        ("floor(1.7) + ceil(1.2) + trunc(-1.7)", 2),
        ('"a" + 1 + "b"', "a1b"),
        (r'"say \"hi\" \\ \d"', r'say "hi" \ \d'),
        ("null", None),
        ('[1, [2, 3], "x", null]', [1, [2, 3], "x", None]),
        ("list()", []),
        ("list(1, 2)[1]", 2),
        ("costs[0]", 120),
        ("sum(costs)", 150.5),
        ("average(costs)", 75.25),
        ("min(3, 1, 2) + max(costs)", 121),
        ('max("b", "a")', "b"),
        ("min(list())", None),
        ('sort(list(3, "b", 1, "A", null, true))', [True, 1, 3, "A", "b"]),
        ("reverse(list(1, 2))", [2, 1]),
        ("unique(list(2, 1, 2))", [1, 2]),
        ("flat(list(1, list(2, 3)))", [1, 2, 3]),
        ("nonnull(list(1, null))", [1]),
        ('join(list(1, "a"), "; ")', "1; a"),
        ("join(costs)", "120, 30.5"),
        ("all(list(1, true)) = none(list(0, false))", True),
        ('any(0, "", list())', False),
        ('lower(list("A", "B"))', ["a", "b"]),
        ('replace("a.b", ".", "-")', "a-b"),
        ('regexreplace("a1b22", "(\\d+)", "<$1>")', "a<1>b<22>"),
        ('substring("hello", 1, 3) + substring("hello", 4)', "elo"),
        ('split("a,b", ",")', ["a", "b"]),
        ('number("18 years") + number(2)', 20),
        ('number("none")', None),
        ("string(18)", "18"),
        ('containsword("Hello there!", "hello")', True),
        ('containsword("words", "word")', False),
        ('length("four")', 4),
        ("date(2024-02-28) + dur(2 days)", "2024-03-01"),
        ("date(2024-01-31) + dur(1 month)", "2024-02-29"),
        ("date(2024-03-01T10:00) - dur(1 h, 30 min)", "2024-03-01T08:30:00"),
        ("date(2024-03-02) - date(2024-02-28)", "3 days"),
        ('date("2024-03-02T01:00") - date(2024-03-01)', "1 day, 1 hour"),
        ("dur(1 day) + dur(36 hours)", "2 days, 12 hours"),
        ('date("no date")', None),
        ("date(due)", "2024-06-01"),
        ('dur("3 weeks").days', 21),
        ("striptime(file.mtime)", "2024-04-02"),
        ("due.weekday", 6),
        ("typeof(due)", "date"),
        ("typeof(owner)", "link"),
        ("typeof(effort-left)", "duration"),
        ("typeof(list(1))", "array"),
        ("typeof(nothing)", "null"),
        ('link("a", "b")', "[[a|b]]"),
        ("file.link", "[[projects/roof]]"),
        ("file.outlinks", ["[[people/ada]]"]),
        ("file.tags", ["#project", "#project/house", "#urgent"]),
        ("file.size", len(projects.ROOF_TASKS.encode())),
        ("length(file.tasks)", 6),
        ("file.tasks.completed", [False, True, False, False, True, False]),
        ("priority > 2", True),
        ("!(priority > 2)", False),
        ("row.status", "open"),
    ]:
        assert one(connection, expression) == result
    today = value(connection, "select current_date")
    assert one(connection, "date(today)") == today.isoformat()
    assert one(connection, "date(tomorrow)") == (today + timedelta(days=1)).isoformat()
    assert one(connection, "date(yesterday)") == (today - timedelta(days=1)).isoformat()
    assert one(connection, "date(som)") == today.replace(day=1).isoformat()
    assert date.fromisoformat(one(connection, "date(sow)")).weekday() == 0
    assert date.fromisoformat(one(connection, "date(end-of-week)")).weekday() == 6
    assert one(connection, "date(eoy)") == f"{today.year}-12-31"
    assert one(connection, "date(now)").startswith(f"{today.year}-")


def test_sorting_by_types_and_keys_and_commands_in_order(connection):
    """The order of Dataview: null, lists, booleans, dates, durations, links, numbers, texts."""
    assert one(
        connection, 'sort(list("b", 2, [[z]], dur(1 h), date(2024-01-01), false, list(1))) '
    ) == [[1], False, "2024-01-01", "1 h", "[[z]]", 2, "b"]
    assert names(connection, "LIST SORT priority") == [
        "2024-05-06", "ada", "bob", "roof", "garden", "shed",
    ]  # fmt: skip
    assert names(connection, 'LIST FROM "projects" SORT status, priority DESC') == [
        "garden", "shed", "roof",
    ]  # fmt: skip
    assert names(connection, "LIST SORT file.folder DESCENDING, file.name ascending") == [
        "shed", "garden", "roof", "ada", "bob", "2024-05-06",
    ]  # fmt: skip
    # A later SORT keeps the order of an earlier one among equals.
    assert names(connection, 'LIST FROM "projects" SORT priority DESC SORT status') == [
        "garden", "shed", "roof",
    ]  # fmt: skip
    assert names(connection, "LIST SORT file.name LIMIT 2") == ["2024-05-06", "ada"]
    assert names(connection, "LIST LIMIT 3 SORT file.name DESC") == ["bob", "ada", "2024-05-06"]
    assert names(connection, "LIST LIMIT 3 WHERE born LIMIT 0") == []
    assert len(ask(connection, "LIST LIMIT 5", top_k=2)) == 2
    assert ask(connection, "LIST", top_k=0) == []


def test_groups_and_flattened_members(connection):
    rows = ask(connection, "TABLE length(rows) AS n, rows.file.name AS names GROUP BY status")
    assert [row["columns"] for row in rows] == [["Group", "n", "names"]] * 3
    assert [row["values"] for row in rows] == [
        [None, 3, ["2024-05-06", "ada", "bob"]], ["done", 1, ["garden"]],
        ["open", 2, ["shed", "roof"]],
    ]  # fmt: skip
    assert {(row["page_id"], row["key"]) for row in rows} == {(None, None)}
    assert [r["values"] for r in ask(connection, "LIST rows.priority GROUP BY status")] == [
        [None, [None, None, None]], ["done", [10]], ["open", ["high", 3]],
    ]  # fmt: skip
    rows = ask(
        connection,
        'TABLE WITHOUT ID key, folder, sum(rows.priority) FROM "projects" WHERE priority'
        " GROUP BY file.folder AS folder WHERE length(rows) > 1 SORT key DESC",
    )
    assert [row["values"] for row in rows] == [["projects", "projects", 13]]
    [row] = ask(connection, 'TABLE rows FROM "projects/roof" GROUP BY 1')
    [member] = row["fields"]["rows"]
    assert member["status"] == "open"
    assert member["file"]["link"] == "[[projects/roof]]"
    assert ask(connection, "LIST file.name GROUP BY status")[0]["values"] == [None, None]
    [row] = ask(connection, "LIST length(rows) GROUP BY status GROUP BY 1")
    assert row["values"] == [1, 3]
    rows = ask(connection, 'TABLE materials FROM "projects" FLATTEN materials')
    assert [(row["key"], row["values"][1]) for row in rows] == [
        ("projects/garden.md", "soil"), ("projects/garden.md", "seeds"),
        ("projects/old/shed.md", "wood"), ("projects/roof.md", None),
    ]  # fmt: skip
    rows = ask(connection, "TABLE T.text FLATTEN file.tasks AS T WHERE T.completed SORT T.text")
    assert [row["values"][1] for row in rows] == ["Draw a plan ✅ 2024-05-02", "Measure"]
    rows = ask(connection, "LIST length(rows) FLATTEN tags GROUP BY tags")
    assert [tuple(row["values"]) for row in rows] == [
        (None, 2), ("archive", 1), ("diary", 1), ("project/garden", 1), ("project/house", 1),
        ("urgent", 1),
    ]  # fmt: skip
    assert ask(connection, 'LIST FROM "projects/garden" FLATTEN costs') == []


def test_open_tasks_alone_and_in_groups(connection):
    rows = ask(connection, "TASK FROM #project")
    assert [(row["key"], row["line"], row["fields"]["Task"]) for row in rows] == [
        ("projects/garden.md", 3, "Dig"),
        ("projects/roof.md", 3, "Buy slates #shopping [cost:: 120]"),
        ("projects/roof.md", 5, "Compare prices 📅 2024-07-01"),
        ("projects/roof.md", 15, "Paint (due:: 2024-09-01)"),
    ]
    assert rows[1]["columns"] == ["Task", "Status", "Heading"]
    assert [row["fields"]["Heading"] for row in rows] == ["Garden", "Roof", "Roof", "Later"]
    assert {row["fields"]["Status"] for row in rows} == {" "}
    rows = ask(connection, "TASK WHERE !completed GROUP BY file.link")
    assert [(row["fields"]["Group"], len(row["fields"]["Tasks"])) for row in rows] == [
        ("[[projects/garden]]", 1), ("[[projects/roof]]", 4),
    ]  # fmt: skip
    assert rows[0]["fields"]["Tasks"][0]["text"] == "Dig"


def test_tasks_by_their_fields(connection):
    for condition, lines in [
        ("completed", [4, 7]),
        ("checked", [4, 6, 7]),
        ('status = "-"', [6]),
        ("!completed", [3, 5, 6, 15]),
        ("fullyCompleted", [4, 7]),
        ("completion = date(2024-05-02)", [7]),
        ("due < date(2024-08-01) and !completed and due.month = 7", [5]),
        ("cost > 100", [3]),
        ('contains(tags, "#shopping")', [3]),
        ("parent = 3", [5]),
        ('contains(text, "Paint")', [15]),
        ('heading = "Later"', [15]),
        ("priority = 3 and line > 5", [15]),
        ('file.name = "roof" and line < 4', [3]),
    ]:
        rows = ask(connection, f'TASK FROM "projects/roof" WHERE {condition}')
        assert [row["line"] for row in rows] == lines


def test_a_task_names_the_smallest_passage_at_its_line(connection):
    body = "---\na: 1\n---\n- [ ] One\n\n- [ ] Two"
    documents = [
        {"content": "One Two", "level": 1, "sort_order": 1, "line_start": 4, "line_end": 6},
        {"content": "One", "level": 2, "sort_order": 2, "line_start": 4, "line_end": 4},
    ]
    written = page("t.md", *documents, body=body.partition("---\n- ")[2].join(["- ", ""]),
                   head="---\na: 1\n---\n")  # fmt: skip
    ingest(connection, "tasks", [written], language="simple", embed=False)
    rows = ask(connection, "TASK", library="tasks")
    contents = connection.execute(
        "select d.document_id, d.content from pgrag.documents as d"
    ).fetchall()
    of = {row["document_id"]: row["content"] for row in contents}
    assert [(row["line"], of[row["document_id"]]) for row in rows] == [(4, "One"), (6, "One Two")]


@pytest.mark.parametrize(
    ("query", "column", "message"),
    [
        ("", 1, "expected TABLE, LIST or TASK, found the end of the query."),
        ("SELECT 1", 1, "expected TABLE, LIST or TASK, found 'SELECT'."),
        ("CALENDAR due", 1, "expected TABLE, LIST or TASK"),
        ("TABLE a,", 9, "expected a value, a property or a function, found the end"),
        ("TABLE a, WHERE b", 10, "expected a value, found 'WHERE'."),
        ("TABLE a AS", 11, "expected a name after AS"),
        ("TABLE a b", 9, "expected FROM, WHERE, SORT, GROUP BY, FLATTEN, LIMIT"),
        ("LIST a, b", 9, "a LIST shows one value."),
        ("LIST FROM guide", 11, 'expected #tag, "folder", [[note]] or outgoing([[note]])'),
        ("LIST FROM outgoing(x)", 11, "expected #tag"),
        ("LIST FROM (#a or #b", 20, "expected ) for the ( of column 11"),
        ("LIST FROM #a FROM #b", 14, "FROM stands once"),
        ("LIST WHERE a FROM #b", 14, "FROM stands once"),
        ("LIST WHERE", 11, "expected a value, a property or a function"),
        ("LIST WHERE a ==1", 15, "expected a value"),
        ("LIST WHERE (a", 14, "expected ) for the ( of column 12"),
        ("LIST WHERE a)", 13, "expected FROM, WHERE"),
        ('LIST WHERE a = "b', 16, "this quote is not closed."),
        ("LIST WHERE a = 'b'", 16, "has no meaning here."),
        ("LIST WHERE a ; b", 14, "';' has no meaning here."),
        ("LIST WHERE foo(a)", 12, "there is no function 'foo'."),
        ("LIST WHERE contains(a)", 12, "contains takes 2 values, got 1."),
        ("LIST WHERE round(a, 1, 2)", 12, "round takes 1 to 2 values, got 3."),
        ("LIST WHERE lower()", 12, "lower takes 1 value, got 0."),
        ("LIST WHERE a.", 14, "expected a name after the dot"),
        ("LIST WHERE a[1", 15, "expected ] for the [ of column 13"),
        ("LIST WHERE file", 12, "file has no value of its own."),
        ("LIST WHERE file.foo", 12, "there is no file.foo."),
        ("LIST WHERE this.a", 12, "a query stands on no page"),
        ("LIST WHERE [[a]].b", 12, "the properties of another page cannot be read."),
        ("LIST WHERE date(2024-02-31)", 12, "'2024-02-31' is not a date."),
        ("LIST WHERE dur(3 moons)", 12, "'3 moons' is not a duration."),
        ('LIST WHERE regexmatch("(", a)', 23, "this is not a regular expression."),
        ('LIST WHERE regexmatch("(a{1,200}){1,200}", a)', 23, "this is not a regular expression."),
        ("LIST SORT", 10, "expected a value"),
        ("LIST LIMIT x", 12, "expected a whole number, found 'x'."),
        ("LIST LIMIT -1", 12, "expected a whole number"),
        ("LIST GROUP BY a, b", 18, "GROUP BY takes one value."),
        ("LIST WHERE " + "(" * 200 + "a", 52, "this is nested too deeply."),
        ("LIST WHERE " + "!" * 5000 + "a", 52, "this is nested too deeply."),
        ("LIST WHERE a" + " + 1" * 100, None, "these are too many operators in a row."),
        ("LIST FROM " + "-" * 5000 + "#a", 51, "this is nested too deeply."),
        ("LIST WHERE a" + ".b" * 1000, None, "this is nested too deeply."),
        ("TABLE " + "a, " * 101 + "a", None, "these are more than 100 columns."),
        ("LIST" + " SORT a" * 51, 356, "these are more than 50 commands."),
        ("LIST " + " " * 10000, 10001, "10,000 characters at most"),
    ],
)
def test_syntax_errors_name_their_column(connection, query, column, message):
    with refused(connection, "PGR16", message):
        ask(connection, query)
    with pytest.raises(psycopg.Error) as caught, connection.transaction():
        ask(connection, query)
    told = int(caught.value.diag.column_name or 0)
    assert f"Column {told} of the query: " in (caught.value.diag.message_primary or "")
    assert caught.value.diag.message_hint
    if column is not None:
        assert told == column


def test_long_chains_and_growing_values_have_bounds(connection):
    ors = " or ".join(f'status = "{n}"' for n in range(300))
    assert names(connection, f'LIST WHERE {ors} or status = "done"') == ["garden"]
    tags = " or ".join(f"#t{n}" for n in range(300))
    assert names(connection, f"LIST FROM {tags} or #diary") == ["2024-05-06"]
    # Each would have more than 10^12 characters; beyond the bound the value is null.
    for bomb in [
        "replace(" * 20 + "'a'" + ", 'a', 'aaaaaaaaaa')" * 20,
        "regexreplace(" * 20 + "'a'" + ", 'a', 'aaaaaaaaaa')" * 20,
        "x" + " FLATTEN default(x, 'a') + default(x, 'a') AS x" * 40,
        "x" + " FLATTEN list(list(default(x, 1), x, x, x)) AS x" * 13,
        "x" + " FLATTEN [[default(x, 1), x, x, x]] AS x" * 40,
        "x" + " FLATTEN join(list(default(x, 'a'), default(x, 'a'))) AS x" * 40,
    ]:
        value, *commands = bomb.replace("'", '"').split(" FLATTEN ")
        flattened = "".join(f" FLATTEN {command}" for command in commands)
        [row] = ask(connection, f"LIST WITHOUT ID {value} LIMIT 1{flattened}")
        assert len(repr(row["values"])) < 20_000_000


def test_library_and_version_by_name(connection):
    ingest(connection, "versioned", [page("a.md", "Old", front_matter={"x": 1})], "1.0.0")
    ingest(connection, "versioned", [page("a.md", "New", front_matter={"x": 2})], "2.0.0")
    query = "TABLE WITHOUT ID x"
    assert ask(connection, query, library="versioned")[0]["values"] == [2]
    assert ask(connection, query, library="versioned", version="^1")[0]["values"] == [1]
    with refused(connection, "PGR02"):
        ask(connection, query, library="nowhere")
    with refused(connection, "PGR03"):
        ask(connection, query, library="versioned", version="stable")
