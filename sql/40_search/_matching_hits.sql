-- A query of nothing but filters: there is nothing to rank, so what fits is listed in the order in
-- which it was indexed, page by page, or document by document where the filters are about those.
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
            d.library_id, d.document_id, d.page_id, 1, null, null, null, null, null, null, null,
            null
        )::pgrag.ranked_hit
        from pgrag.documents as d
        where d.library_id = any ((request.target).library_ids)
            and d.version_id = any ((request.target).version_ids)
            and case
                when (request.target).allowed_documents is not null
                then d.document_id = any ((request.target).allowed_documents)
                else d.level = 0 and (
                    (request.target).allowed_pages is null
                    or d.page_id = any ((request.target).allowed_pages)
                )
            end
            and d.document_id <> all (coalesce((request.target).denied_documents, '{}'))
            and d.document_id > coalesce(request.after_id, 0)
            and request.min_score <= 1
        order by d.document_id
        limit request.match_count
    );
    listing.plans := '[]';
    listing.timings := '{}';
    listing.cursors := pgrag._cursors(
        listing.hits, request.candidate_count, request.candidate_count
    );
    return listing;
end;
$$;
