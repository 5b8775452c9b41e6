"""Two databases answer a tenant alike, though one has a library that the tenant may not see."""

from __future__ import annotations

import psycopg
import pytest
from campaign import tenants


def test_another_library_changes_no_answer(database_url):
    outcome = tenants.run(database_url, calls=1200, seed=3)
    assert outcome.counts["calls"] == 1200
    assert outcome.counts["functions"] > 350
    assert outcome.counts["calls with forged settings"] > 200
    assert outcome.counts["calls that worked"] > 500
    assert outcome.faults == []


@pytest.mark.parametrize(
    ("plant", "told"),
    [
        ("alter table pgrag.synonyms disable row level security", "quokkatap"),
        (
            "create function pgrag.size() returns bigint language sql security definer"
            " as 'select count(*) from pgrag.pages'",
            "pgrag.size()",
        ),
        (
            "create view _pgrag.trusting with (security_barrier) as select p.title"
            " from pgrag.pages as p where p.version_id = any ("
            "nullif(current_setting('pgrag.narrowing_versions', true), '')::bigint[]);"
            " grant select on _pgrag.trusting to public",
            "_pgrag.trusting",
        ),
    ],
    ids=["a policy is missing", "a function counts as its owner", "a view trusts a setting"],
)
def test_a_leak_is_reported(database_url, plant, told):
    with psycopg.connect(database_url) as connection:
        connection.execute(plant)
    outcome = tenants.run(database_url, calls=400, seed=1)
    assert any(told in fault for fault in outcome.faults)
    planted = ("synonyms", "pgrag.size()", "_pgrag.trusting")
    assert all(any(name in fault for name in planted) for fault in outcome.faults)
