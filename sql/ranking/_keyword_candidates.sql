-- Exact BM25F without reading the postings that cannot win (MaxScore: Turtle and Flood, 1995).
-- Lexemes are taken by decreasing bound. Documents with one of the first few lexemes are scored
-- with all lexemes; the score at certain_count then determines how many lexemes must be taken so
-- that no other document can reach it. So the first certain_count hits are exact; the rest, up to
-- candidate_count, are the best of the documents read, for the fusion.
create or replace function _pgrag.keyword_candidates(
    terms pgrag.query_term[],
    target _pgrag.search_target,
    candidate_count integer,
    certain_count integer
)
returns _pgrag.candidates
language plpgsql
stable
parallel safe
as $$
declare
    -- Up to this many documents are scored without pruning.
    small constant integer := 1000;
    lexemes text[];
    -- For each lexeme, the postings up to it, and the most that it and all later ones add.
    postings bigint[];
    bounds double precision[];
    unscoped integer;
    taken integer;
    certain integer;
    best _pgrag.candidates;
begin
    select
        array_agg(l.lexeme order by l.nth),
        array_agg(l.postings order by l.nth),
        array_agg(l.bound order by l.nth)
    into lexemes, postings, bounds
    from (
        select
            t.lexeme,
            row_number() over strongest as nth,
            sum(sum(t.document_count)) over strongest as postings,
            sum(max(t.bound)) over (order by max(t.bound), t.lexeme desc) as bound
        from unnest(terms) as t
        where t.document_count > 0
        group by t.lexeme
        window strongest as (order by max(t.bound) desc, t.lexeme)
    ) as l;
    if lexemes is null then
        best := ('{}', '{}', '{}', '{"retriever": "keyword", "plan": "no known lexeme"}');
        return best;
    end if;

    unscoped := _pgrag.unscoped_lexemes(lexemes, target);
    taken := case
        when (target).document_count <= small then cardinality(lexemes)
        else greatest(1, (select count(*) from unnest(postings) as p where p <= small))
    end;
    loop
        best := _pgrag.score_documents(
            terms, lexemes[:taken], target, candidate_count, postings[taken], taken > unscoped
        );
        -- A small tolerance, because impacts and weights are stored in single precision.
        certain := (
            select count(*)
            from unnest(bounds) as b
            where b * 1.00001 >= coalesce(best.scores[certain_count], 0)
        );
        exit when certain <= taken;
        taken := certain;
    end loop;
    best.plan := jsonb_build_object(
        'retriever', 'keyword',
        'plan', case when taken < cardinality(lexemes) then 'pruned' else 'exhaustive' end,
        'lexemes', to_jsonb(lexemes),
        'lexemes_taken', taken,
        'candidates', cardinality(best.document_ids)
    );
    return best;
end;
$$;

-- How many of the first lexemes are better looked up without the scope. The posting list of a
-- version is long, and intersecting with it costs more than skipping a few documents outside the
-- scope: at most a fortieth of it, because those documents may have to be read from disk.
create or replace function _pgrag.unscoped_lexemes(
    lexemes text[],
    target _pgrag.search_target
)
returns integer
language sql
stable
parallel safe
as $$
    with shares as materialized (
        select
            v.library_id,
            avg((v.version_id = any ((unscoped_lexemes.target).version_ids))::integer) as share
        from pgrag.versions as v
        where v.library_id = any ((unscoped_lexemes.target).library_ids)
        group by v.library_id
    ),
    corpora as materialized (
        select c.library_id, c.language, c.document_count, coalesce(s.share, 0) as share
        from (
            -- With many libraries each one is small, so the scope pays off: 33 is "too many".
            select a.library_id, a.language, a.document_count
            from pgrag.corpus_statistics as a
            limit 33
        ) as c
        left join shares as s on s.library_id = c.library_id
    ),
    whole as (
        select sum(c.document_count * c.share) as scoped
        from corpora as c
        having count(*) <= 32 and sum(c.document_count * c.share) >= 10000
    )
    select count(*)::integer
    from whole as w
    cross join (
        select sum(coalesce(f.document_count, 0)) over (order by l.nth) as strangers
        from unnest(unscoped_lexemes.lexemes) with ordinality as l (lexeme, nth)
        cross join lateral (
            select sum(x.document_count * (1 - c.share)) as document_count
            from corpora as c
            join pgrag.lexeme_statistics as x
                on x.library_id = c.library_id
                and x.language = c.language
                and x.lexeme = l.lexeme
            where c.share < 1
        ) as f
    ) as running
    where 40 * running.strangers <= w.scoped;
