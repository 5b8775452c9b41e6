-- The new rows with their final ids: a passage with the same text keeps its id even if it moved on
-- its page or the page got another title or url. The rest reuse the remaining ids in order; only
-- additional passages get new ids. The planner underestimates the rows that come from jsonb, hence
-- no nested loops, and no merge joins: one by page alone, the first of several keys, compares each
-- passage of a page with all the others.
create or replace function _pgrag.stage_documents(
    library_id bigint,
    version_id bigint,
    base_url text,
    pages jsonb,
    page_ids bigint[]
)
returns setof pgrag.documents
language plpgsql
volatile
set enable_nestloop = off
set enable_mergejoin = off
-- The penalty for disabled joins in the plan's cost would trigger JIT in every call.
set jit = off
as $$
declare
    staged record;
    document pgrag.documents;
begin
    for staged in
        with incoming as materialized (
            select
                i as document, i.page_id, i.level, i.text_hash, i.content, i.sort_order,
                i.parent_id as parent,
                row_number() over (
                    partition by i.page_id, i.level, i.text_hash
                    order by i.sort_order
                ) as occurrence
            from _pgrag.incoming_documents(
                stage_documents.library_id, stage_documents.version_id, stage_documents.base_url,
                stage_documents.pages, stage_documents.page_ids
            ) as i
        ),
        stored as materialized (
            select
                d.*,
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
                            _pgrag.embedding_text(
                                p.title, _pgrag.relative_url(p.url, stage_documents.base_url),
                                d.path,
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
            from incoming as n
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
                from incoming as n
                where not exists (
                    select from same as k
                    where k.page_id = n.page_id and k.sort_order = n.sort_order
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
                where not exists (select from same as k where k.document_id = s.document_id)
            ) as s
                on s.page_id = n.page_id
                and s.level = n.level
                and s.content = n.content
                and s.nth = n.nth
        ),
        kept as (select * from same union all select * from repeated),
        replaced as (
            select n.page_id, n.sort_order, s.document_id
            from (
                select
                    n.*,
                    row_number() over (partition by n.page_id, n.level order by n.sort_order) as nth
                from incoming as n
                where not exists (
                    select from kept as k
                    where k.page_id = n.page_id and k.sort_order = n.sort_order
                )
            ) as n
            join (
                select
                    s.*,
                    row_number() over (partition by s.page_id, s.level order by s.sort_order) as nth
                from stored as s
                where not exists (select from kept as k where k.document_id = s.document_id)
            ) as s on s.page_id = n.page_id and s.level = n.level and s.nth = n.nth
        ),
        paired as materialized (
            select i.document, i.page_id, i.sort_order, i.parent, p.document_id
            from incoming as i
            left join (select * from kept union all select * from replaced) as p
                on p.page_id = i.page_id and p.sort_order = i.sort_order
        ),
        identified as materialized (
            select
                p.*,
                coalesce(
                    p.document_id,
                    (
                        select _pgrag.take_ids(stage_documents.library_id, count(*))
                        from paired as n
                        where n.document_id is null
                    ) + row_number() over (
                        partition by p.document_id is null
                        order by p.page_id, p.sort_order
                    )
                ) as final_id
            from paired as p
        )
        select i.document, i.final_id, above.final_id as parent_id, s.keywords
        from identified as i
        left join identified as above on above.page_id = i.page_id and above.sort_order = i.parent
        left join stored as s on s.document_id = i.document_id
    loop
        document := staged.document;
        document.document_id := staged.final_id;
        document.parent_id := staged.parent_id;
        -- Until write_documents chooses others for a changed text.
        document.keywords := coalesce(staged.keywords, '{}');
        return next document;
    end loop;
end;
$$;

-- The passages of pages as rows, without an id; parent_id is the index of the parent on its page.
create or replace function _pgrag.incoming_documents(
    library_id bigint,
    version_id bigint,
    base_url text,
    pages jsonb,
    page_ids bigint[]
)
returns setof pgrag.documents
language sql
stable
parallel safe
set enable_nestloop = off
set enable_mergejoin = off
set jit = off
as $$
    with recursive incoming_pages as materialized (
        select
            p.page_id, p.title, p.path, p.language, p.language_code, p.anchor_texts,
            _pgrag.language_patterns(p.language_code) as patterns,
            _pgrag.relative_url(p.url, incoming_documents.base_url) as url,
            coalesce(
                i.page -> 'documents',
                jsonb_build_array(jsonb_build_object('content', p.body, 'covers', 7))
            ) as documents
        from jsonb_array_elements(incoming_documents.pages) as i (page)
        join pgrag.pages as p on p.key = i.page ->> 'key'
        where p.library_id = incoming_documents.library_id
            and p.page_id = any (incoming_documents.page_ids)
    ),
    incoming as materialized (
        select
            i.page_id, i.title, i.url, i.anchor_texts,
            -- Of a part that is clearly in another language than the page, its own.
            (
                select case
                    when c.code = i.language_code then i.language
                    else _pgrag.text_search_configuration(c.code)
                end
                from _pgrag.likely_language(
                    d.content, i.language_code, patterns => i.patterns, is_part => true
                ) as c (code)
            ) as language,
            d.ordinality::integer - 1 as sort_order, d.parent,
            coalesce(d.level, 2)::smallint as level, coalesce(d.covers, 4)::smallint as covers,
            coalesce(d.heading, '') as heading,
            coalesce(d.heading_level, 0)::smallint as heading_level,
            coalesce(d.depth, 0)::smallint as depth, coalesce(d.path, i.path) as path,
            coalesce(d.root_section, '') as root_section,
            coalesce(d.position, 'middle') as position, coalesce(d.types, '{text}') as types,
            _pgrag.without_hidden(coalesce(d.anchor, '')) as anchor,
            coalesce(d.content, '') as content,
            coalesce(d.context, '') as context, coalesce(d.overlap, '') as overlap,
            coalesce(d.is_summary, false) as is_summary, coalesce(d.line_start, 0) as line_start,
            coalesce(d.line_end, 0) as line_end, coalesce(d.content_tags, '{}') as content_tags,
            -- The first searched paragraph carries the words of links.
            coalesce(d.covers, 4) > 0 and row_number() over (
                partition by i.page_id, coalesce(d.covers, 4) > 0
                order by coalesce(d.level, 2) desc, d.ordinality
            ) = 1 as carries_anchors
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
    -- Each passage is the last so far of itself and of all above it.
    below as (
        select i.page_id, i.sort_order, i.parent, i.sort_order as last from incoming as i
        union all
        select i.page_id, i.sort_order, i.parent, b.last
        from below as b
        join incoming as i on i.page_id = b.page_id and i.sort_order = b.parent
    ),
    ends as (
        select b.page_id, b.sort_order, max(b.last) as section_end
        from below as b
        group by b.page_id, b.sort_order
    ),
    titles as materialized (
        select
            t.page_id, t.language, _pgrag.document_vector(t.language, t.title) as title,
            _pgrag.address_vector(t.language, t.url) as url
        from (
            select distinct i.page_id, i.language, i.title, i.url from incoming as i
            where i.covers > 0
        ) as t
    ),
    -- Equal to header_vector.
    headers as materialized (
        select
            h.page_id, h.path, h.language,
            _pgrag.weighted_vector(
                t.title, _pgrag.path_vector(h.language, array_remove(h.path, h.title)), t.url, ''
            ) as search
        from (
            select distinct i.page_id, i.path, i.language, i.title
            from incoming as i
            where i.covers > 0
        ) as h
        join titles as t on t.page_id = h.page_id and t.language = h.language
    )
    select
        incoming_documents.library_id, null::bigint, incoming_documents.version_id, i.page_id,
        i.parent, i.level, i.covers, i.sort_order, e.section_end, i.heading_level, i.depth,
        i.line_start, i.line_end, i.is_summary,
        pgrag.text_hash(_pgrag.embedding_text(i.title, i.url, i.path, t.text)),
        i.language, i.position, i.anchor, i.heading, i.root_section, i.types, i.path, i.overlap,
        i.content,
        case
            when i.covers > 0
            then h.search || _pgrag.content_vector(
                i.language,
                concat_ws(
                    E'\n\n', t.text,
                    case when i.carries_anchors then _pgrag.anchor_text(i.anchor_texts) end
                ),
                incoming_documents.library_id, incoming_documents.version_id
            )
        end,
        i.content_tags, '{}'::text[], i.context, '', null
    from incoming as i
    join ends as e on e.page_id = i.page_id and e.sort_order = i.sort_order
    cross join lateral (
        select _pgrag.searched_text('', i.context, i.content) as text offset 0
    ) as t
    left join headers as h on h.page_id = i.page_id and h.path = i.path and h.language = i.language;
$$;
