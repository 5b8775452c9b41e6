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

    taken := case
        when (target).document_count <= small then cardinality(lexemes)
        else greatest(1, (select count(*) from unnest(postings) as p where p <= small))
    end;
    loop
        best := _pgrag.score_documents(
            terms, lexemes[:taken], target, candidate_count, postings[taken]
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

create or replace function _pgrag.score_documents(
    terms pgrag.query_term[],
    lexemes text[],
    target _pgrag.search_target,
    candidate_count integer,
    postings bigint default null
)
returns _pgrag.candidates
language plpgsql
stable
parallel safe
as $$
declare
    -- With few allowed pages every document is scored; a document without any term scores 0.
    by_pages boolean := (target).allowed_pages is not null
        and coalesce((target).document_count < postings, false);
    -- Whether the index is reached through a barrier; see matching_impacts.
    is_restricted boolean := not by_pages and row_security_active('pgrag.impacts');
    is_wide boolean := not is_restricted and _pgrag.is_wide(target);
    keys bigint[];
    query_vectors record;
    best _pgrag.candidates;
begin
    select v.library_ids, v.vectors into query_vectors from _pgrag.query_vectors(terms) as v;
    if not by_pages then
        keys := _pgrag.query_keys(
            terms, lexemes, case when is_wide then '{0}' else (target).version_ids end
        );
    end if;
    if is_restricted then
        perform set_config('pgrag.narrowing_keys', keys::text, true);
    end if;
    execute format(
        $sql$
        select
            coalesce(array_agg(h.library_id order by h.score desc, h.document_id), '{}'),
            coalesce(array_agg(h.document_id order by h.score desc, h.document_id), '{}'),
            coalesce(array_agg(h.score order by h.score desc, h.document_id), '{}')
        from (
            select i.library_id, i.document_id, -(i.weights <#> %s) as score
            from %s as i
            where %s
                and i.covers & $2 <> 0
                and ($6 is null or i.page_id = any ($6))
                and ($7 is null or i.document_id = any ($7))
                and ($8 is null or i.document_id <> all ($8))
                %s
            -- As fuse orders equal scores: an id says when a document was written, not what it is.
            order by score desc, %s i.sort_order, i.text_hash, i.document_id
            limit $3
        ) as h
        where h.score > 0
        $sql$,
        -- A library without any of the terms has no vector, so its documents have no score.
        case
            when cardinality(query_vectors.library_ids) = 1 then '$4[1]'
            else '$4[array_position($5, i.library_id)]'
        end,
        case when is_restricted then '_pgrag.matching_impacts' else 'pgrag.impacts' end,
        case
            when by_pages
            then 'i.library_id = any ($5) and i.document_id = any (array('
                'select d.document_id from pgrag.documents as d'
                ' where d.library_id = any ($5) and d.page_id = any ($6) and d.covers & $2 <> 0))'
            when is_restricted then 'i.version_id = any ($9)'
            when is_wide
            then '_pgrag.posting_keys(i.version_id, i.weights) && $1 and i.version_id = any ($9)'
            else '_pgrag.posting_keys(i.version_id, i.weights) && $1'
        end,
        -- For the indexes that begin with it; elsewhere it would invite a bitmap of the library.
        case
            when (target).allowed_documents is not null
            then 'and i.library_id = any ($10)'
        end,
        case
            when cardinality((target).version_ids) > 1
            then 'array_position($9, i.version_id),'
        end
    )
    into best.library_ids, best.document_ids, best.scores
    using keys, (target).covers, candidate_count, query_vectors.vectors, query_vectors.library_ids,
        (target).allowed_pages, (target).allowed_documents, (target).denied_documents,
        (target).version_ids, (target).library_ids;
    if is_restricted then
        perform set_config('pgrag.narrowing_keys', '', true);
    end if;
    return best;
end;
$$;

-- The keys of the index of impacts for lexemes in each of these versions; see posting_keys.
create or replace function _pgrag.query_keys(
    terms pgrag.query_term[],
    lexemes text[],
    version_ids bigint[]
)
returns bigint[]
language sql
stable
parallel safe
as $$
    select array(
        select v.id << 30 | t.lexeme_id
        from unnest(query_keys.version_ids) as v (id)
        cross join (
            select distinct pgrag.lexeme_id(term.language, term.lexeme)::bigint as lexeme_id
            from unnest(query_keys.terms) as term
            where term.document_count > 0 and term.lexeme = any (query_keys.lexemes)
        ) as t
    );
$$;

-- Whether a search reads so many of the versions, and most of the documents, that the index is
-- better asked without them: the keys of each version would be merged.
create or replace function _pgrag.is_wide(
    target _pgrag.search_target
)
returns boolean
language plpgsql
stable
parallel safe
as $$
begin
    return cardinality(target.version_ids) > 8 and 2 * target.document_count > (
        select sum(c.document_count) from pgrag.corpus_statistics as c
    );
end;
$$;
