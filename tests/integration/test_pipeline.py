"""From a folder to a version: what changed is written, and embedded, once."""

import pytest
from pipeline_runs import (
    GUIDE,
    Recorder,
    crashing_read_document,
    found,
    index,
    is_complete,
    keys,
    stored,
    write,
)

from pgrag.ingest import reader, writer
from pgrag.ingest import report as report_module
from pgrag.ingest.kept_pages import KeptPages
from pgrag.ingest.source.source import Source, SourceFile, digest_of


def memory(reads, changed=b""):
    """The guide, with more in drain.md; each reading is recorded."""

    def file(key, data):
        def load(_):
            reads.append(key)
            return data

        return SourceFile(key, load, digest=digest_of(data))

    texts = {key: text.encode() for key, text in sorted(GUIDE.items())}
    texts["drain.md"] += changed
    return Source("memory", tuple(file(*each) for each in texts.items()))


@pytest.fixture
def embedder():
    return Recorder()


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "docs", GUIDE)
    return tmp_path / "docs"


class TestRuns:
    def test_first_run_writes_everything(self, database, embedder, folder):
        told = []
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
            "location": str(folder), "revision": None, "ref": None, "base_url": "https://example.org/docs",
            "language": "en", "chunk_profile": None, "slugs": "github",
            "converter": None,
        }  # fmt: skip
        [hit, *_] = database.call("search", query="upgrade a kernel", library="guide")
        assert (hit["key"], hit["url"]) == ("drain.md", "https://example.org/docs/drain")
        assert is_complete(database)

    def test_a_file_of_a_known_digest_is_not_read_again(self, database, embedder, folder):
        reads = []
        index(database, embedder, folder)  # the same bytes, whose digests no source knew
        assert index(database, embedder, folder, source=memory(reads)).unchanged == 4
        assert reads == []
        report = index(database, embedder, folder, source=memory(reads, b"\nMore.\n"))
        assert (report.written, report.unchanged, reads) == (1, 3, ["drain.md"])

    def test_a_file_read_for_one_version_is_not_read_for_the_next(self, database, embedder, folder):
        reads = []
        with KeptPages() as kept:
            index(database, embedder, folder, "1.0", source=memory(reads), kept_pages=kept)
            assert len(reads) == 4
            reads.clear()
            new = memory(reads, b"\nMore.\n")
            report = index(database, embedder, folder, "1.1", source=new, kept_pages=kept)
            assert (report.written, reads) == (4, ["drain.md"])
            reads.clear()
            site = "https://guide.example"
            again = memory(reads)
            index(database, embedder, folder, "2.0", source=again, kept_pages=kept, base_url=site)
            assert len(reads) == 4, "other options give another page"
        fields = "select p.title, p.body, p.front_matter, p.source_hash, p.document_count"
        rows = database.query(
            f"{fields} from pgrag.pages as p join pgrag.versions as v using (version_id)"
            " where p.key = 'index.md' and v.label < '2' order by v.label"
        )
        assert len(rows) == 2
        assert rows[0] == rows[1]

    def test_pages_read_in_processes_are_the_same_and_one_that_ends_its_process_fails_alone(
        self, database, embedder, folder, monkeypatch
    ):
        index(database, embedder, folder, "1")
        monkeypatch.setattr(reader, "WORTH", -1.0)
        monkeypatch.setattr(reader, "processors", lambda: 2)
        index(database, embedder, folder, "2")
        monkeypatch.setattr(reader, "read_document", crashing_read_document)
        report = index(database, embedder, folder, "3")
        assert (report.written, [*report.failed]) == (3, ["drain.md"])
        assert "its parser crashed" in report.failed["drain.md"]
        for rows in (
            "select p.key, p.title, p.url, p.path, p.body, p.head, p.front_matter, p.source_hash,"
            " p.tags, p.created_from, p.modified, p.modified_from from pgrag.pages as p",
            "select p.key, d.content, d.path, d.line_start, d.content_tags, d.covers"
            " from pgrag.documents as d join pgrag.pages as p using (library_id, page_id)",
            "select p.key, e.rule, e.target, e.sentence, e.line from pgrag.edges as e"
            " join pgrag.pages as p on p.page_id = e.source_page_id",
        ):
            one, two = (
                database.query(
                    f"select * from ({rows} join pgrag.versions as v on v.version_id = p.version_id"
                    f" where v.label = '{label}' order by 1, 2) as ordered"
                )
                for label in ("1", "2")
            )
            assert one == two
            assert one

    def test_a_pointer_of_git_lfs_is_no_page_and_no_failure(self, database, embedder, folder):
        pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"
        write(folder, {"new.md": pointer})
        report = index(database, embedder, folder)
        assert (report.written, report.failed) == (4, {})
        [skipped] = report.skipped
        assert (skipped.reason, skipped.examples) == ("pointers of Git LFS", ("new.md",))
        assert "git lfs pull" in skipped.hint
        # What is stored of a page stays while its content is elsewhere.
        write(folder, {"drain.md": pointer})
        report = index(database, embedder, folder)
        assert (report.removed, report.unchanged, len(keys(database))) == (0, 3, 4)

    def test_planner_is_told_of_what_is_news(self, database, connection, embedder, folder):
        def rows(stated=None):
            """Pages as the planner knows them; stated: make it believe so."""
            pages = "oid = 'pgrag.pages'::regclass"
            if stated is not None:
                connection.execute(f"update pg_class set reltuples = {stated} where {pages}")
            [row] = database.query(f"select reltuples from pg_class where {pages}")
            return int(row["reltuples"])

        index(database, embedder, folder)
        assert rows() == 4, "a new database"
        small = database.query(
            "select reltuples from pg_class"
            " where oid in ('pgrag.libraries'::regclass, 'pgrag.versions'::regclass)"
        )
        assert [row["reltuples"] for row in small] == [1, 1]
        rows(stated=200)
        write(folder, {"drain.md": "# Drain\n\nMove the work away.\n"})
        index(database, embedder, folder)
        assert rows() == 200, "one page of 200"
        write(folder, {name: f"{text}\nMore.\n" for name, text in GUIDE.items()})
        (folder / "fill.md").unlink()
        write(folder, {"new.md": "# New\n\nA node that is new.\n"})
        index(database, embedder, folder)
        assert rows() == 4, "four that are written and one that is gone"

    def test_only_what_changed_is_written(self, database, embedder, folder):
        index(database, embedder, folder)
        before, embedded = stored(database), len(embedder.texts)
        report = index(database, embedder, folder)
        assert (report.written, report.unchanged, report.embedded) == (0, 4, 0)
        assert stored(database) == before
        assert len(embedder.texts) == embedded
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
        assert index(database, embedder, folder, language="de").written == 4
        assert {row["language"] for row in database.call("pages", library="guide")} == {"de", "en"}

    def test_a_misspelt_language_is_a_warning_and_the_text_decides(
        self, database, embedder, folder
    ):
        write(folder, {"n.md": "---\nlocale: Duetsch\n---\nDas ist nicht der Rede wert und fort."})
        report = index(database, embedder, folder)
        [warning] = report.warnings
        assert warning.startswith(
            "n.md: front matter field \"locale\" names no language: 'Duetsch'"
        )
        assert warning.endswith("taken for de")
        assert index(database, embedder, folder).warnings == []

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

    def test_the_next_batch_is_read_meanwhile(self, database, embedder, folder, monkeypatch):
        monkeypatch.setattr(writer, "BATCH_DOCUMENTS", 3)
        ingest = writer.Writer._ingest
        tables = "'pgrag.pages'::regclass, 'pgrag.embeddings'::regclass"
        counts = []

        def counted(self, pages):
            rows = database.query(f"select reltuples from pg_class where oid in ({tables})")
            counts.append([row["reltuples"] for row in rows])
            return ingest(self, pages)

        monkeypatch.setattr(writer.Writer, "_ingest", counted)
        write(folder, {f"part/{n}.md": f"# Part {n}\n\nText of part {n}.\n" for n in range(20)})
        report = index(database, embedder, folder)
        assert (report.written, report.failed) == (24, {})
        assert is_complete(database)
        assert max(counts[0]) <= 0 < min(counts[1])


