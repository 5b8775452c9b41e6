-- "Did you mean": replaces words that no passage has by the nearest words of the passages. Only
-- candidates with a similar beginning are measured, which the index on lexemes yields.
create or replace function pgrag.suggest(
    query text,
    library text default null,
    version text default null,
    suggestion_count integer default 3
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
-- Many small steps: JIT compilation would take longer than running them.
set jit = off
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
    label := _pgrag.wanted_version(suggest.version, null, parsed.filters);
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
    with unknown as materialized (
        -- Words that occur in no language of the libraries; stop words count as known.
        select m.part[1] as word, min(m.nth) as nth
        from regexp_matches(
            left((_pgrag.parse_search_text(parsed.words)).words, 2000),
            '\m([[:alpha:]]{4,40})\M', 'g'
        ) with ordinality as m (part, nth)
        where not exists (
            select
            from pgrag.corpus_statistics as c
            cross join lateral _pgrag.query_vector(c.language, m.part[1]) as v (search)
            where c.library_id = any (library_ids)
                and c.document_count > 0
                and (
                    v.search = ''
                    or exists (
                        select
                        from pgrag.lexeme_statistics as s
                        where s.library_id = c.library_id
                            and s.language = c.language
                            and s.lexeme = any (tsvector_to_array(v.search))
                            and s.document_count > 0
                    )
                )
        )
        group by m.part[1]
        order by 2
        limit 5
    ),
    near as materialized (
        select u.word, u.nth, lower(u.word) as typed, n.*
        from unknown as u
        cross join lateral (
            select n.library_id, n.language, n.lexeme, n.document_count
            from pgrag.corpus_statistics as c
            cross join lateral unnest(
                tsvector_to_array(_pgrag.query_vector(c.language, u.word))
            ) as stem
            cross join lateral _pgrag.near_lexemes(
                c.library_id, c.language, stem, case when length(u.word) < 6 then 1 else 2 end
            ) as n
            where c.library_id = any (library_ids) and c.document_count > 0
            order by n.distance, n.document_count desc
            limit 8
        ) as n
    ),
    -- The nearest words, as the passages write them.
    written as (
        select
            n.word,
            n.nth,
            case when n.word = initcap(n.word) then initcap(f.form) else f.form end as replacement,
            d.distance,
            sum(n.document_count)::bigint as document_count
        from near as n
        cross join lateral _pgrag.written_form(
            n.library_id, n.language, n.lexeme, n.document_count, n.typed
        ) as f (form)
        cross join lateral _pgrag.edit_distance(n.typed, f.form) as d (distance)
        where f.form is not null
            and d.distance between 1 and case when length(n.word) < 6 then 1 else 2 end
        group by 1, 2, 3, 4
    ),
    choices as materialized (
        select
            c.*,
            row_number() over (
                partition by c.word order by c.distance, c.document_count desc, c.replacement
            ) as rank
        from written as c
    )
    select
        _pgrag.with_replacements(suggest.query, c.word || b.words, c.replacement || b.replacements),
        c.word, c.replacement, c.distance, c.document_count,
        1 - (c.distance - 1 + 1 / (1 + ln(1 + c.document_count))) / length(c.word)
    from choices as c
    cross join (
        select array_agg(o.word) as words, array_agg(o.replacement) as replacements
        from choices as o
        where o.rank = 1
    ) as b
    order by c.distance, c.document_count desc, c.nth, c.replacement
    limit suggestion_count;
end;
$$;

comment on function pgrag.suggest is
'Suggests corrected queries: each word of at least four letters that no passage of the libraries has
(version only selects the libraries) is replaced by words of the passages, one edit away
(Damerau-Levenshtein: insertion, deletion, substitution, or a swap of two letters) or, for words of
more than five letters, up to two. Ordered by distance, then by document_count; score (0 to 1)
follows the same order. suggestion: the whole query with this replacement and the best replacement
of each other unknown word. No rows if all words are known or none is near. Errors: PGR01 for
suggestion_count, PGR02, PGR03, and PGR06 as in parse_query.';

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
        -- If the word is also among the best replacements, the first replacement wins.
        written := regexp_replace(
            written, '(?<![:#,])\m' || words[nth] || '\M', replacements[nth], 'g'
        );
    end loop;
    return written;
end;
$$;
