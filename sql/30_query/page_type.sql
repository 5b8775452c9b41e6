-- What its author wrote, else where the page lies. Folders decide by the longest pattern, so that a
-- folder within another can have its own type.
create or replace function pgrag.page_type(
    front_matter_type text,
    key text
)
returns text
language plpgsql
stable
parallel safe
set search_path from current
as $$
begin
    return coalesce(
        nullif(btrim(page_type.front_matter_type), ''),
        (
            select f.page_type
            from pgrag._folder_patterns() as f
            where page_type.key ~ f.pattern
            order by f.place
            limit 1
        )
    );
end;
$$;

comment on function pgrag.page_type(text, text) is
'The type of a page: what its front matter says, whether the configuration knows it or not, else
that of the longest of the page types'' folder patterns that matches its key, else null. Of two
patterns of one length that match, the page type whose name sorts first counts.';

-- The entry of the configuration that applies to pages of a type, if any.
create or replace function pgrag._page_type_entry(
    type text
)
returns setof pgrag.page_types
language sql
stable
parallel safe
rows 1
as $$
    select t.*
    from pgrag.page_types as t
    where t.name in (pg_catalog.lower(_page_type_entry.type), 'default')
    order by t.name = 'default'
    limit 1;
$$;

-- The patterns of all page types, in the order in which they are asked. One that matches a folder
-- matches all that is in it, as src/pgrag/ingest/globs.py (within) has it.
create or replace function pgrag._folder_patterns()
returns table (
    page_type text,
    pattern text,
    place bigint
)
language sql
stable
parallel safe
set search_path from current
as $$
    select
        t.name,
        left(pgrag._glob_expression(f.glob), -1) || '(?:/.*)?$',
        row_number() over (order by length(f.glob) desc, t.name collate "C", f.glob collate "C")
    from pgrag.page_types as t
    cross join lateral unnest(t.folders) as f (glob);
$$;
