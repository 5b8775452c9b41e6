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
    term pgrag.query_term;
    has_several boolean := false;
    candidates text[];
    told text;
begin
    -- A loop: most libraries hold one, and a statement takes longer to start.
    foreach term in array terms loop
        has_several := has_several or term.language <> terms[1].language;
    end loop;
    if not has_several or filters @? 'strict $.**.language' then
        return null;
    end if;
    candidates := array(
        select l.code
        from _pgrag.languages() as l
        where l.configuration in (select t.language from unnest(terms) as t)
    );
    told := case
        -- Most queries are neither in other letters nor code.
        when octet_length(words) = length(words) and translate(words, '`~<]{', '') = words
        then _pgrag.clear_language(lower(left(words, 2000)), candidates)
        else _pgrag.likely_language(words, candidates => candidates)
    end;
    if told is null then
        return null;
    end if;
    return (select l.configuration from _pgrag.languages() as l where l.code = told);
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
