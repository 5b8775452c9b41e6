create or replace function pgrag.page_texts(
    library text,
    page_ids bigint[]
)
returns table (
    page_id bigint,
    page_hash uuid,
    texts text[]
)
language plpgsql
stable
set search_path from current
as $$
declare
    owner_id bigint := _pgrag.library_id(page_texts.library);
begin
    return query
    select t.page_id, t.page_hash, array_agg(read.text order by read.sort_order)
    from _pgrag.page_texts(owner_id, coalesce(page_texts.page_ids, '{}')) as t
    cross join lateral (
        select
            _pgrag.embedding_text(
                p.title,
                _pgrag.relative_url(p.url, coalesce(v.source ->> 'base_url', '')),
                d.path, _pgrag.searched_text(d.situation, d.context, d.content)
            ) as text,
            d.sort_order
        from pgrag.documents as d
        join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
        join pgrag.versions as v on v.library_id = d.library_id and v.version_id = d.version_id
        where d.library_id = owner_id and d.document_id = any (t.document_ids)
    ) as read
    group by t.page_id, t.page_hash
    order by t.page_id;
end;
$$;

comment on function pgrag.page_texts is
'The input of a model that embeds each passage in the context of its page, for these pages of a
library: the texts of the passages in reading order (as pgrag.pending_embeddings gives them), and
the hash of all texts, which pgrag.store_page_embeddings takes. Errors: PGR02.';
