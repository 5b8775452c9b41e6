-- The pages of all libraries that link to a note, which is given by any of its names in the form of
-- _link_name; a link without a target page matches by its own text.
create or replace function _pgrag.linking_pages(
    note text
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
    from _pgrag.note_pages(linking_pages.note) as n
    join pgrag.edges as e
        on e.library_id = n.library_id
        and e.target_page_id = n.page_id
        and e.source_page_id <> n.page_id
    union
    select e.library_id, e.source_page_id
    from pgrag.versions as v
    join pgrag.edges as e
        on e.library_id = v.library_id
        and e.version_id = v.version_id
        and e.name = _pgrag.last_name(linking_pages.note)
    where e.target_page_id is null
        and e.state <> 'tag'
        and (
            e.name = linking_pages.note
            or _pgrag.link_name(e.target) = linking_pages.note
            or right(_pgrag.link_name(e.target), length(linking_pages.note) + 1)
                = '/' || linking_pages.note
        );
$$;
