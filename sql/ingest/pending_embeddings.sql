-- Each distinct text of passages is listed once. Edges are listed one by one: their texts are not
-- stored, so a vector belongs to the edge itself.
create or replace function pgrag.pending_embeddings(
    library text,
    model text default null,
    page_ids bigint[] default null,
    top_k integer default null,
    kind text default 'document'
)
returns table (
    text_hash uuid,
    text text,
    edge_id bigint
)
language plpgsql
volatile
set search_path from current
set work_mem = '128MB'
-- A generic plan cannot use the index on page_ids and reads all passages of the library.
set plan_cache_mode = force_custom_plan
set jit = off
as $$
declare
    owner_id bigint := _pgrag.library_id(pending_embeddings.library);
    pending_model bigint := coalesce(
        _pgrag.model_id(pending_embeddings.model),
        (select l.model_id from pgrag.libraries as l where l.library_id = owner_id)
    );
begin
    perform _pgrag.check_count('top_k', pending_embeddings.top_k);
    perform _pgrag.check_choice('kind', pending_embeddings.kind, '{document, edge}');
    if pending_embeddings.kind = 'edge' then
        insert into pgrag.edge_embeddings as stored (
            library_id, edge_id, model_id, version_id, text_hash, embedding
        )
        select owner_id, t.edge_id, pending_model, t.version_id, t.text_hash, twin.embedding
        from _pgrag.edge_texts(owner_id, pending_model) as t
        join (
            select distinct on (v.text_hash) v.text_hash, v.embedding
            from pgrag.edge_embeddings as v
            where v.library_id = owner_id and v.model_id = pending_model
            order by v.text_hash, v.edge_id
        ) as twin on twin.text_hash = t.text_hash
        order by t.edge_id
        on conflict on constraint edge_embeddings_pkey do update
        set text_hash = excluded.text_hash, embedding = excluded.embedding;
        return query
        select t.text_hash, t.text, t.edge_id
        from _pgrag.edge_texts(owner_id, pending_model) as t
        where pending_embeddings.page_ids is null
            or t.source_page_id = any (pending_embeddings.page_ids)
        order by t.edge_id
        limit pending_embeddings.top_k;
        return;
    end if;
    return query
    select pending.text_hash, pending.text, null::bigint
    from (
        select distinct on (d.text_hash)
            d.text_hash,
            _pgrag.embedding_text(
                p.title,
                _pgrag.relative_url(p.url, coalesce(v.source ->> 'base_url', '')),
                d.path, _pgrag.searched_text(d.situation, d.context, d.content)
            ) as text,
            d.document_id
        from pgrag.documents as d
        join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
        join pgrag.versions as v on v.library_id = d.library_id and v.version_id = d.version_id
        where d.library_id = owner_id
            -- An array, because a join may read every passage of the library.
            and d.document_id = any (array(
                select i.document_id
                from pgrag.impacts as i
                where i.library_id = owner_id
                    and (
                        pending_embeddings.page_ids is null
                        or i.page_id = any (pending_embeddings.page_ids)
                    )
                    and not exists (
                        select from pgrag.embeddings as e
                        where e.library_id = i.library_id
                            and e.document_id = i.document_id
                            and e.model_id = pending_model
                    )
            ))
        order by d.text_hash, d.document_id
    ) as pending
    order by pending.document_id
    limit pending_embeddings.top_k;
end;
$$;

comment on function pgrag.pending_embeddings is
'The texts of a library without a vector of a model (the library''s by default), with the hash that
pgrag.store_embeddings takes; at most top_k. page_ids: only texts of these pages. kind document: the
distinct texts of passages, in reading order. kind edge: one row for each edge between two pages
with its text; equal texts have equal hashes, so embed each text once. Edges whose text already has
a vector in the library get that vector first, and are not listed. Errors: PGR01,
PGR02, PGR09.';

-- Edges between two pages without a vector of their current text.
create or replace function _pgrag.edge_texts(
    library_id bigint,
    model_id bigint
)
returns table (
    edge_id bigint,
    version_id bigint,
    source_page_id bigint,
    text_hash uuid,
    text text
)
language sql
stable
parallel safe
rows 10000
-- Reads a whole library, of which the planner may underestimate the pages.
set enable_nestloop = off
set work_mem = '128MB'
set jit = off
as $$
    select w.edge_id, w.version_id, w.source_page_id, w.text_hash, w.text
    from (
        select
            e.edge_id, e.version_id, e.source_page_id, pgrag.text_hash(t.text) as text_hash, t.text
        from pgrag.edges as e
        join pgrag.pages as s on s.library_id = e.library_id and s.page_id = e.source_page_id
        join pgrag.pages as o on o.library_id = e.library_id and o.page_id = e.target_page_id
        cross join lateral (
            select _pgrag.edge_text(s.title, e.kind, e.sentence, o.title) as text
            offset 0
        ) as t
        where e.library_id = edge_texts.library_id and e.target_page_id <> e.source_page_id
    ) as w
    left join pgrag.edge_embeddings as v
        on v.library_id = edge_texts.library_id
        and v.edge_id = w.edge_id
        and v.model_id = edge_texts.model_id
    where v.text_hash is distinct from w.text_hash;
$$;
