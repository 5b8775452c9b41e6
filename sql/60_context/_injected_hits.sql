-- What a kind of question also wants to see: the best documents on pages of certain types. The
-- request is the one of the first search, narrowed to those pages: nothing is prepared again, and
-- only as many as are wanted are certain to be the best of the keyword arm.
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
    keyword_hits pgrag.candidates := ('{}', '{}', '{}', null);
    vector_hits pgrag.candidates := ('{}', '{}', '{}', null);
    least_score double precision := greatest(
        request.min_score, share * (select max(h.score) from unnest(hits) as h)
    );
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
    -- As deep as it takes to get past the hits.
    narrowed.candidate_count := least(20 + 2 * wanted + cardinality(hits), 20000);
    if exists (select from unnest(request.queries) as q where q.alpha < 1) then
        keyword_hits := pgrag._keyword_candidates(
            narrowed.terms, narrowed.target, narrowed.candidate_count, wanted
        );
    end if;
    if exists (select from unnest(request.queries) as q where q.alpha > 0) then
        vector_hits := pgrag._nearest_by_models(narrowed);
    end if;
    return query
    select
        b.library_id, b.document_id, b.page_id, b.score, b.keyword_score, b.semantic_score,
        b.passage_score, b.page_score, b.keyword_rank, b.semantic_rank, b.section_score, b.score,
        null::jsonb
    from (
        select distinct on (f.page_id) f.*
        from pgrag._fuse(narrowed, keyword_hits, vector_hits) as f
        where f.score > 0
            and f.score >= least_score
            -- What is read already is read.
            and f.page_id not in (select h.page_id from unnest(hits) as h)
        order by f.page_id, f.score desc, f.document_id
    ) as b
    order by b.score desc, b.document_id
    limit wanted;
end;
$$;
