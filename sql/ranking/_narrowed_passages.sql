-- What score_documents reads of a target with filters or many versions, or for callers whom
-- row-level security restricts.
create or replace function _pgrag.narrowed_passages(
    library_ids bigint[],
    vectors sparsevec[],
    posting_ids bigint[],
    target _pgrag.search_target,
    candidate_count integer,
    postings bigint,
    known_ids bigint[],
    beside bigint[]
)
returns table (
    library_id bigint,
    document_id bigint,
    version_id bigint,
    sort_order integer,
    text_hash uuid,
    score double precision
)
language plpgsql
stable
parallel safe
as $$
#variable_conflict use_column
declare
    version_ids constant bigint[] := target.version_ids;
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
begin
    if by_barrier then
        -- Assigned: perform would run a statement.
        narrowing := set_config('pgrag.narrowing_versions', version_ids::text, true);
        narrowing := set_config('pgrag.narrowing_lexemes', posting_ids::text, true);
        narrowing := set_config(
            'pgrag.lexemes_beside', coalesce(beside, posting_ids)::text, true
        );
        if num_nulls(allowed_pages, allowed_documents, denied_documents) = 3 then
            return query
            select
                i.library_id, i.document_id, i.version_id, i.sort_order, i.text_hash,
                coalesce(-(
                    i.weights <#> coalesce(
                        only_vector, vectors[array_position(library_ids, i.library_id)]
                    )
                ), 0) as score
            from _pgrag.matching_impacts as i
            where i.covers & mask <> 0
                and (
                    known_ids is null
                    or i.document_id not in (select k.id from unnest(known_ids) as k (id))
                )
            order by score desc
            fetch first (candidate_count) rows with ties;
            return;
        end if;
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
    -- One statement, whose plan is kept; each time, it reads one or two of its sources.
    return query
    select
        i.library_id, i.document_id, i.version_id, i.sort_order, i.text_hash,
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
        -- Subqueries are hashed: see score_documents.
        and (
            known_ids is null
            or i.document_id not in (select k.id from unnest(known_ids) as k (id))
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
            or i.document_id not in (select d.id from unnest(denied_documents) as d (id))
        )
    order by score desc
    fetch first (candidate_count) rows with ties;
end;
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
