-- A page is one as long as any of its vectors was pooled from another text than it has now; pages
-- of equal text, as in two versions, are one.
create or replace function pgrag.pending_pages(
    library text,
    model text default null,
    page_ids bigint[] default null
)
returns table (
    page_hash uuid,
    pages bigint[],
    documents integer
)
language plpgsql
stable
set search_path from current
set jit = off
as $$
#variable_conflict use_column
declare
    owner_id bigint := pgrag._library_id(pending_pages.library);
    wanted_model bigint := coalesce(
        pgrag._model_id(pending_pages.model),
        (select l.model_id from pgrag.libraries as l where l.library_id = owner_id)
    );
begin
    return query
    with texts as materialized (
        select t.page_id, t.page_hash, t.document_ids
        from pgrag._page_texts(owner_id, pending_pages.page_ids) as t
    ),
    pending as (
        select distinct t.page_id, t.page_hash, cardinality(t.document_ids) as documents
        from texts as t
        cross join lateral unnest(t.document_ids) as d (document_id)
        -- "offset 0": one probe of the index for each, so that a few pages cost as little as they
        -- are, however large the library is.
        left join lateral (
            select e.page_hash
            from pgrag.embeddings as e
            where e.library_id = owner_id
                and e.document_id = d.document_id
                and e.model_id = wanted_model
            offset 0
        ) as e on true
        where e.page_hash is distinct from t.page_hash
    )
    select p.page_hash, array_agg(p.page_id order by p.page_id), min(p.documents)
    from pending as p
    group by p.page_hash
    order by min(p.page_id);
end;
$$;

comment on function pgrag.pending_pages(text, text, bigint[]) is
'The texts of whole pages of a library from which no vectors have been pooled by a model (default:
the library''s) yet: the hash of each, the pages that have it, and how many documents stand on one;
only of the pages given, if any are. For models that embed a document within its page. Errors:
PGR02, PGR09.';

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
#variable_conflict use_column
declare
    owner_id bigint := pgrag._library_id(page_texts.library);
begin
    return query
    select t.page_id, t.page_hash, array_agg(read.text order by read.sort_order)
    from pgrag._page_texts(owner_id, coalesce(page_texts.page_ids, '{}')) as t
    cross join lateral (
        select
            pgrag.embedding_text(
                p.title,
                pgrag.relative_url(p.url, coalesce(v.source ->> 'base_url', '')),
                d.path,
                pgrag._searched_text(d.situation, d.context, d.content)
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

comment on function pgrag.page_texts(text, bigint[]) is
'What a model that embeds a document within its page reads of these pages of a library: the texts of
the documents in reading order (as pgrag.pending_embeddings gives them), and the hash of all that
pgrag.store_page_embeddings takes. Errors: PGR02.';
