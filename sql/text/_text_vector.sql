-- The lexemes of a text that searchable_text or parsed_text has prepared. A word with diacritics
-- has a second lexeme at its position, that of the word without them. What follows chr(1) in a
-- query are other forms of its words, which have the label C.
create or replace function _pgrag.text_vector(
    language text,
    prepared text,
    of_query boolean default false
)
returns tsvector
language plpgsql
stable
parallel safe
as $$
declare
    folded text := text_vector.prepared;
    -- Its position tells whether the parser has split both texts alike.
    last_word constant text := U&' \+018700';
begin
    if of_query and strpos(text_vector.prepared, chr(1)) > 0 then
        return _pgrag.text_vector(
            text_vector.language, split_part(text_vector.prepared, chr(1), 1), true
        ) || setweight(
            to_tsvector(
                text_vector.language::regconfig, split_part(text_vector.prepared, chr(1), 2)
            ),
            'C'
        );
    elsif octet_length(folded) > length(folded) then
        folded := _pgrag.folded_text(folded);
    end if;
    if folded = text_vector.prepared then
        return to_tsvector(text_vector.language::regconfig, text_vector.prepared);
    end if;
    -- The parser knows addresses by their ASCII letters: größe.txt is two words, grosse.txt is one.
    if translate(folded, '.@', '') <> folded and folded ~ '\w[.@]\w' then
        folded := _pgrag.folded_text(
            regexp_replace(
                text_vector.prepared,
                U&'([\0080-\FFFF]\\w*)[.@]|[.@](?=\\w*[\0080-\FFFF])', '\1 ', 'g'
            )
        );
    end if;
    return ts_delete(
        _pgrag.with_folded(
            to_tsvector(text_vector.language::regconfig, text_vector.prepared || last_word),
            to_tsvector(text_vector.language::regconfig, folded || last_word),
            text_vector.of_query
        ),
        ltrim(last_word)
    );
end;
$$;

-- Both vectors in one, by their text form, since || moves positions: only what the second adds.
-- Where the first has a stop word, a document has the second's (a query without diacritics asks for
-- it), but a query has not. In a query, labels say which lexemes share the weight of a word: B with
-- diacritics, C without. Texts that were split differently follow each other.
create or replace function _pgrag.with_folded(
    exact tsvector,
    folded tsvector,
    of_query boolean
)
returns tsvector
language plpgsql
immutable
parallel safe
as $$
declare
    added text;
    alike boolean;
begin
    with words as materialized (
        select e.lexeme, p.position
        from pg_catalog.unnest(exact) as e
        cross join lateral pg_catalog.unnest(e.positions) as p (position)
    ),
    folded_words as materialized (
        select f.lexeme, p.position
        from pg_catalog.unnest(folded) as f
        cross join lateral pg_catalog.unnest(f.positions) as p (position)
    ),
    alignment as materialized (
        select (select e.position from words as e where e.lexeme = U&'\+018700')
            = (select f.position from folded_words as f where f.lexeme = U&'\+018700') as alike
    ),
    other_words as (
        select f.lexeme, f.position
        from folded_words as f
        cross join alignment as a
        where (
                f.position in (select e.position from words as e)
                or not of_query and pg_catalog.length(f.lexeme) > 2
            )
            and (a.alike or f.lexeme not in (select e.lexeme from words as e))
        except
        select e.lexeme, e.position from words as e
    )
    select
        pg_catalog.string_agg(
            o.lexeme || ':' || o.position || case when of_query then 'C' else '' end, ' '
        ),
        (select a.alike from alignment as a)
    into added, alike
    from (
        select _pgrag.tsquery_lexeme(o.lexeme) as lexeme, o.position from other_words as o
    ) as o;
    if added is null then
        return exact;
    elsif alike is not true then
        return exact || added::tsvector;
    elsif not of_query then
        return (exact::text || ' ' || added)::tsvector;
    end if;
    return (
        select pg_catalog.string_agg(
            _pgrag.tsquery_lexeme(e.lexeme) || ':' || p.position
                || case when p.position = any (a.positions) then 'B' else '' end,
            ' '
        ) || ' ' || added
        from pg_catalog.unnest(exact) as e
        cross join lateral pg_catalog.unnest(e.positions) as p (position)
        cross join (
            select pg_catalog.array_agg(p.position) as positions
            from pg_catalog.unnest(added::tsvector) as f
            cross join lateral pg_catalog.unnest(f.positions) as p (position)
        ) as a
    )::tsvector;
end;
$$;

create or replace function _pgrag.document_vector(
    language text,
    input text
)
returns tsvector
language sql
stable
parallel safe
as $$
    select _pgrag.text_vector(
        document_vector.language, _pgrag.searchable_text(document_vector.input)
    );
$$;

-- The lexemes of words of a query. Inlined.
create or replace function _pgrag.query_vector(
    language text,
    words text
)
returns tsvector
language sql
stable
parallel safe
as $$
    select _pgrag.text_vector(
        query_vector.language, _pgrag.searchable_text(query_vector.words, true), true
    );
$$;
