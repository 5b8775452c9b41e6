-- Exact BM25F without reading the postings that cannot win (MaxScore: Turtle and Flood, 1995).
-- Each lexeme has a posting list; a frequent one has a second list of its strong postings, as in a
-- tiered index (Manning, Raghavan, Schütze: Introduction to Information Retrieval, 2008, 7.2.1).
-- The lists are read in the order of what each posting can add. The passages in the first few are
-- scored with all lexemes; the score at certain_count determines how many more lists must be read
-- until no other passage can reach it. A few are read at a time, because each raises that score. A
-- passage is scored only if its other lexemes could lift it to that score.
-- So the first certain_count hits are exact; the rest, up to candidate_count, are the best of the
-- passages scored, for the fusion.
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
    -- Up to this many passages are scored without pruning, and at a time.
    small constant integer := 1000;
    -- Of each list: its number, the number of postings up to it, the most that it and all later
    -- lists add, and the number of lexemes up to it.
    nths integer[];
    postings bigint[];
    bounds double precision[];
    lexeme_counts integer[];
    lexemes jsonb;
    -- The posting ids of the lists, one for each language: see posting_ids.
    ids bigint[];
    lists integer[];
    wholes integer[];
    library_ids bigint[];
    vectors sparsevec[];
    list_count integer;
    scored integer := 0;
    taken integer;
    certain integer;
    beside integer[];
    best _pgrag.best_passages;
    found _pgrag.candidates;
begin
    with read as materialized (
        select
            p.*,
            row_number() over best as nth,
            sum(p.postings) over best as postings_upto,
            sum(p.adds) over (best rows between current row and unbounded following) as bound,
            sum(p.is_first::integer) over best as lexeme_count
        from (
            select
                p.*,
                -- The strong postings of a lexeme come before the others.
                min(p.adds / p.postings) over strong as gain,
                row_number() over strong = 1 as is_first
            from (
                select
                    t.lexeme,
                    array_agg(_pgrag.lexeme_id(t.language, t.lexeme)) as ids,
                    sum(t.document_count) as document_count,
                    max(t.bound) as bound,
                    max(least(t.bound, t.weight * _pgrag.strong_impact())) as weak_bound
                from unnest(terms) as t
                where t.document_count > 0
                group by t.lexeme
            ) as l
            cross join lateral (
                -- An estimate: with the default k1, about a tenth of the postings are strong.
                select l.lexeme, l.ids, true, l.document_count / 10, l.bound - l.weak_bound
                where l.document_count > small and l.bound > l.weak_bound
                union all
                select
                    l.lexeme,
                    l.ids,
                    false,
                    l.document_count,
                    case when l.document_count > small then l.weak_bound else l.bound end
            ) as p (lexeme, ids, is_strong, postings, adds)
            window strong as (partition by p.lexeme order by p.is_strong desc)
        ) as p
        window best as (order by p.gain desc, p.lexeme, p.is_strong desc)
    )
    select r.*, i.*, v.*
    into
        nths, postings, bounds, lexeme_counts, lexemes, ids, lists, wholes, library_ids, vectors
    from (
        select
            array_agg(r.nth order by r.nth),
            array_agg(r.postings_upto order by r.nth),
            array_agg(r.bound order by r.nth),
            array_agg(r.lexeme_count order by r.nth),
            jsonb_agg(r.lexeme order by r.nth) filter (where r.is_first)
        from read as r
    ) as r
    cross join (
        select
            array_agg(i.id | case when r.is_strong then 1 << 30 else 0 end),
            array_agg(r.nth),
            array_agg(w.nth)
        from read as r
        cross join lateral unnest(r.ids) as i (id)
        left join read as w on r.is_strong and w.lexeme = r.lexeme and not w.is_strong
    ) as i
    cross join _pgrag.query_vectors(terms) as v;
    if nths is null then
        found := ('{}', '{}', '{}', '{"retriever": "keyword", "plan": "no known lexeme"}');
        return found;
    end if;

    list_count := cardinality(nths);
    -- Of a sorted array, width_bucket counts the numbers up to one, without a statement.
    taken := case
        when target.document_count <= small then list_count
        else greatest(1, width_bucket(small::bigint, postings))
    end;
    loop
        if _pgrag.scores_all(target, postings[taken]) then
            taken := list_count;
        end if;
        beside := case
            when best is not null
            then _pgrag.parts_beside(postings, bounds, scored, taken, best.scores[certain_count])
        end;
        best := _pgrag.score_documents(
            library_ids,
            vectors,
            _pgrag.posting_ids(ids, lists, wholes, nths[scored + 1:taken]),
            target,
            candidate_count,
            postings[taken],
            best,
            case
                when beside is not null then _pgrag.posting_ids(ids, lists, wholes, beside)
            end
        );
        -- A small tolerance, because impacts and weights are stored in single precision.
        certain := taken;
        while bounds[certain + 1] * 1.00001 >= coalesce(best.scores[certain_count], 0) loop
            certain := certain + 1;
        end loop;
        exit when certain = taken;
        scored := taken;
        taken := least(
            certain, greatest(taken + 1, width_bucket(postings[scored] + small, postings))
        );
    end loop;
    found := (
        best.library_ids,
        best.document_ids,
        best.scores,
        jsonb_build_object(
            'retriever', 'keyword',
            'plan', case when taken < list_count then 'pruned' else 'exhaustive' end,
            -- In the order of reading; of some, only the strong postings were read.
            'lexemes', lexemes,
            'lexemes_taken', lexeme_counts[taken],
            'candidates', cardinality(best.document_ids)
        )
    );
    return found;
end;
$$;

-- Lists of which a passage of the next ones (up to `taken`) must be in at least one to reach the
-- score: the lists left out, the next and the longest first, cannot reach it together. Null if that
-- excludes no passage.
create or replace function _pgrag.parts_beside(
    postings bigint[],
    bounds double precision[],
    scored integer,
    taken integer,
    score double precision
)
returns integer[]
language plpgsql
immutable
parallel safe
as $$
declare
    nth integer;
    adds double precision;
    missing double precision := score;
    beside integer[] := '{}';
begin
    if score is null then
        return null;
    end if;
    for nth in
        select n
        from generate_series(scored + 1, cardinality(bounds)) as n
        order by n > taken, postings[n] - coalesce(postings[n - 1], 0) desc, n
    loop
        adds := (bounds[nth] - coalesce(bounds[nth + 1], 0)) * 1.00001;
        if adds < missing then
            missing := missing - adds;
        else
            beside := beside || nth;
        end if;
    end loop;
    return case
        when not beside @> array(select generate_series(scored + 1, taken)) then beside
    end;
end;
$$;
