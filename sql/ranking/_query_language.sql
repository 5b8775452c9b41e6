-- The text search configuration of a query's language if the libraries hold several and the words
-- tell which; null otherwise, and if a filter chooses the language.
create or replace function _pgrag.query_language(
    words text,
    terms pgrag.query_term[],
    filters jsonb
)
returns text
language plpgsql
stable
parallel safe
as $$
declare
    configurations jsonb;
    prose text;
    term pgrag.query_term;
    has_several boolean := false;
begin
    -- A loop: most libraries hold one, and a statement takes longer to start.
    foreach term in array terms loop
        has_several := has_several or term.language <> terms[1].language;
    end loop;
    if not has_several or filters @? 'strict $.**.language' then
        return null;
    end if;
    configurations := _pgrag.language_configurations();
    prose := _pgrag.without_code(lower(left(words, 2000)));
    if octet_length(prose) = length(prose) then
        -- No language is told by its letters, and a word in two languages equally tells none.
        return (
            select configurations ->> l.code
            from (
                select
                    s.code, s.score, lead(s.score, 1, 0) over (order by s.score desc) as next_score
                from (
                    select w.key as code, sum(w.value::integer) as score
                    from string_to_table(translate(prose, E'\n\r\t''|', '     '), ' ') as p (word)
                    cross join lateral jsonb_each(
                        _pgrag.language_words() -> btrim(p.word, '.,:;!?()[]{}"*_-')
                    ) as w
                    where configurations ->> w.key in (
                        select t.language from unnest(terms) as t
                    )
                    group by w.key
                ) as s
                order by s.score desc
                limit 1
            ) as l
            where 2 * l.score > 3 * l.next_score
        );
    end if;
    return configurations ->> _pgrag.likely_language(
        words,
        candidates => array(
            select c.key
            from jsonb_each_text(configurations) as c
            where c.value in (select t.language from unnest(terms) as t)
        )
    );
end;
$$;

-- Among translations of a page, that in the language of the query is meant.
create or replace function _pgrag.language_weight(
    language text,
    query_language text
)
returns double precision
language sql
immutable
parallel safe
as $$
    select case when language <> query_language then 0.85 else 1 end::double precision;
$$;

-- What a page's type and language leave of a score.
create or replace function _pgrag.page_weight(
    type text,
    language text,
    type_weights jsonb,
    query_language text
)
returns double precision
language sql
immutable
parallel safe
as $$
    select _pgrag.type_weight(page_weight.type, type_weights)
        * _pgrag.language_weight(page_weight.language, query_language);
$$;
