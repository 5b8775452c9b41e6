"""Two databases answer a tenant alike, though one has a library that the tenant may not see."""

import psycopg
from campaign import tenants


def test_another_library_changes_no_answer(database_url):
    outcome = tenants.run(database_url, count=1200, seed=3)
    assert outcome.counts["calls"] == 1200
    assert outcome.counts["functions"] > 350
    assert outcome.counts["calls with forged settings"] > 200
    assert outcome.counts["calls that worked"] > 450
    assert outcome.faults == []


LEAKS = """
alter table pgrag.synonyms disable row level security;
create function pgrag.size() returns bigint language sql security definer
as 'select count(*) from pgrag.pages';
create view _pgrag.trusting with (security_barrier) as
select p.title from pgrag.pages as p
where p.version_id = any (nullif(current_setting('pgrag.narrowing_versions', true), '')::bigint[]);
grant select on _pgrag.trusting to public
"""


def test_a_missing_policy_a_function_of_its_owner_and_a_view_that_trusts_are_reported(database_url):
    with psycopg.connect(database_url) as connection:
        connection.execute(LEAKS)
    faults = tenants.run(database_url, count=400, seed=1).faults
    for told in ("quokkatap", "pgrag.size()", "_pgrag.trusting"):
        assert any(told in fault for fault in faults), told
    planted = ("synonyms", "pgrag.size()", "_pgrag.trusting")
    assert all(any(name in fault for name in planted) for fault in faults)
