create or replace function pgrag.link_targets(
    page_id anycompatible
)
returns table (
    target text,
    fragment text,
    target_page_id bigint,
    url text,
    anchor text
)
language plpgsql
stable
parallel safe
rows 20
set search_path from current
as $$
declare
    here pgrag.pages := _pgrag.page(pgrag.page_id(link_targets.page_id::text));
begin
    return query
    select distinct
        e.target, e.fragment, e.target_page_id, p.url,
        -- The fragment as written leads nowhere, or to a heading that has another anchor.
        case when e.fragment_found then coalesce(nullif(d.anchor, ''), e.fragment) end
    from pgrag.edges as e
    cross join lateral _pgrag.page_named(here.library_id, e.target_page_id) as p
    left join lateral (
        select d.anchor
        from pgrag.documents as d
        where d.library_id = here.library_id and d.document_id = e.target_document_id
        offset 0
    ) as d on true
    where e.library_id = here.library_id
        and e.source_page_id = here.page_id
        and e.target_page_id is not null
        and e.rule like 'explicit:%'
    order by e.target, e.fragment;
end;
$$;

comment on function pgrag.link_targets is
'Where the links in the text of a page lead, if that is an indexed page: target and fragment as they
are written, each pair once; page, its address, and the anchor on it (null: its top). Errors:
PGR04.';
