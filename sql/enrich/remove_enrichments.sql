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
    owner pgrag.libraries := _pgrag.lock_library(remove_enrichments.library);
    document_ids bigint[];
    situations text[];
    summaries text[];
begin
    perform _pgrag.check_choice(
        'kind', coalesce(remove_enrichments.kind, 'context'), '{context, summary}'
    );
    delete from pgrag.enrichments as e
    where e.library_id = owner.library_id
        and (remove_enrichments.kind is null or e.kind = remove_enrichments.kind);
    delete from pgrag.enrichment_failures as f
    where f.library_id = owner.library_id
        and (remove_enrichments.kind is null or f.kind = remove_enrichments.kind);

    select
        array_agg(d.document_id),
        array_agg(case when remove_enrichments.kind = 'summary' then d.situation else '' end),
        array_agg(
            case
                when remove_enrichments.kind = 'context' and d.extract is not null then d.content
            end
        )
    into document_ids, situations, summaries
    from pgrag.documents as d
    where d.library_id = owner.library_id
        and (
            d.situation <> '' and remove_enrichments.kind is distinct from 'summary'
            or d.extract is not null and remove_enrichments.kind is distinct from 'context'
        );
    perform _pgrag.restate_documents(owner, document_ids, situations, summaries);
    return coalesce(cardinality(document_ids), 0);
end;
$$;

comment on function pgrag.remove_enrichments is
'Removes the texts of language models from the passages of a library, in all versions, and deletes
the stored texts: the situations (kind context), the summaries, which become the page''s own
sentences again, or (null) both. Statistics and vectors are updated; pgrag.embed_pending or `pgrag
embed` embeds the restored texts. Returns the number of changed passages. Errors: PGR01, PGR02.';
