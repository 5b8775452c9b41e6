-- Cheap enough to poll during a run; planned_enrichments estimates the remaining work.
create or replace function pgrag.enrichment_state(
    library text,
    version text default null
)
returns table (
    kind text,
    setting boolean,
    documents bigint,
    enriched bigint,
    failed bigint,
    kept bigint,
    models text[]
)
language plpgsql
stable
set search_path from current
as $$
declare
    owner_id bigint := _pgrag.library_id(enrichment_state.library);
    version_ids bigint[] := _pgrag.version_ids(owner_id, enrichment_state.version);
begin
    return query
    with counted as (
        select
            count(*) filter (
                where d.level = 2 and not d.is_summary
                    -- The stored size decides most cases without reading the text.
                    and (octet_length(d.content) >= 200 or length(d.content) >= 50)
            ) as paragraphs,
            count(*) filter (where d.situation <> '') as situations,
            count(*) filter (where d.level < 2 and d.is_summary and d.covers & 4 = 0) as overviews,
            count(*) filter (where d.extract is not null) as summaries
        from pgrag.documents as d
        where d.library_id = owner_id
            and d.covers > 0
            and d.version_id = any (version_ids)
    )
    select
        k.kind,
        (
            select (_pgrag.effective_settings(l.settings) ->> 'enrichment') ~ k.setting
            from pgrag.libraries as l
            where l.library_id = owner_id
        ),
        case k.kind when 'context' then c.paragraphs else c.overviews end,
        case k.kind when 'context' then c.situations else c.summaries end,
        (
            select count(*)
            from pgrag.enrichment_failures as f
            join pgrag.documents as d
                on d.library_id = f.library_id and d.document_id = f.document_id
            where f.library_id = owner_id
                and f.kind = k.kind
                and d.version_id = any (version_ids)
        ),
        e.kept, coalesce(e.models, '{}')
    from counted as c
    cross join (
        values ('context', 'context'), ('summary', 'summaries')
    ) as k (kind, setting)
    left join lateral (
        select count(*) as kept, array_agg(distinct e.model order by e.model) as models
        from pgrag.enrichments as e
        where e.library_id = owner_id and e.kind = k.kind
    ) as e on true
    order by k.kind;
end;
$$;

comment on function pgrag.enrichment_state is
'The state of the enrichment of a library (or one of its versions), a row for each kind: context
(situations of paragraphs) and summary (of pages and sections). setting: whether indexing enriches
(see default_settings); the number of eligible passages, of enriched passages, and of failures (see
pgrag.enrichment_failures); for the whole library the number of stored texts and the models that
wrote them. Errors: PGR02, PGR03.';
