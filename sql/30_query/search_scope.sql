-- Which versions a search looks into, each with what is needed to rank it.
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
    document_count integer
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    wanted bigint[] := (
        select array_agg(pgrag._library_id(name)) from unnest(search_scope.libraries) as name
    );
begin
    return query
    select l.library_id, v.version_id, l.name, v.label, l.model_id, l.settings, v.document_count
    from pgrag.libraries as l
    join pgrag.versions as v on v.library_id = l.library_id
    where (search_scope.libraries is null or l.library_id = any (wanted))
        and (
            search_scope.version = '*'
            or v.version_id = (
                select r.version_id
                from pgrag.resolve_version(l.name, search_scope.version) as r
            )
        )
    order by l.library_id, v.version_id;
end;
$$;

comment on function pgrag.search_scope(text[], text) is
'The versions that a search looks into: of the libraries given (null: all), the one that the wish
resolves to (null: the newest) or, for "*", every version. Errors: PGR02, PGR03.';
