-- "Did you mean": replaces misspelt words by the nearest words of the passages.
create or replace function pgrag.suggest(
    query text,
    library text default null,
    suggestion_count integer default 3,
    version text default null
)
returns table (
    suggestion text,
    word text,
    replacement text,
    distance integer,
    document_count bigint,
    score double precision
)
language plpgsql
stable
parallel unsafe
set search_path from current
as $$
#variable_conflict use_column
declare
    parsed record;
    names text[];
    label text;
    library_ids bigint[];
begin
    perform _pgrag.check_range('suggestion_count', suggestion_count, 1, 100);
    select p.* into parsed from pgrag.parse_query(suggest.query) as p;
    label := _pgrag.wanted_version(suggest.library, suggest.version, null, parsed.filters);
    names := array(
        select lower(btrim(n))
        from unnest(_pgrag.wanted_libraries(suggest.library, null, parsed.filters)) as n
    );
    perform _pgrag.check_versions(names, label);
    library_ids := array(
        select distinct (s.library).library_id
        from _pgrag.versions_in_scope(nullif(names, '{}'), label) as s
    );
    return query
    with near as materialized (
        select n.*, row_number() over () as nth
        from _pgrag.near_words(parsed.words, library_ids, is_sure => false) as n
    ),
    best as (
        select array_agg(o.word) as words, array_agg(o.replacement) as replacements
        from (
            select distinct on (n.word) n.word, n.replacement from near as n order by n.word, n.nth
        ) as o
    )
    select
        -- If the word is also among the best replacements, the first replacement wins.
        _pgrag.with_replacements(suggest.query, n.word || b.words, n.replacement || b.replacements),
        n.word, n.replacement, n.distance, n.document_count,
        1 - (n.distance - 1 + 1 / (1 + ln(1 + n.document_count))) / length(n.word)
    from near as n
    cross join best as b
    order by n.distance, n.document_count desc, n.nth, n.replacement
    limit suggestion_count;
end;
$$;

comment on function pgrag.suggest is
'Suggests corrected queries: each word of at least four letters that no passage of the libraries has
(version only selects the libraries) is replaced by words of the passages, one edit away
(Damerau-Levenshtein: insertion, deletion, substitution, or a swap of two letters) or, for words of
more than five letters, up to two. Left alone are quoted words, words with signs, digits or capitals
within, words of the built-in model''s vocabulary, and queries in a language of which the libraries
have no page. A search itself looks for the nearest word where it is sure. Ordered by distance, then
by document_count; score (0 to 1) follows the same order. suggestion: the whole query with this
replacement and the best replacement of each other unknown word. No rows if all words are known or
none is near. Errors: PGR01 for suggestion_count, PGR02, PGR03, and PGR06 as in parse_query.';
