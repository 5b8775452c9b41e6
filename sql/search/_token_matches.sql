-- How near the words of a passage come to each word of the query, in the vectors of the built-in
-- model: the largest cosine (MaxSim; Khattab and Zaharia, SIGIR 2020), weighted by the length of
-- the word's vector, which is small for words that say little. Passages store nothing for it:
-- pgrag.model_tokens has the words near each token, and their lexemes meet the passage's impacts.
--
-- For each hit and each word of the query its share of the match, and the largest cosine; 0 if the
-- passage has no near word. A smooth maximum: the logarithm of a sum of exponentials is that of its
-- largest term, so one product of sparse vectors reads all near words; the impacts, from 0.2 to
-- 2.2, move it by less than 0.04.
create or replace function _pgrag.token_matches(
    hits _pgrag.ranked_hit[],
    request _pgrag.search_request
)
returns table (
    nth bigint,
    word text,
    share double precision,
    match double precision
)
language sql
stable
parallel safe
rows 100
as $$
    with tokens as materialized (
        select m.model_id, t.word, t.weight, t.lexemes
        from (
            select distinct q.model_id
            from unnest((token_matches.request).queries) as q
            where q.token_weight > 0
        ) as m
        cross join lateral _pgrag.near_lexemes_of_words(
            (token_matches.request).read_words,
            array(
                select distinct t.language from unnest((token_matches.request).terms) as t
            ),
            m.model_id
        ) as t
    )
    select
        h.ordinality, t.word, t.weight / sum(t.weight) over (partition by h.ordinality),
        least(ln(greatest(-(i.weights <#> t.lexemes), 1)) / 40, 1)
    from unnest(token_matches.hits) with ordinality as h
    join unnest((token_matches.request).queries) as q
        on q.library_id = h.library_id and q.token_weight > 0
    cross join lateral (
        select i.weights
        from pgrag.impacts as i
        where i.library_id = h.library_id and i.document_id = h.document_id
        offset 0
    ) as i
    join tokens as t on t.model_id = q.model_id;
$$;

-- So many hits are compared. It depends on neither top_k nor the page of results, so a cursor leads
-- through one list.
create or replace function _pgrag.compared_count()
returns integer
language sql
immutable
parallel safe
as 'select 20';

-- The list with the first hits compared. Who counts gets all compared, in the same order, because
-- the first ones of each value are others: steps has the score without and with the matches, and
-- score the most that it can be, so that a summary is listed only with what it gives way to.
create or replace function _pgrag.with_token_matches(
    hits _pgrag.ranked_hit[],
    request _pgrag.search_request
)
returns _pgrag.ranked_hit[]
language plpgsql
stable
parallel safe
as $$
declare
    first_count constant integer := case
        when request.keeps_repeats then cardinality(hits) else _pgrag.compared_count()
    end;
    -- In short queries words say what is meant: none of it for two, all of it for eight.
    length_share constant double precision := least(
        greatest(regexp_count(request.read_words, '\S+') - 2, 0) / 6.0, 1
    );
begin
    -- Scores of ranks have another scale, and who only counts needs no order.
    if length_share = 0
        or request.fusion = 'rrf'
        or request.keeps_repeats and request.min_score = 0
        or request.queries[1].token_weight = 0 and cardinality(request.queries) = 1
    then
        return hits;
    end if;
    -- What is added grows with what is missing to 1 and is never negative, so that scores stay
    -- between 0 and 1 and these hits stay above the others.
    return array(
        select row(
            h.library_id, h.document_id, h.page_id, r.score, h.keyword_score, h.semantic_score,
            h.passage_score, h.page_score, h.keyword_rank, h.semantic_rank, h.section_score,
            n.hybrid_score, h.graph, h.confidence, h.better_on_page,
            case when request.keeps_repeats then array[h.score, n.matched_score] else h.steps end
        )::_pgrag.ranked_hit
        from unnest(hits[:first_count]) with ordinality as h
        join unnest(request.queries) as q on q.library_id = h.library_id
        left join (
            select t.nth, sum(t.share * t.match) as match
            from _pgrag.token_matches(hits[:first_count], request) as t
            group by t.nth
        ) as m on m.nth = h.ordinality
        cross join lateral (
            select length_share * q.token_weight as most, coalesce(m.match, 0) as match
        ) as w
        -- Who counts has hits whose hybrid_score lacks what a summary lends.
        cross join lateral (select greatest(h.hybrid_score, h.score) as score) as f
        cross join lateral (
            select
                h.hybrid_score + w.most * w.match * (1 - h.hybrid_score) as hybrid_score,
                f.score + w.most * w.match * (1 - f.score) as matched_score
        ) as n
        cross join lateral (
            select case
                when request.keeps_repeats then f.score + w.most * (1 - f.score)
                else n.matched_score * _pgrag.page_share(request.page_decay, h.better_on_page)
            end as score
        ) as r
        order by case when not request.keeps_repeats then r.score end desc, h.ordinality
    ) || hits[first_count + 1:];
end;
$$;

-- Each word of a query that is no stop word, with the length of its vector, and e^(40 cosine) of
-- its lexeme and of those near it, in every language that is searched. A word that is no token of
-- the model has length 2, since such words are rare and say most (with 1, SciFact lost .012).
create or replace function _pgrag.near_lexemes_of_words(
    words text,
    languages text[],
    model_id bigint
)
returns table (
    word text,
    weight double precision,
    lexemes sparsevec
)
language sql
stable
parallel safe
rows 10
as $$
    with words as materialized (
        select w.word, coalesce(l2_norm(t.embedding), 2) as weight, t.related, t.cosines
        from (
            select distinct s.word
            from pgrag.embedding_models as m
            cross join lateral unnest(
                _pgrag.split_words(near_lexemes_of_words.words, m.settings -> 'characters')
            ) as s (word)
            where m.model_id = near_lexemes_of_words.model_id
                and length(s.word) between 1 and 100
        ) as w
        left join pgrag.model_tokens as t
            on t.model_id = near_lexemes_of_words.model_id and t.token = w.word collate "C"
    ),
    near as (
        select
            w.word, w.weight, _pgrag.lexeme_id(g.language, l.lexeme) as lexeme_id,
            max(o.cosine) as cosine
        from words as w
        cross join lateral unnest(w.word || w.related, 1::real || w.cosines) as o (word, cosine)
        cross join unnest(near_lexemes_of_words.languages) as g (language)
        cross join lateral unnest(
            tsvector_to_array(to_tsvector(g.language::regconfig, o.word))
        ) as l (lexeme)
        group by 1, 2, 3
    )
    select
        n.word, n.weight,
        _pgrag.sparse_vector(string_agg(n.lexeme_id || ':' || exp(40 * n.cosine)::real, ','))
    from near as n
    group by n.word, n.weight
    having max(n.cosine) = 1;
$$;
