-- Misspelt words of a query, each with the near words that the libraries have. is_sure: only
-- replacements that can be searched for unasked, the best of each word. A query whose unknown words
-- mostly have no near one has names, or words of another subject.
create or replace function _pgrag.near_words(
    query text,
    library_ids bigint[],
    is_sure boolean
)
returns table (
    word text,
    replacement text,
    distance integer,
    document_count bigint
)
language plpgsql
stable
parallel safe
-- Many small steps: JIT compilation would take longer than running them.
set jit = off
as $$
declare
    misspelt constant record := _pgrag.misspelt_words(query, library_ids, is_sure);
begin
    if misspelt.words = '{}' then
        return;
    end if;
    return query
    with edited as materialized (
        select m.word, m.nth, v.replacement, v.is_stop, v.document_count
        from unnest(misspelt.words) with ordinality as m (word, nth)
        cross join lateral _pgrag.edited_words(
            lower(m.word), library_ids, misspelt.languages, is_sure
        ) as v
    ),
    -- Two edits, between the stems. Slower, and seldom sure.
    distant as materialized (
        select m.word, m.nth, f.form as replacement, d.distance, n.document_count
        from unnest(misspelt.words) with ordinality as m (word, nth)
        cross join lateral (
            select n.*
            from pgrag.corpus_statistics as c
            cross join lateral unnest(
                tsvector_to_array(_pgrag.query_vector(c.language, m.word))
            ) as stem
            cross join lateral _pgrag.near_lexemes(c.library_id, c.language, stem, 2) as n
            where c.library_id = any (library_ids)
                and c.document_count > 0
                and c.language = any (misspelt.languages)
            order by n.distance, n.document_count desc
            limit 8
        ) as n
        cross join lateral _pgrag.written_form(
            n.library_id, n.language, n.lexeme, n.document_count, lower(m.word)
        ) as f (form)
        cross join lateral _pgrag.edit_distance(lower(m.word), f.form) as d (distance)
        where not is_sure
            and length(m.word) >= 6
            and m.word not in (select e.word from edited as e)
            and d.distance <= 2
    ),
    found as (
        select e.word, e.nth, e.replacement, 1 as distance, e.document_count
        from edited as e
        -- A stop word is meant.
        where not is_sure or e.word not in (select s.word from edited as s where s.is_stop)
        union all
        select d.word, d.nth, d.replacement, d.distance, sum(d.document_count)
        from distant as d
        group by d.word, d.nth, d.replacement, d.distance
    ),
    ranked as materialized (
        select
            f.*,
            row_number() over (
                partition by f.word order by f.distance, f.document_count desc, f.replacement
            ) as rank
        from found as f
        where f.document_count > 0
    )
    select
        r.word,
        case when r.word = initcap(r.word) then initcap(r.replacement) else r.replacement end,
        r.distance, r.document_count::bigint
    from ranked as r
    where not is_sure
        or r.rank = 1
            and 2 * (select count(distinct o.word) from ranked as o) >= misspelt.unknown_count
    order by r.nth, r.rank;
end;
$$;

-- The query with words replaced, where they stand alone.
create or replace function _pgrag.with_replacements(
    query text,
    words text[],
    replacements text[]
)
returns text
language plpgsql
immutable
parallel safe
as $$
declare
    written text := query;
begin
    for nth in 1..cardinality(words) loop
        written := regexp_replace(
            written,
            '(?<![[:alnum:]_:#,./@$\\-])' || words[nth] || '(?![[:alnum:]_/@\\-]|[.:][[:alnum:]])',
            replacements[nth], 'g'
        );
    end loop;
    return written;
end;
$$;

-- The terms of a query, of which these words are guesses: they weigh half as much as others.
create or replace function _pgrag.guessed_terms(
    terms pgrag.query_term[],
    guesses text[]
)
returns pgrag.query_term[]
language sql
stable
parallel safe
as $$
    select array_agg(
        row(
            t.library_id, t.language, t.lexeme, t.frequency, t.document_count, t.idf,
            t.weight * t.share * t.norm, t.bound * t.share * t.norm
        )::pgrag.query_term
    )
    from (
        select
            t.*, s.share,
            sum(t.weight) over l / sum(t.weight * s.share) over l as norm
        from unnest(guessed_terms.terms) as t
        cross join lateral (
            select case
                when t.lexeme = any (
                    tsvector_to_array(
                        _pgrag.query_vector(
                            t.language, array_to_string(guessed_terms.guesses, ' ')
                        )
                    )
                )
                then 0.5
                else 1
            end as share
        ) as s
        window l as (partition by t.library_id, t.language)
    ) as t;
$$;
