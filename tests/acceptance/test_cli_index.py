"""`pgrag index`: what it reports, what it leaves alone, and what it survives."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import psycopg
from command_line import CommandLine, kill, wait_for, write_pages
from psycopg.rows import dict_row

DOCUMENTS = "select count(*) from pgrag.documents"
_COUNTS = """
    select
        (select count(*) from pgrag.pages) as pages,
        (select count(*) from pgrag.documents) as documents,
        (select count(*) from pgrag.documents as d where d.covers > 0) as searchable,
        (select count(distinct d.text_hash) from pgrag.documents as d where d.covers > 0) as texts,
        (select count(*) from pgrag.embeddings) as vectors,
        (select array_agg(v.status) from pgrag.versions as v) as statuses
"""
_STATISTICS = """
    select s.library_id, s.language, s.lexeme, s.document_count
    from pgrag.lexeme_statistics as s where s.document_count > 0
    union all
    select c.library_id, c.language, counted.name, counted.number
    from pgrag.corpus_statistics as c
    cross join lateral (values
        (' documents', c.document_count),
        (' pages', c.page_count),
        (' length', round(c.total_length)::bigint),
        (' page length', round(c.total_page_length)::bigint)
    ) as counted (name, number)
    order by 1, 2, 3
"""


def rows(url: str, statement: str) -> list[dict[str, Any]]:
    with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
        return connection.execute(statement.encode()).fetchall()


def assert_complete(url: str, *, pages: int) -> None:
    """Every page is there with all its vectors, and the statistics are those of the rows."""
    [counts] = rows(url, _COUNTS)
    assert counts["pages"] == pages
    assert counts["vectors"] == counts["searchable"] > 0
    assert set(counts["statuses"]) == {"ready"}
    kept = rows(url, _STATISTICS)
    rows(
        url,
        "select pgrag.refresh_statistics(l.name, drift => 0) from pgrag.libraries as l",
    )
    assert rows(url, _STATISTICS) == kept


def test_only_what_changed_is_written_again(pgrag: CommandLine, tmp_path: Path) -> None:
    source = write_pages(tmp_path / "pumps", 6)
    planned = pgrag.run("index", "pumps@1.0", source, "--dry-run").out
    assert "write   part-0/pump-0.md (" in planned
    assert "pumps 1.0 would get 6 pages" in planned
    assert pgrag.json("libraries") == []

    first = pgrag.run("index", "pumps@1.0", source)
    assert "6 pages written, 0 unchanged, 0 removed" in first.out
    assert "documents/s" in first.out
    assert first.err == "", "no progress bar where there is no terminal"

    assert "Nothing changed in pumps 1.0: 6 pages" in pgrag.run("index", "pumps@1.0", source).out

    (source / "part-0/pump-0.md").unlink()
    (source / "part-1/pump-1.md").write_text("# Pump 1\n\nThe first pump was sold in spring.\n")
    report = pgrag.json("index", "pumps@1.0", source)
    counts = {name: report[name] for name in ("written", "unchanged", "removed", "embedded")}
    assert counts == {"written": 1, "unchanged": 4, "removed": 1, "embedded": 1}
    assert_complete(pgrag.variables["PGRAG_DATABASE_URL"], pages=5)


def test_what_is_wrong_with_pages_is_said_and_the_rest_goes_on(
    pgrag: CommandLine, tmp_path: Path
) -> None:
    source = write_pages(tmp_path / "pumps", 2)
    (source / "image.md").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(300))
    for number in range(24):
        text = f"---\ntitle: [unclosed\n---\n\n# Valve {number}\n\nA valve opens.\n"
        (source / f"valve-{number}.md").write_text(text)
    ended = pgrag.run("index", "pumps", source, code=1)
    assert "1 failed" in ended.out
    assert "error: image.md: " in ended.err
    assert ended.err.count("warning: valve-") == 20
    assert "… and 4 more" in ended.err
    report = pgrag.run("index", "pumps", source, "--json", code=1).json
    assert list(report["failed"]) == ["image.md"]
    assert report["unchanged"] == 26


def test_options_choose_what_is_read_and_how(pgrag: CommandLine, kestrel: Path) -> None:
    report = pgrag.json(
        *("index", "kestrel", kestrel, "--subfolder", "2.0", "--include", "guide/**"),
        *("--exclude", "**/restore.md", "--language", "de", "--base-url", "https://k.example/"),
        *("--chunk-sizes", "20,100,150"),
    )
    assert report["written"] == 1
    hits = pgrag.json("search", "zlib compiler")
    assert {hit["url"] for hit in hits} == {"https://k.example/guide/install"}
    assert max(len(hit["content"]) for hit in hits) <= 150
    [library] = pgrag.json("libraries")
    assert library["language"] == "german"
    wrong = pgrag.run("index", "kestrel", kestrel, "--chunk-sizes", "5,4", code=2)
    assert "--chunk-sizes" in wrong.err


def test_a_run_that_is_interrupted_or_killed_is_completed_by_the_next(
    database_url: str, tmp_path: Path
) -> None:
    pgrag = CommandLine(tmp_path, {"PGRAG_DATABASE_URL": database_url}, small_batches=True)
    source = write_pages(tmp_path / "pumps", 150)

    interrupted = pgrag.start("index", "pumps", source)
    wait_for(database_url, DOCUMENTS, interrupted, least=1)
    interrupted.send_signal(signal.SIGINT)
    _, said = interrupted.communicate()
    assert (interrupted.returncode, "Traceback" in said) == (130, False), said
    assert "the next run goes on from here" in said

    [counts] = rows(database_url, _COUNTS)
    assert 0 < counts["pages"] < 150
    killed = pgrag.start("index", "pumps", source)
    wait_for(database_url, DOCUMENTS, killed, least=counts["documents"] + 1)
    kill(killed)

    [counts] = rows(database_url, _COUNTS)
    assert counts["pages"] < 150
    assert counts["statuses"] == ["indexing"]
    report = pgrag.json("index", "pumps", source)
    assert report["unchanged"] == counts["pages"]
    assert report["written"] == 150 - counts["pages"]
    assert_complete(database_url, pages=150)


def test_two_runs_on_different_libraries_do_not_disturb_each_other(
    clone: Callable[[], AbstractContextManager[str]], tmp_path: Path
) -> None:
    with clone() as url:
        pgrag = CommandLine(tmp_path, {"PGRAG_DATABASE_URL": url}, small_batches=True)
        runs = [
            pgrag.start("index", word, write_pages(tmp_path / word, 60, word=word))
            for word in ("pump", "valve")
        ]
        for run in runs:
            _, said = run.communicate()
            assert run.returncode == 0, said
        assert [row["pages"] for row in pgrag.json("libraries")] == [60, 60]
        assert_complete(url, pages=120)
