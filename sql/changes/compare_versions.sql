-- Pages whose source is the same are not read. The sections of the others are compared by the
-- hashes of their texts.
create or replace function pgrag.compare_versions(
    library text,
    from_version text,
    to_version text default null,
    page text default null,
    texts text default 'none'
)
returns table (
    change text,
    key text,
    section text[],
    old_key text,
    old_section text[],
    text_changed boolean,
    page_id bigint,
    old_page_id bigint,
    document_id bigint,
    old_document_id bigint,
    title text,
    url text,
    anchor text,
    old_text text,
    new_text text
)
language plpgsql
stable
parallel safe
rows 100
set search_path from current
set work_mem = '64MB'
-- Both sides are whole versions, however small the planner takes them.
set enable_nestloop = off
set jit = off
as $$
declare
    owner_id bigint := _pgrag.library_id(compare_versions.library);
    old_version_id bigint := _pgrag.compared_version(compare_versions.library, from_version);
    new_version_id bigint := _pgrag.compared_version(compare_versions.library, to_version);
begin
    perform _pgrag.check_choice('texts', compare_versions.texts, '{none, pages, all}');
    return query
    with pairs as materialized (
        select
            o.page_id as old_id, n.page_id as new_id,
            -- Read once: keys may be TOASTed, and the sort compares them often.
            o.key || '' as old_key, n.key || '' as new_key,
            o.body_hash is distinct from n.body_hash or o.head <> n.head
                or o.front_matter <> n.front_matter as is_rewritten,
            o.body_hash is distinct from n.body_hash as has_other_text
        from _pgrag.paired_pages(owner_id, old_version_id, new_version_id) as p
        left join pgrag.pages as o
            on o.library_id = owner_id
            and o.version_id = old_version_id
            and o.page_id = p.old_page_id
        left join pgrag.pages as n
            on n.library_id = owner_id
            and n.version_id = new_version_id
            and n.page_id = p.new_page_id
    ),
    page_changes as (
        select
            case
                when p.old_id is null then 'added'
                when p.new_id is null then 'removed'
                when p.old_key <> p.new_key then 'moved'
                else 'changed'
            end as change,
            null::text[] as section, null::text[] as old_section,
            case when p.old_id is not null and p.new_id is not null then p.is_rewritten end
                as text_changed,
            p.old_id, p.new_id, null::bigint as old_document_id, null::bigint as new_document_id
        from pairs as p
        where p.old_id is null or p.new_id is null or p.is_rewritten or p.old_key <> p.new_key
    ),
    old_sections as (
        select s.*, p.new_id as counterpart_id
        from pairs as p
        join pgrag.section_texts as s
            on s.library_id = owner_id
            and s.version_id = old_version_id
            and s.page_id = p.old_id
        where p.has_other_text
    ),
    new_sections as (
        select s.*, p.old_id as counterpart_id
        from pairs as p
        join pgrag.section_texts as s
            on s.library_id = owner_id
            and s.version_id = new_version_id
            and s.page_id = p.new_id
        where p.has_other_text
    ),
    -- Hashed by page, headings and occurrence: both lists have up to all sections of a version.
    located as materialized (
        select o as old, n as new
        from old_sections as o
        full join new_sections as n
            on n.counterpart_id = o.page_id
            and n.headings = o.headings
            and n.occurrence = o.occurrence
    ),
    gone as (
        select
            (l.old).*,
            row_number() over (
                partition by (l.old).text_hash
                order by (l.old).headings[cardinality((l.old).headings)], (l.old).page_id,
                    (l.old).line_start
            ) as nth
        from located as l
        where (l.new).document_id is null
    ),
    come as (
        select
            (l.new).*,
            row_number() over (
                partition by (l.new).text_hash
                order by (l.new).headings[cardinality((l.new).headings)], (l.new).page_id,
                    (l.new).line_start
            ) as nth
        from located as l
        where (l.old).document_id is null
    ),
    section_changes as (
        select
            'changed' as change, (l.new).headings as section, (l.old).headings as old_section,
            true as text_changed, (l.old).page_id as old_id, (l.new).page_id as new_id,
            (l.old).document_id as old_document_id, (l.new).document_id as new_document_id
        from located as l
        where (l.old).text_hash is distinct from (l.new).text_hash
            and (l.old).document_id is not null and (l.new).document_id is not null
        union all
        select
            case
                when o.document_id is null then 'added'
                when n.document_id is null then 'removed'
                else 'moved'
            end,
            n.headings, o.headings,
            case when o.document_id is not null and n.document_id is not null then false end,
            coalesce(o.page_id, n.counterpart_id), coalesce(n.page_id, o.counterpart_id),
            o.document_id, n.document_id
        from gone as o
        full join come as n on n.text_hash = o.text_hash and n.nth = o.nth
        where (o.document_id is not null and n.document_id is not null)
            -- A page that came or went says so itself.
            or (n.counterpart_id is not null and (n.headings <> '{}' or n.text_hash is not null))
            or (o.counterpart_id is not null and (o.headings <> '{}' or o.text_hash is not null))
    ),
    changes as (
        select true as is_page, p.* from page_changes as p
        union all
        select false, s.* from section_changes as s
    )
    select
        c.change, coalesce(b.new_key, a.old_key), coalesce(c.section, c.old_section),
        a.old_key, c.old_section, c.text_changed, c.new_id, c.old_id, c.new_document_id,
        c.old_document_id,
        coalesce(n.title, o.title), coalesce(n.url, o.url), coalesce(d.anchor, ''),
        case when t.are_shown then _pgrag.source_text(o, c.old_section, c.old_document_id) end,
        case when t.are_shown then _pgrag.source_text(n, c.section, c.new_document_id) end
    from changes as c
    cross join lateral (
        select compare_versions.texts = 'all' or c.is_page and compare_versions.texts = 'pages'
            as are_shown
    ) as t
    left join pairs as a on a.old_id = c.old_id
    left join pairs as b on b.new_id = c.new_id
    left join pgrag.pages as n
        on n.library_id = owner_id and n.version_id = new_version_id and n.page_id = c.new_id
    left join pgrag.pages as o
        on o.library_id = owner_id and o.version_id = old_version_id and o.page_id = c.old_id
    -- One lookup per change (offset 0): a join would read the passages of every version.
    left join lateral (
        select d.anchor, d.sort_order
        from pgrag.documents as d
        where d.library_id = owner_id
            and d.document_id = coalesce(c.new_document_id, c.old_document_id)
        offset 0
    ) as d on true
    where compare_versions.page is null or compare_versions.page in (b.new_key, a.old_key)
    order by coalesce(b.new_key, a.old_key) collate "C", not c.is_page, d.sort_order;
