-- The new rows with their final ids: a document with the same text keeps its id even if it moved on
-- its page or the page got another title or url. The rest reuse the remaining ids in order; only
-- additional documents get new ids. The planner underestimates the rows that come from jsonb, hence
-- no nested loops, and no merge joins: one by page alone, the first of several keys, compares each
-- document of a page with all the others.
create or replace function _pgrag.stage_documents(
    library_id bigint,
    version_id bigint,
    base_url text,
    pages jsonb,
    page_ids bigint[]
)
returns setof pgrag.documents
language sql
volatile
set enable_nestloop = off
set enable_mergejoin = off
-- The penalty for disabled joins in the plan's cost would trigger JIT in every call.
set jit = off
as $$
    with incoming_pages as (
        select
            p.page_id, p.title, p.path, p.language, p.anchor_texts,
            pgrag.relative_url(p.url, stage_documents.base_url) as url,
            coalesce(
                i.page -> 'documents',
                jsonb_build_array(jsonb_build_object('content', p.body, 'covers', 7))
            ) as documents
        from jsonb_array_elements(stage_documents.pages) as i (page)
        join pgrag.pages as p on p.key = i.page ->> 'key'
        where p.library_id = stage_documents.library_id
            and p.page_id = any (stage_documents.page_ids)
    ),
    incoming as materialized (
        select
            i.page_id, i.title, i.url, i.language, i.anchor_texts,
            d.ordinality::integer - 1 as sort_order,
            d.parent,
            coalesce(d.level, 2)::smallint as level,
            coalesce(d.covers, 4)::smallint as covers,
            coalesce(d.heading, '') as heading,
            coalesce(d.heading_level, 0)::smallint as heading_level,
            coalesce(d.depth, 0)::smallint as depth,
            coalesce(d.path, i.path) as path,
            coalesce(d.root_section, '') as root_section,
            coalesce(d.position, 'middle') as position,
            coalesce(d.types, '{text}') as types,
            coalesce(d.anchor, '') as anchor,
            coalesce(d.content, '') as content,
            coalesce(d.context, '') as context,
            coalesce(d.overlap, '') as overlap,
            coalesce(d.is_summary, false) as is_summary,
            coalesce(d.line_start, 0) as line_start,
            coalesce(d.line_end, 0) as line_end,
            coalesce(d.content_tags, '{}') as content_tags,
            pgrag.text_hash(
                pgrag.embedding_text(
                    i.title, i.url, coalesce(d.path, i.path),
                    _pgrag.searched_text('', d.context, coalesce(d.content, ''))
                )
            ) as text_hash
        from incoming_pages as i
        cross join lateral rows from (
            jsonb_to_recordset(i.documents) as (
                parent integer, level smallint, covers smallint, heading text,
                heading_level smallint, depth smallint, path text[], root_section text,
                position text, types text[], anchor text, content text, overlap text,
                is_summary boolean, line_start integer, line_end integer, content_tags text[],
                context text
            )
        ) with ordinality as d
    ),
    numbered as (
        select
            i.*,
            row_number() over (
                partition by i.page_id, i.level, i.text_hash
                order by i.sort_order
            ) as occurrence
        from incoming as i
    ),
    stored as (
        select
            d.document_id, d.page_id, d.level, d.text_hash, d.content, d.keywords, d.sort_order,
            row_number() over (
                partition by d.page_id, d.level, d.text_hash
                order by d.sort_order
            ) as occurrence
        from (
            select
                d.document_id, d.page_id, d.level, d.sort_order, d.keywords,
                coalesce(d.extract, d.content) as content,
                -- The source does not contain what a model wrote: compare the original text.
                case
                    when d.situation = '' and d.extract is null then d.text_hash
                    else pgrag.text_hash(
                        pgrag.embedding_text(
                            p.title, pgrag.relative_url(p.url, stage_documents.base_url), d.path,
                            _pgrag.searched_text('', d.context, coalesce(d.extract, d.content))
                        )
                    )
                end as text_hash
            from pgrag.documents as d
            join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
            where d.library_id = stage_documents.library_id
                and d.page_id = any (stage_documents.page_ids)
                -- Without nested loops, this alone keeps the join from reading every page.
                and p.page_id = any (stage_documents.page_ids)
        ) as d
    ),
    same as (
        select n.page_id, n.sort_order, s.document_id
        from numbered as n
        join stored as s
            on s.page_id = n.page_id
            and s.level = n.level
            and s.text_hash = n.text_hash
            and s.occurrence = n.occurrence
    ),
    -- The same content, with another title, url or heading.
    repeated as (
        select n.page_id, n.sort_order, s.document_id
        from (
            select
                n.*,
                row_number() over (
                    partition by n.page_id, n.level, n.content
                    order by n.sort_order
                ) as nth
            from numbered as n
            where not exists (
                select from same where same.page_id = n.page_id and same.sort_order = n.sort_order
            )
        ) as n
        join (
            select
                s.*,
                row_number() over (
                    partition by s.page_id, s.level, s.content
                    order by s.sort_order
                ) as nth
            from stored as s
            where not exists (select from same where same.document_id = s.document_id)
        ) as s
            on s.page_id = n.page_id
            and s.level = n.level
            and s.content = n.content
            and s.nth = n.nth
    ),
    kept as (
        select * from same
        union all
        select * from repeated
    ),
    replaced as (
        select n.page_id, n.sort_order, s.document_id
        from (
            select
                n.*,
                row_number() over (partition by n.page_id, n.level order by n.sort_order) as nth
            from numbered as n
            where not exists (
                select from kept where kept.page_id = n.page_id and kept.sort_order = n.sort_order
            )
        ) as n
        join (
            select
                s.*,
                row_number() over (partition by s.page_id, s.level order by s.sort_order) as nth
            from stored as s
            where not exists (select from kept where kept.document_id = s.document_id)
        ) as s on s.page_id = n.page_id and s.level = n.level and s.nth = n.nth
    ),
    paired as materialized (
        select
            i.*,
            -- The first searched paragraph carries the words of links.
            i.covers > 0 and row_number() over (
                partition by i.page_id, i.covers > 0
                order by i.level desc, i.sort_order
            ) = 1 as carries_anchors,
            coalesce(kept.document_id, replaced.document_id) as document_id
        from incoming as i
        left join kept on kept.page_id = i.page_id and kept.sort_order = i.sort_order
        left join replaced on replaced.page_id = i.page_id and replaced.sort_order = i.sort_order
    ),
    new_ids as materialized (
        select _pgrag.take_ids(stage_documents.library_id, count(*)) as last_id
        from paired as p
        where p.document_id is null
    ),
    identified as materialized (
        select
            p.*,
            coalesce(
                p.document_id,
                n.last_id + row_number() over (
                    partition by p.document_id is null
                    order by p.page_id, p.sort_order
                )
            ) as final_id
        from paired as p
        cross join new_ids as n
    ),
    headers as materialized (
        select
            h.page_id,
            h.path,
            _pgrag.header_vector(
                h.language, h.title, array_remove(h.path, h.title), h.url
            ) as search
        from (
            select distinct i.page_id, i.path, i.language, i.title, i.url
            from incoming as i
            where i.covers > 0
        ) as h
    )
    select
        stage_documents.library_id, i.final_id, stage_documents.version_id, i.page_id,
        parent.final_id, i.level, i.covers, i.sort_order, i.heading_level, i.depth, i.line_start,
        i.line_end, i.is_summary, i.text_hash, i.language, i.position, i.anchor, i.heading,
        i.root_section, i.types, i.path, i.overlap, i.content,
        case
            when i.covers > 0
            then h.search || _pgrag.content_vector(
                i.language,
                concat_ws(
                    E'\n\n',
                    _pgrag.searched_text('', i.context, i.content),
                    case when i.carries_anchors then _pgrag.anchor_text(i.anchor_texts) end
                ),
                stage_documents.library_id,
                stage_documents.version_id
            )
        end,
        i.content_tags,
        -- Until write_documents chooses others for a changed text.
        coalesce(s.keywords, '{}'),
        i.context,
        '',
        null
    from identified as i
    left join identified as parent on parent.page_id = i.page_id and parent.sort_order = i.parent
    left join headers as h on h.page_id = i.page_id and h.path = i.path
    left join stored as s on s.document_id = i.document_id;
$$;
