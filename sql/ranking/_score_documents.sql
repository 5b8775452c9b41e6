-- The best of the passages in one of these posting lists (and, if given, in one of those `beside`
-- them) and of those known already, scored with all terms.
create or replace function _pgrag.score_documents(
    terms pgrag.query_term[],
    posting_ids bigint[],
    target _pgrag.search_target,
    candidate_count integer,
    postings bigint default null,
    known bigint[] default null,
    beside bigint[] default null
)
returns _pgrag.candidates
language plpgsql
stable
parallel safe
as $$
declare
    -- A passage without any term scores 0.
    by_ids boolean := _pgrag.scores_all(target, postings);
    -- Whether the index is reached through a barrier: see matching_impacts.
    by_barrier boolean := not by_ids and row_security_active('pgrag.impacts');
    narrowing text;
    is_wide boolean := not by_ids and not by_barrier and _pgrag.is_wide(target);
    version_ids bigint[] := target.version_ids;
    has_versions boolean := cardinality(version_ids) > 1;
    mask integer := target.covers;
    allowed_pages bigint[] := target.allowed_pages;
    allowed_documents bigint[] := target.allowed_documents;
    denied_documents bigint[] := target.denied_documents;
    ids_beside constant bigint[] := coalesce(beside, posting_ids);
    key_versions bigint[];
    keys bigint[];
    keys_beside bigint[];
    -- Read by their ids, or those of their pages.
    listed bigint[] := known;
    listed_pages bigint[];
    library_ids bigint[];
    vectors sparsevec[];
    only_vector sparsevec;
    best _pgrag.candidates;
begin
    select v.library_ids, v.vectors into library_ids, vectors from _pgrag.query_vectors(terms) as v;
    if cardinality(vectors) = 1 then
        only_vector := vectors[1];
    end if;
    if not by_ids then
        if by_barrier then
            -- Assigned: perform would run a statement.
            narrowing := set_config('pgrag.narrowing_versions', version_ids::text, true);
            narrowing := set_config('pgrag.narrowing_lexemes', posting_ids::text, true);
            narrowing := set_config('pgrag.lexemes_beside', ids_beside::text, true);
        else
            key_versions := case when is_wide then '{0}' else version_ids end;
            keys := _pgrag.query_keys(key_versions, posting_ids);
            keys_beside := case
                when beside is null then keys
                else _pgrag.query_keys(key_versions, ids_beside)
            end;
        end if;
    elsif allowed_documents is null then
        listed := null;
        listed_pages := allowed_pages;
        allowed_pages := null;
    else
        listed := allowed_documents;
        allowed_documents := null;
    end if;
    -- One statement, whose plan is kept; each time, it reads one or two of its four sources.
    select
        coalesce(array_agg(h.library_id order by h.score desc, h.document_id), '{}'),
        coalesce(array_agg(h.document_id order by h.score desc, h.document_id), '{}'),
        coalesce(array_agg(h.score order by h.score desc, h.document_id), '{}')
    into best.library_ids, best.document_ids, best.scores
    from (
        select f.library_id, f.document_id, f.score
        from (
            select
                i.library_id, i.document_id, i.version_id, i.sort_order, i.text_hash,
                -- A library without any of the terms has no vector: no score.
                -(
                    i.weights
                    <#> coalesce(only_vector, vectors[array_position(library_ids, i.library_id)])
                ) as score
            from (
                select i.*, false as is_listed
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
                select i.*, false
                from _pgrag.matching_impacts as i
                where by_barrier
                union all
                select i.*, true
                from pgrag.impacts as i
                where listed is not null
                    and i.library_id = any (library_ids)
                    and i.document_id = any (listed)
                union all
                select i.*, true
                from pgrag.impacts as i
                where listed_pages is not null
                    and i.library_id = any (library_ids)
                    and i.page_id = any (listed_pages)
            ) as i
            where i.covers & mask <> 0
                -- Those that are known may be in the index, too.
                and (
                    known is null
                    or i.is_listed
                    or i.document_id not in (select k.id from unnest(known) as k (id))
                )
                -- Subqueries are hashed; "= any" of a parameter reads the array for each row.
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
                    or i.document_id not in (select d.id from unnest(denied_documents) as d (id))
                )
            -- With ties: only the best are ordered further, which is slow for thousands.
            order by score desc
            fetch first (candidate_count) rows with ties
        ) as f
        -- As fuse orders equal scores: an id only says when a passage was written.
        order by
            f.score desc,
            case when has_versions then array_position(version_ids, f.version_id) end,
            f.sort_order, f.text_hash, f.document_id
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
