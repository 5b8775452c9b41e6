-- The row of a passage for all functions of this folder. Without a set clause, so that the planner
-- can inline it.
create or replace function _pgrag.passage(
    library_id bigint,
    document_id bigint,
    relation text default null,
    distance integer default null,
    score double precision default null
)
returns setof pgrag.passage
language sql
stable
parallel safe
rows 1
as $$
    select
        d.document_id, d.page_id, l.name, v.label, p.url, p.title, d.path, d.content,
        passage.score, passage.relation, passage.distance,
        p.key, d.level, d.heading, d.heading_level, d.depth, d.position, d.root_section, d.anchor,
        d.types, d.sort_order, d.overlap, d.line_start, d.line_end
    -- Lookups one by one (offset 0): without table statistics a join would read the whole library.
    from (
        select *
        from pgrag.documents as stored
        where stored.library_id = passage.library_id and stored.document_id = passage.document_id
        offset 0
    ) as d
    cross join lateral (
        select *
        from pgrag.pages as stored
        where stored.library_id = d.library_id and stored.page_id = d.page_id
        offset 0
    ) as p
    join pgrag.versions as v on v.library_id = d.library_id and v.version_id = d.version_id
    join pgrag.libraries as l on l.library_id = d.library_id;
$$;

-- Ids name their library: document_id >> 33 (see _take_ids.sql).
create or replace function _pgrag.document(
    document_id bigint
)
returns pgrag.documents
language plpgsql
stable
parallel safe
as $$
declare
    stored pgrag.documents;
begin
    select d.*
    into stored
    from pgrag.documents as d
    where d.library_id = document.document_id >> 33 and d.document_id = document.document_id;
    if not found then
        raise exception 'There is no passage %.', coalesce(document_id::text, 'null')
            using errcode = 'PGR05', hint = 'Take the document_id of a hit.';
    end if;
    return stored;
end;
$$;

create or replace function _pgrag.page(
    page_id bigint
)
returns pgrag.pages
language plpgsql
stable
parallel safe
as $$
declare
    stored pgrag.pages;
begin
    select p.*
    into stored
    from pgrag.pages as p
    where p.library_id = page.page_id >> 33 and p.page_id = page.page_id;
    if not found then
        raise exception 'There is no page %.', coalesce(page_id::text, 'null')
            using errcode = 'PGR04', hint = 'Take the page_id of a hit.';
    end if;
    return stored;
end;
$$;
