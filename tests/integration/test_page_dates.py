"""Dates of pages through a run, and what they leave alone."""

import os
import subprocess
from datetime import datetime

import pytest
from pipeline_runs import Recorder, index, stored, write

FIELDS = ("created", "created_from", "modified", "modified_from")


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, {
        "2024-12-24 Eve.md": "Carols on the quay.\n",
        "old.md": "The old quay.\n",
        "stated.md": "---\ncreated: 2020-02-02\n---\n\nThe quay of stone.\n",
    })  # fmt: skip
    for number, name in enumerate(sorted(os.listdir(tmp_path))):
        touch(tmp_path / name, f"2023-0{number + 1}-01")
    return tmp_path


def touch(path, day):
    moment = datetime.fromisoformat(f"{day}T12:00:00+00:00").timestamp()
    os.utime(path, (moment, moment))


def dates(database):
    rows = database.call("pages", library="guide")
    return {
        row["key"]: tuple(
            row[name] and (f"{row[name]:%Y-%m-%d}" if "_" not in name else row[name])
            for name in FIELDS
        )
        for row in rows
    }


def test_each_date_says_where_it_is_from(database, folder):
    report = index(database, Recorder(), folder)
    assert report.warnings == report.notes == []
    assert dates(database) == {
        "2024-12-24 Eve.md": ("2024-12-24", "name", "2023-01-01", "file"),
        "old.md": ("2023-02-01", "file", "2023-02-01", "file"),
        "stated.md": ("2020-02-02", "front matter", "2023-03-01", "file"),
    }
    [page] = database.call("page", page_id="guide:old.md")
    assert page["modified_from"] == "file"
    found = database.call(
        "search", query="quay created:>=2024-12-01", library="guide", min_score=0.0
    )
    assert {row["key"] for row in found} == {"2024-12-24 Eve.md"}


def test_a_touched_file_gets_its_date_without_being_read_again(database, folder):
    index(database, Recorder(), folder)
    texts = database.query("select page_id, source_hash, indexed_at from pgrag.pages order by 1")
    before = stored(database)
    index(database, Recorder(), folder)
    assert stored(database) == before
    touch(folder / "old.md", "2024-05-05")
    touch(folder / "stated.md", "2024-06-06")
    embedder = Recorder()
    report = index(database, embedder, folder)
    assert (report.written, report.unchanged, embedder.texts) == (0, 3, [])
    assert dates(database)["old.md"] == ("2024-05-05", "file", "2024-05-05", "file")
    assert dates(database)["stated.md"] == ("2020-02-02", "front matter", "2024-06-06", "file")
    again = database.query("select page_id, source_hash, indexed_at from pgrag.pages order by 1")
    assert again == texts


def test_a_copied_folder_does_not_make_pages_new(database, folder):
    index(database, Recorder(), folder)
    for name in os.listdir(folder):
        touch(folder / name, "2026-01-01")
    report = index(database, Recorder(), folder)
    assert report.written == 0
    assert "same time" in report.notes[0]
    assert dates(database) == {
        "2024-12-24 Eve.md": ("2024-12-24", "name", "2024-12-24", "name"),
        "old.md": (None, None, None, None),
        "stated.md": ("2020-02-02", "front matter", None, None),
    }
    git = ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@b.example"]
    moment = {"GIT_AUTHOR_DATE": "2022-02-02T12:00:00Z", "GIT_CONFIG_GLOBAL": os.devnull}
    for step in (["init", "-q"], ["add", "."], ["commit", "-qm", "All"]):
        subprocess.run([*git, *step], check=True, env=os.environ | moment)
    report = index(database, Recorder(), folder)
    assert (report.written, report.notes) == (0, [])
    assert dates(database)["old.md"] == ("2022-02-02", "git", "2022-02-02", "git")
    assert dates(database)["2024-12-24 Eve.md"] == ("2024-12-24", "name", "2022-02-02", "git")


def test_of_two_files_with_one_uuid_a_newer_copy_is_not_the_newer_page(database, folder):
    write(folder, {name: f"---\nuuid: u-1\n---\n\nOf {name}.\n" for name in ("a.md", "b.md")})
    touch(folder / "a.md", "2022-01-01")
    touch(folder / "b.md", "2025-01-01")
    index(database, Recorder(), folder)
    assert "a.md" in dates(database)
    assert "b.md" not in dates(database)


def test_the_fields_of_files_use_these_dates(database, folder):
    write(folder, {"20240131.md": "A day.\n"})
    touch(folder / "20240131.md", "2024-02-02")
    index(database, Recorder(), folder)
    query = "TABLE WITHOUT ID file.ctime, file.mtime, file.day SORT file.mtime DESC LIMIT 1"
    [row] = database.call("query_pages", query=query, library="guide")
    assert [str(value)[:10] for value in row["values"]] == [
        "2024-01-31", "2024-02-02", "2024-01-31",
    ]  # fmt: skip
