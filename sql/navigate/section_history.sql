create or replace function pgrag.section_history(
    document_id anycompatible,
    texts boolean default false
)
returns setof pgrag.section_version
language plpgsql
stable
parallel safe
rows 5
set search_path from current
as $$
declare
    document pgrag.documents := _pgrag.passage_named(section_history.document_id::text);
    page pgrag.pages := _pgrag.page(document.page_id);
    section pgrag.section_texts;
    versions bigint[] := _pgrag.versions_in_order(document.library_id);
begin
    select s.* into section from _pgrag.sections_of(document) as s limit 1;
    return query
    with back as (
        select
            b.version_id, b.page_id, b.document_id,
            lead(b.is_moved) over (order by b.steps) as is_moved,
            lead(b.is_changed) over (order by b.steps) as is_changed
        from _pgrag.section_lineage(page, section, -1)
            with ordinality as b (version_id, page_id, document_id, is_moved, is_changed, steps)
    ),
    present as (
        select
            array_position(versions, s.version_id) as nth,
            s.page_id, s.document_id, s.is_moved, s.is_changed
        from (
            select * from back
            union all
            select f.version_id, f.page_id, f.document_id, f.is_moved, f.is_changed
            from _pgrag.section_lineage(page, section, 1)
                with ordinality as f (version_id, page_id, document_id, is_moved, is_changed, steps)
            where f.steps > 1
        ) as s
    ),
    states as (
        select
            p.nth,
            case
                when p.is_moved is not null
                then case when p.is_moved then 'moved' when p.is_changed then 'changed'
                    else 'unchanged' end
                when p.nth = 1 then 'first'
                else 'added'
            end as change,
            p.is_changed, p.page_id, p.document_id
        from present as p
        union all
        select max(p.nth) + 1, 'removed', null, null, null
        from present as p
        having max(p.nth) < cardinality(versions)
    )
    select
        v.label, s.change, s.is_changed,
        coalesce(s.document_id, _pgrag.page_document(page.library_id, s.page_id)),
        s.page_id, p.key, t.headings, p.url, d.anchor,
        case when section_history.texts and s.page_id is not null
            then _pgrag.source_text(p, t.headings, s.document_id)
        end
    from states as s
    join pgrag.versions as v on v.library_id = page.library_id and v.version_id = versions[s.nth]
    left join pgrag.pages as p on p.library_id = page.library_id and p.page_id = s.page_id
    left join pgrag.section_texts as t
        on t.library_id = page.library_id
        and t.page_id = s.page_id
        and t.document_id = s.document_id
    left join pgrag.documents as d
        on d.library_id = page.library_id and d.document_id = s.document_id
    order by s.nth;
end;
$$;

comment on function pgrag.section_history is
'The section of a passage in every version that has it without a gap, the oldest on top: releases in
their order, then other versions by age. change: added; first (the oldest version that is indexed:
the section may be older); unchanged, changed or moved (other page or headings) against the version
before; removed (the version after the last that has it). text_changed: whether the text differs
from the version before, also after a move. section: its headings, {} the text before the first,
null the whole page: the summary of a page has the history of the page, with its front matter.
texts: with the text of the section in each version, without its heading and the sections below. A
page is the same by its uuid, else its key, else its body; a section by its page and headings, else
by its text. Errors: PGR05.';
