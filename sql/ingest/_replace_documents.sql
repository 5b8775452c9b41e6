-- Rewrites documents of these pages and deletes the documents in `gone`; updates the statistics,
-- vectors and impacts of the pages. Unchanged documents are not written.
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
    changed bigint[];
    reworded bigint[];
    recovered bigint[];
begin
    select
        array_agg(n.document_id) filter (where n.is_reworded or n.is_searched_otherwise),
        array_agg(n.document_id) filter (where n.is_reworded),
        array_agg(n.document_id) filter (where n.is_recovered and not n.is_reworded)
    into changed, reworded, recovered
    from (
        select
            s.document_id,
            (s.text_hash, s.language, s.covers > 0)
                is distinct from (d.text_hash, d.language, d.covers > 0) as is_reworded,
            s.search is distinct from d.search as is_searched_otherwise,
            s.covers <> d.covers as is_recovered
        from unnest(replace_documents.documents) as s
        -- Each by its id: the planner would read the whole library.
        left join lateral (
            select o.text_hash, o.language, o.covers, o.search
            from pgrag.documents as o
            where o.library_id = replace_documents.library_id and o.document_id = s.document_id
            offset 0
        ) as d on true
    ) as n;

    perform _pgrag.forget_documents(
        replace_documents.library_id, changed || replace_documents.gone,
        replace_documents.settings
    );
    perform _pgrag.forget_pages(replace_documents.library_id, replace_documents.page_ids);
    perform _pgrag.write_documents(
        replace_documents.library_id, replace_documents.documents,
        (select range_agg(int8range(c.id, c.id, '[]')) from unnest(changed) as c (id)),
        replace_documents.settings
    );
    delete from pgrag.embeddings as e
    where e.library_id = replace_documents.library_id and e.document_id = any (reworded);
    perform _pgrag.hand_on_embeddings(replace_documents.library_id, reworded);
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
    perform _pgrag.rank_pages(
        replace_documents.library_id, replace_documents.page_ids, replace_documents.settings
    );
end;
$$;
