-- A language is known by its small words: the configuration that drops most of a text as stop words
-- is made for it.
create or replace function pgrag.likely_language(
    input text
)
returns text
language sql
stable
parallel safe
set search_path from current
as $$
    select c.cfgname::text
    from pg_ts_config as c
    cross join lateral (
        select coalesce(sum(cardinality(w.positions)), 0) as kept
        from unnest(
            to_tsvector(c.oid::regconfig, left(pgrag.plain_text(likely_language.input), 20000))
        ) as w
    ) as words
    where c.cfgnamespace = 'pg_catalog'::regnamespace and c.cfgname <> 'simple'
    -- Russian has the stop words of English for words in Latin letters.
    order by words.kept, c.cfgname = 'english' desc, c.cfgname
    limit 1;
$$;

comment on function pgrag.likely_language(text) is
'The text search configuration that a text is probably written for, such as german: the one that
drops most of its words as stop words; english where none drops any. A few sentences are enough.';
