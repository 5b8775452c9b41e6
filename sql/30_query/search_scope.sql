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
    -- Materialized, so that each library is resolved once; one without any version is passed over
    -- where nobody named it.
    with scope as materialized (
        select
            l.library_id,
            l.name,
            l.model_id,
            l.settings,
            case
                when search_scope.version is distinct from '*' and (
                    search_scope.libraries is not null
                    or exists (select from pgrag.versions as v where v.library_id = l.library_id)
                )
                then (
                    select r.version_id
                    from pgrag.resolve_version(l.name, search_scope.version) as r
                )
            end as version_id
        from pgrag.libraries as l
        -- The corpus of a labelled set is searched only by who names it.
        where l.library_id = any (wanted)
            or (search_scope.libraries is null and l.name not like 'eval-%')
    )
    select s.library_id, v.version_id, s.name, v.label, s.model_id, s.settings, v.document_count
    from scope as s
    join pgrag.versions as v on v.library_id = s.library_id
    where search_scope.version = '*' or v.version_id = s.version_id
    order by s.library_id, v.version_id;
end;
$$;

comment on function pgrag.search_scope(text[], text) is
'The versions that a search looks into: of the libraries given (null: all but those of labelled
sets, eval-…), the one that the wish resolves to (null: the newest) or, for "*", every version.
Errors: PGR02, PGR03.';
