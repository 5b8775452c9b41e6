-- Pairs whose sources share at least half of the longer one, in pieces of a line or 64 characters:
-- how git finds renames. Only pairs with a rare line in common are compared. A file name that
-- occurs once on each side counts for more, as in git.
create or replace function _pgrag.similar_pages(
    library_id bigint,
    old_ids bigint[],
    new_ids bigint[]
)
returns table (
    old_id bigint,
    new_id bigint,
    similarity double precision
)
language sql
stable
parallel safe
set search_path from current
-- The planner cannot estimate the number of pieces.
set enable_nestloop = off
set jit = off
as $$
    with pieces as materialized (
        select
            p.page_id,
            p.page_id = any (similar_pages.old_ids) as is_old,
            hashtextextended(t.piece, 0) as piece, min(octet_length(t.piece)) as length,
            count(*) as count
        from pgrag.pages as p
        cross join lateral string_to_table(
            regexp_replace(p.head || p.body, E'\n$', ''), E'\n'
        ) as l (line)
        cross join lateral generate_series(0, length(l.line) / 64) as part (nth)
        cross join lateral (
            select substr(l.line || E'\n', 1 + 64 * part.nth, 64) as piece
        ) as t
        where p.library_id = similar_pages.library_id
            and p.page_id = any (similar_pages.old_ids || similar_pages.new_ids)
        group by p.page_id, hashtextextended(t.piece, 0)
    ),
    sizes as (
        select i.page_id, sum(i.count * i.length) as size
        from pieces as i
        group by i.page_id
    ),
    rare as (
        select i.piece
        from pieces as i
        where i.length > 12
        group by i.piece
        having count(*) filter (where i.is_old) between 1 and 4
            and count(*) filter (where not i.is_old) between 1 and 4
    ),
    candidates as (
        select distinct o.page_id as old_id, n.page_id as new_id
        from rare as r
        join pieces as o on o.piece = r.piece and o.is_old
        join pieces as n on n.piece = r.piece and not n.is_old
    ),
    -- Materialized: first the pieces of the candidates, then their counterparts.
    old_pieces as materialized (
        select c.old_id, c.new_id, o.piece, o.length, o.count
        from candidates as c
        join pieces as o on o.page_id = c.old_id
    ),
    shared as (
        select o.old_id, o.new_id, sum(least(o.count, n.count) * o.length) as size
        from old_pieces as o
        join pieces as n on n.page_id = o.new_id and n.piece = o.piece
        group by o.old_id, o.new_id
    ),
    names as (
        select
            p.page_id, p.key, _pgrag.file_name(p.key) as name,
            count(*) over (
                partition by p.page_id = any (similar_pages.old_ids), _pgrag.file_name(p.key)
            ) = 1 as is_alone
        from pgrag.pages as p
        where p.library_id = similar_pages.library_id
            and p.page_id = any (similar_pages.old_ids || similar_pages.new_ids)
    ),
    scored as (
        select
            s.old_id, s.new_id,
            s.size::double precision / greatest(a.size, b.size) as similarity,
            o.name = n.name as is_namesake,
            o.name = n.name and o.is_alone and n.is_alone as is_only_namesake,
            o.key as old_key, n.key as new_key
        from shared as s
        join sizes as a on a.page_id = s.old_id
        join sizes as b on b.page_id = s.new_id
        join names as o on o.page_id = s.old_id
        join names as n on n.page_id = s.new_id
    )
    select s.old_id, s.new_id, s.similarity
    from scored as s
    where s.similarity >= 0.5
    order by
        s.is_only_namesake and s.similarity >= 0.75 desc,
        s.similarity desc, s.is_namesake desc, s.old_key,
        s.new_key;
$$;
