-- The pages of all libraries that have this name (in the form of _link_name): path, title or alias.
create or replace function _pgrag.note_pages(
    name text
)
returns table (
    library_id bigint,
    page_id bigint
)
language sql
stable
parallel safe
set search_path from current
as $$
    select n.library_id, n.page_id
    from pgrag.versions as v
    join pgrag.page_names as n
        on n.library_id = v.library_id
        and n.version_id = v.version_id
        and n.name = _pgrag.last_name(note_pages.name)
    where n.full_name = note_pages.name
        or right(n.full_name, length(note_pages.name) + 1) = '/' || note_pages.name;
$$;
