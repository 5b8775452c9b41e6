-- Exact BM25F without reading what cannot win (MaxScore: Turtle and Flood, 1995). Lexemes are taken
-- by falling bound. The documents with one of the first few are scored with all lexemes; the score
-- at certain_count then tells how many lexemes must be taken so that no other document can reach
-- it. So the first certain_count hits are those of the whole query; the rest, up to
-- candidate_count, are the best of what was read on the way, for the fusion.
create or replace function pgrag._keyword_candidates(
    terms pgrag.query_term[],
    target pgrag.search_target,
    candidate_count integer,
    certain_count integer
)
returns pgrag.candidates
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    -- So few documents are scored without looking for a shortcut.
    small constant integer := 1000;
    lexemes text[];
    bounds double precision[];
    counts bigint[];
    unscoped integer;
    taken integer;
    certain integer;
    rest double precision;
    best pgrag.candidates;
begin
    select
        array_agg(l.lexeme order by l.bound desc, l.lexeme),
        array_agg(l.bound order by l.bound desc, l.lexeme),
        array_agg(l.document_count order by l.bound desc, l.lexeme)
    into lexemes, bounds, counts
    from (
        select t.lexeme, max(t.bound) as bound, sum(t.document_count)::bigint as document_count
        from unnest(terms) as t
        where t.document_count > 0
        group by t.lexeme
    ) as l;
    if lexemes is null then
        best.library_ids := '{}';
        best.document_ids := '{}';
        best.scores := '{}';
        best.plan := jsonb_build_object('arm', 'keyword', 'plan', 'no known lexeme');
        return best;
    end if;

    unscoped := pgrag._unscoped_lexemes(lexemes, target);
    taken := pgrag._lexemes_within(counts, small);
    if (target).document_count <= small then
        taken := cardinality(lexemes);
    end if;
    best := pgrag._score_documents(
        terms, lexemes[:taken], target, candidate_count, pgrag._postings(counts, taken),
        taken > unscoped
    );

    if taken < cardinality(lexemes) then
        rest := case
            when cardinality(best.scores) < certain_count then 0
            else best.scores[certain_count]
        end;
        certain := pgrag._lexemes_above(bounds, rest);
        if certain > taken then
            taken := certain;
            best := pgrag._score_documents(
                terms, lexemes[:taken], target, candidate_count, pgrag._postings(counts, taken),
                taken > unscoped
            );
        end if;
    end if;
    best.plan := jsonb_build_object(
        'arm', 'keyword',
        'plan', case when taken < cardinality(lexemes) then 'pruned' else 'exhaustive' end,
        'lexemes', to_jsonb(lexemes),
        'lexemes_taken', taken,
        'candidates', cardinality(best.document_ids)
    );
    return best;
end;
$$;

-- How many lexemes, from the first, have about so many documents together; at least one.
create or replace function pgrag._lexemes_within(
    counts bigint[],
    budget bigint
)
returns integer
language sql
immutable
parallel safe
as $$
    select greatest(
        1,
        (
            select count(*)
            from (
                select sum(c.count) over (order by c.place) as total
                from unnest(_lexemes_within.counts) with ordinality as c (count, place)
            ) as running
            where running.total <= _lexemes_within.budget
        )
    )::integer;
$$;

-- How many documents the first lexemes have, one that has several of them counted for each.
create or replace function pgrag._postings(
    counts bigint[],
    taken integer
)
returns bigint
language sql
immutable
parallel safe
as $$
    select sum(c.count)::bigint
    from unnest(_postings.counts[:_postings.taken]) as c (count);
$$;

-- The least number of lexemes so that a document without any of them stays below the threshold.
create or replace function pgrag._lexemes_above(
    bounds double precision[],
    threshold double precision
)
returns integer
language sql
immutable
parallel safe
as $$
    select count(*)::integer
    from (
        select sum(b.bound) over (order by b.place desc) as rest
        from unnest(_lexemes_above.bounds) with ordinality as b (bound, place)
    ) as running
    -- A hair of tolerance, because impacts and weights are stored in single precision.
    where running.rest * 1.00001 >= _lexemes_above.threshold;
$$;

