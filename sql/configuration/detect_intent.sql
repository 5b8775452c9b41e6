-- A session caches only 32 compiled regular expressions, so phrases are matched by strpos in a
-- folded query, and an expression only in a query that has one of its required parts.
create or replace function pgrag.detect_intent(
    query text
)
returns table (
    intent text,
    query_type text,
    confidence double precision,
    rule text,
    matched text,
    type_rule text,
    type_matched text,
    levels integer[],
    unit text,
    aggregate text,
    alpha double precision,
    alpha_offset double precision,
    hierarchy text,
    arguments jsonb
)
language plpgsql
stable
parallel safe
rows 1
set search_path from current
as $$
#variable_conflict use_column
declare
    -- The beginning of a query shows its intent.
    beginning constant text := normalize(left(coalesce(detect_intent.query, ''), 1000), nfkc);
    lowered constant text := lower(beginning);
    typed constant text := btrim(beginning);
    words constant text := btrim(regexp_replace(beginning, '[^[:alnum:]]+', ' ', 'g'));
    folded constant text := _pgrag.folded(words);
    -- Russian rules need a Cyrillic letter in the query, German and English ones a Latin one.
    languages constant text[] := '{any}'
        || case
            when translate(folded, 'abcdefghijklmnopqrstuvwxyz', '') <> folded
            then '{de, en}'::text[]
        end
        || case
            when translate(folded, 'абвгдежзийклмнопрстуфхцчшщъыьэюя', '') <> folded
            then '{ru}'::text[]
        end;
begin
    return query
    with matches as materialized (
        select
            r.name as rule, r.intent, r.query_type, r.confidence, p.phrase, null as matched,
            length(btrim(p.phrase)) as length
        from pgrag.intent_rules as r
        cross join lateral unnest(r.phrases) as p (phrase)
        where r.language = any (languages)
            and strpos(folded, p.phrase) > 0
            and btrim(p.phrase) <> ''
        union all
        select r.name, r.intent, r.query_type, r.confidence, null, m.matched, length(m.matched)
        from pgrag.intent_rules as r
        cross join lateral regexp_substr(beginning, r.pattern, 1, 1, 'i') as m (matched)
        where r.kind = 'pattern'
            and r.language = any (languages)
            and (
                (r.required_by = r.pattern_hash) is not true
                or exists (
                    select
                    from unnest(r.required_parts) as p (part)
                    where strpos(lowered, p.part) > 0
                )
            )
            and m.matched <> ''
        union all
        -- Shapes are properties of characters, in any language. "name" and "page" have length 0,
        -- so that any other match wins.
        select
            r.name, r.intent, r.query_type, r.confidence, null, beginning,
            case when r.pattern in ('page', 'name') then 0 else length(beginning) end
        from pgrag.intent_rules as r
        where r.kind = 'shape' and r.pattern in (
            select s.shape
            from (
                values
                    (
                        'filters',
                        translate(typed, ':=<>#', '') <> typed
                        and typed !~ '[a-z]://'
                        and regexp_replace(
                            typed,
                            -- The words after tags:a are tags, as in parse_query.
                            '(\mtags:[^\s:/"(),<>=!*]+(\s+[[:alnum:]][^\s:/"(),;?!<>=*]*(?=\s|$))+'
                                '|#[\w/-]+|[[:alpha:]_][\w.-]*(:|\s*(!=|<=|>=|=|<|>)\s*)'
                                '("[^"]*"|[^\s:/"()][^\s()"]*)|\m(and|or|not)\M|[()!-])',
                            '', 'gi'
                        ) !~ '\S'
                    ),
                    (
                        'quoted',
                        translate(typed, '"„“«»', '') <> typed
                        and typed ~ '^("[^"]+"|„[^“”"]+[“”"]|“[^”]+”|«[^»]+»|»[^«]+«)$'
                    ),
                    (
                        'identifier',
                        strpos(typed, ' ') = 0
                        and typed !~ '\s'
                        and typed ~ '(\w[._:]+\w|\d|[[:lower:]][[:upper:]]|^--?\w)'
                        and typed !~ '[/#]|\.[a-z]{1,5}$'
                    ),
                    (
                        'path',
                        strpos(typed, ' ') = 0
                        and typed ~ '^[^\s]*(/[^\s]+|\w\.[a-z]{1,5})$'
                    ),
                    ('page', case when strpos(typed, ' ') = 0 then _pgrag.is_page(typed) end),
                    (
                        'name',
                        -- With a title or initials: "Dr. Ada Lind", "A. B. Lind".
                        typed ~ ('^([[:upper:]]\w{0,3}\. ?)*'
                            '[[:upper:]]\w*([ -][[:upper:]\d]\w*){0,3}$')
                    )
            ) as s (shape, applies)
            where s.applies
        )
    ),
    best as (
        select distinct on (d.is_intent) d.is_intent, m.*
        from matches as m
        cross join (values (true), (false)) as d (is_intent)
        where case when d.is_intent then m.intent else m.query_type end is not null
        order by d.is_intent, m.length desc, m.confidence desc, m.rule
    )
    select
        s.intent, s.query_type, coalesce(i.confidence, 0), i.rule,
        coalesce(i.matched, _pgrag.original_words(words, folded, i.phrase)), t.rule,
        coalesce(t.matched, _pgrag.original_words(words, folded, t.phrase)),
        s.levels, s.unit, s.aggregate, s.alpha, s.alpha_offset, s.hierarchy, s.arguments
    from (select) as always
    left join best as i on i.is_intent
    left join best as t on not t.is_intent
    cross join lateral _pgrag.chosen_strategy(coalesce(i.intent, 'SEMANTIC'), t.query_type) as s;
