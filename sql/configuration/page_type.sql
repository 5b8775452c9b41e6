-- The longest folder pattern wins, so that a subfolder can have its own type.
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
            from _pgrag.folder_patterns() as f
            where page_type.key ~ f.pattern
            order by f.nth
            limit 1
        )
    );
end;
$$;

comment on function pgrag.page_type is
'The type of a page: the type in its front matter, whether or not the configuration knows it, else
the page type with the longest folder pattern that matches its key, else null. Of matching patterns
of equal length, the page type whose name sorts first wins.';

-- By precedence. A pattern that matches a folder also matches its contents, as in globs.py.
create or replace function _pgrag.folder_patterns()
returns table (
    page_type text,
    pattern text,
    nth bigint
)
language sql
stable
parallel safe
set search_path from current
as $$
    select
        t.name,
        left(_pgrag.glob_expression(f.glob), -1) || '(?:/.*)?$',
        row_number() over (order by length(f.glob) desc, t.name collate "C", f.glob collate "C")
    from pgrag.page_types as t
    cross join lateral unnest(t.folders) as f (glob);
$$;
