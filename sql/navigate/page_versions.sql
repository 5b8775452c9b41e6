create or replace function pgrag.page_versions(
    page_id anycompatible
)
returns setof pgrag.page_version
language plpgsql
stable
parallel safe
rows 5
set search_path from current
as $$
declare
    here pgrag.pages := _pgrag.page(pgrag.page_id(page_versions.page_id::text));
begin
    return query
    select
        v.label, p.page_id, p.key, p.url, p.title,
        (p.body_hash, p.head) is distinct from (here.body_hash, here.head)
    from unnest(_pgrag.versions_in_order(here.library_id)) with ordinality as o (version_id, nth)
    join pgrag.versions as v
        on v.library_id = here.library_id and v.version_id = o.version_id
    cross join lateral (
        select case
            when v.version_id = here.version_id then here.page_id
            else _pgrag.same_page(here, v.version_id)
        end as page_id
        offset 0
    ) as same
    join pgrag.pages as p
        on p.library_id = here.library_id and p.page_id = same.page_id
    order by o.nth desc;
end;
$$;

comment on function pgrag.page_versions is
'A page in every version that has it, its own included: the newest release first, other versions
before it by age. text_changed: whether its text or front matter is not that of the page asked for.
A page is the same by its uuid, else its key, else its body. Errors: PGR04.';
