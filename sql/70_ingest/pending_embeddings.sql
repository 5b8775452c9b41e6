-- Each text once, however many documents it stands in.
create or replace function pgrag.pending_embeddings(
    library text,
    model text default null,
    page_ids bigint[] default null,
    match_count integer default null
)
returns table (
    text_hash uuid,
    text text
)
language plpgsql
stable
set search_path from current
set work_mem = '128MB'
as $$
#variable_conflict use_column
declare
    owner_id bigint := pgrag._library_id(pending_embeddings.library);
    wanted_model bigint := coalesce(
        pgrag._model_id(pending_embeddings.model),
        (select l.model_id from pgrag.libraries as l where l.library_id = owner_id)
    );
begin
    return query
    select pending.text_hash, pending.text
    from (
        select distinct on (d.text_hash)
            d.text_hash,
            pgrag.embedding_text(
                p.title,
                pgrag.relative_url(p.url, coalesce(v.source ->> 'base_url', '')),
                d.path,
                pgrag._searched_text(d.situation, d.context, d.content)
            ) as text,
            d.document_id
        from pgrag.documents as d
        join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
        join pgrag.versions as v on v.library_id = d.library_id and v.version_id = d.version_id
        where d.library_id = owner_id
            and d.covers > 0
            and (
                pending_embeddings.page_ids is null
                or d.page_id = any (pending_embeddings.page_ids)
            )
            and not exists (
                select
                from pgrag.embeddings as e
                where e.library_id = d.library_id
                    and e.document_id = d.document_id
                    and e.model_id = wanted_model
            )
        order by d.text_hash, d.document_id
    ) as pending
    order by pending.document_id
    limit pending_embeddings.match_count;
end;
$$;

comment on function pgrag.pending_embeddings(text, text, bigint[], integer) is
'The distinct texts of a library that have no vector by a model (default: the library''s) yet, in
reading order, with the hash that pgrag.store_embeddings takes; only of the pages given, if any are,
and at most match_count. Errors: PGR02, PGR09.';

-- What the database can embed by itself.
create or replace function pgrag.embed_pending(
    library text
)
returns integer
language plpgsql
volatile
set search_path from current
as $$
declare
    owner_id bigint := pgrag._library_id(embed_pending.library);
    model_name text;
    stored integer := 0;
begin
    select m.name
    into model_name
    from pgrag.libraries as l
    join pgrag.embedding_models as m on m.model_id = l.model_id
    where l.library_id = owner_id and m.provider = 'builtin';
    if found then
        select pgrag.store_embeddings(
            embed_pending.library,
            model_name,
            array_agg(e.text_hash),
            array_agg(e.embedding)
        )
        into stored
        from (
            select p.text_hash, pgrag.embed(p.text, model_name) as embedding
            from pgrag.pending_embeddings(embed_pending.library, model_name) as p
        ) as e
        where e.embedding is not null;
    end if;
    return coalesce(stored, 0);
end;
$$;

comment on function pgrag.embed_pending(text) is
'Embeds, inside the database, every text of a library that has no vector yet, where the library''s
model is the built-in one; returns the number of documents that got a vector (0 for other models).';
