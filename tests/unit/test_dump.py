"""Dumps without the marks that PostgreSQL keeps among the options of columns."""

import tarfile
from io import BytesIO

import pytest

from pgrag.cli.dump import is_archive, portable
from pgrag.ground.errors import SourceError

MARK = b'ALTER TABLE ONLY pgrag.pages ALTER COLUMN "position" SET (pg_attver=27594056);\n'


def test_marks_of_a_server_are_left_out_of_scripts_and_not_of_archives():
    kept = [
        b"--\n",
        b"ALTER TABLE ONLY pgrag.pages ALTER COLUMN title SET STATISTICS 0;\n",
        b"ALTER TABLE ONLY pgrag.pages ALTER COLUMN title SET (n_distinct=5);\n",
        b"COPY pgrag.pages (page_id, content) FROM stdin;\n",
        b"7\t" + MARK,
        b"SET transaction_timeout = 0;\n",
        b"\\.\n",
    ]
    foreign = [
        MARK,
        b"SET transaction_timeout = 0;\n",
        b"COMMENT ON EXTENSION vector IS 'vector data type';\n",
    ]
    assert list(portable([kept[0], *foreign, kept[1], MARK, *kept[2:], *foreign])) == kept
    archive = [b"PGDMP\x01\x10\n", MARK, b"\x00"]
    assert list(portable(archive)) == archive
    assert list(portable([])) == []


def tar():
    """An archive with one member, as `pg_dump --format tar` begins it."""
    with BytesIO() as made:
        with tarfile.open(fileobj=made, mode="w") as archive:
            archive.addfile(tarfile.TarInfo("toc.dat"))
        return made.getvalue()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"PGDMP\x01\x10", True),
        (tar(), True),
        (b"--\n-- PostgreSQL database dump\n-- PostgreSQL database dump complete\n", False),
    ],
)
def test_the_form_of_a_dump_is_seen(tmp_path, content, expected):
    (tmp_path / "toc.dat").write_bytes(content)
    assert is_archive(tmp_path / "toc.dat") is expected
    assert is_archive(tmp_path)
    with pytest.raises(SourceError, match="is not a dump"):
        is_archive(tmp_path / "..")


def test_half_of_a_tar_is_refused(tmp_path):
    """pg_restore reads it for ever."""
    (tmp_path / "half").write_bytes(tar()[:600])
    with pytest.raises(SourceError, match="its end is missing"):
        is_archive(tmp_path / "half")
