-- Cheap enough to look at while a run goes on: what it would take to go on is planned_enrichments.
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
#variable_conflict use_column
declare
    owner_id bigint := pgrag._library_id(enrichment_state.library);
    only_version bigint := case
        when enrichment_state.version is not null
        then pgrag._version_id(owner_id, enrichment_state.version)
    end;
begin
    return query
    with counted as (
        select
            count(*) filter (
                where d.level = 2
                    and not d.is_summary
                    -- Most are told by their size alone, without being read.
                    and (octet_length(d.content) >= 200 or length(d.content) >= 50)
            ) as paragraphs,
            count(*) filter (where d.situation <> '') as situations,
            count(*) filter (
                where d.level < 2 and d.is_summary and d.covers & 4 = 0
            ) as overviews,
            count(*) filter (where d.extract is not null) as summaries
        from pgrag.documents as d
        where d.library_id = owner_id
            and d.covers > 0
            and (only_version is null or d.version_id = only_version)
    )
    select
        k.kind,
        k.kind = any (
            pgrag._enrichment_kinds(
                (
                    select pgrag.effective_settings(l.settings) ->> 'enrichment'
                    from pgrag.libraries as l
                    where l.library_id = owner_id
                )
            )
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
                and (only_version is null or d.version_id = only_version)
        ),
        e.kept,
        coalesce(e.models, '{}')
    from counted as c
    cross join (values ('context'), ('summary')) as k (kind)
    left join lateral (
        select count(*) as kept, array_agg(distinct e.model order by e.model) as models
        from pgrag.enrichments as e
        where e.library_id = owner_id and e.kind = k.kind
    ) as e on true
    order by k.kind;
end;
$$;

comment on function pgrag.enrichment_state(text, text) is
'What language models wrote for a library (or one of its versions), a row for each kind: context
(situations of paragraphs) and summary (of pages and sections). setting: whether indexing does it
(see default_settings); documents that it is for, how many have it, on how many a model failed (see
pgrag.enrichment_failures); for the whole library the number of texts that are kept and the models
that wrote them. Errors: PGR02, PGR03.';

-- The kinds that the setting "enrichment" names; none where it is off.
create or replace function pgrag._enrichment_kinds(
    setting text
)
returns text[]
language sql
immutable
parallel safe
as $$
    select pg_catalog.array_remove(
        array[
            case when _enrichment_kinds.setting ~ 'context' then 'context' end,
            case when _enrichment_kinds.setting ~ 'summaries' then 'summary' end
        ],
        null
    );
$$;