end;
$$;

comment on function pgrag.compare_versions is
'What changed in a library from one version to another (null: the newest release; labels and ranges:
see resolve_version): a row for each page that differs, and below it one for each section that
differs. change: added, removed, moved (the page has another key, or the text of the section stands
elsewhere) or changed. section: its headings below the title; {} is the text before them, null the
row of the page. text_changed: whether the text differs too; for a page this includes its front
matter. A page is the same by its uuid, else its key, else its body, else by sharing half of its
lines; a section by its page and headings. Sections of an added or removed page have no rows, unless
they moved. page: only this page, by its key in either version. texts: none; pages (with both texts
of each page, front matter included); all (also those of each section, without its heading). Columns
old_… are of the old version, the others of the new one, or of the old one if the row is removed.
Rows come by key. A version that is not exactly the one asked for is named in a notice. Errors:
PGR01, PGR02, PGR03.';

-- The source of a page, or the own text of one of its sections.
create or replace function _pgrag.source_text(
    page pgrag.pages,
    section text[],
    document_id bigint
)
returns text
language sql
stable
parallel safe
as $$
    select case
        when source_text.section is null and source_text.document_id is null
        then (source_text.page).head || (source_text.page).body
        else (
            select pg_catalog.array_to_string(
                (
                    pg_catalog.string_to_array(
                        (source_text.page).head || (source_text.page).body, E'\n'
                    )
                )[s.line_start:s.line_end],
                E'\n'
            )
            from pgrag.section_texts as s
            where s.library_id = (source_text.page).library_id
                and s.page_id = (source_text.page).page_id
                and s.document_id = source_text.document_id
        )
    end;
$$;
