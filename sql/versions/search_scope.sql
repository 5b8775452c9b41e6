-- The versions in the scope of a search, each with the data needed to rank its passages.
create or replace function pgrag.search_scope(
    libraries text[] default null,
    version text default null
)
returns table (
    library_id bigint,
    version_id bigint,
    library text,
    version_label text,
    model_id bigint,
    settings jsonb,
    document_count integer,
    reason text
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    library_ids bigint[] := (
        select array_agg(_pgrag.library_id(name)) from unnest(search_scope.libraries) as name
    );
begin
    return query
    -- Materialized, so that only these libraries are resolved: one without a version would raise.
    with scope as materialized (
        select l.library_id, l.name, l.model_id, l.settings
        from pgrag.libraries as l
        where l.library_id = any (library_ids)
            or (
                search_scope.libraries is null
                -- The corpora of labelled sets are searched only by name.
                and l.name not like 'eval-%'
                and exists (select from pgrag.versions as v where v.library_id = l.library_id)
            )
    )
    select
        s.library_id, v.version_id, s.name, v.label, s.model_id, s.settings, v.document_count,
        r.reason
    from scope as s
    cross join lateral (
        select e.version, e.reason
        from _pgrag.resolved_version(s.library_id, search_scope.version) as e
        where search_scope.version is distinct from '*'
        union all
        select a, 'every version'
        from pgrag.versions as a
        where a.library_id = s.library_id and search_scope.version = '*'
    ) as r
    cross join lateral (select (r.version).*) as v
    order by s.name collate "C", v.release_key desc nulls last, v.label collate "C";
end;
$$;

comment on function pgrag.search_scope is
'The versions in the scope of a search: of each given library (null: all except labelled sets,
eval-…) the version that the request resolves to (null: the newest) or, for "*", every version.
Errors: PGR02, PGR03.';
