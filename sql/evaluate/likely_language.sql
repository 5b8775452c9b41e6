-- Stop words identify a language: the configuration that drops the most words of a text fits best.
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
    -- The russian configuration also drops the stop words of English.
    order by words.kept, c.cfgname = 'english' desc, c.cfgname
    limit 1;
$$;

comment on function pgrag.likely_language is
'The text search configuration that probably fits a text, such as german: the configuration that
drops the most words as stop words; english if none drops any. A few sentences are enough.';
