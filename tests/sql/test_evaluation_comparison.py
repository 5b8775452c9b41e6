"""Two runs beside each other, and one query of a run from near by."""

import itertools
import random
from statistics import mean, stdev

import pytest
from labelled import QUERIES, evaluate, import_set, labelled_library, returned
from library import ingest, page, refused, run, value
from psycopg.types.json import Jsonb


@pytest.fixture(scope="module", autouse=True)
def winery(module_connection):
    labelled_library(module_connection)


def made_run(connection, grades):
    """A run as if it had returned results of these grades, a list for each query."""
    run_id = value(
        connection,
        """
        insert into pgrag.evaluation_runs (
            set_name, set_digest, unit, name, configuration, library, version, settings,
            query_count, started_at
        )
        values ('made', 'x', 'page', 'made', '{"depth": 20}', 'winery', '', '{}', %s, now())
        returning run_id
        """,
        len(grades),
    )
    for number, row in enumerate(grades):
        connection.execute(
            "insert into pgrag.evaluation_run_queries values (%s, %s, 'a', '{}', %s)",
            [run_id, f"q{number:03}", Jsonb({f"p{grade}": grade for grade in range(4)})],
        )
        for rank, grade in enumerate(row, start=1):
            connection.execute(
                "insert into pgrag.evaluation_results values (%s, %s, %s, %s)",
                [run_id, f"q{number:03}", rank, f"p{grade}"],
            )
    return run_id


def differences(connection, *runs):
    asked = {"metrics": ["ndcg@10"]}
    one, other = (
        run(connection, "_pgrag.evaluation_scores", run_id=run_id, **asked) for run_id in runs
    )
    return [b["score"] - a["score"] for a, b in zip(one, other, strict=True)]


def compare(connection, one, other, **arguments):
    [row] = run(connection, "compare_evaluations", run_id=one, other_run_id=other, **arguments)
    return row


@pytest.fixture
def pair(connection):
    chance = random.Random(3)

    def ranking(better):
        grades = chance.sample([0, 1, 2, 3], 4)
        return sorted(grades, reverse=True) if better and chance.random() < 0.5 else grades

    return (
        made_run(connection, [ranking(False) for _ in range(10)]),
        made_run(connection, [ranking(True) for _ in range(10)]),
    )


def test_difference_interval_and_p_value_are_those_of_the_textbook(connection, pair):
    found = compare(connection, *pair)
    moved = differences(connection, *pair)
    assert found["queries"] == 10
    assert found["difference"] == pytest.approx(mean(moved))
    assert found["difference"] == pytest.approx(found["other_score"] - found["score"])
    # 2.262157 is the 0.975 quantile of Student's t with 9 degrees of freedom.
    margin = 2.262157 * stdev(moved) / 10**0.5
    assert found["lower_bound"] == pytest.approx(mean(moved) - margin, abs=1e-4)
    assert found["upper_bound"] == pytest.approx(mean(moved) + margin, abs=1e-4)
    assert found["wins"] == sum(d > 1e-12 for d in moved)
    assert found["losses"] == sum(d < -1e-12 for d in moved)
    assert found["wins"] + found["losses"] + found["ties"] == 10
    extreme = [
        abs(sum(sign * d for sign, d in zip(signs, moved, strict=True))) >= abs(sum(moved)) - 1e-9
        for signs in itertools.product((1, -1), repeat=len(moved))
    ]
    assert compare(connection, *pair)["p_value"] == pytest.approx(mean(extreme), abs=0.02)
    one = compare(connection, *pair)
    assert compare(connection, *pair) == one
    assert compare(connection, *pair, seed=7)["p_value"] != one["p_value"]
    back = compare(connection, *reversed(pair))
    assert back["p_value"] == one["p_value"]
    assert back["difference"] == pytest.approx(-one["difference"])
    assert (back["wins"], back["losses"]) == (one["losses"], one["wins"])


def test_clear_differences_are_significant_and_moves_are_ordered(connection):
    bad = made_run(connection, [[0, 1, 2, 3]] * 30)
    good = made_run(connection, [[3, 2, 1, 0]] * 30)
    clear = compare(connection, bad, good)
    assert clear["p_value"] == pytest.approx(1 / 10001)
    assert clear["wins"] == 30
    assert clear["lower_bound"] > 0
    same = compare(connection, good, good)
    assert (same["p_value"], same["difference"], same["ties"]) == (1, 0, 30)
    one = made_run(connection, [[3, 2, 1], [0, 3], [3, 2], [0, 0, 3]])
    other = made_run(connection, [[3, 2, 1], [3], [3, 1], [0, 0, 0]])
    rows = run(connection, "moved_queries", run_id=one, other_run_id=other, metric="mrr")
    assert [(row["query_id"], row["difference"]) for row in rows] == [
        ("q001", pytest.approx(0.5)), ("q003", pytest.approx(-1 / 3)),
    ]  # fmt: skip
    limited = run(connection, "moved_queries", run_id=one, other_run_id=other, top_k=1)
    assert len(limited) == 1


def test_only_runs_of_one_set_are_compared(connection):
    first = evaluate(connection)
    import_set(connection, name="others")
    other = evaluate(connection, evaluation_set="others")
    with refused(connection, "PGR01", "asked the set 'questions', run", "one set"):
        compare(connection, first, other)
    import_set(connection, QUERIES[:2])
    later = evaluate(connection)
    with refused(connection, "PGR01", "imported again between"):
        compare(connection, first, later)
    with refused(connection, "PGR11", "no evaluation run 4711"):
        compare(connection, first, 4711)
    with refused(connection, "PGR01", "no metric 'magic'"):
        compare(connection, first, first, metric="magic")


def test_an_answer_shows_results_judgements_and_what_was_missed(connection):
    run_id = evaluate(connection, name="hybrid", configuration={"function": "search", "depth": 1})
    rows = run(connection, "evaluation_answer", run_id=run_id, query_id="q1")
    assert rows[0]["target"] == returned(connection, run_id)["q1"][0] == "cellar/barrels.md"
    assert (rows[0]["rank"], rows[0]["grade"], rows[0]["title"]) == (1, 2, "Barrels")
    assert "barrel" in rows[0]["words"]
    assert rows[0]["explanation"]["score"] == pytest.approx(rows[0]["score"])
    run_id = evaluate(
        connection,
        configuration={"function": "search", "arguments": {"filters": {"page": "cellar/*"}}},
    )
    rows = run(connection, "evaluation_answer", run_id=run_id, query_id="q2")
    assert [row["rank"] for row in rows] == [*range(1, len(rows)), None]
    assert (rows[-1]["target"], rows[-1]["grade"]) == ("field/barrels.md", 1)
    assert {row["grade"] for row in rows[:-1]} == {0}
    run_id = evaluate(connection)
    with refused(connection, "PGR01", "has no query 'q9'", "q1, q2, q3"):
        run(connection, "evaluation_answer", run_id=run_id, query_id="q9")
    ingest(connection, "copy", [page("cellar/barrels.md", "Barrels that leak.")])
    run_id = evaluate(connection, configuration={"function": "search", "library": "copy"})
    run(connection, "remove_library", library="copy")
    [row] = run(connection, "evaluation_answer", run_id=run_id, query_id="q1")
    assert (row["target"], row["title"], row["explanation"]) == ("cellar/barrels.md", None, None)
