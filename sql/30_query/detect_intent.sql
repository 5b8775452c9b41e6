-- What kind of question a query is, by the rules in pgrag.intent_rules. Phrases are found by plain
-- comparison in a folded query, because a session keeps only 32 compiled regular expressions: a
-- thousand phrases cost less than a handful of expressions that are compiled anew.
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
    hierarchy text
)
language plpgsql
stable
parallel safe
rows 1
set search_path from current
as $$
#variable_conflict use_column
declare
    -- Who asks says so early.
    beginning constant text := normalize(left(coalesce(detect_intent.query, ''), 1000), nfkc);
    words constant text := btrim(regexp_replace(beginning, '[^[:alnum:]]+', ' ', 'g'));
    folded constant text := pgrag._folded(words);
    found record;
begin
    with matches as materialized (
        select m.* from pgrag._rule_matches(beginning, folded) as m
    ),
    best_intent as (
        select m.*
        from matches as m
        where m.intent is not null
        order by m.length desc, m.confidence desc, m.rule
        limit 1
    ),
    best_type as (
        select m.*
        from matches as m
        where m.query_type is not null
        order by m.length desc, m.confidence desc, m.rule
        limit 1
    )
    select
        i.intent,
        coalesce(i.confidence, 0) as confidence,
        i.rule,
        coalesce(i.matched, pgrag._original_words(words, folded, i.phrase)) as matched,
        t.query_type,
        t.rule as type_rule,
        coalesce(t.matched, pgrag._original_words(words, folded, t.phrase)) as type_matched
    into found
    from (select) as always
    left join best_intent as i on true
    left join best_type as t on true;

    return query
    select
        s.intent, s.query_type, found.confidence, found.rule, found.matched, found.type_rule,
        found.type_matched, s.levels, s.unit, s.aggregate, s.alpha, s.alpha_offset, s.hierarchy
    from pgrag._chosen_strategy(coalesce(found.intent, 'SEMANTIC'), found.query_type) as s;
end;
$$;

comment on function pgrag.detect_intent(text) is
'What a query asks for, in German, English or Russian, by the rules in pgrag.intent_rules. Of the
rules that match, the one with the longest match says the intent, and the one with the longest match
says the query type (the same or another). confidence is that of the intent''s rule; where no rule
says one, the intent is SEMANTIC, rule is null and confidence 0. Where no rule says a type, it is
the intent''s usual one, else factual. rule and type_rule name the rules, matched and type_matched
the words that they matched. The rest is what intent and type choose for a search: levels, unit
(document or page), aggregate (of the scores of a page: max, mean or rrf), alpha (null: the
library''s), alpha_offset (to be added to alpha) and hierarchy (none, depth, breadth, overview).
Only the first 1,000 characters count.';

-- As the generated column pgrag.intent_rules.phrases folds the phrases of a rule.
create or replace function pgrag._folded(
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
                    ' ' || pg_catalog.translate(pg_catalog.lower(_folded.words), 'äöüё', 'aouе')
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

-- A match is as long as the words that it matched. A query that looks like a name and no more than
-- that is one only if no word says otherwise: that match has no length.
create or replace function pgrag._rule_matches(
    beginning text,
    folded text
)
returns table (
    rule text,
    intent text,
    query_type text,
    confidence double precision,
    phrase text,
    matched text,
    length integer
)
language sql
stable
parallel safe
set search_path from current
as $$
    select
        r.name, r.intent, r.query_type, r.confidence, p.phrase, null, length(btrim(p.phrase))
    from pgrag.intent_rules as r
    cross join lateral unnest(r.phrases) as p (phrase)
    -- No Russian phrase is looked for where there is no Cyrillic letter, and no other in Russian.
    where case r.language
            when 'any' then true
            when 'ru' then _rule_matches.folded ~ '[а-я]'
            else _rule_matches.folded ~ '[a-z]'
        end
        and strpos(_rule_matches.folded, p.phrase) > 0
        and btrim(p.phrase) <> ''
    union all
    select r.name, r.intent, r.query_type, r.confidence, null, m.matched, length(m.matched)
    from pgrag.intent_rules as r
    cross join lateral regexp_substr(
        _rule_matches.beginning, r.pattern, 1, 1, 'i'
    ) as m (matched)
    where r.kind = 'pattern' and m.matched <> ''
    union all
    select
        r.name, r.intent, r.query_type, r.confidence, null, _rule_matches.beginning,
        case when r.pattern = 'name' then 0 else length(_rule_matches.beginning) end
    from pgrag.intent_rules as r
    where r.kind = 'shape' and r.pattern = any (pgrag._query_shapes(_rule_matches.beginning));
$$;

-- What can be seen without reading the words.
create or replace function pgrag._query_shapes(
    beginning text
)
returns text[]
language sql
immutable
parallel safe
as $$
    select pg_catalog.array_remove(
        array[
            case
                when q.text ~ '[:=<>#]'
                    and q.text !~ '[a-z]://'
                    and pg_catalog.regexp_replace(
                        q.text,
                        '(#[\w/-]+|[[:alpha:]_][\w.-]*(:|\s*(!=|<=|>=|=|<|>)\s*)'
                            '("[^"]*"|[^\s:/"()][^\s()"]*)|\m(and|or|not)\M|[()!-])',
                        '', 'gi'
                    ) !~ '\S'
                then 'filters'
            end,
            case
                when q.text ~ '^("[^"]+"|„[^“”"]+[“”"]|“[^”]+”|«[^»]+»|»[^«]+«)$' then 'quoted'
            end,
            case
                when q.text !~ '\s' and q.text ~ '(\w[._:]+\w|\d|[[:lower:]][[:upper:]]|^--?\w)'
                    and q.text !~ '[/#]|\.[a-z]{1,5}$'
                then 'identifier'
            end,
            case when q.text ~ '^[^\s]*(/[^\s]+|\w\.[a-z]{1,5})$' then 'path' end,
            case when q.text ~ '^[[:upper:]]\w*([ -][[:upper:]\d]\w*){0,3}$' then 'name' end
        ],
        null
    )
    from (select pg_catalog.btrim(_query_shapes.beginning) as text) as q;
$$;

-- The matched part of the query as it was written.
create or replace function pgrag._original_words(
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
        (pg_catalog.string_to_array(_original_words.words, ' '))[
            pg_catalog.regexp_count(
                pg_catalog.left(
                    _original_words.folded,
                    pg_catalog.strpos(_original_words.folded, _original_words.phrase)
                ),
                ' '
            ):
            pg_catalog.regexp_count(
                pg_catalog.left(
                    _original_words.folded,
                    pg_catalog.strpos(_original_words.folded, _original_words.phrase)
                        + pg_catalog.length(pg_catalog.rtrim(_original_words.phrase)) - 1
                ),
                ' '
            )
        ],
        ' '
    );
$$;
