-- The share of its score that a passage keeps: all of it if each quoted phrase occurs in it as a
-- phrase. No score rises, so a bound of scores stays one.
create or replace function _pgrag.phrase_weight(
    languages text[],
    conditions tsquery[],
    language text,
    search tsvector
)
returns double precision
language sql
immutable
parallel safe
as $$
    select coalesce(
        1 - 0.05 * (count(*) filter (where not phrase_weight.search @@ p.condition))::float8
            / nullif(count(*), 0),
        1
    )
    from unnest(phrase_weight.languages, phrase_weight.conditions) as p (language, condition)
    where p.language = phrase_weight.language;
$$;

-- The weight of each candidate.
create or replace function _pgrag.phrase_weights(
    request _pgrag.search_request,
    candidates _pgrag.candidates
)
returns double precision[]
language plpgsql
stable
parallel safe
as $$
begin
    return array(
        select _pgrag.phrase_weight(
            request.phrase_languages, request.phrase_conditions, d.language, d.search
        )
        from unnest(candidates.library_ids, candidates.document_ids)
            with ordinality as c (library_id, document_id, nth)
        join pgrag.documents as d
            on d.library_id = c.library_id and d.document_id = c.document_id
        order by c.nth
    );
end;
$$;

-- One condition for each phrase, in each language of the libraries.
create or replace function _pgrag.ranking_phrases(
    library_ids bigint[],
    phrases text[]
)
returns table (
    language text,
    condition tsquery
)
language sql
stable
parallel safe
as $$
    select c.language, q.indexed::tsquery
    from (
        select distinct s.language
        from pgrag.corpus_statistics as s
        where s.library_id = any (ranking_phrases.library_ids)
    ) as c
    cross join unnest(ranking_phrases.phrases) as phrase
    cross join lateral _pgrag.phrase_conditions(c.language, phrase) as q
    where q.indexed is not null;
$$;
