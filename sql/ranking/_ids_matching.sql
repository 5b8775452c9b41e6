-- Ids of the passages, or pages, that have all (&) or some (|) of the phrases, in their text or in
-- the headings above it. The index has no stop words: phrases with them are compared with the text.
-- Null if the phrases have no words, or are a single word that is a stop word in every language:
-- they are then no condition.
create or replace function _pgrag.ids_matching(
    target _pgrag.search_target,
    phrases text[],
    connective text,
    of_pages boolean default false
)
returns bigint[]
language plpgsql
stable
parallel safe
as $$
declare
    matching bigint[];
begin
    with conditions as materialized (
        select
            p.language,
            concat_ws(
                ' & ',
                (target).scope,
                '(' || string_agg('(' || p.indexed || ')', connective) || ')'
            )::tsquery as indexed,
            count(p.indexed) > 0 as is_indexed,
            -- Of stop words alone, the expression says it all.
            coalesce(
                array_agg(p.exact::tsquery) filter (where p.pattern <> '' and p.indexed <> ''), '{}'
            ) as exact,
            array_agg(p.pattern) filter (where p.pattern <> '') as patterns
        from (
            select
                c.language, phrase.nth, p.*,
                phrase.content !~ '\S\s+\S'
                    and bool_and(p.indexed is null) over (partition by phrase.nth) as is_stop_word
            from (
                select distinct s.language
                from pgrag.corpus_statistics as s
                where s.library_id = any ((target).library_ids)
            ) as c
            cross join unnest(phrases) with ordinality as phrase (content, nth)
            cross join lateral _pgrag.phrase_conditions(c.language, phrase.content) as p
        ) as p
        where case when of_pages then p.indexed else p.exact end is not null and not p.is_stop_word
        group by
            p.language, case when connective = ' | ' and p.pattern is not null then p.nth end
    )
    select array_agg(m.id)
    into matching
    from conditions as c
    left join lateral unnest(
        case
            when of_pages then _pgrag.pages_with(c.indexed, c.language)
            when c.patterns is null then _pgrag.documents_with(c.indexed, c.language)
            else _pgrag.documents_saying(
                target,
                c.language,
                case when c.is_indexed then _pgrag.documents_with(c.indexed, c.language) end,
                c.exact,
                c.patterns
            )
        end
    ) as m (id) on true;
    return array_remove(matching, null);
end;
$$;

-- A phrase as a query of the index, as one of the text with its stop words, and, if it has such, an
-- expression that every text with the phrase matches: of other words only letters that neither
-- stemming nor a diacritic changes. Names with signs must be somewhere in the passage.
create or replace function _pgrag.phrase_conditions(
    language text,
    phrase text,
    out indexed text,
    out exact text,
    out pattern text
)
language plpgsql
stable
parallel safe
set client_min_messages = 'error'
as $$
declare
    normal constant text := _pgrag.normal_text(_pgrag.plain_text(phrase));
    prepared constant text := _pgrag.parsed_text(normal);
    names text;
begin
    with words as (
        select
            w.position,
            _pgrag.tsquery_lexeme(w.lexeme) as exact,
            '(' || s.alternatives || ')' as indexed,
            w.position - lag(w.position) over (order by w.position) as distance,
            w.position - lag(w.position) over (
                partition by s.alternatives is null order by w.position
            ) as distance_of_kind,
            case
                when s.alternatives is null then regexp_replace(w.lexeme, '[^\w]', '\\\&', 'g')
                else regexp_replace(
                    (
                        select left(w.lexeme, coalesce(max(n.length), 0))
                        from generate_series(1, length(w.lexeme)) as n (length)
                        where starts_with(s.shortest, left(w.lexeme, n.length))
                    ),
                    '[^bdfhjkmpqrvwx0-9]', '.', 'g'
                ) || '\w*'
            end as written
        from (
            select t.lexeme, p.position
            from unnest(to_tsvector('simple', prepared)) as t
            cross join lateral unnest(t.positions) as p (position)
        ) as w
        left join (
            select
                p.position, min(t.lexeme) as shortest,
                string_agg(_pgrag.tsquery_lexeme(t.lexeme), ' | ') as alternatives
            from unnest(_pgrag.text_vector(phrase_conditions.language, prepared)) as t
            cross join lateral unnest(t.positions) as p (position)
            group by p.position
        ) as s on s.position = w.position
    )
    select
        string_agg(
            coalesce('<' || w.distance_of_kind || '>', '') || w.indexed, ' ' order by w.position
        ),
        string_agg(
            coalesce('<' || w.distance || '>', '') || coalesce(w.indexed, w.exact),
            ' ' order by w.position
        ),
        case
            when bool_or(w.indexed is null)
            then '\m' || string_agg(w.written, '[^[:alnum:]]+' order by w.position) || '\M'
        end
    into indexed, exact, pattern
    from words as w;
    names := (
        select string_agg(_pgrag.tsquery_lexeme(t.lexeme), ' & ')
        from _pgrag.sign_names(normal) as n (name)
        cross join lateral unnest(to_tsvector(phrase_conditions.language::regconfig, n.name)) as t
    );
    if names is not null then
        indexed := concat_ws(' & ', '(' || indexed || ')', names);
        exact := coalesce(exact, names);
    end if;
    if normal ~ '^[[:alpha:]]+-[[:alnum:]]+$' then
        -- e-mail is also written email.
        indexed := (
            select concat_ws(' | ', indexed, string_agg(_pgrag.tsquery_lexeme(j.lexeme), ' | '))
            from unnest(
                _pgrag.text_vector(phrase_conditions.language, replace(normal, '-', ''))
            ) as j
        );
        exact := coalesce(indexed, exact);
        pattern := null;
    end if;
end;
$$;

-- Of the given passages, or of all that are searched, those that have the phrases word by word.
create or replace function _pgrag.documents_saying(
    target _pgrag.search_target,
    language text,
    document_ids bigint[],
    exact tsquery[],
    patterns text[]
)
returns bigint[]
language sql
stable
parallel safe
as $$
    select array(
        select d.document_id
        from pgrag.documents as d
        cross join lateral (
            select _pgrag.plain_text(
                array_to_string(d.path, E'\n\n') || E'\n\n'
                    || _pgrag.searched_text(d.situation, d.context, d.content)
            ) as text
            offset 0
        ) as t
        where d.library_id = any ((documents_saying.target).library_ids)
            and d.version_id = any ((documents_saying.target).version_ids)
            and d.covers > 0
            and d.language = documents_saying.language
            and (
                documents_saying.document_ids is null
                or d.document_id = any (documents_saying.document_ids)
            )
            and t.text ~* all (documents_saying.patterns)
            and (
                documents_saying.exact = '{}'
                or _pgrag.exact_vector(d.language, t.text) @@ all (documents_saying.exact)
            )
    );
$$;

-- The words of a text as they are written, beside their lexemes.
create or replace function _pgrag.exact_vector(
    language text,
    input text
)
returns tsvector
language sql
stable
parallel safe
as $$
    select (
        _pgrag.text_vector(exact_vector.language, p.prepared)::text
            || ' ' || to_tsvector('simple', p.prepared)::text
    )::tsvector
    from (
        select _pgrag.parsed_text(_pgrag.normal_text(exact_vector.input)) as prepared offset 0
    ) as p;
$$;
