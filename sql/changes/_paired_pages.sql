-- The pages of two versions of a library in pairs; null where a page has no counterpart. A page is
-- the same by its uuid (if one page of each version has it), else its key, else its body, else by
-- similar lines.
create or replace function _pgrag.paired_pages(
    library_id bigint,
    old_version_id bigint,
    new_version_id bigint
)
returns table (
    old_page_id bigint,
    new_page_id bigint
)
language plpgsql
stable
parallel safe
rows 1000
set search_path from current
set enable_nestloop = off
set jit = off
as $$
declare
    pairs jsonb;
    old_ids bigint[];
    new_ids bigint[];
    old_rest bigint[];
    new_rest bigint[];
    match record;
begin
    -- Keys are read once (|| ''): they may be TOASTed, and each comparison would read them again.
    with old_pages as materialized (
        select p.library_id, p.page_id, k.key, p.uuid, p.body_hash, _pgrag.file_name(k.key) as name
        from pgrag.pages as p
        cross join lateral (select p.key || '' as key) as k
        where p.library_id = paired_pages.library_id and p.version_id = old_version_id
    ),
    new_pages as materialized (
        select p.library_id, p.page_id, k.key, p.uuid, p.body_hash, _pgrag.file_name(k.key) as name
        from pgrag.pages as p
        cross join lateral (select p.key || '' as key) as k
        where p.library_id = paired_pages.library_id and p.version_id = new_version_id
    ),
    by_uuid as (
        select min(o.page_id) as old_id, min(n.page_id) as new_id
        from old_pages as o
        join new_pages as n on n.uuid = o.uuid
        group by o.uuid
        having count(*) = 1
    ),
    by_key as (
        select o.page_id as old_id, n.page_id as new_id
        from old_pages as o
        join new_pages as n on n.key = o.key
        where o.page_id not in (select u.old_id from by_uuid as u)
            and n.page_id not in (select u.new_id from by_uuid as u)
    ),
    known as materialized (
        select * from by_uuid union all select * from by_key
    ),
    -- Of equal bodies, those with the same file name first, then in the order of their keys.
    old_bodies as (
        select o.*, row_number() over (partition by o.body_hash, o.name order by o.key) as nth
        from old_pages as o
        where o.page_id not in (select k.old_id from known as k)
            and _pgrag.has_text(o.library_id, o.page_id)
    ),
    new_bodies as (
        select n.*, row_number() over (partition by n.body_hash, n.name order by n.key) as nth
        from new_pages as n
        where n.page_id not in (select k.new_id from known as k)
            and _pgrag.has_text(n.library_id, n.page_id)
    ),
    by_name as materialized (
        select o.page_id as old_id, n.page_id as new_id
        from old_bodies as o
        join new_bodies as n on n.body_hash = o.body_hash and n.name = o.name and n.nth = o.nth
    ),
    by_body as (
        select o.page_id as old_id, n.page_id as new_id
        from (
            select b.*, row_number() over (partition by b.body_hash order by b.key) as ordinal
            from old_bodies as b
            where b.page_id not in (select x.old_id from by_name as x)
        ) as o
        join (
            select b.*, row_number() over (partition by b.body_hash order by b.key) as ordinal
            from new_bodies as b
            where b.page_id not in (select x.new_id from by_name as x)
        ) as n on n.body_hash = o.body_hash and n.ordinal = o.ordinal
    ),
    matched as materialized (
        select * from known
        union all select * from by_name
        union all select * from by_body
    )
    select
        array_agg(m.old_id), array_agg(m.new_id),
        array(
            select o.page_id from old_pages as o
            where o.page_id not in (select x.old_id from matched as x)
        ),
        array(
            select n.page_id from new_pages as n
            where n.page_id not in (select x.new_id from matched as x)
        )
    into old_ids, new_ids, old_rest, new_rest
    from matched as m;

    if cardinality(old_rest) > 0 and cardinality(new_rest) > 0 then
        for match in
            select s.old_id, s.new_id
            from _pgrag.similar_pages(paired_pages.library_id, old_rest, new_rest) as s
        loop
            if match.old_id = any (old_rest) and match.new_id = any (new_rest) then
                old_ids := old_ids || match.old_id;
                new_ids := new_ids || match.new_id;
                old_rest := array_remove(old_rest, match.old_id);
                new_rest := array_remove(new_rest, match.new_id);
            end if;
        end loop;
    end if;

    return query
    select p.old_id, p.new_id from unnest(old_ids, new_ids) as p (old_id, new_id)
    union all
    select o.old_id, null from unnest(old_rest) as o (old_id)
    union all
    select null, n.new_id from unnest(new_rest) as n (new_id);
end;
$$;

-- Two empty pages are not taken for the same page.
create or replace function _pgrag.has_text(
    library_id bigint,
    page_id bigint
)
returns boolean
language sql
stable
parallel safe
as $$
    select p.body ~ '\S'
    from pgrag.pages as p
    where p.library_id = has_text.library_id and p.page_id = has_text.page_id;
$$;

create or replace function _pgrag.file_name(
    key text
)
returns text
language sql
immutable
parallel safe
as $$
    select substring(file_name.key from '[^/]*$');
$$;
