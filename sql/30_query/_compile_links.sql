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
        '((p.library_id, p.page_id) in ('
        'select e.library_id, e.source_page_id'
        ' from pgrag.versions as v'
        ' join pgrag.page_names as n on n.library_id = v.library_id'
        ' and n.version_id = v.version_id and n.name = %1$L'
        ' join pgrag.edges as e on e.library_id = n.library_id and e.target_page_id = n.page_id'
        ' and e.source_page_id <> n.page_id'
        ' where (n.full_name = %2$L or right(n.full_name, %3$s) = %4$L)'
        ' union all '
        'select e.library_id, e.source_page_id'
        ' from pgrag.versions as v'
        ' join pgrag.edges as e on e.library_id = v.library_id'
        ' and e.version_id = v.version_id and e.name = %1$L'
        ' where e.target_page_id is null and e.state <> ''tag'''
        ' and (%1$L = %2$L or right(pgrag._link_name(e.target), %3$s) in (%2$L, %4$L))))',
        pgrag._last_name(wanted),
        wanted,
        length(wanted) + 1,
        '/' || wanted
    );
end;
$$;
