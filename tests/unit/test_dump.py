"""Dumps without the marks that PostgreSQL keeps among the options of columns."""

from pgrag.cli.dump import portable

MARK = b'ALTER TABLE ONLY pgrag.pages ALTER COLUMN "position" SET (pg_attver=27594056);\n'


def test_marks_of_a_server_are_left_out_of_scripts_and_not_of_archives():
    kept = [
        b"--\n",
        b"ALTER TABLE ONLY pgrag.pages ALTER COLUMN title SET STATISTICS 0;\n",
        b"ALTER TABLE ONLY pgrag.pages ALTER COLUMN title SET (n_distinct=5);\n",
        b"COPY pgrag.pages (page_id, content) FROM stdin;\n",
        b"7\t" + MARK,
    ]
    assert list(portable([kept[0], MARK, kept[1], MARK, *kept[2:]])) == kept
    archive = [b"PGDMP\x01\x10\n", MARK, b"\x00"]
    assert list(portable(archive)) == archive
    assert list(portable([])) == []
