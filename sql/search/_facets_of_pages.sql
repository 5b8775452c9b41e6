-- Counts over all pages that pass the filters of a request without words; see facets_of_hits.
create or replace function _pgrag.facets_of_pages(
    request _pgrag.search_request,
    chosen jsonb
)
returns table (
    facet text,
    value text,
    page_count bigint,
    passage_count bigint,
    is_exact boolean
)
language plpgsql
stable
parallel safe
rows 50
as $$
#variable_conflict use_column
declare
    target constant _pgrag.search_target := request.target;
    denied constant bigint[] := coalesce(target.denied_documents, '{}');
    page_ids bigint[];
    -- Passages are listed where the filters name passages, else pages.
    passages bigint;
    tagged jsonb;
begin
    if target.allowed_documents is null then
        page_ids := array(
            select p.page_id
            from pgrag.pages as p
            where p.library_id = any (target.library_ids)
                and p.version_id = any (target.version_ids)
                and (target.allowed_pages is null or p.page_id = any (target.allowed_pages))
                -- Not the pages whose passages are all excluded.
                and (
                    request.collapse and denied = '{}'
                    or exists (
                        select
                        from pgrag.documents as d
                        where d.library_id = p.library_id
                            and d.page_id = p.page_id
                            and d.document_id <> all (denied)
                            and (request.collapse or d.covers & target.covers <> 0)
                    )
                )
        );
        passages := cardinality(page_ids);
    end if;
    -- All passages are read only where somebody asks for what they hold.
    if target.allowed_documents is not null or chosen ? 'content_tags' then
        with found as materialized (
            select d.page_id, d.content_tags
            from pgrag.documents as d
            where d.library_id = any (target.library_ids)
                and (
                    d.document_id = any (target.allowed_documents)
                    -- As a filter on passages finds them.
                    or target.allowed_documents is null
                    and d.page_id = any (page_ids)
                    and d.covers & target.covers <> 0
                )
                and d.document_id <> all (denied)
                and (request.collapse or d.covers & target.covers <> 0)
        )
        select
            coalesce(page_ids, (select array_agg(distinct f.page_id) from found as f)),
            coalesce(passages, (select count(*) from found as f)),
            (
                select jsonb_agg(t)
                from (
                    select
                        min(u.tag) as value, count(distinct f.page_id) as page_count,
                        count(*) as passage_count
                    from found as f
                    cross join lateral unnest(f.content_tags) as u (tag)
                    group by lower(u.tag)
                ) as t
            )
        into page_ids, passages, tagged;
    end if;
    return query
    select 'total', '', coalesce(cardinality(page_ids), 0)::bigint, passages, true
    union all
    select v.facet, min(v.value), count(*), count(*), true
    from _pgrag.facet_values(target.library_ids, page_ids, chosen) as v
    group by v.facet, v.folded
    union all
    select 'content_tags', t.value, t.page_count, t.passage_count, true
    from jsonb_to_recordset(coalesce(tagged, '[]'))
        as t (value text, page_count bigint, passage_count bigint);
end;
$$;
