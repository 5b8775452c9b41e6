"""When pages were made and changed, and what says so."""

import io
import os
import subprocess
import tarfile
import zipfile
from datetime import datetime

import pytest
from trees import write

from pgrag.ingest.matter.named_dates import date_in_name, without_date
from pgrag.ingest.page import PageOptions, read_page
from pgrag.ingest.source.dates import SAME_TIMES, Dating, history_around
from pgrag.ingest.source.source import digest_of
from pgrag.ingest.source.sources import discover
from pgrag.ingest.values import Dates


@pytest.mark.parametrize(("key", "day"), [
    ("2024-12-24.md", "2024-12-24"), ("daily/2024-12-24 Eve.md", "2024-12-24"),
    ("20241224-eve.md", "2024-12-24"), ("20241224.md", "2024-12-24"),
    ("202412240930 note.md", "2024-12-24"), ("2024_12_24.md", "2024-12-24"),
    ("2024.12.24 Eve.md", "2024-12-24"), ("_posts/2024-01-31-news.md", "2024-01-31"),
    ("blog/2024-01-31-news/index.md", "2024-01-31"), ("2024/12/24.md", "2024-12-24"),
    ("notes/2024/2024-12/24.md", "2024-12-24"), ("2024/12/24/eve.md", "2024-12-24"),
    ("Minutes 2024-12-24.md", "2024-12-24"), ("2024-13-45.md", None), ("2024.md", None),
    ("12345678.md", None), ("rfc-20241324.md", None), ("2024/12/guide.md", None),
    ("1.2024-12-241.md", None), ("2024-12.md", None),
])  # fmt: skip
def test_a_name_can_state_a_day(key, day):
    assert date_in_name(key) == day


@pytest.mark.parametrize(("key", "title"), [
    ("2024-12-24.md", "2024-12-24"), ("2024-12-24 Weihnachten.md", "Weihnachten"),
    ("20241224.md", "20241224"), ("20241224-office_party.md", "Office party"),
    ("_posts/2024-01-31-news.md", "News"), ("2024_12_24.md", "2024_12_24"),
])  # fmt: skip
def test_a_title_has_no_date_unless_it_is_one(key, title):
    assert read_page(key, b"Text.\n", PageOptions()).title == title
    assert without_date("guide") == "guide"


def test_what_the_text_states_outweighs_the_name():
    page = read_page("2024-12-24.md", b"---\ncreated: 2020-02-02\n---\nText.\n", PageOptions())
    assert (page.created, page.created_from) == ("2020-02-02", "front matter")
    page = read_page("2024-12-24.md", b"---\nmodified: 2025-02-02\n---\nText.\n", PageOptions())
    assert (page.created, page.created_from) == ("2024-12-24", "name")
    assert (page.modified, page.modified_from) == ("2025-02-02", "front matter")


def touch(path, day):
    moment = datetime.fromisoformat(f"{day}T12:00:00+00:00").timestamp()
    os.utime(path, (moment, moment))


def days(source):
    return {file.key: (file.dates.modified or "")[:10] for file in source.files()}


def test_files_have_their_times(tmp_path):
    write(tmp_path, "a.md", "b.md", "c.md")
    for name, day in (("a.md", "2022-02-02"), ("b.md", "2023-03-03"), ("c.md", "1970-01-01")):
        touch(tmp_path / name, day)
    with discover(str(tmp_path)) as source:
        assert days(source) == {"a.md": "2022-02-02", "b.md": "2023-03-03", "c.md": ""}
        assert source.notes == ()


def test_the_times_of_a_copy_are_none_and_that_is_said(tmp_path):
    write(tmp_path, *(f"{name}.md" for name in "abcdefghij"))
    touch(tmp_path / "j.md", "2022-02-02")  # changed after the others were copied, or kept
    with discover(str(tmp_path)) as source:
        assert {day for key, day in days(source).items() if key != "j.md"} == {""}
        assert days(source)["j.md"] == "2022-02-02"
        assert source.notes == (SAME_TIMES,)


