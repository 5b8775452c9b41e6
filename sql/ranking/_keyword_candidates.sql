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
    -- Of each list: the lexeme, whether it holds strong postings alone, the number of postings up
    -- to it, and the most that it and all later lists add.
    lexemes text[];
    is_strong boolean[];
    postings bigint[];
    bounds double precision[];
    scored integer := 0;
    taken integer;
    certain integer;
    best _pgrag.candidates;
begin
    select
        array_agg(p.lexeme order by p.nth),
        array_agg(p.is_strong order by p.nth),
        array_agg(p.postings order by p.nth),
        array_agg(p.bound order by p.nth)
    into lexemes, is_strong, postings, bounds
    from (
        select
            p.lexeme,
            p.is_strong,
            row_number() over best as nth,
            sum(p.postings) over best as postings,
            sum(p.adds) over (best rows between current row and unbounded following) as bound
        from (
            select
                p.*,
                -- The strong postings of a lexeme come before the others.
                min(p.adds / p.postings) over (
                    partition by p.lexeme order by p.is_strong desc
                ) as gain
            from (
                select
                    t.lexeme,
                    sum(t.document_count) as document_count,
                    max(t.bound) as bound,
                    max(least(t.bound, t.weight * _pgrag.strong_impact())) as weak_bound
                from unnest(terms) as t
                where t.document_count > 0
                group by t.lexeme
            ) as l
            cross join lateral (
                -- An estimate: with the default k1, about a tenth of the postings are strong.
                select l.lexeme, true, l.document_count / 10, l.bound - l.weak_bound
                where l.document_count > small and l.bound > l.weak_bound
                union all
                select
                    l.lexeme,
                    false,
                    l.document_count,
                    case when l.document_count > small then l.weak_bound else l.bound end
            ) as p (lexeme, is_strong, postings, adds)
        ) as p
        window best as (order by p.gain desc, p.lexeme, p.is_strong desc)
    ) as p;
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
            terms,
            _pgrag.posting_ids(terms, lexemes[scored + 1:taken], is_strong[scored + 1:taken]),
            target,
            candidate_count,
            postings[taken],
            best.document_ids,
            (
                select _pgrag.posting_ids(
                    terms,
                    array_agg(lexemes[b.nth] order by b.nth),
                    array_agg(is_strong[b.nth] order by b.nth)
                )
                from unnest(
                    _pgrag.parts_beside(postings, bounds, scored, taken, best.scores[certain_count])
                ) as b (nth)
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
        -- In the order of reading; of some, only the strong postings were read.
        'lexemes', (
            select jsonb_agg(l.lexeme order by l.nth)
            from (
                select p.lexeme, min(p.nth) as nth
                from unnest(lexemes) with ordinality as p (lexeme, nth)
                group by p.lexeme
            ) as l
        ),
        'lexemes_taken', (select count(distinct l) from unnest(lexemes[:taken]) as l),
        'candidates', cardinality(best.document_ids)
    );
    return best;
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
