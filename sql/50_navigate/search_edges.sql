-- Relations by what they say: "who depends on the scheduler" finds the sentence that says so, and
-- the two pages that it connects. Exact: all vectors of the version are compared.
create or replace function pgrag.search_edges(
    query text,
    library text,
    version text default null,
    kinds text[] default null,
    match_count integer default 10,
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
parallel restricted
rows 10
set search_path from current
as $$
#variable_conflict use_column
declare
    owner pgrag.libraries;
    wanted_version bigint;
    used_model bigint := pgrag._model_id(search_edges.model);
    words text := pgrag._searched_words(search_edges.query);
    embedding halfvec;
    edge_ids bigint[] := '{}';
    scores double precision[];
    method text := 'meaning';
begin
    perform pgrag._check_range('match_count', search_edges.match_count, 1, 1000);
    select l.*
    into owner
    from pgrag.libraries as l
    where l.library_id = pgrag._library_id(search_edges.library);
    wanted_version := (
        select r.version_id from pgrag.resolve_version(owner.name, search_edges.version) as r
    );
    used_model := coalesce(used_model, owner.model_id);
    if words = '' and search_edges.query_embedding is null then
        return;
    end if;

    if exists (
        select
        from pgrag.edge_embeddings as v
        where v.library_id = owner.library_id
            and v.version_id = wanted_version
            and v.model_id = used_model
    ) then
        embedding := pgrag._query_embedding(words, used_model, search_edges.query_embedding);
    else
        raise notice 'The edges of % have no vectors, which pgrag embed % --edges makes: searching'
            ' their words.', quote_literal(owner.name), owner.name;
    end if;
    if embedding is not null then
        select n.edge_ids, n.scores
        into edge_ids, scores
        from pgrag._nearest_edges(
            owner.library_id, wanted_version, used_model, embedding, search_edges.kinds,
            search_edges.rules, search_edges.match_count
        ) as n;
    elsif words <> '' then
        method := 'words';
        select n.edge_ids, n.scores
        into edge_ids, scores
        from pgrag._edges_with_words(
            owner.library_id, wanted_version, owner.language, words, search_edges.kinds,
            search_edges.rules, search_edges.match_count,
            array(
                select distinct h.page_id
                from pgrag.keyword_search(
                    search_edges.query, owner.name, search_edges.version, match_count => 100,
                    max_per_page => 1
                ) as h
            )
        ) as n;
    end if;

    return query
    select
        e.edge_id, f.score, method, s.page_id, s.key, s.title, s.url, e.line, e.kind, e.rule,
        e.confidence, e.link_text, e.sentence, t.page_id, t.key, t.title, t.url
    from unnest(edge_ids, scores) with ordinality as f (edge_id, score, place)
    join pgrag.edges as e on e.library_id = owner.library_id and e.edge_id = f.edge_id
    cross join lateral pgrag._page_named(e.library_id, e.source_page_id) as s
    cross join lateral pgrag._page_named(e.library_id, e.target_page_id) as t
    where f.score >= coalesce(search_edges.min_score, 0)
    order by f.place;
end;
$$;

comment on function pgrag.search_edges(text, text, text, text[], integer, halfvec, text[], double precision, text) is
'The edges between two pages of a library''s version (see resolve_version) whose text (edge_text:
source title, kind, sentence, target title) is nearest to a query, at most match_count (1 to 1000).
matched_by "meaning": score is the cosine, by the vectors of pgrag.edge_embeddings; every one is
compared. matched_by "words", with a notice, where the library has none by the model (default: its
own): of the edges of the 100 pages that answer best by keyword_search, those with most of the
query''s words; score is their share. kinds, rules: only these. min_score: leave out what is below
it. query_embedding: the query''s vector, for models outside the database. Errors: PGR01, PGR02,
PGR03, PGR08, PGR09.';

