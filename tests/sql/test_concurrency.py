"""Writers of one library take turns, those of others do not wait, readers are never held up."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from consistency import assert_consistent
from corpus import Author, pages
from library import ingest, page, run, value
from psycopg.types.json import Jsonb


def test_many_writers_leave_true_statistics(connect):
    """New library, new versions, changes, removals and refreshes, all at once."""

    def work(number):
        author = Author(random.Random(number))
        connection = connect()
        library = f"tool{number % 2}"
        for round_number in range(3):
            written = pages(author, 4, f"{number}/{round_number}/")
            ingest(connection, library, written, f"{number % 3}.0")
            ingest(connection, library, [author.page(written[0]["key"])], f"{number % 3}.0")
            run(
                connection, "remove_pages",
                library=library, keys=[written[1]["key"]], version=f"{number % 3}.0",
            )  # fmt: skip
            run(connection, "refresh_statistics", library=library)
            run(connection, "search", query=author.query(), top_k=5)
        return 3 * 3

    with ThreadPoolExecutor(6) as threads:
        expected = sum(threads.map(work, range(6)))
    connection = connect()
    assert value(connection, "select count(*) from pgrag.pages") == expected
    assert_consistent(connection)


def test_another_library_is_written_while_one_is_locked(connect):
    one, other, reader = connect(), connect(), connect()
    ingest(one, "one", [page("a.md", "Drain the node.")])
    other.execute("set lock_timeout = '5s'")
    reader.execute("set lock_timeout = '5s'")
    with one.transaction():
        ingest(one, "one", [page("b.md", "Fill the node.")])
        ingest(other, "other", [page("a.md", "Rotate the keys.")])
        hits = run(reader, "search", query="node keys")
        assert {(hit["library"], hit["key"]) for hit in hits} == {
            ("one", "a.md"),
            ("other", "a.md"),
        }
    hits = run(reader, "search", query="node", library="one")
    assert {hit["key"] for hit in hits} == {"a.md", "b.md"}


def test_second_writer_of_a_library_waits_for_the_first(connect):
    first, second = connect(), connect()
    done = threading.Event()

    def write():
        ingest(second, "tool", [page("a.md", "Of the second.")])
        done.set()

    with ThreadPoolExecutor(1) as threads:
        with first.transaction():
            ingest(first, "tool", [page("a.md", "Of the first.")])
            waiting = threads.submit(write)
            assert not done.wait(0.2)
        waiting.result()
    assert value(first, "select content from pgrag.documents") == "Of the second."
    assert_consistent(first)


def store_pending(connection, pending):
    """Store the vectors of these texts; returns how many passages got one."""
    return value(
        connection,
        "select pgrag.store_embeddings('tool', 'static-en-de-ru-256', %s::uuid[],"
        " array(select pgrag.embed(t) from unnest(%s::text[]) as t))",
        [row["text_hash"] for row in pending],
        [row["text"] for row in pending],
    )


def test_vector_of_a_text_that_is_being_replaced_is_not_stored(connect):
    indexing, embedding = connect(), connect()
    embedding.execute("set lock_timeout = '5s'")
    both = [page("a.md", "The old text."), page("b.md", "Another text.")]
    ingest(indexing, "tool", both, embed=False)
    pending = run(embedding, "pending_embeddings", library="tool")
    with indexing.transaction():
        ingest(indexing, "tool", [page("a.md", "The new text.")], embed=False)
        assert store_pending(embedding, pending) == 1, "without waiting"
    [new] = run(embedding, "pending_embeddings", library="tool")
    assert "The new text." in new["text"]
    assert_consistent(indexing)


def test_vector_of_a_text_that_is_being_removed_is_not_stored(connect):
    indexing, embedding = connect(), connect()
    embedding.execute("set lock_timeout = '5s'")
    both = [page("a.md", "The old text."), page("b.md", "Another text.")]
    ingest(indexing, "tool", both, embed=False)
    pending = run(embedding, "pending_embeddings", library="tool")
    with indexing.transaction():
        run(indexing, "remove_pages", library="tool", keys=["a.md"])
        assert store_pending(embedding, pending) == 1
    assert value(indexing, "select count(*) from pgrag.embeddings") == 1
    assert_consistent(indexing)


@pytest.mark.parametrize("change", [
    lambda connection: ingest(connection, "tool", [page("a.md", "The new text.")], embed=False),
    lambda connection: run(connection, "place_vectors", library="tool", expected=100_000),
], ids=["a passage", "the index of the library"])  # fmt: skip
def test_what_has_vectors_stored_is_changed_afterwards(connect, change):
    changing, embedding, watching = connect(), connect(), connect()
    ingest(changing, "tool", [page("a.md", "The old text.")], embed=False)
    pending = run(embedding, "pending_embeddings", library="tool")

    def is_waiting():
        return value(
            watching, "select cardinality(pg_blocking_pids(%s)) > 0", changing.info.backend_pid
        )

    with ThreadPoolExecutor(1) as threads:
        with embedding.transaction():
            assert store_pending(embedding, pending) == 1
            changed = threads.submit(change, changing)
            while not is_waiting() and not changed.done():
                pass
            assert not changed.done()
        changed.result(timeout=120)
    assert_consistent(watching)


def test_who_finishes_a_version_waits_for_who_writes_to_it(connect):
    """Both want the library and the version; whoever took them the other way round would block."""
    writing, finishing, watching = connect(), connect(), connect()
    ingest(writing, "tool", [page("a.md", "Words.")], "1.0", ready=False)

    def is_waiting():
        return value(
            watching, "select cardinality(pg_blocking_pids(%s)) > 0", finishing.info.backend_pid
        )

    with ThreadPoolExecutor(1) as threads:
        with writing.transaction():
            run(writing, "open_version", library="tool", version="9.0")
            finished = threads.submit(
                run, finishing, "finish_version", library="tool", version="1.0"
            )
            while not is_waiting() and not finished.done():
                pass
            ingest(writing, "tool", [page("a.md", "Others.")], "1.0", ready=False)
        finished.result(timeout=120)
    assert value(
        watching,
        "select bool_and(v.status = 'ready') from pgrag.versions as v where v.label = '1.0'",
    )


SYNONYMS = {"library": "tool", "synonyms": {"pto": ["leave"]}}
QUESTIONS = {
    "name": "questions", "library": "tool",
    "queries": [{"id": "q1", "text": "words", "judgements": {"a.md": 1}}],
}  # fmt: skip
GRADE = {
    "evaluation_set": "questions", "library": "tool", "query": "words", "target": "a.md",
    "grade": 1,
}  # fmt: skip
ENTRIES = {"entries": {"synonyms": {"tool": {"pto": ["holiday"]}}}}


@pytest.mark.parametrize(("first", "second", "sqlstate"), [
    (("set_synonyms", SYNONYMS), ("set_synonyms", SYNONYMS), None),
    (("set_synonyms", SYNONYMS), ("apply_configuration", ENTRIES), None),
    (("apply_configuration", ENTRIES), ("set_synonyms", SYNONYMS), None),
    (("set_synonyms", SYNONYMS), ("remove_synonyms", {"library": "tool"}), None),
    (("import_evaluation_set", QUESTIONS), ("import_evaluation_set", QUESTIONS), None),
    (("judge", GRADE), ("judge", GRADE | {"grade": 2}), None),
    (("judge", GRADE), ("import_evaluation_set", QUESTIONS), None),
    (("import_evaluation_set", QUESTIONS), ("judge", GRADE), None),
    (("remove_library", {"library": "tool"}), ("set_synonyms", SYNONYMS), "PGR02"),
    (("remove_library", {"library": "tool"}), ("finish_version", {"library": "tool"}), "PGR02"),
    (
        ("remove_library", {"library": "tool"}),
        ("configure_library", {"library": "tool", "settings": {"alpha": 1}}),
        "PGR02",
    ),
    (("remove_library", {"library": "tool"}), ("open_version", {"library": "tool"}), None),
    (("remove_library", {"library": "tool"}), ("undo_tuning", {"library": "tool"}), "PGR02"),
    (("remove_library", {"library": "tool"}), ("tune", {"library": "tool"}), "PGR02"),
    (
        ("register_model", {"name": "mine", "dimensions": 3}),
        ("register_model", {"name": "mine", "dimensions": 4}),
        "PGR08",
    ),
    (("keep_searches", {"days": 3}), ("keep_searches", {"days": 4}), None),
], ids=lambda part: part[0] if isinstance(part, tuple) else None)  # fmt: skip
def test_a_writer_that_waited_works_on_what_the_other_left(connect, first, second, sqlstate):
    one, other, watching = connect(), connect(), connect()
    ingest(one, "tool", [page("a.md", "Words.")])

    def call(connection, function, arguments):
        queries = {k: Jsonb(v) if isinstance(v, list) else v for k, v in arguments.items()}
        run(connection, function, **queries)

    with ThreadPoolExecutor(1) as threads:
        with one.transaction():
            call(one, *first)
            waiting = threads.submit(call, other, *second)
            while not waiting.done() and not value(
                watching, "select cardinality(pg_blocking_pids(%s)) > 0", other.info.backend_pid
            ):
                pass
        error = waiting.exception(timeout=120)
    assert getattr(error, "sqlstate", error) == sqlstate


def test_no_job_outlives_a_library_that_is_removed_while_it_is_made(connect):
    """Its worker, which may make libraries, would make it anew: for a caller who may not."""
    owner, tenant, watcher = connect(), connect(), connect()
    ingest(owner, "tool", [page("a.md", "Drain the node.")])
    owner.execute("do $$ begin create role maker in role pgrag_writer;"
                  " exception when duplicate_object then null; end $$")  # fmt: skip
    run(owner, "grant_libraries", role_name="maker", libraries=["tool"])
    tenant.execute("set role maker")
    arguments = {"library": "tool", "arguments": Jsonb({"source": "https://docs.example/"})}
    with ThreadPoolExecutor(1) as threads:
        with owner.transaction():
            run(owner, "remove_library", library="tool")
            made = threads.submit(run, tenant, "create_job", **arguments)
            waits = "select cardinality(pg_blocking_pids(%s))"
            while not made.done() and not value(watcher, waits, tenant.info.backend_pid):
                pass
        with pytest.raises(psycopg.Error, match="There is no library 'tool'") as refused:
            made.result()
    assert refused.value.sqlstate == "PGR02"
    assert run(owner, "jobs") == []


def test_two_who_grade_at_once_lose_nothing(connect):
    people = [connect() for _ in range(4)]
    ingest(people[0], "tool", [page(f"{number}.md", "Words.") for number in range(8)])

    def grade(nth):
        for number in range(8):
            target = {"target": f"{number}.md", "query": f"query {(number + nth) % 3}"}
            run(people[nth], "judge", **GRADE | target)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(grade, range(4)))
    expected = {
        (f"query {(number + nth) % 3}", f"{number}.md") for number in range(8) for nth in range(4)
    }
    rows = run(people[0], "evaluation_judgements", evaluation_set="questions")
    assert {(row["query_text"], row["target"]) for row in rows} == expected
    assert len({row["query_id"] for row in rows}) == 3
