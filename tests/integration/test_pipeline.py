"""From a folder to a version: what changed is written once, and whatever fails, the rest stands."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from pgrag.db import Database
from pgrag.embedding import BuiltinEmbedder, Vectors
from pgrag.errors import DatabaseUnavailable, EmbeddingError, InvalidInput
from pgrag.ingest import pipeline
from pgrag.ingest.page import PageOptions
from pgrag.ingest.pipeline import IndexReport, IndexTarget
from pgrag.ingest.sources import discover

GUIDE = {
    "index.md": "# Nodes\n\nEverything about nodes, from the first boot to the last.\n",
    "drain.md": "# Drain\n\nMove the work away before you upgrade the kernel of a node.\n",
    "fill.md": "# Fill\n\nLet the scheduler bring the work back to the node.\n",
    "deep/logs.md": "---\ntitle: Logs\ntags: [ops]\n---\n\n## Where\n\nThe journal keeps them.\n",
}


class Recorder:
    """The built-in model, and every text that it was asked for."""

    def __init__(self) -> None:
        self._model = BuiltinEmbedder()
        self.texts: list[str] = []
        self.before: Callable[[], None] = lambda: None

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def dimensions(self) -> int:
        return self._model.dimensions

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.before()
        self.texts += texts
        return self._model.embed_documents(texts)

    def embed_query(self, text: str) -> Vectors:
        return self._model.embed_query(text)


@pytest.fixture(scope="module")
def builtin() -> Recorder:
    return Recorder()


@pytest.fixture
def embedder(builtin: Recorder) -> Recorder:
    builtin.texts = []
    builtin.before = lambda: None
    return builtin


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "docs", GUIDE)
    return tmp_path / "docs"


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")


def index(
    database: Database, embedder: Recorder, folder: Path, version: str = "", **options: object
) -> IndexReport:
    dry_run = bool(options.pop("dry_run", False))
    progress = options.pop("progress", None)
    with discover(str(folder)) as source:
        return pipeline.index(
            database, embedder, source, IndexTarget("guide", version, PageOptions(**options)),
            dry_run=dry_run, progress=progress,
        )  # fmt: skip


def keys(database: Database, version: str = "") -> set[str]:
    rows = database.call("stored_pages", library="guide", version=version)
    return {row["key"] for row in rows}


def stored(database: Database) -> dict[str, list[tuple[object, ...]]]:
    """Where every row stands on disk: equal places mean that nothing was written."""
    return {
        table: [
            tuple(row.values()) for row in database.query(f"select ctid, xmin from pgrag.{table}")
        ]
        for table in ("pages", "documents", "embeddings", "lexeme_statistics", "corpus_statistics")
    }


def found(database: Database, query: str) -> set[str]:
    rows = database.call("keyword_search", query=query, library="guide", levels=[2])
    return {row["key"] for row in rows}


def is_complete(database: Database) -> bool:
    """No text lacks its vector, no document its page, and the version can be the newest."""
    [version] = database.call("library_versions", library="guide")
    counted = database.query(
        "select count(*) as documents, count(e.document_id) as vectors from pgrag.documents as d"
        " left join pgrag.embeddings as e using (library_id, document_id) where d.covers > 0"
    )[0]
    return (
        version["status"] == "ready"
        and version["documents"] == counted["documents"] == counted["vectors"]
        and not database.call("pending_embeddings", library="guide")
    )


class TestRuns:
    def test_first_run_writes_everything(self, database, embedder, folder):
        told: list[tuple[int, int, int]] = []
        report = index(
            database, embedder, folder, language="en", base_url="https://example.org/docs",
            progress=lambda *step: told.append(step),
        )  # fmt: skip
        assert (report.pages, report.written, report.unchanged, report.removed) == (4, 4, 0, 0)
        assert (report.failed, report.warnings) == ({}, [])
        assert report.embedded == len(embedder.texts) == len(set(embedder.texts)) > 0
        assert report.seconds > 0
        assert [step[:2] for step in told] == [(n, 4) for n in (1, 2, 3, 4)]
        [version] = database.call("library_versions", library="guide")
        assert (version["pages"], version["documents"]) == (4, report.documents)
        assert version["source"] == {
            "location": str(folder), "revision": None, "base_url": "https://example.org/docs",
            "profile": "by_heading",
        }  # fmt: skip
        [hit, *_] = database.call("search", query="upgrade a kernel", library="guide")
        assert (hit["key"], hit["url"]) == ("drain.md", "https://example.org/docs/drain")
        assert is_complete(database)

    def test_second_run_writes_nothing(self, database, embedder, folder):
        index(database, embedder, folder)
        before, embedded = stored(database), len(embedder.texts)
        report = index(database, embedder, folder)
        assert (report.written, report.unchanged, report.embedded) == (0, 4, 0)
        assert stored(database) == before
        assert len(embedder.texts) == embedded

    def test_only_the_changed_page_is_written(self, database, embedder, folder):
        index(database, embedder, folder)
        before = {row["key"]: row for row in database.call("pages", library="guide")}
        embedder.texts = []
        write(folder, {"fill.md": "# Fill\n\nWait for the scheduler, then look at the journal.\n"})
        report = index(database, embedder, folder)
        assert (report.written, report.unchanged, report.removed) == (1, 3, 0)
        assert {row["key"]: row for row in database.call("pages", library="guide")} == before
        assert embedder.texts
        assert all("look at the journal" in text for text in embedder.texts)
        assert found(database, "scheduler journal") == {"fill.md", "deep/logs.md"}
        assert is_complete(database)

    def test_new_and_removed_files(self, database, embedder, folder):
        index(database, embedder, folder)
        (folder / "fill.md").unlink()
        write(folder, {"new.md": "# Taints\n\nA taint keeps work away.\n"})
        report = index(database, embedder, folder)
        assert (report.written, report.removed) == (1, 1)
        assert keys(database) == {"index.md", "drain.md", "deep/logs.md", "new.md"}
        assert found(database, "scheduler") == set()

    def test_renamed_file_keeps_its_vectors(self, database, embedder, folder):
        index(database, embedder, folder, base_url="https://example.org")
        write(folder, {"drain.md": "---\nurl: /d\n---\n" + GUIDE["drain.md"]})
        index(database, embedder, folder, base_url="https://example.org")
        embedder.texts = []
        (folder / "drain.md").rename(folder / "moved.md")
        report = index(database, embedder, folder, base_url="https://example.org")
        assert (report.written, report.removed, report.embedded) == (1, 1, 0)

    def test_other_options_are_another_page(self, database, embedder, folder):
        index(database, embedder, folder, language="en")
        report = index(database, embedder, folder, language="de")
        assert report.written == 4
        assert {row["language"] for row in database.call("pages", library="guide")} == {"german"}

    def test_text_is_embedded_once_in_all_versions(self, database, embedder, folder):
        index(database, embedder, folder, "1.0", base_url="https://example.org/1.0")
        first = list(embedder.texts)
        write(folder, {"drain.md": "# Drain\n\nSince 2.0 this needs one command only.\n"})
        report = index(database, embedder, folder, "2.0", base_url="https://example.org/2.0")
        assert report.written == 4
        new = embedder.texts[len(first) :]
        assert new
        assert all("one command only" in text for text in new)
        assert len(set(embedder.texts)) == len(embedder.texts)
        assert not database.call("pending_embeddings", library="guide")
        [row] = database.query("select count(*) from pgrag.embeddings")
        assert row["count"] == report.documents * 2

    def test_dry_run_writes_nothing(self, database, embedder, folder):
        planned = index(database, embedder, folder, dry_run=True)
        assert database.call("libraries") == []
        done = index(database, embedder, folder)
        assert (planned.written, planned.documents) == (done.written, done.documents)
        assert set(planned.planned) == set(GUIDE)
        before = stored(database)
        (folder / "fill.md").unlink()
        write(folder, {"drain.md": "# Drain\n\nOtherwise.\n"})
        planned = index(database, embedder, folder, dry_run=True)
        assert planned.dry_run
        assert (planned.written, planned.unchanged, planned.removed) == (1, 2, 1)
        assert (list(planned.planned), planned.gone) == (["drain.md"], ["fill.md"])
        assert stored(database) == before

    def test_batches_are_written_while_the_next_is_read(
        self, database, embedder, folder, monkeypatch
    ):
        monkeypatch.setattr(pipeline, "BATCH_DOCUMENTS", 3)
        write(folder, {f"part/{n}.md": f"# Part {n}\n\nText of part {n}.\n" for n in range(20)})
        report = index(database, embedder, folder)
        assert (report.written, report.failed) == (24, {})
        assert is_complete(database)


class TestDuplicates:
    def page(self, date: str, text: str) -> str:
        return f"---\nuuid: 8b5c\nmodified: {date}\n---\n\n# {text}\n\nThis is the {text} one.\n"

    def test_newest_page_with_a_uuid_wins(self, database, embedder, folder):
        write(
            folder, {"a.md": self.page("2024-01-01", "old"), "b.md": self.page("2024-06-01", "new")}
        )
        for _ in range(2):
            report = index(database, embedder, folder)
            [warning] = report.warnings
            assert warning.startswith("a.md: has the same uuid '8b5c' as b.md, which is newer")
            assert keys(database) == {*GUIDE, "b.md"}
        assert found(database, "old one") == {"b.md"}
        assert is_complete(database)

    def test_loser_comes_in_when_it_becomes_the_newest(self, database, embedder, folder):
        write(
            folder, {"a.md": self.page("2024-01-01", "old"), "b.md": self.page("2024-06-01", "new")}
        )
        index(database, embedder, folder)
        write(folder, {"a.md": self.page("2025-01-01", "newest")})
        index(database, embedder, folder)
        assert keys(database) == {*GUIDE, "a.md"}
        (folder / "a.md").unlink()
        index(database, embedder, folder)
        assert keys(database) == {*GUIDE, "b.md"}

    @pytest.mark.parametrize("uuid", ["uuid: 77aa\n", ""])
    def test_page_that_gives_its_uuid_away_stays(self, database, embedder, folder, uuid):
        write(folder, {"z.md": self.page("2024-01-01", "first")})
        index(database, embedder, folder)
        write(
            folder,
            {
                "a.md": self.page("2024-06-01", "copy"),
                "z.md": f"---\n{uuid}modified: 2024-01-01\n---\n\n# First\n\nThe first one.\n",
            },
        )
        report = index(database, embedder, folder)
        assert (report.warnings, report.removed) == ([], 0)
        assert keys(database) == {*GUIDE, "a.md", "z.md"}

    def test_page_that_becomes_the_older_one_goes_at_once(self, database, embedder, folder):
        write(folder, {"z.md": self.page("2024-06-01", "first")})
        index(database, embedder, folder)
        write(
            folder,
            {"a.md": self.page("2024-05-01", "copy"), "z.md": self.page("2024-01-01", "first")},
        )
        index(database, embedder, folder)
        assert keys(database) == {*GUIDE, "a.md"}

    def test_two_pages_with_one_url_are_both_indexed(self, database, embedder, folder):
        write(
            folder,
            {"x.md": "---\nurl: /same\n---\n\nOne.\n", "y.md": "---\nurl: /same\n---\n\nTwo.\n"},
        )
        report = index(database, embedder, folder)
        assert report.warnings == ["y.md: has the same url as x.md: /same; both are indexed"]
        assert {"x.md", "y.md"} <= keys(database)


class TestFailures:
    @pytest.fixture
    def refused(self, folder: Path) -> str:
        """A page that can be read, and that no index of the database can hold."""
        name = "refused.md"
        uuid = "".join(f"{n * 7919 % 65536:04x}" for n in range(900))
        write(folder, {name: f"---\nuuid: {uuid}\n---\n\n# Refused\n\nToo much of a name.\n"})
        return name

    def test_page_that_the_database_refuses_stays_out_alone(
        self, database, embedder, folder, refused
    ):
        report = index(database, embedder, folder)
        assert list(report.failed) == [refused]
        assert "ndex row size" in report.failed[refused]
        assert report.written == 4
        assert keys(database) == set(GUIDE)
        assert is_complete(database)

    def test_page_that_fails_later_stays_as_it_was(self, database, embedder, folder):
        write(folder, {"late.md": "# Late\n\nThis was fine.\n"})
        index(database, embedder, folder)
        (folder / "late.md").write_bytes(b"\x7fELF\x02\x01\x01\x00\x00\x00\x00\xff\xfe\xfd" * 50)
        report = index(database, embedder, folder)
        assert list(report.failed) == ["late.md"]
        assert found(database, "fine") == {"late.md"}
        assert is_complete(database)

    @pytest.mark.parametrize("error", [EmbeddingError("The model sleeps."), RuntimeError("crash")])
    def test_what_was_not_embedded_is_found_by_words_and_embedded_next_time(
        self, database, embedder, folder, error
    ):
        def fail() -> None:
            raise error

        embedder.before = fail
        with pytest.raises(type(error)):
            index(database, embedder, folder)
        assert found(database, "scheduler") == {"fill.md"}
        [version] = database.call("library_versions", library="guide")
        assert version["status"] == "indexing"
        embedder.before = lambda: None
        report = index(database, embedder, folder)
        assert (report.written, report.unchanged) == (0, 4)
        assert report.embedded == len(embedder.texts) > 0
        assert is_complete(database)

    def test_failing_model_leaves_a_ready_version_ready(self, database, embedder, folder):
        index(database, embedder, folder)

        def fail() -> None:
            raise EmbeddingError("The model sleeps.")

        embedder.before = fail
        write(folder, {"fill.md": "# Fill\n\nOther words.\n"})
        with pytest.raises(EmbeddingError):
            index(database, embedder, folder)
        [version] = database.call("library_versions", library="guide")
        assert version["status"] == "ready"
        assert found(database, "other words") == {"fill.md"}

    def test_names_that_cannot_be_used_end_the_run_at_once(self, database, embedder, folder):
        with discover(str(folder)) as source, pytest.raises(InvalidInput, match="version label"):
            pipeline.index(database, embedder, source, IndexTarget("guide", "1 0"))
        assert embedder.texts == []


class TestDatabaseAway:
    @pytest.fixture
    def outage(self, admin, database_url) -> Callable[[bool], None]:
        """Shut the database to everybody, or open it again."""
        name = psycopg.conninfo.conninfo_to_dict(database_url)["dbname"]

        def shut(away: bool) -> None:
            admin.execute(
                sql.SQL("alter database {} with allow_connections {}").format(
                    sql.Identifier(name), sql.Literal(not away)
                )
            )
            if away:
                admin.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s",
                    [name],
                )

        yield shut
        shut(False)

    def test_short_outage_is_waited_out(self, database, embedder, folder, outage, monkeypatch):
        monkeypatch.setattr(pipeline, "BATCH_DOCUMENTS", 3)

        def go_away() -> None:
            embedder.before = lambda: None
            outage(True)
            threading.Timer(0.4, outage, [False]).start()

        embedder.before = go_away
        report = index(database, embedder, folder)
        assert report.failed == {}
        assert is_complete(database)

    def test_long_outage_ends_the_run_and_the_next_completes_it(
        self, database_url, embedder, folder, outage, monkeypatch
    ):
        monkeypatch.setattr(pipeline, "BATCH_DOCUMENTS", 3)
        monkeypatch.setattr(pipeline, "RETRY_DELAYS", (0.05, 0.05))
        with Database(database_url, timeout=0.5) as database:
            embedder.before = lambda: outage(True)
            with pytest.raises(DatabaseUnavailable):
                index(database, embedder, folder)
            embedder.before = lambda: None
            outage(False)
            time.sleep(0.1)
        with Database(database_url) as database:
            report = index(database, embedder, folder)
            assert report.written + report.unchanged == 4
            assert is_complete(database)
