"""`pgrag grep`, `parse`, `suggest`, and `doctor` of a library."""

import psycopg


def test_lines_are_searched_and_printed_as_by_ripgrep(indexed):
    rows = indexed.json("grep", "RESTORE", "-l", "kestrel@2.0", "-i", "-C", "1", "-n", "3")
    assert len(rows) == 3
    shown = indexed.run("grep", "RESTORE", "-l", "kestrel@2.0", "-i", "-n", "3").out.splitlines()
    assert shown == [f"{row['key']}:{row['line']}:{row['content']}" for row in rows]
    around = indexed.run("grep", "RESTORE", "-l", "kestrel@2.0", "-i", "-C", "1", "-n", "3").out
    for row in rows:
        before = row["line"] - len(row["lines_before"])
        for number, content in enumerate(row["lines_before"], before):
            assert f"{row['key']}-{number}-{content}" in around or (
                f"{row['key']}:{number}:{content}" in around
            )
    assert "--\n" in around
    lines = indexed.json("grep", r"^#+ \w+", "-l", "kestrel@2.0", "--regex", "-g", "guide/*.md")
    assert lines
    assert all(row["content"].startswith("#") for row in lines)
    assert all(row["key"].startswith("guide/") for row in lines)
    assert indexed.json("grep", "restore", "-l", "kestrel@2.0", "-w", "-S")
    assert indexed.run("grep", "estor", "-l", "kestrel@2.0", "-w", code=1).out == ""
    wrong = indexed.run("grep", "(a", "-l", "kestrel", "--regex", code=1)
    assert "parentheses () not balanced" in wrong.err
    assert "--word" in indexed.run("grep", "a", "-l", "kestrel", "-w", "-e", code=2).err


def test_a_library_is_examined_and_mended(indexed):
    assert "nothing is wrong" in indexed.run("doctor", "kestrel").err
    assert indexed.json("doctor", "kestrel@2.0") == []
    with psycopg.connect(indexed.variables["PGRAG_DATABASE_URL"], autocommit=True) as connection:
        connection.execute("update pgrag.versions set page_count = 1000")
        connection.execute("delete from pgrag.page_names where how = 'title'")
    found = indexed.run("doctor", "kestrel", code=1)
    assert "a version with other numbers of pages or passages" in found.out
    assert "Run `pgrag doctor kestrel --repair`." in found.out
    mended = indexed.run("doctor", "kestrel", "--repair", "--json").json
    assert {row["check"] for row in mended} == {"pages", "links"}
    assert all(row["repaired"] for row in mended)
    assert indexed.json("doctor", "kestrel") == []
    assert "--repair" in indexed.run("doctor", "--repair", code=2).err


def test_a_query_is_parsed_pointed_at_and_mended(indexed):
    assert indexed.json("parse", "restore type:guide #recovery") == {
        "words": "restore",
        "filters": {"type": "guide", "tags": "recovery"},
    }
    shown = indexed.run("parse", "restore a backup").out.splitlines()
    assert shown == ["words    restore a backup", "filters  none"]
    said = indexed.run("parse", "restore created:soon", code=1).err
    assert "Column 17 of the query" in said
    assert "2024-12-01" in said
    assert "restore a folder" in indexed.run("suggest", "resotre a folder", "-l", "kestrel").out
    found = indexed.run("suggest", "restore a folder", "-l", "kestrel")
    assert found.out == ""
    assert "Every word is known" in found.err
