-- "Did you mean": for words that no document has, the nearest ones that some document has. Only
-- what begins alike is compared, through the index on lexemes; the few that are left are measured.
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
parallel restricted
set search_path from current
-- Many small steps: compiling them would take longer than they do.
set jit = off
as $$
#variable_conflict use_column
declare
    parsed record;
    library_ids bigint[];
begin
    if suggestion_count is null or suggestion_count not between 1 and 100 then
        raise exception 'suggestion_count must be 1 to 100, got %.',
            coalesce(suggestion_count::text, 'null')
            using errcode = 'PGR01';
    end if;
    select p.* into parsed from pgrag.parse_query(suggest.query) as p;
    library_ids := array(
        select distinct s.library_id
        from pgrag.search_scope(
            pgrag._wanted_libraries(suggest.library, null, parsed.filters),
            pgrag._wanted_version(suggest.version, null, parsed.filters)
        ) as s
    );
    return query
    with unknown as materialized (
        select u.word, u.place
        from pgrag._unknown_words(
            (pgrag.parse_search_text(parsed.words)).words, library_ids
        ) as u
    ),
    choices as materialized (
        select
            u.word,
            u.place,
            c.replacement,
            c.distance,
            c.document_count,
            row_number() over (
                partition by u.word order by c.distance, c.document_count desc, c.replacement
            ) as rank
        from unknown as u
        cross join lateral pgrag._replacements(u.word, library_ids) as c
    ),
    best as (
        select array_agg(c.word) as words, array_agg(c.replacement) as replacements
        from choices as c
        where c.rank = 1
    )
    select
        pgrag._with_replacements(
            suggest.query, c.word || b.words, c.replacement || b.replacements
        ),
        c.word,
        c.replacement,
        c.distance,
        c.document_count,
        1 - (c.distance - 1 + 1 / (1 + ln(1 + c.document_count))) / length(c.word)
    from choices as c
    cross join best as b
    order by c.distance, c.document_count desc, c.place, c.replacement
    limit suggestion_count;
end;
$$;

comment on function pgrag.suggest(text, text, text, integer) is
'Queries that may have been meant: each word of at least four letters that no document of the
libraries has (version says only which libraries are looked at) is replaced by words that some
document has, one edit away (Damerau-Levenshtein: a letter more, less, other, or two swapped) or, of
more than five letters, two. By distance, then by document_count; score (0 to 1) goes the same way.
suggestion is the whole query with this replacement, and with the best one of each other such word.
No row where all words are known, or nothing is near. Errors: PGR01 for suggestion_count, PGR02,
PGR03, and PGR06 as parse_query.';

-- Words that are in no document in any language of the libraries; stop words are known.
create or replace function pgrag._unknown_words(
    words text,
    library_ids bigint[]
)
returns table (
    word text,
    place bigint
)
language sql
stable
parallel safe
set search_path from current
as $$
    select asked.word, min(asked.place)
    from (
        select m.part[1] as word, m.place
        from regexp_matches(
            left(_unknown_words.words, 2000), '\m([[:alpha:]]{4,40})\M', 'g'
        ) with ordinality as m (part, place)
    ) as asked
    where not exists (
        select
        from pgrag.corpus_statistics as c
        cross join lateral to_tsvector(c.language::regconfig, asked.word) as v (search)
        where c.library_id = any (_unknown_words.library_ids)
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
    group by asked.word
    order by 2
    limit 5;
$$;

-- The nearest words of the documents, as the documents write them.
create or replace function pgrag._replacements(
    word text,
    library_ids bigint[]
)
returns table (
    replacement text,
    distance integer,
    document_count bigint
)
language sql
stable
parallel safe
set search_path from current
as $$
    with near as materialized (
        select n.*
        from pgrag.corpus_statistics as c
        cross join lateral unnest(
            tsvector_to_array(to_tsvector(c.language::regconfig, _replacements.word))
        ) as stem
        cross join lateral pgrag._near_lexemes(
            c.library_id, c.language, stem,
            case when length(_replacements.word) < 6 then 1 else 2 end
        ) as n
        where c.library_id = any (_replacements.library_ids) and c.document_count > 0
        order by n.distance, n.document_count desc
        limit 8
    ),
    written as (
        select
            case
                when _replacements.word = initcap(_replacements.word) then initcap(f.form)
                else f.form
            end as replacement,
            pgrag._edit_distance(lower(_replacements.word), f.form) as distance,
            n.document_count
        from near as n
        cross join lateral pgrag._written_form(
            n.library_id, n.language, n.lexeme, n.document_count, lower(_replacements.word)
        ) as f (form)
        where f.form is not null
    )
    select w.replacement, w.distance, sum(w.document_count)::bigint
    from written as w
    where w.distance between 1 and case when length(_replacements.word) < 6 then 1 else 2 end
    group by w.replacement, w.distance;
$$;

create or replace function pgrag._with_replacements(
    query text,
    words text[],
    replacements text[]
)
returns text
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    written text := query;
begin
    for place in 1..cardinality(words) loop
        -- The second mention of a word, as the best of its own, finds it no more.
        written := regexp_replace(
            written, '(?<![:#,])\m' || words[place] || '\M', replacements[place], 'g'
        );
    end loop;
    return written;
end;
$$;
