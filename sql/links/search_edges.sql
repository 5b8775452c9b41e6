-- Searches relations by meaning: "who depends on the scheduler" finds the sentence that states the
-- dependency, and both pages. Exact: all vectors of the version are compared.
create or replace function pgrag.search_edges(
    query text,
    library text,
    top_k integer default 10,
    version text default null,
    kinds text[] default null,
    query_embedding halfvec default null,
    rules text[] default null,
    min_score double precision default 0,
    model text default null
)
returns table (
    edge_id bigint,
    score double precision,
    matched_by text,
    source_page_id bigint,
    source_page text,
    source_title text,
    source_url text,
    line integer,
    kind text,
    rule text,
    confidence real,
    link_text text,
    sentence text,
    target_page_id bigint,
    target_page text,
    target_title text,
    target_url text
)
language plpgsql
stable
parallel unsafe
rows 10
set search_path from current
as $$
declare
    owner pgrag.libraries;
    wanted_version bigint;
    used_model bigint := _pgrag.model_id(search_edges.model);
    words text := _pgrag.searched_words(search_edges.query);
    embedding halfvec;
    query_lexemes text[];
    page_ids bigint[];
    edge_ids bigint[];
    scores double precision[];
    method text := 'meaning';
begin
    perform _pgrag.check_range('top_k', search_edges.top_k, 1, 1000);
    select l.*
    into owner
    from pgrag.libraries as l
    where l.library_id = _pgrag.library_id(search_edges.library);
    wanted_version := (pgrag.resolve_version(owner.name, search_edges.version)).version_id;
    used_model := coalesce(used_model, owner.model_id);
    if words = '' and search_edges.query_embedding is null then
        return;
    end if;

    if exists (
        select from pgrag.edge_embeddings as v
        where v.library_id = owner.library_id
            and v.version_id = wanted_version
            and v.model_id = used_model
    ) then
        embedding := (
            select _pgrag.embed_query(words, m, search_edges.query_embedding)
            from pgrag.embedding_models as m
            where m.model_id = used_model
        );
    else
        raise notice 'The edges of % have no vectors, which pgrag embed % --edges makes: searching'
            ' their words.', quote_literal(owner.name), owner.name;
    end if;
    if embedding is not null then
        select n.edge_ids, n.scores
        into edge_ids, scores
        from _pgrag.nearest_edges(
            owner.library_id, wanted_version, used_model, embedding, search_edges.kinds,
            search_edges.rules, search_edges.top_k
        ) as n;
    elsif words <> '' then
        method := 'words';
        query_lexemes := tsvector_to_array(_pgrag.query_vector(owner.language, words));
        page_ids := array(
            select distinct h.page_id
            from pgrag.keyword_search(
                search_edges.query, owner.name, 100, search_edges.version,
                options => '{"levels": [1, 2], "max_per_page": 1}'
            ) as h
        );
        select
            array_agg(n.edge_id order by n.score desc, n.confidence desc, n.edge_id),
            array_agg(n.score order by n.score desc, n.confidence desc, n.edge_id)
        into edge_ids, scores
        from (
            select
                e.edge_id, e.confidence,
                (
                    select count(*)::double precision
                    from unnest(query_lexemes) as w (lexeme)
                    where w.lexeme = any (x.lexemes)
                ) / cardinality(query_lexemes) as score
            from pgrag.edges as e
            cross join lateral _pgrag.page_named(e.library_id, e.source_page_id) as s
            cross join lateral _pgrag.page_named(e.library_id, e.target_page_id) as t
            cross join lateral (
                select tsvector_to_array(
                    _pgrag.document_vector(
                        owner.language, _pgrag.edge_text(s.title, e.kind, e.sentence, t.title)
                    )
                ) as lexemes
                offset 0
            ) as x
            where e.library_id = owner.library_id
                and e.version_id = wanted_version
                and e.target_page_id <> e.source_page_id
                and (e.source_page_id = any (page_ids) or e.target_page_id = any (page_ids))
                and (search_edges.kinds is null or e.kind = any (search_edges.kinds))
                and (search_edges.rules is null or e.rule = any (search_edges.rules))
                and x.lexemes && query_lexemes
            order by score desc, e.confidence desc, e.edge_id
            limit search_edges.top_k
        ) as n;
    end if;

    return query
    select
        e.edge_id, f.score, method, s.page_id, s.key, s.title, s.url, e.line, e.kind, e.rule,
        e.confidence, e.link_text, e.sentence, t.page_id, t.key, t.title, t.url
    from unnest(edge_ids, scores) with ordinality as f (edge_id, score, nth)
    join pgrag.edges as e on e.library_id = owner.library_id and e.edge_id = f.edge_id
    cross join lateral _pgrag.page_named(e.library_id, e.source_page_id) as s
    cross join lateral _pgrag.page_named(e.library_id, e.target_page_id) as t
    where f.score >= coalesce(search_edges.min_score, 0)
    order by f.nth;
