-- Exact BM25F without reading the postings that cannot win (MaxScore: Turtle and Flood, 1995).
-- Lexemes are taken by decreasing bound. Documents with one of the first few lexemes are scored
-- with all lexemes; the score at certain_count then determines how many lexemes must be taken so
-- that no other document can reach it. The next ones are taken a few at a time, because each raises
-- that score; of their documents only those are read that have enough of the others beside them.
-- So the first certain_count hits are exact; the rest, up to candidate_count, are the best of the
-- documents read, for the fusion.
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
    -- Up to this many documents are scored without pruning, and at a time.
    small constant integer := 1000;
    lexemes text[];
    -- For each lexeme, the postings up to it, and the most that it and all later ones add.
    postings bigint[];
    bounds double precision[];
    scored integer := 0;
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
        if _pgrag.scores_all(target, postings[taken]) then
            taken := cardinality(lexemes);
        end if;
        best := _pgrag.score_documents(
            terms, lexemes[scored + 1:taken], target, candidate_count, postings[taken],
            best.document_ids,
            _pgrag.lexemes_beside(
                lexemes, postings, bounds, scored, taken, best.scores[certain_count]
            )
        );
        -- A small tolerance, because impacts and weights are stored in single precision.
        certain := (
            select count(*)
            from unnest(bounds) as b
            where b * 1.00001 >= coalesce(best.scores[certain_count], 0)
        );
        exit when certain <= taken;
        scored := taken;
        taken := least(
            certain,
            greatest(
                taken + 1,
                (select count(*) from unnest(postings) as p where p <= postings[scored] + small)
            )
        );
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

-- Lexemes of which a document needs one to reach the score with those that are not scored yet, of
-- which it has one of the next up to `taken`: what remains when those are left out that cannot
-- reach it together, these first, the frequent before the rare. Null if that excludes no document.
create or replace function _pgrag.lexemes_beside(
    lexemes text[],
    postings bigint[],
    bounds double precision[],
    scored integer,
    taken integer,
    score double precision
)
returns text[]
language plpgsql
immutable
parallel safe
as $$
declare
    nth integer;
    adds double precision;
    missing double precision := score;
    beside text[];
begin
    if score is null then
        return null;
    end if;
    for nth in
        select n
        from generate_series(scored + 1, cardinality(lexemes)) as n
        order by n > taken, postings[n] - coalesce(postings[n - 1], 0) desc, n
    loop
        adds := (bounds[nth] - coalesce(bounds[nth + 1], 0)) * 1.00001;
        if adds < missing then
            missing := missing - adds;
        else
            beside := beside || lexemes[nth];
        end if;
    end loop;
    return case when not beside @> lexemes[scored + 1:taken] then beside end;
end;
$$;

-- The best of the documents with one of these lexemes (and one of those `beside` them, if given),
-- and of those known already, scored with all terms.
create or replace function _pgrag.score_documents(
    terms pgrag.query_term[],
    lexemes text[],
    target _pgrag.search_target,
    candidate_count integer,
    postings bigint default null,
    known bigint[] default null,
    beside text[] default null
)
returns _pgrag.candidates
language plpgsql
stable
parallel safe
as $$
declare
    -- A document without any term scores 0.
    by_ids boolean := _pgrag.scores_all(target, postings);
    -- Whether the index is reached through a barrier: see matching_impacts.
    by_barrier boolean := not by_ids and row_security_active('pgrag.impacts');
    narrowing text;
    is_wide boolean := not by_ids and not by_barrier and _pgrag.is_wide(target);
    version_ids bigint[] := target.version_ids;
    has_versions boolean := cardinality(version_ids) > 1;
    mask integer := target.covers;
    allowed_pages bigint[] := target.allowed_pages;
    allowed_documents bigint[] := target.allowed_documents;
    denied_documents bigint[] := target.denied_documents;
    lexeme_ids bigint[];
    ids_beside bigint[];
    key_versions bigint[];
    keys bigint[];
    keys_beside bigint[];
    -- Read by their ids, unless the index finds them: by lexemes of both, each with weight 1.
    listed bigint[] := known;
    found_by sparsevec;
    found_beside sparsevec;
    library_ids bigint[];
    vectors sparsevec[];
    only_vector sparsevec;
    best _pgrag.candidates;
