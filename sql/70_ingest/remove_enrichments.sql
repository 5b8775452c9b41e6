-- Back to the page's own words, as if no model had ever been asked.
create or replace function pgrag.remove_enrichments(
    library text,
    kind text default null
)
returns bigint
language plpgsql
volatile
set search_path from current
set work_mem = '64MB'
as $$
declare
    owner_id bigint := pgrag._library_id(remove_enrichments.library);
    settings jsonb;
    page_ids bigint[];
    pages pgrag.documents[];
    document_ids bigint[];
    situations text[];
    summaries text[];
    restored pgrag.documents[];
    removed bigint := 0;
begin
    if remove_enrichments.kind is not null then
        perform pgrag._check_enrichment_kind(remove_enrichments.kind);
    end if;
    select pgrag.effective_settings(l.settings)
    into settings
    from pgrag.libraries as l
    where l.library_id = owner_id
    for no key update;

    delete from pgrag.enrichments as e
    where e.library_id = owner_id
        and (remove_enrichments.kind is null or e.kind = remove_enrichments.kind);
    delete from pgrag.enrichment_failures as f
    where f.library_id = owner_id
        and (remove_enrichments.kind is null or f.kind = remove_enrichments.kind);

    for page_ids in
        select array_agg(n.page_id)
        from (
            select d.page_id, (row_number() over (order by d.page_id) - 1) / 200 as number
            from pgrag.documents as d
            where d.library_id = owner_id
                and pgrag._is_enriched(d.situation, d.extract, remove_enrichments.kind)
            group by d.page_id
        ) as n
        group by n.number
    loop
        pages := array(
            select d
            from pgrag.documents as d
            where d.library_id = owner_id and d.page_id = any (page_ids)
        );
        select
            array_agg(d.document_id),
            array_agg(case when remove_enrichments.kind = 'summary' then d.situation else '' end),
            array_agg(
                case
                    when remove_enrichments.kind = 'context' and d.extract is not null
                    then d.content
                end
            )
        into document_ids, situations, summaries
        from unnest(pages) as d
        where pgrag._is_enriched(d.situation, d.extract, remove_enrichments.kind);
        restored := array(
            select r
            from pgrag._restated_documents(
                owner_id, pages, document_ids, situations, summaries
            ) as r
            where r.document_id = any (document_ids)
        );
        perform pgrag._rewrite_documents(owner_id, restored, settings);
        removed := removed + coalesce(cardinality(restored), 0);
    end loop;
    return removed;
end;
$$;

comment on function pgrag.remove_enrichments(text, text) is
'Takes what language models wrote out of the documents of a library, all versions, and forgets it:
the situations (kind context), the summaries, which become the page''s own sentences again, or
(null) both. Statistics and vectors move with the rows: pgrag.embed_pending or `pgrag embed` embeds
the texts that are new again. Returns the number of documents that changed. Errors: PGR01, PGR02.';

create or replace function pgrag._is_enriched(
    situation text,
    own_text text,
    kind text
)
returns boolean
language sql
immutable
parallel safe
as $$
    select (_is_enriched.situation <> '' and _is_enriched.kind is distinct from 'summary')
        or (_is_enriched.own_text is not null and _is_enriched.kind is distinct from 'context');
$$;
