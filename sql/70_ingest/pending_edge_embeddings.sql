-- Edges whose text has no vector yet, or had another text when they got it. What the library has
-- a vector of already is handed on here, so that no text is embedded twice.
create or replace function pgrag.pending_edge_embeddings(
    library text,
    model text default null,
    match_count integer default null
)
returns table (
    edge_id bigint,
    text_hash uuid,
    text text
)
language plpgsql
volatile
set search_path from current
set work_mem = '128MB'
as $$
#variable_conflict use_column
declare
    owner_id bigint := pgrag._library_id(pending_edge_embeddings.library);
    wanted_model bigint := coalesce(
        pgrag._model_id(pending_edge_embeddings.model),
        (select l.model_id from pgrag.libraries as l where l.library_id = owner_id)
    );
begin
    perform pgrag._hand_on_edge_embeddings(owner_id, wanted_model);
    return query
    select t.edge_id, t.text_hash, t.text
    from pgrag._edge_texts(owner_id, wanted_model) as t
    order by t.edge_id
    limit pending_edge_embeddings.match_count;
end;
$$;

comment on function pgrag.pending_edge_embeddings(text, text, integer) is
'The edges of a library between two pages whose text (pgrag.edge_text) has no vector by a model
(default: the library''s) yet, with the text and its hash, at most match_count; equal texts have
equal hashes: embed each once, and give the vectors to
pgrag.store_edge_embeddings. Edges whose text has a vector in the library already get it at once.
Errors: PGR02, PGR09.';

create or replace function pgrag.embed_pending_edges(
    library text
)
returns integer
language plpgsql
volatile
set search_path from current
as $$
declare
    owner_id bigint := pgrag._library_id(embed_pending_edges.library);
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
            from pgrag.pending_edge_embeddings(embed_pending_edges.library, model_name) as p
        ),
        embedded as materialized (
            select distinct on (p.text_hash)
                p.text_hash, pgrag.embed(p.text, model_name) as embedding
            from pending as p
            order by p.text_hash
        )
        select pgrag.store_edge_embeddings(
            embed_pending_edges.library,
            model_name,
            array_agg(p.edge_id order by p.edge_id),
            array_agg(p.text_hash order by p.edge_id),
            array_agg(e.embedding order by p.edge_id)
        )
        into stored
        from pending as p
        join embedded as e on e.text_hash = p.text_hash
        where e.embedding is not null;
    end if;
    return coalesce(stored, 0);
end;
$$;

comment on function pgrag.embed_pending_edges(text) is
'Embeds, inside the database, every edge of a library that has no vector yet, where the library''s
model is the built-in one; returns the number of edges that got one (0 for other models). Some
thousands a minute: pgrag embed LIBRARY --edges is much faster. Errors: PGR02.';

-- Edges between two pages without a vector of their present text.
create or replace function pgrag._edge_texts(
    library_id bigint,
    model_id bigint
)
returns table (
    edge_id bigint,
    version_id bigint,
    text_hash uuid,
    text text
)
language sql
stable
parallel safe
rows 10000
set search_path from current
-- Of a whole library, however few pages the planner takes it to have.
set enable_nestloop = off
set work_mem = '128MB'
set jit = off
as $$
    select w.edge_id, w.version_id, w.text_hash, w.text
    from (
        select e.edge_id, e.version_id, pgrag.text_hash(t.text) as text_hash, t.text
        from pgrag.edges as e
        join pgrag.pages as s on s.library_id = e.library_id and s.page_id = e.source_page_id
        join pgrag.pages as o on o.library_id = e.library_id and o.page_id = e.target_page_id
        cross join lateral (
            select pgrag.edge_text(s.title, e.kind, e.sentence, o.title) as text
            offset 0
        ) as t
        where e.library_id = _edge_texts.library_id and e.target_page_id <> e.source_page_id
    ) as w
    left join pgrag.edge_embeddings as v
        on v.library_id = _edge_texts.library_id
        and v.edge_id = w.edge_id
        and v.model_id = _edge_texts.model_id
    where v.text_hash is distinct from w.text_hash;
$$;

create or replace function pgrag._hand_on_edge_embeddings(
    library_id bigint,
    model_id bigint
)
returns void
language sql
volatile
set search_path from current
set work_mem = '128MB'
set jit = off
as $$
    insert into pgrag.edge_embeddings as stored (
        library_id, edge_id, model_id, version_id, text_hash, embedding
    )
    select
        _hand_on_edge_embeddings.library_id, t.edge_id, _hand_on_edge_embeddings.model_id,
        t.version_id, t.text_hash, twin.embedding
    from pgrag._edge_texts(
        _hand_on_edge_embeddings.library_id, _hand_on_edge_embeddings.model_id
    ) as t
    join (
        select distinct on (v.text_hash) v.text_hash, v.embedding
        from pgrag.edge_embeddings as v
        where v.library_id = _hand_on_edge_embeddings.library_id
            and v.model_id = _hand_on_edge_embeddings.model_id
        order by v.text_hash, v.edge_id
    ) as twin on twin.text_hash = t.text_hash
    order by t.edge_id
    on conflict on constraint edge_embeddings_pkey do update
    set text_hash = excluded.text_hash, embedding = excluded.embedding;
$$;
