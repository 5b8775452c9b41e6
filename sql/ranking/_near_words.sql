-- Misspelt words of a query, each with the near words that the libraries have. is_sure: only
-- replacements that can be searched for unasked, the best of each word. A query whose unknown words
-- mostly have no near one has names, or words of another subject.
create or replace function _pgrag.near_words(
    query text,
    library_ids bigint[],
    is_sure boolean
)
returns table (
    word text,
    replacement text,
    distance integer,
    document_count bigint
)
language plpgsql
stable
parallel safe
-- Many small steps: JIT compilation would take longer than running them.
set jit = off
as $$
declare
    misspelt constant record := _pgrag.misspelt_words(query, library_ids, is_sure);
begin
    if misspelt.words = '{}' then
        return;
    end if;
    return query
    with edited as materialized (
        select m.word, m.nth, v.replacement, v.is_stop, v.document_count
        from unnest(misspelt.words) with ordinality as m (word, nth)
        cross join lateral _pgrag.edited_words(
            lower(m.word), library_ids, misspelt.languages, is_sure
        ) as v
    ),
    -- Two edits, between the stems. Slower, and seldom sure.
    distant as materialized (
        select m.word, m.nth, f.form as replacement, d.distance, n.document_count
        from unnest(misspelt.words) with ordinality as m (word, nth)
        cross join lateral (
            select n.*
            from pgrag.corpus_statistics as c
            cross join lateral unnest(
                tsvector_to_array(_pgrag.query_vector(c.language, m.word))
            ) as stem
            cross join lateral _pgrag.near_lexemes(c.library_id, c.language, stem, 2) as n
            where c.library_id = any (library_ids)
                and c.document_count > 0
                and c.language = any (misspelt.languages)
            order by n.distance, n.document_count desc
            limit 8
        ) as n
        cross join lateral _pgrag.written_form(
            n.library_id, n.language, n.lexeme, n.document_count, lower(m.word)
        ) as f (form)
        cross join lateral _pgrag.edit_distance(lower(m.word), f.form) as d (distance)
        where not is_sure
            and length(m.word) >= 6
            and m.word not in (select e.word from edited as e)
            and d.distance <= 2
    ),
    found as (
        select e.word, e.nth, e.replacement, 1 as distance, e.document_count
        from edited as e
        -- A stop word is meant.
        where not is_sure or e.word not in (select s.word from edited as s where s.is_stop)
        union all
        select d.word, d.nth, d.replacement, d.distance, sum(d.document_count)
        from distant as d
        group by d.word, d.nth, d.replacement, d.distance
    ),
    ranked as materialized (
        select
            f.*,
            row_number() over (
                partition by f.word order by f.distance, f.document_count desc, f.replacement
            ) as rank
        from found as f
        where f.document_count > 0
    )
    select
        r.word,
        case when r.word = initcap(r.word) then initcap(r.replacement) else r.replacement end,
        r.distance, r.document_count::bigint
    from ranked as r
    where not is_sure
        or r.rank = 1
            and 2 * (select count(distinct o.word) from ranked as o) >= misspelt.unknown_count
    order by r.nth, r.rank;
end;
$$;

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
    from (
        select t.part, min(t.nth) as nth, bool_and(t.is_plain) as is_plain
        from (
            select
                bare.part, s.nth,
                bare.part ~ '^[[:alpha:]][[:lower:]]{3,39}$'
                    and not (
                        is_sure
                        and (
                            left(s.part, 1) = '+'
                            -- Within a sentence, a capital marks a name; in German, each noun.
                            or s.nth > 1
                            and left(bare.part, 1) <> lower(left(bare.part, 1))
                            and (length(bare.part) < 6 or 'german' <> all (own_languages))
                        )
                    ) as is_plain
            from regexp_split_to_table(
                case
                    -- As in parse_search_text: a session keeps few compiled expressions.
                    when misspelt_words.query ~ '["„“«»「『]|(^|\s)[+-]'
                    then regexp_replace(
                        left(misspelt_words.query, 2000),
                        '[+-]?["„“«»「『][^"“”«»」』]*["“”«»」』]|(^|\s)-\S+', ' ', 'g'
                    )
                    else left(misspelt_words.query, 2000)
                end,
                '\s+'
            ) with ordinality as s (part, nth)
            cross join lateral btrim(s.part, '+.,:;!?…()[]{}''’`*¿¡') as bare (part)
            where upper(bare.part) <> lower(bare.part)
        ) as t
        group by t.part
        order by 2
        limit 40
    ) as t;
    words := '{}';
    plain := array(
        select p.part from unnest(parts, are_plain) as p (part, is_plain) where p.is_plain
    );
    -- Mostly the model or a library knows each of them, and nothing needs to be compared.
    doubtful := array(
        select m.word
        from unnest(plain, _pgrag.known_to_model(plain)) as m (word, is_known)
        where not m.is_known
            and not exists (
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
    );
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

-- The query with words replaced, where they stand alone.
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
        written := regexp_replace(
            written,
            '(?<![[:alnum:]_:#,./@$\\-])' || words[nth] || '(?![[:alnum:]_/@\\-]|[.:][[:alnum:]])',
            replacements[nth], 'g'
        );
    end loop;
    return written;
end;
$$;

-- The terms of a query, of which these words are guesses: they weigh half as much as others.
create or replace function _pgrag.guessed_terms(
    terms pgrag.query_term[],
    guesses text[]
)
returns pgrag.query_term[]
language sql
stable
parallel safe
as $$
    select array_agg(
        row(
            t.library_id, t.language, t.lexeme, t.frequency, t.document_count, t.idf,
            t.weight * t.share * t.norm, t.bound * t.share * t.norm
        )::pgrag.query_term
    )
    from (
        select
            t.*, s.share,
            sum(t.weight) over l / sum(t.weight * s.share) over l as norm
        from unnest(guessed_terms.terms) as t
        cross join lateral (
            select case
                when t.lexeme = any (
                    tsvector_to_array(
                        _pgrag.query_vector(
                            t.language, array_to_string(guessed_terms.guesses, ' ')
                        )
                    )
                )
                then 0.5
                else 1
            end as share
        ) as s
        window l as (partition by t.library_id, t.language)
    ) as t;
$$;
