create or replace function pgrag.outline(
    page_id anycompatible
)
returns table (
    document_id bigint,
    parent_id bigint,
    heading text,
    heading_level smallint,
    depth smallint,
    path text[],
    "position" text,
    root_section text,
    anchor text,
    sort_order integer,
    line_start integer,
    line_end integer,
    paragraphs bigint
)
language plpgsql
stable
parallel safe
rows 20
set search_path from current
as $$
declare
    owner pgrag.pages := _pgrag.page(pgrag.page_id(outline.page_id::text));
begin
    return query
    select
        d.document_id,
        d.parent_id,
        case when d.level = 0 then owner.title else d.heading end,
        d.heading_level, d.depth, d.path, d.position, d.root_section, d.anchor, d.sort_order,
        d.line_start, d.line_end,
        (
            select count(*)
            from pgrag.documents as below
            where below.library_id = d.library_id
                and below.parent_id = d.document_id
                and below.level = 2
        )
    from pgrag.documents as d
    where d.library_id = owner.library_id and d.page_id = owner.page_id and d.level < 2
    order by d.sort_order;
end;
$$;

comment on function pgrag.outline is
'The page and its sections in reading order, with heading level, depth, path, position in the page
(intro: the first section; conclusion: the last one; middle), lines, and the number of paragraphs
directly below. Errors: PGR04.';