end;
$$;

comment on function pgrag.search_edges is
'The edges between two pages of a library''s version (see resolve_version) whose text (source title,
kind, sentence and target title, see edge_text) is nearest to a query, at most top_k (1 to 1000).
matched_by "meaning": score is the cosine with the vectors of pgrag.edge_embeddings, all of which
are compared. matched_by "words", with a notice, if the version has no vectors of the model
(default: the library''s): the edges of the 100 best pages of keyword_search, by the share of the
query''s terms that they contain, which is the score. kinds, rules: only these. min_score: leave out
edges with a lower score. query_embedding: the query''s vector, for models outside the database.
Errors: PGR01, PGR02, PGR03, PGR08, PGR09.';

-- Comparing vectors takes a tenth of the time of comparing them joined to their edges. So without a
-- filter, more candidates than needed are taken first and then joined.
create or replace function _pgrag.nearest_edges(
    library_id bigint,
    version_id bigint,
    model_id bigint,
    query_embedding halfvec,
    kinds text[],
    rules text[],
    top_k integer,
    out edge_ids bigint[],
    out scores double precision[]
)
returns record
language plpgsql
stable
parallel safe
set plan_cache_mode = force_custom_plan
set jit = off
as $$
declare
    nearest bigint[];
    edge_count integer := nearest_edges.top_k;
begin
    if nearest_edges.kinds is null and nearest_edges.rules is null then
        nearest := array(
            select v.edge_id
            from pgrag.edge_embeddings as v
            where v.library_id = nearest_edges.library_id
                and v.version_id = nearest_edges.version_id
                and v.model_id = nearest_edges.model_id
            order by v.embedding <#> nearest_edges.query_embedding, v.edge_id
            limit 2 * edge_count + 50
        );
    end if;
    loop
        select
            coalesce(array_agg(n.edge_id order by n.distance, n.edge_id), '{}'),
            coalesce(array_agg(-n.distance order by n.distance, n.edge_id), '{}')
        into edge_ids, scores
        from (
            select v.edge_id, v.embedding <#> nearest_edges.query_embedding as distance
            from pgrag.edges as e
            join pgrag.edge_embeddings as v
                on v.library_id = e.library_id
                and v.edge_id = e.edge_id
                and v.version_id = e.version_id
                and v.model_id = nearest_edges.model_id
            where e.library_id = nearest_edges.library_id
                and e.version_id = nearest_edges.version_id
                and e.target_page_id is not null
                and (nearest is null or e.edge_id = any (nearest))
                and (nearest_edges.kinds is null or e.kind = any (nearest_edges.kinds))
                and (nearest_edges.rules is null or e.rule = any (nearest_edges.rules))
            order by distance, v.edge_id
            limit edge_count
        ) as n;
        -- Edges that lost their target keep their vectors, and may have displaced valid candidates.
        exit when nearest is null
            or cardinality(edge_ids) = edge_count
            or cardinality(nearest) < 2 * edge_count + 50;
        nearest := null;
    end loop;
end;
$$;
