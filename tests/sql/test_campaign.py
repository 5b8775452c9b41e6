"""Seeded calls of every public function: each works or fails with an error of pgrag."""

import psycopg
from campaign import functions


def test_no_call_fails_with_an_error_of_postgresql(database_url):
    outcome = functions.run(database_url, count=4000, seed=12)
    assert outcome.counts["calls"] == 4000
    assert outcome.counts["functions"] > 150
    assert outcome.counts["errors of pgrag"] < 2000, "most calls do their work"
    assert outcome.faults == []


def test_a_campaign_reports_what_escapes_with_a_call_that_repeats_it(database_url):
    with psycopg.connect(database_url) as connection:
        connection.execute(
            "create function pgrag.halved(numbers text[], top_k integer default 1) returns integer"
            " language sql as 'select top_k + cardinality(numbers) / 0'"
        )
    outcome = functions.run(database_url, count=400, seed=1, commit=False)
    [fault] = outcome.faults
    message, call = fault.split("\n", 1)
    assert message.startswith("-- 22012 division by zero")
    assert call.startswith("select * from pgrag.halved(numbers => ")
    assert "top_k" not in call
