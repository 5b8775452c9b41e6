-- Links to a note, by any name of the page they lead to; a link that leads to no page, by what it
-- names itself. Asked once for a query, not for each page of it.
create or replace function pgrag._compile_links(
    note text
)
returns text
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    wanted text := pgrag._link_name(regexp_replace(btrim(note, E' \t\n[]'), '(.)[#|].*$', '\1'));
begin
    if wanted !~ '\w' then
        raise exception 'The filter field "links" needs the name of a note, got %.',
            quote_nullable(note)
            using errcode = 'PGR06', hint = 'For example {"links": "Getting started"}.';
    end if;
    return format(
        '((p.library_id, p.page_id) in '
        '(select l.library_id, l.page_id from pgrag._linking_pages(%L) as l))',
        wanted
    );
end;
$$;

-- The pages of all libraries that link to a name in the form of _link_name.
create or replace function pgrag._linking_pages(
    wanted text
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
    select e.library_id, e.source_page_id
    from pgrag.versions as v
    join pgrag.page_names as n
        on n.library_id = v.library_id
        and n.version_id = v.version_id
        and n.name = pgrag._last_name(_linking_pages.wanted)
    join pgrag.edges as e
        on e.library_id = n.library_id
        and e.target_page_id = n.page_id
        and e.source_page_id <> n.page_id
    where n.full_name = _linking_pages.wanted
        or right(n.full_name, length(_linking_pages.wanted) + 1) = '/' || _linking_pages.wanted
    union
    select e.library_id, e.source_page_id
    from pgrag.versions as v
    join pgrag.edges as e
        on e.library_id = v.library_id
        and e.version_id = v.version_id
        and e.name = pgrag._last_name(_linking_pages.wanted)
    where e.target_page_id is null
        and e.state <> 'tag'
        and (
            e.name = _linking_pages.wanted
            or pgrag._link_name(e.target) = _linking_pages.wanted
            or right(pgrag._link_name(e.target), length(_linking_pages.wanted) + 1)
                = '/' || _linking_pages.wanted
        );
$$;
