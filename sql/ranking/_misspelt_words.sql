-- The words of a query that are plain (no sign, digit or capital within, not quoted, not excluded),
-- that no passage of the libraries has, and of which nothing says that they are right: not the
-- vocabulary of the built-in model, and not the other words. A query with more stop words of a
-- foreign language than of the libraries' is in that language. languages: those of the libraries
-- that know most of the query's words; unknown_count: of all its words, plain or not.
create or replace function _pgrag.misspelt_words(
    query text,
    library_ids bigint[],
    is_sure boolean,
    out words text[],
    out languages text[],
    out unknown_count integer
)
language plpgsql
stable
parallel safe
set jit = off
as $$
declare
    -- The languages that PostgreSQL has stop words of.
    stopping constant text[] := '{danish, dutch, english, finnish, french, german, hungarian,
        italian, nepali, norwegian, portuguese, russian, spanish, swedish, turkish}';
    own_languages text[];
    parts text[];
    are_plain boolean[];
    plain text[];
    doubtful text[];
    stop_count integer;
    unknown_words text[];
begin
    own_languages := array(
        select distinct c.language
        from pgrag.corpus_statistics as c
        where c.library_id = any (library_ids) and c.document_count > 0
    );
    select array_agg(t.part order by t.nth), array_agg(t.is_plain order by t.nth)
    into parts, are_plain
    from _pgrag.query_parts(misspelt_words.query, own_languages, is_sure) as t;
    words := '{}';
    plain := array(
        select p.part from unnest(parts, are_plain) as p (part, is_plain) where p.is_plain
    );
    -- Mostly the model or a library knows each of them, and nothing needs to be compared.
    doubtful := _pgrag.doubtful_words(plain, library_ids);
    if doubtful = '{}' then
        return;
    end if;
    with tokens as materialized (
        select t.*
        from unnest(parts, are_plain) with ordinality as t (part, is_plain, nth)
    ),
    spoken as (
        select c.language, array_agg(c.library_id) as ids
        from pgrag.corpus_statistics as c
        where c.library_id = any (library_ids) and c.document_count > 0
        group by c.language
    ),
    compared as materialized (
        select
            t.part, t.nth, t.is_plain, l.language,
            v.lexemes = '{}' as is_stop,
            v.lexemes <> '{}' and exists (
                select
                from unnest(l.ids) as i (id)
                join pgrag.lexeme_statistics as s
                    on s.library_id = i.id
                    and s.language = l.language
                    and s.lexeme = any (v.lexemes)
                where s.document_count > 0
            ) as is_known
        from tokens as t
        cross join spoken as l
        cross join lateral (
            select tsvector_to_array(_pgrag.query_vector(l.language, t.part)) as lexemes offset 0
        ) as v
    ),
    judged as (
        select
            c.part, c.nth, c.is_plain,
            bool_or(c.is_stop) as is_stop,
            bool_or(c.is_stop or c.is_known) as is_known
        from compared as c
        group by c.part, c.nth, c.is_plain
    ),
    of_languages as (
        select c.language, count(*) filter (where c.is_stop or c.is_known) as known
        from compared as c
        group by c.language
    )
    select
        (
            select array_agg(o.language)
            from of_languages as o
            where o.known = (select max(m.known) from of_languages as m)
        ),
        count(*) filter (where j.is_stop),
        array_agg(j.part order by j.nth) filter (where not j.is_known),
        array_agg(j.part order by j.nth) filter (where not j.is_known and j.is_plain)
    into languages, stop_count, unknown_words, words
    from judged as j;
    words := coalesce(words, '{}');
    if words = '{}' then
        return;
    end if;
    -- A language of which more words are stop words.
    if exists (
        select
        from unnest(stopping) as s (language)
        where s.language <> all (own_languages)
            and (
                select count(*) from unnest(unknown_words) as u
            ) - (
                select coalesce(sum(cardinality(v.positions)), 0)
                from unnest(
                    to_tsvector(s.language::regconfig, array_to_string(unknown_words, ' '))
                ) as v
            ) > stop_count
    ) then
        words := '{}';
        return;
    end if;
    words := array(
        select m.word
        from unnest(words) with ordinality as m (word, nth)
        where m.word = any (doubtful)
            -- Short words of languages with many endings have many neighbours.
            and (not is_sure or length(m.word) >= 6 or 'english' = any (languages))
        order by m.nth
        limit 5
    );
    unknown_count := cardinality(unknown_words);
end;
$$;

-- The different words of a query, at most 40, without the signs around them. is_plain: see
-- misspelt_words.
create or replace function _pgrag.query_parts(
    query text,
    languages text[],
    is_sure boolean
)
returns table (
    part text,
    nth bigint,
    is_plain boolean
)
language sql
immutable
parallel safe
as $$
    select t.part, min(t.nth) as nth, bool_and(t.is_plain) as is_plain
    from (
        select
            bare.part, s.nth,
            bare.part ~ '^[[:alpha:]][[:lower:]]{3,39}$'
                and not (
                    query_parts.is_sure
                    and (
                        left(s.part, 1) = '+'
                        -- Within a sentence, a capital marks a name; in German, each noun.
                        or s.nth > 1
                        and left(bare.part, 1) <> lower(left(bare.part, 1))
                        and (length(bare.part) < 6 or 'german' <> all (query_parts.languages))
                    )
                ) as is_plain
        from regexp_split_to_table(
            case
                -- As in parse_search_text: a session keeps few compiled expressions.
                when query_parts.query ~ '["„“«»「『]|(^|\s)[+-]'
                then regexp_replace(
                    left(query_parts.query, 2000),
                    '[+-]?["„“«»「『][^"“”«»」』]*["“”«»」』]|(^|\s)-\S+', ' ', 'g'
                )
                else left(query_parts.query, 2000)
            end,
            '\s+'
        ) with ordinality as s (part, nth)
        cross join lateral btrim(s.part, '+.,:;!?…()[]{}''’`*¿¡') as bare (part)
        where upper(bare.part) <> lower(bare.part)
    ) as t
    group by t.part
    order by 2
    limit 40;
$$;

-- Those that neither the built-in model knows nor a library has.
create or replace function _pgrag.doubtful_words(
    words text[],
    library_ids bigint[]
)
returns text[]
language plpgsql
stable
parallel safe
set jit = off
as $$
begin
    return array(
        select m.word
        from unnest(words, _pgrag.known_to_model(words)) as m (word, is_known)
        -- "case": as a join, it would be read for words that the model knows, too.
        where case
            when m.is_known then false
            else not exists (
                select
                from pgrag.corpus_statistics as c
                cross join lateral (
                    select tsvector_to_array(_pgrag.query_vector(c.language, m.word)) as lexemes
                    offset 0
                ) as v
                where c.library_id = any (library_ids)
                    and c.document_count > 0
                    and (
                        v.lexemes = '{}'
                        or exists (
                            select
                            from pgrag.lexeme_statistics as s
                            where s.library_id = c.library_id
                                and s.language = c.language
                                and s.lexeme = any (v.lexemes)
                                and s.document_count > 0
                        )
                    )
            )
        end
    );
end;
$$;
