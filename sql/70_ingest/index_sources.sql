-- pg_trgm is not everywhere: with it, a search for text looks only at pages that may have it.
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
            'using gin ((head || body) %I.gin_trgm_ops)',
            home
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

comment on function pgrag.index_sources() is
'Makes the trigram index over the sources of all libraries that pgrag.search_text uses where the
extension pg_trgm is installed in this database; says what it did, or what is missing. It changes no
result, makes searches for rare text faster and writing slower; drop index
pgrag.pages_source_trigrams takes it away. Only the owner of the tables may call it.';
