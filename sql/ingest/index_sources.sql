-- pg_trgm is optional: with it, a text search reads only the pages that may contain the text.
create or replace function pgrag.index_sources()
returns table (
    indexed boolean,
    message text
)
language plpgsql
volatile
set search_path from current
as $$
declare
    home name := (
        select n.nspname
        from pg_extension as e
        join pg_namespace as n on n.oid = e.extnamespace
        where e.extname = 'pg_trgm'
    );
begin
    if to_regclass('pgrag.pages_source_trigrams') is not null then
        return query select true, 'The index pgrag.pages_source_trigrams is there.'::text;
    elsif home is not null then
        execute format(
            'create index pages_source_trigrams on pgrag.pages '
            'using gin ((head || body) %I.gin_trgm_ops)', home
        );
        return query select true, 'Made the index pgrag.pages_source_trigrams.'::text;
    elsif exists (select from pg_available_extensions as e where e.name = 'pg_trgm') then
        return query
        select false, 'This database does not have pg_trgm yet: create extension pg_trgm.'::text;
    else
        return query
        select false, 'This server does not have the extension pg_trgm: every page is read.'::text;
    end if;
end;
$$;

comment on function pgrag.index_sources is
'Creates the trigram index over the sources of all libraries, which pgrag.search_text uses, if the
extension pg_trgm is installed in this database; returns what it did, or what is missing. The index
changes no result; searches for rare text become faster and writing slower. Remove it with drop
index pgrag.pages_source_trigrams. Only the owner of the tables may call this function.';
