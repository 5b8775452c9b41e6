create or replace function pgrag.configuration_history(
    top_k integer default 20
)
returns setof pgrag.configuration_versions
language sql
stable
parallel safe
rows 20
set search_path from current
as $$
    select v.*
    from pgrag.configuration_versions as v
    order by v.version_id desc
    limit greatest(coalesce(configuration_history.top_k, 20), 0);
$$;

comment on function pgrag.configuration_history is
'The versions of the configuration, newest first: as shipped by a release (origin package), and
after each change by a user (origin user), with the note.';
