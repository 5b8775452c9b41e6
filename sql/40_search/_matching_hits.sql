-- A query of nothing but filters: there is nothing to rank, so what fits is listed in the order in
-- which it was first indexed: page by page, each shown by its first document (of the levels that
-- were asked for), or, where the filters are about documents, document by document.
create or replace function pgrag._matching_hits(
    request pgrag.search_request
)
returns pgrag.listing
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    listing pgrag.listing;
begin
    listing.hits := array(
        select row(
            m.library_id, m.document_id, m.page_id, 1, null, null, null, null, null, null, null, 1,
            null
        )::pgrag.ranked_hit
        from pgrag._matching(request) as m
        where request.min_score <= 1
    );
    listing.plans := '[]';
    listing.timings := '{}';
    listing.cursors := pgrag._cursors(
        listing.hits, request.candidate_count, request.candidate_count
    );
    return listing;
end;
$$;

create or replace function pgrag._matching(
    request pgrag.search_request
)
returns table (
    library_id bigint,
    document_id bigint,
    page_id bigint
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    target pgrag.search_target := request.target;
    most integer := case
        when request.unit = 'page' then 1
        else request.max_per_page
    end;
    page_before bigint;
begin
    if target.allowed_documents is not null then
        return query
        select f.library_id, f.document_id, f.page_id
        from (
            select
                d.library_id,
                d.document_id,
                d.page_id,
                row_number() over (partition by d.page_id order by d.document_id) as place_on_page
            from pgrag.documents as d
            where d.library_id = any (target.library_ids)
                and d.document_id = any (target.allowed_documents)
                and d.document_id <> all (coalesce(target.denied_documents, '{}'))
        ) as f
        where (most is null or f.place_on_page <= most)
            and f.document_id > coalesce(request.after_id, 0)
        order by f.document_id
        limit request.match_count;
        return;
    end if;

    select d.page_id
    into page_before
    from pgrag.documents as d
    where d.library_id = any (target.library_ids) and d.document_id = request.after_id;
    return query
    select p.library_id, d.document_id, p.page_id
    from pgrag.pages as p
    cross join lateral (
        select o.document_id
        from pgrag.documents as o
        where o.library_id = p.library_id
            and o.page_id = p.page_id
            and (request.collapse or o.covers & target.covers <> 0)
            and o.document_id <> all (coalesce(target.denied_documents, '{}'))
        order by o.sort_order
        limit 1
    ) as d
    where p.library_id = any (target.library_ids)
        and p.version_id = any (target.version_ids)
        and (target.allowed_pages is null or p.page_id = any (target.allowed_pages))
        and p.page_id > coalesce(page_before, 0)
    order by p.page_id
    limit request.match_count;
end;
$$;
