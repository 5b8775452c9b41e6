-- Since when a passage exists, and when it last changed: the label of the version, null for never.
create or replace function _pgrag.passage_history(
    document pgrag.documents
)
returns table (
    since text,
    changed_in text
)
language sql
stable
parallel safe
rows 1
set search_path from current
as $$
    with page as materialized (
        select p
        from pgrag.pages as p
        where p.library_id = (document).library_id and p.page_id = (document).page_id
    ),
    lineages as (
        select
            t.nth, array_position(o.versions, l.version_id) as ordinal,
            lead(l.is_changed) over (partition by t.nth order by l.steps) as is_changed
        from page as g
        cross join (
            select s, row_number() over (order by s.line_start) as nth
            from _pgrag.sections_of(document) as s
            union all
            select null, 1
            where not exists (select from _pgrag.sections_of(document))
        ) as t
        cross join lateral _pgrag.section_lineage(g.p, t.s, -1)
            with ordinality as l (version_id, page_id, document_id, is_moved, is_changed, steps)
        cross join lateral _pgrag.versions_in_order((document).library_id) as o (versions)
    ),
    sections as (
        select l.nth, min(l.ordinal) as first, max(l.ordinal) filter (where l.is_changed) as last
        from lineages as l
        group by l.nth
    ),
    passage as (
        -- A passage of several sections is as old as the first, and changes when another joins it.
        select
            min(s.first) filter (where s.nth = 1) as first,
            max(greatest(s.first, s.last)) as last
        from sections as s
    )
    select
        (select v.label from pgrag.versions as v
            where v.library_id = (document).library_id and v.version_id = o.versions[p.first]),
        (select v.label from pgrag.versions as v
            where v.library_id = (document).library_id
                and v.version_id = o.versions[p.last]
                and p.last > p.first)
    from passage as p
    cross join _pgrag.versions_in_order((document).library_id) as o (versions);
$$;

-- The sections that a passage touches, in their order; none for the summary of a page.
create or replace function _pgrag.sections_of(
    document pgrag.documents
)
returns setof pgrag.section_texts
language sql
stable
parallel safe
rows 1
as $$
    select s.*
    from pgrag.section_texts as s
    where s.library_id = (sections_of.document).library_id
        and s.page_id = (sections_of.document).page_id
        and case (sections_of.document).level
            when 0 then false
            when 1 then s.document_id = (sections_of.document).document_id
            else s.text_hash is not null
                and s.line_start <= (sections_of.document).line_end
                and s.line_end >= (sections_of.document).line_start
        end
    order by s.line_start;
$$;

-- The same by id; a function that is planned where it is called first.
create or replace function _pgrag.history_of(
    library_id bigint,
    document_id bigint
)
returns table (
    since text,
    changed_in text
)
language plpgsql
stable
parallel safe
rows 1
as $$
begin
    return query
    select h.since, h.changed_in
    from pgrag.documents as d
    cross join lateral _pgrag.passage_history(d) as h
    where d.library_id = history_of.library_id and d.document_id = history_of.document_id;
end;
$$;