class TestRenamedFiles:
    def note(self, name, more="", field="uuid"):
        return (
            f"---\n{field}: {name}\n---\n\n# Note {name}\n\nAll about {name}.\n{more}\n"
            f"## Use of {name}\n\nHow {name} is used.\n"
        )

    def ids(self, database):
        rows = database.query(
            "select p.key, p.page_id, jsonb_object_agg(d.level || d.content, d.document_id) as ids"
            " from pgrag.pages as p join pgrag.documents as d using (library_id, page_id)"
            " group by 1, 2"
        )
        return {row["key"]: (row["page_id"], row["ids"]) for row in rows}

    @pytest.mark.parametrize("field", ["uuid", "note_id"])
    def test_a_renamed_file_keeps_its_page(self, database, embedder, folder, field):
        write(folder, {
            "a.md": self.note("ant", field=field), "z.md": "See [[a]] and [the ant](a.md).\n",
            "links.md": "See [[moved]].\n",
        })  # fmt: skip
        index(database, embedder, folder)
        before = self.ids(database)
        (folder / "a.md").unlink()
        write(folder, {"deep/moved.md": self.note("ant", "\n## New\n\nMore.\n", field=field)})
        planned = index(database, embedder, folder, dry_run=True)
        assert planned.renamed == {"a.md": "deep/moved.md"}
        assert (list(planned.planned), planned.gone) == (["deep/moved.md"], [])
        assert self.ids(database) == before
        report = index(database, embedder, folder)
        assert report.renamed == {"a.md": "deep/moved.md"}
        assert (report.written, report.removed, report.warnings) == (1, 0, [])
        page_id, document_ids = self.ids(database).pop("deep/moved.md")
        assert page_id == before["a.md"][0]
        same = {text for text in before["a.md"][1] if text[0] == "2"}
        assert same == {"2All about ant.", "2How ant is used."}
        assert all(document_ids[text] == before["a.md"][1][text] for text in same)
        links = [row for row in database.call("links", library="guide") if row["state"] != "tag"]
        expected = {("a", None), ("a.md", None), ("moved", "deep/moved.md")}
        assert {(row["target"], row["target_page"]) for row in links} == expected
        [page] = database.query("select p.url from pgrag.pages as p where p.key = 'deep/moved.md'")
        assert page["url"] == "/deep/moved"
        assert is_complete(database)
        assert index(database, embedder, folder).written == 0

    def test_files_swap_and_pass_on_their_names(self, database, embedder, folder):
        names = ("ant", "bee", "cow")
        write(folder, {f"{name}.md": self.note(name) for name in names} | {"no.md": "# None\n"})
        index(database, embedder, folder)
        before = self.ids(database)
        # Two swap, the third takes the name of a page without a uuid, whose file is gone.
        write(folder, {"ant.md": self.note("bee"), "bee.md": self.note("ant"), "no.md":
                       self.note("cow")})  # fmt: skip
        (folder / "cow.md").unlink()
        report = index(database, embedder, folder)
        assert report.renamed == {"ant.md": "bee.md", "bee.md": "ant.md", "cow.md": "no.md"}
        assert (report.written, report.removed) == (3, 1)
        after = self.ids(database)
        assert after["ant.md"] == before["bee.md"]
        assert after["bee.md"] == before["ant.md"]
        assert after["no.md"] == before["cow.md"]
        assert is_complete(database)

    def test_warnings_of_pages_are_bounded(self, database, embedder, folder, monkeypatch):
        monkeypatch.setattr(report_module, "MOST_KEPT", 2)
        write(folder, {f"{number}.md": self.note("ant") for number in range(6)})
        report = index(database, embedder, folder)
        assert (len(report.warnings), report.more_warnings) == (2, 3)

    def test_a_copy_is_no_renamed_file(self, database, embedder, folder):
        write(folder, {"m.md": self.note("ant")})
        index(database, embedder, folder)
        before = self.ids(database)
        write(folder, {"a.md": self.note("ant", "\nA copy.\n")})
        report = index(database, embedder, folder)
        assert (report.renamed, report.removed, self.ids(database)) == ({}, 0, before)
        [warning] = report.warnings
        assert warning.startswith("a.md: has the same uuid 'ant' as m.md")
        # Of two heirs the newest has the page; the other is reported.
        (folder / "m.md").unlink()
        write(folder, {"b.md": self.note("ant").replace("---\n", "---\nmodified: 2024-05-01\n", 1)})
        report = index(database, embedder, folder)
        assert report.renamed == {"m.md": "b.md"}
        [warning] = report.warnings
        assert warning.startswith("a.md: has the same uuid 'ant' as b.md, which is newer")
        assert self.ids(database)["b.md"][0] == before["m.md"][0]
        assert is_complete(database)

    def test_a_newer_file_has_the_page_of_the_one_it_outdoes(self, database, embedder, folder):
        def dated(year):
            return self.note("ant").replace("---\n", f"---\nmodified: {year}-05-01\n", 1)

        write(folder, {"n.md": dated(2024)})
        index(database, embedder, folder)
        before = self.ids(database)["n.md"]
        write(folder, {"a.md": dated(2025)})
        for number in range(2):
            report = index(database, embedder, folder)
            assert report.renamed == ({} if number else {"n.md": "a.md"})
            assert (report.written, report.removed) == (1 - number, 0)
            [warning] = report.warnings
            assert warning.startswith("n.md: has the same uuid 'ant' as a.md, which is newer")
            after = self.ids(database)
            assert after["a.md"] == before
            assert "n.md" not in after
        # Equally new: the page stays with its file, even if both have changed.
        write(folder, {"0.md": dated(2026), "a.md": dated(2026)})
        assert index(database, embedder, folder).renamed == {}
        assert self.ids(database)["a.md"] == before
        assert is_complete(database)

    def test_an_interrupted_renaming_is_completed(self, database, embedder, folder, monkeypatch):
        write(folder, {"a.md": self.note("ant")})
        index(database, embedder, folder)
        [page_id] = [page for key, (page, _) in self.ids(database).items() if key == "a.md"]
        (folder / "a.md").rename(folder / "b.md")

        def fail(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(writer.Writer, "write_all", fail)
            with pytest.raises(KeyboardInterrupt):
                index(database, embedder, folder)
        index(database, embedder, folder)
        assert self.ids(database)["b.md"][0] == page_id
        [page] = database.query("select p.url from pgrag.pages as p where p.key = 'b.md'")
        assert page["url"] == "/b"
        assert is_complete(database)


def dated(date, text):
    return f"---\nuuid: 8b5c\nmodified: {date}\n---\n\n# {text}\n\nThis is the {text} one.\n"


class TestDuplicates:
    def test_newest_page_with_a_uuid_wins(self, database, embedder, folder):
        write(folder, {"a.md": dated("2024-01-01", "old"), "b.md": dated("2024-06-01", "new")})
        for _ in range(2):
            [warning] = index(database, embedder, folder).warnings
            assert warning.startswith("a.md: has the same uuid '8b5c' as b.md, which is newer")
            assert keys(database) == {*GUIDE, "b.md"}
        assert found(database, "old one") == {"b.md"}
        assert is_complete(database)
        write(folder, {"a.md": dated("2025-01-01", "newest")})
        index(database, embedder, folder)
        assert keys(database) == {*GUIDE, "a.md"}
        (folder / "a.md").unlink()
        index(database, embedder, folder)
        assert keys(database) == {*GUIDE, "b.md"}

    @pytest.mark.parametrize("uuid", ["uuid: 77aa\n", ""])
    def test_page_that_gives_its_uuid_away_stays(self, database, embedder, folder, uuid):
        write(folder, {"z.md": dated("2024-01-01", "first")})
        index(database, embedder, folder)
        other = dated("2024-01-01", "first").replace("uuid: 8b5c\n", uuid)
        write(folder, {"a.md": dated("2024-06-01", "copy"), "z.md": other})
        report = index(database, embedder, folder)
        assert (report.warnings, report.removed) == ([], 0)
        assert keys(database) == {*GUIDE, "a.md", "z.md"}

    def test_page_that_becomes_the_older_one_goes_at_once(self, database, embedder, folder):
        write(folder, {"z.md": dated("2024-06-01", "first")})
        index(database, embedder, folder)
        write(folder, {"a.md": dated("2024-05-01", "copy"), "z.md": dated("2024-01-01", "first")})
        index(database, embedder, folder)
        assert keys(database) == {*GUIDE, "a.md"}

    def test_two_pages_with_one_url_are_both_indexed(self, database, embedder, folder):
        write(folder, {f"{name}.md": f"---\nurl: /same\n---\n\nText {name}.\n" for name in "xy"})
        report = index(database, embedder, folder)
        assert report.warnings == ["y.md: has the same url as x.md: /same; both are indexed"]
        assert {"x.md", "y.md"} <= keys(database)
