-- Raises the errors of resolve_version for each of these libraries.
create or replace function _pgrag.check_versions(
    libraries text[],
    version text
)
returns void
language plpgsql
stable
parallel safe
as $$
begin
    perform case
        when check_versions.version = '*' then _pgrag.library_id(name)
        else (select r.version_id from pgrag.resolve_version(name, check_versions.version) as r)
    end
    from unnest(check_versions.libraries) as name;
end;
$$;

-- The versions in the scope of a search, by the stored names of libraries; a library that does not
-- exist, or has no version, is left out. Inlined.
create or replace function _pgrag.versions_in_scope(
    libraries text[],
    version text
)
returns table (
    library pgrag.libraries,
    version_id bigint,
    version_label text,
    document_count integer,
    reason text,
    place bigint,
    nth_of_library bigint
)
language sql
stable
parallel safe
rows 10
as $$
    -- Materialized, so that only these libraries are resolved: others may have no such version.
    with scope as materialized (
        select l as library, l.library_id, l.name
        from pgrag.libraries as l
        where l.name = any (versions_in_scope.libraries)
            or (
                versions_in_scope.libraries is null
                -- The corpora of labelled sets are searched only by name.
                and l.name not like 'eval-%'
                and exists (select from pgrag.versions as v where v.library_id = l.library_id)
            )
    )
    select
        s.library, v.version_id, v.label, v.document_count, r.reason,
        row_number() over (
            order by s.name collate "C", v.release_key desc nulls last, v.label collate "C"
        ),
        row_number() over (partition by s.library_id)
    from scope as s
    cross join lateral (
        select n.version, n.reason
        from _pgrag.newest_version(s.library_id) as n
        where versions_in_scope.version is null
        union all
        select e.version, e.reason
        from _pgrag.resolved_version(s.library_id, versions_in_scope.version) as e
        where versions_in_scope.version <> '*'
        union all
        select a, 'every version'
        from pgrag.versions as a
        where a.library_id = s.library_id and versions_in_scope.version = '*'
    ) as r
    cross join lateral (select (r.version).*) as v;
$$;