end;
$$;

comment on function pgrag.detect_intent is
'The intent and type of a query in German, English or Russian, by the rules in pgrag.intent_rules.
Of the matching rules with an intent, the longest match decides; the same for the query type.
confidence is that of the intent''s rule; without one, the intent is SEMANTIC, rule is null and
confidence 0. If no rule names a type, it is the default type of the intent, else factual. rule and
type_rule name the rules, matched and type_matched the words that they matched. The other columns
are the strategy for a search: levels, unit (document or page), aggregate (of the scores of a page:
max, mean or rrf), alpha (null: the library''s), alpha_offset (added to alpha) and hierarchy (none,
depth, breadth, overview); arguments are the other arguments of searches, contexts and answers that
the strategy sets, such as min_score (graph: true, false, or an object like the setting of a
library). Only the first 1,000 characters count.';

-- Whether a word is the file, alias or id of a page of any library, such as a person's.
create or replace function _pgrag.is_page(
    word text
)
returns boolean
language sql
stable
parallel safe
as $$
    select exists (
        select
        from (select _pgrag.link_name(is_page.word) as name offset 0) as w
        cross join pgrag.versions as v
        cross join lateral (
            select
            from pgrag.page_names as n
            where n.library_id = v.library_id
                and n.version_id = v.version_id
                and n.name = _pgrag.last_name(w.name)
                and n.how in ('path', 'alias', 'slug')
            limit 1
        ) as n
        where w.name <> ''
    );
$$;

-- Must fold like the generated column pgrag.intent_rules.phrases.
create or replace function _pgrag.folded(
    words text
)
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.replace(
        pg_catalog.replace(
            pg_catalog.replace(
                pg_catalog.replace(
                    ' ' || pg_catalog.translate(pg_catalog.lower(folded.words), 'äöüё', 'aouе')
                        || ' ',
                    'ß', 'ss'
                ),
                'ae', 'a'
            ),
            'oe', 'o'
        ),
        'ue', 'u'
    );
$$;

-- The matched part of the query, as typed.
create or replace function _pgrag.original_words(
    words text,
    folded text,
    phrase text
)
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.array_to_string(
        typed.words[
            before.count:
            before.count + pg_catalog.cardinality(
                pg_catalog.string_to_array(pg_catalog.btrim(original_words.phrase), ' ')
            ) - 1
        ],
        ' '
    )
    from (select pg_catalog.string_to_array(original_words.words, ' ') as words) as typed
    cross join (
        select pg_catalog.cardinality(
            pg_catalog.string_to_array(
                pg_catalog.left(
                    original_words.folded,
                    pg_catalog.strpos(original_words.folded, original_words.phrase)
                ),
                ' '
            )
        ) - 1 as count
    ) as before;
$$;
