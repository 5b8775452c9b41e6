-- The passages that an intent injects: the best on pages of certain types without a hit, ranked
-- among themselves. The request of the first search is reused, narrowed to those pages.
create or replace function _pgrag.injected_passages(
    request _pgrag.search_request,
    hits _pgrag.ranked_hit[],
    arguments jsonb
)
returns pgrag.passage[]
language plpgsql
stable
parallel safe
as $$
declare
    types constant text[] := array(
        select lower(btrim(t)) from jsonb_array_elements_text(arguments -> 'inject_types') as t
    );
    hit_count constant integer := arguments ->> 'inject_count';
    narrowed _pgrag.search_request := request;
    keyword_hits _pgrag.candidates := ('{}', '{}', '{}', null);
    vector_hits _pgrag.candidates := ('{}', '{}', '{}', null);
    target _pgrag.search_target := request.target;
begin
    if hit_count = 0 or types = '{}' or request.words = '' then
        return '{}';
    end if;
    select array_agg(p.page_id), coalesce(sum(p.document_count), 0)
    into target.allowed_pages, target.document_count
    from pgrag.pages as p
    where p.library_id = any (target.library_ids)
        and p.version_id = any (target.version_ids)
        and lower(p.type) = any (types)
        and (
            (request.target).allowed_pages is null
            or p.page_id = any ((request.target).allowed_pages)
        );
    if target.allowed_pages is null then
        return '{}';
    end if;
    narrowed.target := target;
    -- Deep enough to get past the hits.
    narrowed.candidate_count := least(20 + 2 * hit_count + cardinality(hits), 20000);
    if exists (select from unnest(request.queries) as q where q.alpha < 1) then
        keyword_hits := _pgrag.keyword_candidates(
            narrowed.terms, narrowed.target, narrowed.candidate_count,
            least(hit_count + cardinality(hits), narrowed.candidate_count)
        );
    end if;
    if exists (select from unnest(request.queries) as q where q.alpha > 0) then
        vector_hits := _pgrag.nearest_by_models(
            narrowed, is_alone => keyword_hits.document_ids = '{}'
        );
    end if;
    return array(
        select p
        from (
            select distinct on (f.page_id) f.*
            from unnest(_pgrag.fuse(narrowed, keyword_hits, vector_hits)) as f
            where f.score > 0
                and f.score >= narrowed.min_score
                -- Pages of the hits are in the context already.
                and f.page_id not in (select h.page_id from unnest(hits) as h)
            order by f.page_id, f.score desc, f.document_id
        ) as b
        cross join lateral _pgrag.passage(
            b.library_id, b.document_id, 'injected', null, b.score
        ) as p
        order by b.score desc, b.document_id
        limit hit_count
    );
end;
$$;
