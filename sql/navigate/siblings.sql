create or replace function pgrag.siblings(
    document_id anycompatible,
    before integer default 1000,
    after integer default 1000
)
returns setof pgrag.passage
language plpgsql
stable
parallel safe
rows 10
set search_path from current
as $$
declare
    here pgrag.documents := _pgrag.passage_named(siblings.document_id::text);
    sibling_ids bigint[];
    own_number bigint;
begin
    perform _pgrag.check_range('before', siblings.before, 0, 1000000000);
    perform _pgrag.check_range('after', siblings.after, 0, 1000000000);
    sibling_ids := _pgrag.sibling_ids(here);
    own_number := array_position(sibling_ids, here.document_id);

    return query
    select p.*
    from unnest(sibling_ids) with ordinality as s (document_id, number)
    cross join lateral _pgrag.passage(
        here.library_id,
        s.document_id,
        case when s.number < own_number then 'before' else 'after' end,
        (s.number - own_number)::integer
    ) as p
    where s.number between own_number - siblings.before and own_number + siblings.after
        and s.number <> own_number
    order by s.number;
end;
$$;

comment on function pgrag.siblings is
'The passages of the same level under the same parent, in reading order, without the passage itself:
relation before or after, distance -2, -1, 1, 2 …; before, after: at most this many on each side. A
section has the sections under the same parent, a paragraph the paragraphs of its section and of
that section''s siblings. Pages are siblings under the same parent by path or folder, or if their
parent paths are equal. If several pages share a hierarchical path, passages below equal sections
are siblings across these pages, by key. Errors: PGR01, PGR05.';

-- A passage and its siblings in reading order.
create or replace function _pgrag.sibling_ids(
    here pgrag.documents
)
returns bigint[]
language plpgsql
stable
parallel safe
as $$
declare
    home pgrag.pages := _pgrag.page(here.page_id);
    above pgrag.documents;
    above_id bigint;
    parent_ids bigint[];
begin
    if here.parent_id is null then
        -- Pages: those below the same page or section, else those with the same path above theirs.
        above_id := _pgrag.document_above(home);
        if above_id is not null then
            return array(
                select c.document_id
                from unnest(_pgrag.child_ids(_pgrag.document(above_id)))
                    with ordinality as c (document_id, number)
                join pgrag.documents as d
                    on d.library_id = home.library_id and d.document_id = c.document_id
                where d.level = here.level
                order by c.number
            );
        end if;
        return array(
            select _pgrag.page_document(p.library_id, p.page_id)
            from (
                select p.*
                from pgrag.pages as p
                where p.library_id = home.library_id
                    and p.version_id = home.version_id
                    and cardinality(p.path) > 1
                    and p.path[:cardinality(p.path) - 1] = _pgrag.path_above(home.path)
                union all
                select p.*
                from pgrag.pages as p
                where cardinality(home.path) = 1 and _pgrag.shares_path(home, p)
            ) as p
            order by p.path, p.key, p.page_id
        );
    end if;
    above := _pgrag.document(here.parent_id);
    parent_ids := case
        when here.level = 2 and above.level = 1 then _pgrag.sibling_ids(above)
        else array(
            select d.document_id
            from pgrag.pages as p
            join pgrag.documents as d on d.library_id = p.library_id and d.page_id = p.page_id
            where _pgrag.shares_path(home, p)
                and d.level = above.level
                and d.path = above.path
                and (p.page_id <> home.page_id or d.document_id = above.document_id)
            order by p.key, d.sort_order
        )
    end;
    return array(
        select d.document_id
        from unnest(parent_ids) with ordinality as parent (document_id, number)
        join pgrag.documents as d
            on d.library_id = here.library_id and d.parent_id = parent.document_id
        where d.level = here.level
        order by parent.number, d.sort_order, d.document_id
    );
end;
$$;

-- Whether two pages of a version have one hierarchical path. A path of one part counts if the front
-- matter states it: a page without a path has its title for one.
create or replace function _pgrag.shares_path(
    page pgrag.pages,
    other pgrag.pages
)
returns boolean
language sql
immutable
parallel safe
as $$
    select (other).library_id = (page).library_id
        and (other).version_id = (page).version_id
        and (other).path = (page).path
        and (
            (other).page_id = (page).page_id
            or pg_catalog.cardinality((page).path) > 1
            or ((page).front_matter ? 'path' or (page).title <> (page).path[1])
            and ((other).front_matter ? 'path' or (other).title <> (other).path[1])
        );
$$;
