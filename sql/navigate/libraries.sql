create or replace function pgrag.libraries()
returns table (
    library text,
    language text,
    model text,
    versions bigint,
    newest text,
    pages bigint,
    documents bigint,
    settings jsonb,
    updated_at timestamptz
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
begin
    return query
    select
        l.name, coalesce(l.language_code, 'en'), m.name, counted.versions,
        (select r.version from pgrag.resolve_version(l.name) as r where counted.versions > 0),
        counted.pages,
        counted.documents,
        _pgrag.effective_settings(l.settings)
            || jsonb_build_object('alpha', _pgrag.alpha(l.settings, m.alpha)),
        counted.updated_at
    from pgrag.libraries as l
    left join pgrag.embedding_models as m on m.model_id = l.model_id
    cross join lateral (
        select
            count(*) as versions,
            coalesce(sum(v.page_count), 0)::bigint as pages,
            coalesce(sum(v.document_count), 0)::bigint as documents,
            max(v.updated_at) as updated_at
        from pgrag.versions as v
        where v.library_id = l.library_id
    ) as counted
    order by l.name;
end;
$$;

comment on function pgrag.libraries is
'Every library: language (of pages that show none), embedding model, number of versions, the
newest one, pages and searchable passages in all versions, effective settings, last change.';
