create or replace function pgrag.embed_pending(
    library text,
    kind text default 'document'
)
returns integer
language plpgsql
volatile
set search_path from current
as $$
declare
    owner_id bigint := _pgrag.library_id(embed_pending.library);
    model_name text;
    stored integer := 0;
begin
    select m.name
    into model_name
    from pgrag.libraries as l
    join pgrag.embedding_models as m on m.model_id = l.model_id
    where l.library_id = owner_id and m.provider = 'builtin';
    if found then
        with pending as materialized (
            select p.*
            from pgrag.pending_embeddings(
                embed_pending.library, model_name, kind => embed_pending.kind
            ) as p
        ),
        embedded as materialized (
            select distinct on (p.text_hash)
                p.text_hash, pgrag.embed(p.text, model_name) as embedding
            from pending as p
            order by p.text_hash
        )
        select pgrag.store_embeddings(
            embed_pending.library, model_name,
            array_agg(p.text_hash order by p.text_hash, p.edge_id),
            array_agg(e.embedding order by p.text_hash, p.edge_id),
            case
                when embed_pending.kind = 'edge'
                then array_agg(p.edge_id order by p.text_hash, p.edge_id)
            end
        )
        into stored
        from pending as p
        join embedded as e on e.text_hash = p.text_hash
        where e.embedding is not null;
    end if;
    return coalesce(stored, 0);
end;
$$;

comment on function pgrag.embed_pending is
'Embeds, inside the database, every text of a library that has no vector yet, if the library''s
model is the built-in one; kind: document or edge. Returns the number of passages or edges that got
a vector (0 for other models). Embeds some thousand edges a minute: pgrag embed LIBRARY --edges is
much faster. Errors: PGR01, PGR02.';
