-- What a kind of question also wants to see: the best documents on pages of certain types. The
-- request is the one of the first search, narrowed to those pages: nothing is prepared again.
create or replace function pgrag._injected_hits(
    request pgrag.search_request,
    hits pgrag.ranked_hit[],
    types jsonb,
    wanted integer,
    share double precision
)
returns setof pgrag.ranked_hit
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    narrowed pgrag.search_request := request;
    target pgrag.search_target := request.target;
begin
    if wanted = 0 or types = '[]' or request.words = '' then
        return;
    end if;
    select array_agg(p.page_id), coalesce(sum(p.document_count), 0)
    into target.allowed_pages, target.document_count
    from pgrag.pages as p
    where p.library_id = any (target.library_ids)
        and p.version_id = any (target.version_ids)
        and lower(p.type) = any (
            array(select lower(btrim(t)) from jsonb_array_elements_text(types) as t)
        )
        and (
            (request.target).allowed_pages is null
            or p.page_id = any ((request.target).allowed_pages)
        );
    if target.allowed_pages is null then
        return;
    end if;
    narrowed.target := target;
    narrowed.match_count := wanted;
    narrowed.max_per_page := 1;
    -- As deep as it takes to get past the hits.
    narrowed.candidate_count := least(20 + 2 * wanted + cardinality(hits), 20000);
    narrowed.min_score := greatest(
        request.min_score, share * (select max(h.score) from unnest(hits) as h)
    );
    return query
    select h.*
    from unnest(
        (
            pgrag._rank(narrowed, array(select h.document_id from unnest(hits) as h), wanted)
        ).hits
    ) as h;
end;
$$;