$$;

-- is_scoped: whether the query on the full-text index includes the versions of the target.
create or replace function _pgrag.score_documents(
    terms pgrag.query_term[],
    lexemes text[],
    target _pgrag.search_target,
    candidate_count integer,
    postings bigint default null,
    is_scoped boolean default true
)
returns _pgrag.candidates
language plpgsql
stable
parallel safe
as $$
declare
    any_lexeme text := (
        select string_agg(_pgrag.tsquery_lexeme(lexeme), ' | ') from unnest(lexemes) as lexeme
    );
    -- With few allowed pages every document is scored; a document without any term scores 0.
    by_pages boolean := (target).allowed_pages is not null
        and coalesce((target).document_count < postings, false);
    query tsquery := concat_ws(
        ' & ', case when is_scoped then (target).scope end, '(' || any_lexeme || ')'
    )::tsquery;
    -- Whether the full-text index is reached through a barrier; see documents_with.
    is_restricted boolean := not by_pages and row_security_active('pgrag.documents');
    query_vectors record;
    best _pgrag.candidates;
begin
    select v.library_ids, v.vectors into query_vectors from _pgrag.query_vectors(terms) as v;
    if is_restricted then
        perform set_config('pgrag.narrowing', query::text, true);
    end if;
    execute format(
        $sql$
        select
            coalesce(array_agg(h.library_id order by h.score desc, h.document_id), '{}'),
            coalesce(array_agg(h.document_id order by h.score desc, h.document_id), '{}'),
            coalesce(array_agg(h.score order by h.score desc, h.document_id), '{}')
        from (
            select d.library_id, d.document_id, -(d.weights <#> %s) as score
            from %s as d
            where %s
                and d.covers & $2 <> 0
                and ($6 is null or d.page_id = any ($6))
                and ($7 is null or d.document_id = any ($7))
                and ($8 is null or d.document_id <> all ($8))
                %s %s
            -- As fuse orders equal scores: an id says when a document was written, not what it is.
            order by score desc, %s d.sort_order, d.text_hash, d.document_id
            limit $3
        ) as h
        where h.score > 0
        $sql$,
        case
            when cardinality(query_vectors.library_ids) = 1 then '$4[1]'
            else '$4[array_position($5, d.library_id)]'
        end,
        case when is_restricted then '_pgrag.matching_documents' else 'pgrag.documents' end,
        case when by_pages or is_restricted then 'true' else 'd.search @@ $1' end,
        -- The scope's lexemes already imply the library; another condition would invite a bitmap of
        -- the whole library. Only lists of ids need it, for the indexes that begin with library_id.
        -- A library without any of the terms has no vector, so its documents have no score.
        case
            when by_pages
            then 'and d.library_id = any ($5)'
            when (target).allowed_documents is not null
            then 'and d.library_id = any ($9)'
        end,
        case when not is_scoped then 'and d.version_id = any ($10)' end,
        case
            when cardinality((target).version_ids) > 1
            then 'array_position($10, d.version_id),'
        end
    )
    into best.library_ids, best.document_ids, best.scores
    using query, (target).covers, candidate_count, query_vectors.vectors, query_vectors.library_ids,
        (target).allowed_pages, (target).allowed_documents, (target).denied_documents,
        (target).library_ids, (target).version_ids;
    if is_restricted then
        perform set_config('pgrag.narrowing', '', true);
    end if;
    return best;
end;
$$;

create or replace function _pgrag.tsquery_lexeme(
    lexeme text
)
returns text
language sql
immutable
parallel safe
as $$
    select '''' || pg_catalog.replace(
        pg_catalog.replace(tsquery_lexeme.lexeme, '\', '\\'), '''', ''''''
    ) || '''';
$$;
