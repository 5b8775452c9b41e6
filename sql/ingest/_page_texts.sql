-- Vectors pooled from a whole page depend on all of its searched texts, in reading order. Summaries
-- are left out: they do not occur on the page.
create or replace function _pgrag.page_texts(
    library_id bigint,
    page_ids bigint[]
)
returns table (
    page_id bigint,
    page_hash uuid,
    document_ids bigint[]
)
language plpgsql
stable
parallel safe
set work_mem = '128MB'
as $$
begin
    return query
    select
        d.page_id,
        pgrag.text_hash(string_agg(d.text_hash::text, ' ' order by d.sort_order)),
        array_agg(d.document_id order by d.sort_order)
    from pgrag.documents as d
    where d.library_id = page_texts.library_id
        and d.covers > 0
        and not d.is_summary
        and (page_texts.page_ids is null or d.page_id = any (page_texts.page_ids))
    group by d.page_id;
end;
$$;