def test_the_members_of_archives_have_times(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
        packed.writestr(zipfile.ZipInfo("x.md", (2021, 5, 6, 7, 8, 10)), "# X\n")
        packed.writestr(zipfile.ZipInfo("y.md"), "# Y\n")  # 1980: no time
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        member = tarfile.TarInfo("x.md")
        member.size, member.mtime = 4, datetime.fromisoformat("2021-05-06T00:00Z").timestamp()
        tar.addfile(member, io.BytesIO(b"# X\n"))
    with discover(str(tmp_path / "a.zip")) as source:
        assert days(source) == {"x.md": "2021-05-06", "y.md": ""}
    with discover(str(tmp_path / "a.tar")) as source:
        assert days(source) == {"x.md": "2021-05-06"}


def git(folder, *arguments, day=None):
    environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull}
    if day:
        moment = f"{day}T12:00:00Z"
        environment |= {"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
    names = (
        "-c",
        "user.name=A",
        "-c",
        "user.email=a@b.example",
        "-c",
        "protocol.file.allow=always",
    )
    subprocess.run(
        ["git", *names, "-C", str(folder), *arguments], check=True, env=environment,
        capture_output=True,
    )  # fmt: skip


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "repository"
    write(folder, "docs/a.md", "docs/b.md", "c.md")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "First", day="2020-01-01")
    (folder / "docs" / "b.md").write_text("# Other\n")
    git(folder, "commit", "-qam", "Second", day="2021-01-01")
    return folder


def dated(source):
    dating = Dating(source.history, is_same_commit=False)
    dates = {file.key: dating.of(file, digest_of(file.read())) for file in source.files()}
    return {
        key: ((each.created or "")[:10], (each.modified or "")[:10], each.modified_from)
        for key, each in dates.items()
    }


@pytest.mark.parametrize("ref", [None, "HEAD"])
def test_commits_date_files(repository, ref):
    with discover(str(repository), subfolder="docs", ref=ref) as source:
        assert dated(source) == {
            "a.md": ("2020-01-01", "2020-01-01", "git"),
            "b.md": ("2020-01-01", "2021-01-01", "git"),
        }
    with discover(str(repository), subfolder="docs", ref="HEAD~1") as source:
        assert dated(source)["b.md"] == ("2020-01-01", "2020-01-01", "git")


def test_a_file_that_was_changed_after_its_commit_has_its_own_time(repository):
    (repository / "c.md").write_text("# Changed\n")
    touch(repository / "c.md", "2023-03-03")
    write(repository, "new.md")
    touch(repository / "new.md", "2024-04-04")
    with discover(str(repository)) as source:
        found = dated(source)
    assert found["c.md"] == ("2020-01-01", "2023-03-03", "file")
    assert found["new.md"] == ("2024-04-04", "2024-04-04", "file")


def test_a_shallow_clone_says_that_it_knows_little(repository, tmp_path):
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repository}", "shallow")
    write(tmp_path / "shallow", {"c.md": "# Third\n"})
    git(tmp_path / "shallow", "commit", "-qam", "Third", day="2022-01-01")
    with discover(str(tmp_path / "shallow")) as source:
        assert source.history is not None
        history = source.history()
    assert {key: commit.modified[:10] for key, commit in history.commits.items()} == {
        "c.md": "2022-01-01"
    }
    assert history.commits["c.md"].created is None
    assert "shallow" in history.note


def test_a_repository_that_reads_from_elsewhere_tells_others_nothing(repository, tmp_path):
    git(tmp_path, "clone", "-q", "--shared", str(repository), "borrower")
    confined = history_around(tmp_path / "borrower", is_confined=True)
    free = history_around(tmp_path / "borrower", is_confined=False)
    assert confined is not None
    assert free is not None
    assert not confined.read().commits
    assert free.read().commits
    own = history_around(repository, is_confined=True)
    assert own is not None
    assert own.read().commits
    assert history_around(tmp_path, is_confined=False) is None


def test_an_unchanged_page_keeps_the_dates_of_the_same_commit():
    def never():
        raise AssertionError

    stored = Dates("2020-01-01", "git", "2020-01-01", "git")
    with pytest.raises(AssertionError):
        Dating(never, is_same_commit=False).again(FILE, "", stored)
    assert Dating(never, is_same_commit=True).again(FILE, "", stored) == stored


FILE = next(discover(__file__).files())
