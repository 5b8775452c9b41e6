-- Users name a page by whatever they have at hand: its file, its address, or its id.
create or replace function pgrag.find_page(
    library text,
    page text,
    version text default null
)
returns table (
    page_id bigint,
    key text,
    url text,
    title text
)
language plpgsql
stable
parallel safe
rows 1
set search_path from current
as $$
#variable_conflict use_column
declare
    owner_id bigint := _pgrag.library_id(library);
    wanted_version bigint := (pgrag.resolve_version(library, version)).version_id;
    wish text := btrim(coalesce(find_page.page, ''));
    last_part text := lower(regexp_replace(rtrim(wish, '/'), '^.*/|\.[^./]*$', '', 'g'));
begin
    return query
    select p.page_id, p.key, p.url, p.title
    from pgrag.pages as p
    where p.library_id = owner_id
        and p.version_id = wanted_version
        and (
            p.key = wish
            or p.url = wish
            or rtrim(p.url, '/') = rtrim(split_part(wish, '#', 1), '/')
            or regexp_replace(p.key, '\.[^./]*$', '') = wish
            or p.page_id::text = wish
        )
    order by
        p.key = wish desc, p.url = wish desc, p.page_id::text = wish desc, p.key
    limit 1;
    if found then
        return;
    end if;

    raise exception 'Library % has no page %.',
        quote_literal(lower(btrim(find_page.library))), quote_literal(left(wish, 200))
        using errcode = 'PGR04',
            hint = coalesce(
                (
                    select 'Did you mean ' || string_agg(n.key, ', ' order by n.key) || '?'
                    from (
                        select p.key
                        from pgrag.pages as p
                        where p.library_id = owner_id
                            and p.version_id = wanted_version
                            and last_part <> ''
                            and strpos(lower(p.key), last_part) > 0
                        order by length(p.key), p.key
                        limit 3
                    ) as n
                ),
                'Name its key (the path of its file), its url or its id.'
            );
end;
$$;

comment on function pgrag.find_page is
'The page of one version of a library (see resolve_version) that has this key (with or without its
suffix), url or id. Errors: PGR02, PGR03, PGR04 with similar keys.';
