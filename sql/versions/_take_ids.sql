-- Ids name their library (see the first migration): pages, passages and edges share one counter of
-- their library, library_id << 33 | n. A number is never used twice, because recorded searches and
-- cursors outlive what they name. Returns the id before the first of `count` new ones. The caller
-- has locked the library (open_version), so nobody waits here.
create or replace function _pgrag.take_ids(
    library_id bigint,
    count bigint
)
returns bigint
language plpgsql
volatile
as $$
declare
    taken bigint;
begin
    if count = 0 then
        return null;
    end if;
    update pgrag.libraries as l
    set last_id = l.last_id + take_ids.count
    where l.library_id = take_ids.library_id
    returning l.last_id - take_ids.count
    into taken;
    return take_ids.library_id << 33 | taken;
end;
$$;

-- The lowest number that no version of the library has: version ids are below 2^32, because the
-- index of impacts has them beside lexemes. Nothing that outlives a version names it by its id.
create or replace function _pgrag.new_version_id(
    library_id bigint
)
returns bigint
language plpgsql
stable
parallel safe
as $$
declare
    id bigint;
begin
    select new_version_id.library_id << 12 | n.number
    into id
    from generate_series(1, 4095) as n (number)
    where not exists (
        select from pgrag.versions as v
        where v.library_id = new_version_id.library_id
            and v.version_id = (new_version_id.library_id << 12 | n.number)
    )
    order by n.number
    limit 1;
    if id is null then
        raise exception 'The library % has 4,095 versions, the most that it can have.', (
            select quote_literal(l.name)
            from pgrag.libraries as l
            where l.library_id = new_version_id.library_id
        )
            using errcode = 'PGR01', hint = 'Remove a version, or index into another library.';
    end if;
    return id;
end;
$$;
