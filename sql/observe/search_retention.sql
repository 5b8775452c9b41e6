create or replace function pgrag.search_retention()
returns integer
language sql
stable
parallel safe
as $$
    select s.retention_days from pgrag.observation_settings as s;
$$;

comment on function pgrag.search_retention is
'The number of days for which recorded searches are kept (90 unless changed by keep_searches); null:
for ever.';