begin
    select v.library_ids, v.vectors into library_ids, vectors from _pgrag.query_vectors(terms) as v;
    if cardinality(vectors) = 1 then
        only_vector := vectors[1];
    end if;
    if not by_ids then
        lexeme_ids := _pgrag.lexeme_ids(terms, lexemes);
        ids_beside := case
            when beside is null then lexeme_ids
            else _pgrag.lexeme_ids(terms, beside)
        end;
        if known is not null then
            found_by := _pgrag.lexeme_vector(lexeme_ids);
            found_beside := _pgrag.lexeme_vector(ids_beside);
        end if;
        if by_barrier then
            -- Assigned, because perform would run a statement.
            narrowing := set_config('pgrag.narrowing_versions', version_ids::text, true);
            narrowing := set_config('pgrag.narrowing_lexemes', lexeme_ids::text, true);
            narrowing := set_config('pgrag.lexemes_beside', ids_beside::text, true);
        else
            key_versions := case when is_wide then '{0}' else version_ids end;
            keys := _pgrag.query_keys(key_versions, lexeme_ids);
            keys_beside := case
                when beside is null then keys
                else _pgrag.query_keys(key_versions, ids_beside)
            end;
        end if;
    elsif allowed_documents is null then
        allowed_documents := array(
            select d.document_id
            from pgrag.documents as d
            where d.library_id = any (library_ids) and d.page_id = any (allowed_pages)
        );
    end if;
    if by_ids then
        listed := allowed_documents;
        allowed_documents := null;
    end if;
    -- One statement, whose plan is kept: each time, one or two of its three sources are read.
    select
        coalesce(array_agg(h.library_id order by h.score desc, h.document_id), '{}'),
        coalesce(array_agg(h.document_id order by h.score desc, h.document_id), '{}'),
        coalesce(array_agg(h.score order by h.score desc, h.document_id), '{}')
    into best.library_ids, best.document_ids, best.scores
    from (
        select f.library_id, f.document_id, f.score
        from (
            select
                i.library_id,
                i.document_id,
                i.version_id,
                i.sort_order,
                i.text_hash,
                -- A library without any of the terms has no vector, so its documents have no score.
                -(
                    i.weights
                    <#> coalesce(only_vector, vectors[array_position(library_ids, i.library_id)])
                ) as score
            from (
                select
                    i.library_id, i.document_id, i.version_id, i.page_id, i.sort_order, i.covers,
                    i.text_hash, i.weights
                from pgrag.impacts as i
                where not by_ids
                    and not by_barrier
                    and _pgrag.posting_keys(i.version_id, i.weights) && keys
                    and _pgrag.posting_keys(i.version_id, i.weights) && keys_beside
                    and (
                        not is_wide
                        or i.version_id in (select v.id from unnest(version_ids) as v (id))
                    )
                union all
                select
                    i.library_id, i.document_id, i.version_id, i.page_id, i.sort_order, i.covers,
                    i.text_hash, i.weights
                from _pgrag.matching_impacts as i
                where by_barrier
                union all
                select
                    i.library_id, i.document_id, i.version_id, i.page_id, i.sort_order, i.covers,
                    i.text_hash, i.weights
                from pgrag.impacts as i
                where listed is not null
                    and i.library_id = any (library_ids)
                    and i.document_id = any (listed)
                    and (
                        found_by is null
                        or i.weights <#> found_by = 0
                        or i.weights <#> found_beside = 0
                    )
            ) as i
            where i.covers & mask <> 0
                -- Subqueries are hashed; "= any" of a parameter reads the array for each row.
                and (
                    allowed_pages is null
                    or i.page_id in (select p.id from unnest(allowed_pages) as p (id))
                )
                and (
                    allowed_documents is null
                    or i.document_id in (select d.id from unnest(allowed_documents) as d (id))
                )
                and (
                    denied_documents is null
                    or i.document_id not in (select d.id from unnest(denied_documents) as d (id))
                )
            -- Ties too, and only these are ordered further, because of thousands that is dear.
            order by score desc
            fetch first (candidate_count) rows with ties
        ) as f
        -- As fuse orders equal scores: an id says when a document was written, not what it is.
        order by
            f.score desc,
            case when has_versions then array_position(version_ids, f.version_id) end,
            f.sort_order,
            f.text_hash,
            f.document_id
        limit candidate_count
    ) as h
    where h.score > 0;
    return best;
end;
$$;

-- Whether the documents that filters allow are fewer than the postings, and so are all scored.
create or replace function _pgrag.scores_all(
    target _pgrag.search_target,
    postings bigint
)
returns boolean
language sql
immutable
parallel safe
as $$
    select coalesce(
        num_nulls((target).allowed_pages, (target).allowed_documents) < 2
            and (target).document_count < postings,
        false
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
