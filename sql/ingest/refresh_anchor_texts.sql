-- Other pages often name a page by words that readers search for and that the page lacks. The words
-- of links are searched as part of the first paragraph of their target; its text and vectors do not
-- change.
create or replace function pgrag.refresh_anchor_texts(
    library text,
    version text default null
)
returns bigint
language plpgsql
volatile
set search_path from current
set work_mem = '128MB'
as $$
declare
    owner pgrag.libraries := _pgrag.lock_library(refresh_anchor_texts.library);
    version_ids bigint[] := _pgrag.version_ids(owner.library_id, refresh_anchor_texts.version);
    changed bigint[];
begin
    with texts as (
        select
            t.target_page_id as page_id, t.link_text,
            row_number() over (
                partition by t.target_page_id order by t.link_count desc, t.link_text
            ) as nth
        from (
            select e.target_page_id, words.link_text, count(distinct e.source_page_id) as link_count
            from pgrag.edges as e
            cross join lateral (
                select lower(btrim(regexp_replace(left(e.link_text, 200), '\s+', ' ', 'g')))
            ) as words (link_text)
            where e.library_id = owner.library_id
                and e.version_id = any (version_ids)
                and e.target_page_id <> e.source_page_id
                and (owner.settings ->> 'anchor_texts')::boolean
            group by e.target_page_id, words.link_text
        ) as t
        where t.link_text ~ '\w'
    ),
    anchors as (
        select t.page_id, array_agg(t.link_text order by t.nth) as anchor_texts
        from texts as t
        where t.nth <= 50
        group by t.page_id
    ),
    renamed as (
        update pgrag.pages as p
        set anchor_texts = coalesce(n.anchor_texts, '{}')
        from pgrag.pages as o
        left join anchors as n on n.page_id = o.page_id
        where o.library_id = owner.library_id
            and o.version_id = any (version_ids)
            and o.anchor_texts <> coalesce(n.anchor_texts, '{}')
            and p.library_id = o.library_id
            and p.page_id = o.page_id
        returning p.page_id
    )
    select array_agg(r.page_id order by r.page_id) into changed from renamed as r;

    perform _pgrag.restate_documents(
        owner, array_agg(f.document_id), array_agg(f.situation),
        array_agg(case when f.extract is not null then f.content end)
    )
    from (
        select distinct on (d.page_id) d.document_id, d.situation, d.extract, d.content
        from pgrag.documents as d
        where d.library_id = owner.library_id and d.page_id = any (changed) and d.covers > 0
        order by d.page_id, d.level desc, d.sort_order
    ) as f;
    return coalesce(cardinality(changed), 0);
end;
$$;

comment on function pgrag.refresh_anchor_texts is
'Updates pages.anchor_texts, for one version or (null) all: the distinct link texts of resolved
links from other pages, in lower case, those used by the most pages first, at most 50 per page; none
if the library''s setting anchor_texts is off. They are searched with the first paragraph, and
statistics are updated. Returns the number of changed pages. pgrag.finish_version calls this
function if the setting is on, pgrag.configure_library when the setting changes. A labelled set
whose queries are link texts would find them in its answers. Errors: PGR02, PGR03.';

-- All link texts of a page as one text; null without any.
create or replace function _pgrag.anchor_text(
    anchor_texts text[]
)
returns text
language sql
immutable
parallel safe
as $$
    select nullif(pg_catalog.array_to_string(anchor_text.anchor_texts, E'\n\n'), '');
$$;
