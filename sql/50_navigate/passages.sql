-- Where navigation meets the rows: every function of this folder finds ids, this one dresses them.
create or replace function pgrag._passages(
    library_id bigint,
    document_ids bigint[],
    relations text[] default null,
    distances integer[] default null,
    scores double precision[] default null
)
returns setof pgrag.passage
language sql
stable
parallel safe
set search_path from current
as $$
    select
        d.document_id, d.page_id, l.name, v.label, p.url, p.title, d.path, d.content,
        _passages.scores[wanted.place], _passages.relations[wanted.place],
        _passages.distances[wanted.place],
        p.key, d.level, d.heading, d.heading_level, d.depth, d.position, d.root_section, d.anchor,
        d.types, d.sort_order, d.overlap, d.line_start, d.line_end
    from unnest(_passages.document_ids) with ordinality as wanted (document_id, place)
    -- One by one (offset 0): joined, a database without statistics reads the whole library.
    cross join lateral (
        select *
        from pgrag.documents as stored
        where stored.library_id = _passages.library_id
            and stored.document_id = wanted.document_id
        offset 0
    ) as d
    cross join lateral (
        select *
        from pgrag.pages as stored
        where stored.library_id = d.library_id and stored.page_id = d.page_id
        offset 0
    ) as p
    join pgrag.versions as v on v.library_id = d.library_id and v.version_id = d.version_id
    join pgrag.libraries as l on l.library_id = d.library_id
    order by wanted.place;
$$;

-- Ids are unique over all libraries, the indexes begin with the library: ask each, it is one probe.
create or replace function pgrag._document(
    document_id bigint
)
returns pgrag.documents
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    found_document pgrag.documents;
begin
    select d.*
    into found_document
    from pgrag.libraries as l
    cross join lateral (
        select *
        from pgrag.documents as stored
        where stored.library_id = l.library_id and stored.document_id = _document.document_id
    ) as d
    limit 1;
    if found_document.document_id is null then
        raise exception 'There is no document %.', coalesce(document_id::text, 'null')
            using errcode = 'PGR05', hint = 'Take the document_id of a hit.';
    end if;
    return found_document;
end;
$$;

create or replace function pgrag._page(
    page_id bigint
)
returns pgrag.pages
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    found_page pgrag.pages;
begin
    select p.*
    into found_page
    from pgrag.libraries as l
    cross join lateral (
        select *
        from pgrag.pages as stored
        where stored.library_id = l.library_id and stored.page_id = _page.page_id
    ) as p
    limit 1;
    if found_page.page_id is null then
        raise exception 'There is no page %.', coalesce(page_id::text, 'null')
            using errcode = 'PGR04', hint = 'Take the page_id of a hit.';
    end if;
    return found_page;
end;
$$;
