-- A query of filters alone has nothing to rank, so matches are listed in the order in which they
-- were first indexed: one row per page, its first passage (of the requested levels), or, if the
-- filters name fields of passages, one row per passage.
create or replace function _pgrag.matching_hits(
    request _pgrag.search_request
)
returns _pgrag.listing
language plpgsql
stable
parallel safe
as $$
declare
    target _pgrag.search_target := request.target;
    most integer := case
        when request.unit = 'page' or request.page_hits is not null then 1
        else request.max_per_page
    end;
    last_page_id bigint;
    listing _pgrag.listing := ('{}', '[]', '{}', '{}');
begin
    if request.min_score > 1 then
        return listing;
    elsif target.allowed_documents is not null then
        listing.hits := array(
            select row(
                d.library_id, d.document_id, d.page_id, 1, null, null, null, null, null, null,
                null, 1, null, null, null, null
            )::_pgrag.ranked_hit
            from (
                select
                    d.library_id, d.document_id, d.page_id,
                    row_number() over (partition by d.page_id order by d.document_id)
                        as rank_on_page
                from pgrag.documents as d
                where d.library_id = any (target.library_ids)
                    and d.document_id = any (target.allowed_documents)
                    and (request.collapse or d.covers & target.covers <> 0)
                    and d.document_id <> all (coalesce(target.denied_documents, '{}'))
            ) as d
            where (most is null or d.rank_on_page <= most)
                and d.document_id > coalesce(request.after_id, 0)
            order by d.document_id
            limit request.top_k
        );
    else
        last_page_id := (
            select d.page_id
            from pgrag.documents as d
            where d.library_id = any (target.library_ids) and d.document_id = request.after_id
        );
        listing.hits := array(
            select row(
                p.library_id, d.document_id, p.page_id, 1, null, null, null, null, null, null,
                null, 1, null, null, null, null
            )::_pgrag.ranked_hit
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
                and p.page_id > coalesce(last_page_id, 0)
            order by p.page_id
            limit request.top_k
        );
    end if;
    listing.cursors := _pgrag.cursors(
        listing.hits, request.candidate_count, request.candidate_count
    );
    return listing;
end;
$$;
