-- Vectors that are pooled from a whole page belong to its text as a whole: to the texts that are
-- searched, in reading order, but for summaries, which stand nowhere on it.
create or replace function pgrag._page_texts(
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
set search_path from current
set work_mem = '128MB'
as $$
#variable_conflict use_column
begin
    return query
    select
        d.page_id,
        pgrag.text_hash(string_agg(d.text_hash::text, ' ' order by d.sort_order)),
        array_agg(d.document_id order by d.sort_order)
    from pgrag.documents as d
    where d.library_id = _page_texts.library_id
        and d.covers > 0
        and not d.is_summary
        and (_page_texts.page_ids is null or d.page_id = any (_page_texts.page_ids))
    group by d.page_id;
end;
$$;
