-- Writes those of the given passages of these pages that differ from the stored ones, and deletes
-- the passages in `gone`; updates the statistics, vectors and impacts of the pages.
create or replace function _pgrag.replace_documents(
    library_id bigint,
    page_ids bigint[],
    documents pgrag.documents[],
    gone bigint[],
    settings jsonb
)
returns void
language plpgsql
volatile
as $$
declare
    other pgrag.documents[];
    changed bigint[];
    reworded bigint[];
    recovered bigint[];
begin
    select
        array_agg(n.staged) filter (where n.is_other),
        array_agg(n.document_id) filter (where n.is_reworded or n.is_searched_otherwise),
        array_agg(n.document_id) filter (where n.is_reworded),
        array_agg(n.document_id) filter (where n.is_recovered and not n.is_reworded)
    into other, changed, reworded, recovered
    from (
        select
            s as staged, s.document_id,
            s is distinct from d.stored as is_other,
            (s.text_hash, s.language, s.covers > 0) is distinct from (
                (d.stored).text_hash, (d.stored).language, (d.stored).covers > 0
            ) as is_reworded,
            s.search is distinct from (d.stored).search as is_searched_otherwise,
            s.covers <> (d.stored).covers as is_recovered
        from unnest(replace_documents.documents) as s
        -- Each by its id: the planner would read the whole library.
        left join lateral (
            select o as stored
            from pgrag.documents as o
            where o.library_id = replace_documents.library_id and o.document_id = s.document_id
            offset 0
        ) as d on true
    ) as n;

    perform _pgrag.forget_documents(library_id, changed || gone, settings);
    perform _pgrag.forget_pages(library_id, page_ids);
    perform _pgrag.write_documents(
        library_id, other,
        (select range_agg(int8range(c.id, c.id, '[]')) from unnest(changed) as c (id)),
        settings
    );
    delete from pgrag.embeddings as e
    where e.library_id = replace_documents.library_id and e.document_id = any (reworded);
    perform _pgrag.hand_on_embeddings(library_id, reworded);
    delete from pgrag.enrichment_failures as f
    where f.library_id = replace_documents.library_id and f.document_id = any (reworded);
    update pgrag.embeddings as e
    set covers = d.covers
    from pgrag.documents as d
    where d.library_id = replace_documents.library_id
        and d.document_id = any (recovered)
        and e.library_id = d.library_id
        and e.document_id = d.document_id;
    delete from pgrag.documents as d
    where d.library_id = replace_documents.library_id
        and d.document_id = any (replace_documents.gone);
    perform _pgrag.rank_pages(library_id, page_ids, settings);
end;
$$;
