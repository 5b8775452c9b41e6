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
    only_vector constant sparsevec := case when cardinality(vectors) = 1 then vectors[1] end;
    -- Most searches read the index alone; what else there is, is planned where it is needed.
    is_plain constant boolean := num_nulls(
            target.allowed_pages, target.allowed_documents, target.denied_documents
        ) = 3
        and cardinality(version_ids) <= 8
        and not row_security_active('pgrag.impacts');
    keys bigint[];
    keys_beside bigint[];
    best _pgrag.best_passages;
begin
    if is_plain then
        keys := _pgrag.query_keys(version_ids, posting_ids);
        keys_beside := case
            when beside is null then keys else _pgrag.query_keys(version_ids, beside)
        end;
    elsif _pgrag.scores_all(target, postings) then
        -- All of them are scored anew.
        known := null;
    end if;
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
                (
                    select
                        i.library_id, i.document_id, i.version_id, i.sort_order, i.text_hash,
                        -- A library without any of the terms has no vector. Its passages come only
                        -- if two lexemes share an id, and null would be before every score.
                        coalesce(-(
                            i.weights <#> coalesce(
                                only_vector, vectors[array_position(library_ids, i.library_id)]
                            )
                        ), 0) as score
                    from pgrag.impacts as i
                    where is_plain
                        and _pgrag.posting_keys(i.version_id, i.weights) && keys
                        and _pgrag.posting_keys(i.version_id, i.weights) && keys_beside
                        and i.covers & mask <> 0
                        -- Hashed; "= any" of a parameter would read the array for each row.
                        and (
                            known.document_ids is null
                            or i.document_id not in (
                                select k.id from unnest(known.document_ids) as k (id)
                            )
                        )
                    -- With ties: only the best are ordered further, which is slow for thousands.
                    order by score desc
                    fetch first (candidate_count) rows with ties
                )
                union all
                select n.*
                from _pgrag.narrowed_passages(
                    library_ids, vectors, posting_ids, target, candidate_count, postings,
                    known.document_ids, beside
                ) as n
                where not is_plain
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
