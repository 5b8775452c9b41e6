-- The best of the passages in one of these posting lists (and, if given, in one of those `beside`
-- them) and of those known already, scored with all terms: vectors[n] is the query as the passages
-- of library_ids[n] are compared with it.
create or replace function _pgrag.score_documents(
    library_ids bigint[],
    vectors sparsevec[],
    posting_ids bigint[],
    target _pgrag.search_target,
    candidate_count integer,
    postings bigint default null,
    known _pgrag.best_passages default null,
    beside bigint[] default null
)
returns _pgrag.best_passages
language plpgsql
stable
parallel safe
as $$
declare
    version_ids constant bigint[] := target.version_ids;
    has_versions constant boolean := cardinality(version_ids) > 1;
    mask constant integer := target.covers;
    denied_documents constant bigint[] := target.denied_documents;
    only_vector constant sparsevec := case when cardinality(vectors) = 1 then vectors[1] end;
    allowed_pages bigint[] := target.allowed_pages;
    allowed_documents bigint[] := target.allowed_documents;
    by_ids constant boolean := _pgrag.scores_all(target, postings);
    -- Whether the index is reached through a barrier: see matching_impacts.
    by_barrier constant boolean := not by_ids and row_security_active('pgrag.impacts');
    narrowing text;
    is_wide boolean := false;
    keys bigint[];
    keys_beside bigint[];
    -- Read by their ids, or those of their pages.
    listed bigint[];
    listed_pages bigint[];
    best _pgrag.best_passages;
begin
    if by_ids then
        -- All of them are scored anew.
        known := null;
    end if;
    if by_barrier then
        -- Assigned: perform would run a statement.
        narrowing := set_config('pgrag.narrowing_versions', version_ids::text, true);
        narrowing := set_config('pgrag.narrowing_lexemes', posting_ids::text, true);
        narrowing := set_config(
            'pgrag.lexemes_beside', coalesce(beside, posting_ids)::text, true
        );
    elsif not by_ids then
        is_wide := cardinality(version_ids) > 8 and _pgrag.is_wide(target);
        keys := _pgrag.query_keys(case when is_wide then '{0}' else version_ids end, posting_ids);
        keys_beside := case
            when beside is null then keys
            else _pgrag.query_keys(case when is_wide then '{0}' else version_ids end, beside)
        end;
    elsif allowed_documents is null then
        listed_pages := allowed_pages;
        allowed_pages := null;
    else
        listed := allowed_documents;
        allowed_documents := null;
    end if;
    -- One statement, whose plan is kept; each time, it reads one or two of its five sources.
    select
        coalesce(array_agg(h.library_id order by h.nth), '{}'),
        coalesce(array_agg(h.document_id order by h.nth), '{}'),
        coalesce(array_agg(h.score order by h.nth), '{}'),
        coalesce(array_agg(h.reading_order order by h.nth), '{}'),
        coalesce(array_agg(h.text_hash order by h.nth), '{}')
    into
        best.library_ids, best.document_ids, best.scores, best.reading_orders, best.text_hashes
    from (
        select
            f.*,
            row_number() over (
                -- As fuse orders equal scores: an id only says when a passage was written.
                order by f.score desc, f.reading_order, f.text_hash, f.document_id
            ) as nth
        from (
            select
                b.library_id, b.document_id, b.score, b.text_hash,
                coalesce(
                    case when has_versions then array_position(version_ids, b.version_id) end, 0
                )::bigint << 32 | b.sort_order as reading_order
            from (
                select
                    i.library_id, i.document_id, i.version_id, i.sort_order, i.text_hash,
                    -- A library without any of the terms has no vector. Its passages come only if
                    -- two lexemes share an id, and null would be before every score.
                    coalesce(-(
                        i.weights <#> coalesce(
                            only_vector, vectors[array_position(library_ids, i.library_id)]
                        )
                    ), 0) as score
                from (
                    select i.*
                    from pgrag.impacts as i
                    where not by_ids
                        and not by_barrier
                        and _pgrag.posting_keys(i.version_id, i.weights) && keys
                        and _pgrag.posting_keys(i.version_id, i.weights) && keys_beside
                        and (
                            not is_wide
                            or i.version_id in (select v.id from unnest(version_ids) as v (id))
                        )
                    union all
                    select i.*
                    from _pgrag.matching_impacts as i
                    where by_barrier
                    union all
                    select i.*
                    from pgrag.impacts as i
                    where listed is not null
                        and i.library_id = any (library_ids)
                        and i.document_id = any (listed)
                    union all
                    select i.*
                    from pgrag.impacts as i
                    where listed_pages is not null
                        and i.library_id = any (library_ids)
                        and i.page_id = any (listed_pages)
                ) as i
                where i.covers & mask <> 0
                    -- Subqueries are hashed; "= any" of a parameter reads the array for each row.
                    and (
                        known.document_ids is null
                        or i.document_id not in (
                            select k.id from unnest(known.document_ids) as k (id)
                        )
                    )
                    and (
                        allowed_pages is null
                        or i.page_id in (select p.id from unnest(allowed_pages) as p (id))
                    )
                    and (
                        allowed_documents is null
                        or i.document_id in (select d.id from unnest(allowed_documents) as d (id))
                    )
                    and (
                        denied_documents is null
                        or i.document_id not in (
                            select d.id from unnest(denied_documents) as d (id)
                        )
                    )
                -- With ties: only the best are ordered further, which is slow for thousands.
                order by score desc
                fetch first (candidate_count) rows with ties
            ) as b
            union all
            select k.library_id, k.document_id, k.score, k.text_hash, k.reading_order
            from unnest(
                known.library_ids, known.document_ids, known.scores, known.reading_orders,
                known.text_hashes
            ) as k (library_id, document_id, score, reading_order, text_hash)
        ) as f
        order by nth
        limit candidate_count
    ) as h
    where h.score > 0;
    return best;
end;
$$;

-- Whether filters allow fewer passages than there are postings: then all of them are scored.
create or replace function _pgrag.scores_all(
    target _pgrag.search_target,
    postings bigint
)
returns boolean
language sql
immutable
parallel safe
as $$
    select coalesce(
        num_nulls((target).allowed_pages, (target).allowed_documents) < 2
            and (target).document_count < postings,
        false
    );
$$;

-- Whether a search reads many versions and most passages: the index is then read without versions,
-- because it would merge the keys of each.
create or replace function _pgrag.is_wide(
    target _pgrag.search_target
)
returns boolean
language plpgsql
stable
parallel safe
as $$
begin
    return cardinality(target.version_ids) > 8 and 2 * target.document_count > (
        select sum(c.document_count) from pgrag.corpus_statistics as c
    );
end;
$$;
