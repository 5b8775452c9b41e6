-- How close a page is to a link of the page with this folder and key: in what is written, then in
-- the folders that both have in common, in any case and as they are written.
create or replace function _pgrag.page_closeness(
    library_id bigint,
    page_id bigint,
    how text,
    target text,
    is_address boolean,
    folder text,
    key text
)
returns table (
    likeness integer,
    shared bigint,
    extra bigint,
    shared_as_written bigint
)
language sql
stable
parallel safe
rows 1
as $$
    select
        _pgrag.link_likeness(
            page_closeness.target, page_closeness.is_address, page_closeness.how, p.key, p.url,
            p.title, p.aliases
        ),
        d.shared, d.extra, w.shared
    from pgrag.pages as p
    cross join lateral _pgrag.folder_distance(
        page_closeness.folder, _pgrag.folder_name(_pgrag.link_name(p.key))
    ) as d
    cross join lateral _pgrag.folder_distance(
        _pgrag.folder_name(page_closeness.key), _pgrag.folder_name(p.key)
    ) as w
    where p.library_id = page_closeness.library_id and p.page_id = page_closeness.page_id;
$$;
