-- What a library lacks of a query: a name that no passage has is a better reason than a score to
-- doubt that it answers.
create or replace function pgrag.unknown_words(
    query text,
    library text
)
returns setof text
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    searched_id constant bigint := _pgrag.library_id(unknown_words.library);
    words_given constant text := (pgrag.parse_query(unknown_words.query)).words;
    terms constant pgrag.query_term[] := array(
        select t from pgrag.query_terms(words_given, array[searched_id]) as t
    );
    language_count constant bigint := (
        select count(*)
        from pgrag.corpus_statistics as c
        where c.library_id = searched_id and c.document_count > 0
    );
begin
    if not exists (select from unnest(terms) as t where t.document_count = 0) then
        return;
    end if;
    return query
    with words as materialized (
        select min(w.nth) as nth, r.word
        from regexp_split_to_table(words_given, '\s+') with ordinality as w (part, nth)
        cross join lateral ltrim(btrim(w.part, '.,:;!?()[]{}<>"''`…'), '+') as r (word)
        where r.word ~ '[[:alpha:]]{2}'
            -- An excluded word.
            and r.word !~ '^-[[:alpha:]]'
            and not _pgrag.has_bigrams(r.word)
        group by r.word
    ),
    by_language as (
        select
            w.nth,
            w.word,
            case
                -- The parts of a name say nothing of the whole; those of a compound do.
                when ltrim(w.word, '-') ~ '-' then max(t.document_count) = 0
                else min(t.document_count) = 0
            end as is_unknown
        from words as w
        join unnest(terms) as t
            on t.lexeme = any (tsvector_to_array(_pgrag.query_vector(t.language, w.word)))
        group by w.nth, w.word, t.language
    ),
    counted as materialized (
        select
            l.nth,
            l.word,
            -- A stop word of one of the languages is known.
            bool_and(l.is_unknown) and count(*) = language_count as is_unknown
        from by_language as l
        group by l.nth, l.word
    )
    select c.word
    from counted as c
    where c.is_unknown
        -- Most words are unknown of a question in another language.
        and (select 3 * count(*) filter (where o.is_unknown) <= 2 * count(*) from counted as o)
    order by c.nth
    limit 5;
end;
$$;

comment on function pgrag.unknown_words is
'The words of a query that no passage of a library has in any version, at most five, in their order;
none if they are more than two thirds, as in another language. Filters in the query do not count.
Stop words are known. Errors: PGR02, PGR06.';