-- The vectors alone are compared in a tenth of the time that it takes to look at their edges as
-- well; so where no kind is asked for, some more than enough are taken, and then looked at.
create or replace function pgrag._nearest_edges(
    library_id bigint,
    version_id bigint,
    model_id bigint,
    query_embedding halfvec,
    kinds text[],
    rules text[],
    match_count integer,
    out edge_ids bigint[],
    out scores double precision[]
)
returns record
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
declare
    nearest bigint[];
    wanted integer := _nearest_edges.match_count;
begin
    if _nearest_edges.kinds is null and _nearest_edges.rules is null then
        nearest := array(
            select v.edge_id
            from pgrag.edge_embeddings as v
            where v.library_id = _nearest_edges.library_id
                and v.version_id = _nearest_edges.version_id
                and v.model_id = _nearest_edges.model_id
            order by v.embedding <#> _nearest_edges.query_embedding, v.edge_id
            limit 2 * wanted + 50
        );
    end if;
    loop
        select
            coalesce(array_agg(n.edge_id order by n.distance, n.edge_id), '{}'),
            coalesce(array_agg(-n.distance order by n.distance, n.edge_id), '{}')
        into edge_ids, scores
        from (
            select v.edge_id, v.embedding <#> _nearest_edges.query_embedding as distance
            from pgrag.edges as e
            join pgrag.edge_embeddings as v
                on v.library_id = e.library_id
                and v.edge_id = e.edge_id
                and v.version_id = e.version_id
                and v.model_id = _nearest_edges.model_id
            where e.library_id = _nearest_edges.library_id
                and e.version_id = _nearest_edges.version_id
                and e.target_page_id is not null
                and (nearest is null or e.edge_id = any (nearest))
                and (_nearest_edges.kinds is null or e.kind = any (_nearest_edges.kinds))
                and (_nearest_edges.rules is null or e.rule = any (_nearest_edges.rules))
            order by distance, v.edge_id
            limit wanted
        ) as n;
        -- Links that lead nowhere any more keep their vectors: there may have been too many.
        exit when nearest is null
            or cardinality(edge_ids) = wanted
            or cardinality(nearest) < 2 * wanted + 50;
        nearest := null;
    end loop;
end;
$$;

create or replace function pgrag._edges_with_words(
    library_id bigint,
    version_id bigint,
    language text,
    words text,
    kinds text[],
    rules text[],
    match_count integer,
    page_ids bigint[],
    out edge_ids bigint[],
    out scores double precision[]
)
returns record
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    wanted text[] := tsvector_to_array(
        to_tsvector(_edges_with_words.language::regconfig, _edges_with_words.words)
    );
begin
    select
        coalesce(array_agg(n.edge_id order by n.score desc, n.rank desc, n.edge_id), '{}'),
        coalesce(array_agg(n.score order by n.score desc, n.rank desc, n.edge_id), '{}')
    into edge_ids, scores
    from (
        select
            c.edge_id,
            c.rank,
            (
                select count(*)::double precision
                from unnest(wanted) as w (lexeme)
                where w.lexeme = any (tsvector_to_array(c.lexemes))
            ) / cardinality(wanted) as score
        from (
            select e.edge_id, e.confidence as rank, l.lexemes
            from pgrag.edges as e
            cross join lateral pgrag._page_named(e.library_id, e.source_page_id) as s
            cross join lateral pgrag._page_named(e.library_id, e.target_page_id) as t
            cross join lateral (
                select to_tsvector(
                    _edges_with_words.language::regconfig,
                    pgrag.edge_text(s.title, e.kind, e.sentence, t.title)
                ) as lexemes
                offset 0
            ) as l
            where e.library_id = _edges_with_words.library_id
                and e.version_id = _edges_with_words.version_id
                and e.target_page_id <> e.source_page_id
                and (
                    e.source_page_id = any (page_ids) or e.target_page_id = any (page_ids)
                )
                and (_edges_with_words.kinds is null or e.kind = any (_edges_with_words.kinds))
                and (_edges_with_words.rules is null or e.rule = any (_edges_with_words.rules))
        ) as c
        where tsvector_to_array(c.lexemes) && wanted
        order by score desc, c.rank desc, c.edge_id
        limit _edges_with_words.match_count
    ) as n;
end;
$$;
