-- The hits of a request, with plans and timings.
create or replace function _pgrag.list_hits(
    request _pgrag.search_request
)
returns _pgrag.listing
language plpgsql
stable
parallel safe
as $$
declare
    listing _pgrag.listing := _pgrag.unjudged_hits(request);
begin
    -- Only the listed hits, because it reads the words of each. Reranked hits have theirs.
    if request.reranked is null and request.words <> '' then
        listing.hits := _pgrag.with_confidence(listing.hits, request);
    end if;
    return listing;
end;
$$;

-- The same without confidence, for those who only count.
create or replace function _pgrag.unjudged_hits(
    request _pgrag.search_request
)
returns _pgrag.listing
language plpgsql
stable
parallel safe
as $$
begin
    return case
        when request.reranked is not null then _pgrag.reranked_hits(request)
        when request.words = '' then _pgrag.matching_hits(request)
        when _pgrag.is_rearranged(request) then _pgrag.rearranged_hits(request)
        else _pgrag.scored_hits(request)
    end;
end;
$$;

-- A whole search, from its arguments to its rows.
create or replace function _pgrag.search_hits(
    query text,
    options jsonb,
    query_embedding halfvec default null
)
returns setof pgrag.hit
language plpgsql
stable
parallel unsafe
rows 10
as $$
declare
    request constant _pgrag.search_request := _pgrag.make_request(query, options, query_embedding);
    listing constant _pgrag.listing := _pgrag.list_hits(request);
begin
    perform _pgrag.note_no_match(listing.hits, request);
    return query select h.* from _pgrag.hits(request, listing) as h;
end;
$$;

create or replace function _pgrag.version_reason(
    request _pgrag.search_request,
    version_id bigint
)
returns text
language sql
immutable
parallel safe
as $$
    select (request).version_reasons[
        pg_catalog.array_position(((request).target).version_ids, version_reason.version_id)
    ];
$$;

-- Turns ids into rows. Inlined: request and listing must be variables, since a call would be
-- repeated.
create or replace function _pgrag.hits(
    request _pgrag.search_request,
    listing _pgrag.listing,
    search_id uuid default null
)
returns setof pgrag.hit
language sql
stable
parallel safe
rows 10
as $$
    select
        d.document_id, d.page_id, d.library, d.version, d.url, d.title, d.path, d.content, h.score,
        h.keyword_score, h.semantic_score, d.key, d.level, d.heading, d.anchor, d.types,
        d.sort_order, d.line_start, d.line_end, d.link,
        case when (request).snippets then _pgrag.snippet(d.language, d.content, request) end,
        ((listing).cursors)[h.ordinality],
        case
            when (request).explain
            then _pgrag.explain_hit(request, ((listing).hits)[h.ordinality], (listing).plans)
        end,
        h.hybrid_score,
        hits.search_id,
        _pgrag.version_reason(request, d.version_id),
        y.since,
        y.changed_in,
        d.key || '#c' || d.sort_order,
        d.has_children, d.previous_section, d.next_section, d.sibling_sections, h.confidence
    from unnest((listing).hits) with ordinality as h
    -- A subquery, so that the view is read passage by passage.
    cross join lateral (
        select a.*
        from _pgrag.passages_in_place as a
        where a.library_id = h.library_id and a.document_id = h.document_id
        offset 0
    ) as d
    left join lateral (
        -- A subquery: in the join, the condition would be tested after the call.
        select f.since, f.changed_in
        from _pgrag.history_of(h.library_id, h.document_id) as f
        where (request).history
        offset 0
    ) as y on true
    order by h.ordinality;
$$;

-- A passage with the names of where it is, and what is around its section: whether there are
-- sections below it, the sections before and after it in reading order, whatever their level, and
-- the nearest ten on each side under the same parent. It reads eight tables: a barrier with the
-- rights of its owner, so that the caller's grants are checked once.
create or replace view _pgrag.passages_in_place with (security_barrier) as
select
    d.library_id, d.document_id, d.version_id, d.page_id,
    -- Subqueries, because the more tables a join has, the longer its planning takes.
    (select l.name from pgrag.libraries as l where l.library_id = d.library_id) as library,
    (
        select v.label
        from pgrag.versions as v
        where v.library_id = d.library_id and v.version_id = d.version_id
    ) as version,
    p.key, p.url, p.link, p.title, d.path, d.level, d.heading, d.anchor, d.types, d.sort_order,
    d.line_start, d.line_end, d.language, d.content,
    -- In reading order the first section below follows at once.
    coalesce(following.parent_id = s.document_id, false) as has_children,
    (
        select before.document_id
        from pgrag.documents as before
        where before.library_id = s.library_id
            and before.page_id = s.page_id
            and before.sort_order < s.sort_order
            and before.level = 1
        order by before.sort_order desc
        limit 1
    ) as previous_section,
    following.document_id as next_section,
    coalesce(
        beside.ids[greatest(beside.nth - 10, 1):beside.nth - 1]
            || beside.ids[beside.nth + 1:beside.nth + 10],
        '{}'
    ) as sibling_sections
from pgrag.documents as d
join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
left join pgrag.documents as s
    on s.library_id = d.library_id
    and s.document_id = case d.level when 2 then d.parent_id else d.document_id end
left join lateral (
    select after.document_id, after.parent_id
    from pgrag.documents as after
    where after.library_id = s.library_id
        and after.page_id = s.page_id
        and after.sort_order > s.sort_order
        and after.level = 1
    order by after.sort_order
    limit 1
) as following on true
left join lateral (
    select b.ids, array_position(b.ids, s.document_id) as nth
    from (
        select array_agg(c.document_id order by c.sort_order) as ids
        from pgrag.documents as c
        where c.library_id = s.library_id and c.parent_id = s.parent_id and c.level = 1
    ) as b
) as beside on s.level = 1
where (
        d.library_id = any ((
            select case
                when row_security_active('pgrag.documents') then _pgrag.visible_libraries()
            end
        )::bigint[])
    ) is not false;

comment on view _pgrag.passages_in_place is
    'Passages with the names of where they are, and the sections around theirs.';
