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
    held constant text[] := array(select distinct t.language from unnest(terms) as t);
begin
    if cardinality(held) < 2 or filters @? 'strict $.**.language' then
        return null;
    end if;
    return _pgrag.language_configurations() ->> _pgrag.likely_language(
        words,
        candidates => array(
            select c.key
            from jsonb_each_text(_pgrag.language_configurations()) as c
            where c.value = any (held)
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