-- How many lexemes, from the first, are better looked up in all versions of all libraries. In the
-- full-text index the list of all documents of a version is long, and to intersect with it costs
-- more than to pass by a few documents of others; a fortieth, as those may have to come from disk.
create or replace function pgrag._unscoped_lexemes(
    lexemes text[],
    target pgrag.search_target
)
returns integer
language sql
stable
parallel safe
set search_path from current
as $$
    with shares as materialized (
        select
            v.library_id,
            avg((v.version_id = any ((_unscoped_lexemes.target).version_ids))::integer) as share
        from pgrag.versions as v
        where v.library_id = any ((_unscoped_lexemes.target).library_ids)
        group by v.library_id
    ),
    corpora as materialized (
        select c.library_id, c.language, c.document_count, coalesce(s.share, 0) as share
        from (
            -- Among many libraries each is small.
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
        select sum(coalesce(f.document_count, 0)) over (order by l.place) as strangers
        from unnest(_unscoped_lexemes.lexemes) with ordinality as l (lexeme, place)
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

-- is_scoped: whether the full-text index is asked for the documents of the target's versions only.
create or replace function pgrag._score_documents(
    terms pgrag.query_term[],
    lexemes text[],
    target pgrag.search_target,
    candidate_count integer,
    postings bigint default null,
    is_scoped boolean default true
)
returns pgrag.candidates
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    any_lexeme text := (
        select string_agg(pgrag._tsquery_lexeme(lexeme), ' | ') from unnest(lexemes) as lexeme
    );
    -- Of few pages every document is scored; who has none of the words scores 0.
    by_pages boolean := (target).allowed_pages is not null
        and coalesce((target).document_count < postings, false);
    query tsquery := concat_ws(
        ' & ', case when is_scoped then (target).scope end, '(' || any_lexeme || ')'
    )::tsquery;
    query_vectors record;
    best pgrag.candidates;
begin
    select v.library_ids, v.vectors into query_vectors from pgrag._query_vectors(terms) as v;
    execute format(
        $sql$
        select
            coalesce(array_agg(h.library_id order by h.score desc, h.document_id), '{}'),
            coalesce(array_agg(h.document_id order by h.score desc, h.document_id), '{}'),
            coalesce(array_agg(h.score order by h.score desc, h.document_id), '{}')
        from (
            select d.library_id, d.document_id, -(d.weights <#> %s) as score
            from pgrag.documents as d
            where %s and d.covers & $2 <> 0 %s %s %s
            order by score desc, d.document_id
            limit $3
        ) as h
        where h.score > 0
        $sql$,
        case
            when cardinality(query_vectors.library_ids) = 1 then '$4[1]'
            else '$4[array_position($5, d.library_id)]'
        end,
        case when by_pages then 'true' else 'd.search @@ $1' end,
        pgrag._target_conditions(target, 'd'),
        -- The scope's lexemes say the library already; said again, it would invite a bitmap of the
        -- whole library. Only lists of ids need it, for the indexes that begin with it. A library
        -- without any of the words has no vector, and its documents no score.
        case
            when by_pages
            then 'and d.library_id = any ($5)'
            when (target).allowed_documents is not null
            then 'and d.library_id = any ($9)'
        end,
        case when not is_scoped then 'and d.version_id = any ($10)' end
    )
    into best.library_ids, best.document_ids, best.scores
    using query, (target).covers, candidate_count, query_vectors.vectors, query_vectors.library_ids,
        (target).allowed_pages, (target).allowed_documents, (target).denied_documents,
        (target).library_ids, (target).version_ids;
    return best;
end;
$$;

create or replace function pgrag._tsquery_lexeme(
    lexeme text
)
returns text
language sql
immutable
parallel safe
as $$
    select '''' || pg_catalog.replace(
        pg_catalog.replace(_tsquery_lexeme.lexeme, '\', '\\'), '''', ''''''
    ) || '''';
$$;

-- What both arms must respect; $6, $7 and $8 are the target's lists.
create or replace function pgrag._target_conditions(
    target pgrag.search_target,
    alias text
)
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.concat(
        case
            when (target).allowed_pages is not null
            then pg_catalog.format(' and %I.page_id = any ($6)', alias)
        end,
        case
            when (target).allowed_documents is not null
            then pg_catalog.format(' and %I.document_id = any ($7)', alias)
        end,
        case
            when (target).denied_documents is not null
            then pg_catalog.format(' and %I.document_id <> all ($8)', alias)
        end
    );
$$;
