-- Stop words identify a language: the configuration that drops the most words of a text fits best.
create or replace function _pgrag.likely_language(
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
            to_tsvector(c.oid::regconfig, left(_pgrag.plain_text(likely_language.input), 20000))
        ) as w
    ) as words
    where c.cfgnamespace = 'pg_catalog'::regnamespace and c.cfgname <> 'simple'
    -- The russian configuration also drops the stop words of English.
    order by words.kept, c.cfgname = 'english' desc, c.cfgname
    limit 1;
$$;
