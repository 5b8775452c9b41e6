create or replace function pgrag.facets(
    query text default null,
    library text default null,
    version text default null,
    filters jsonb default null,
    value_count integer default 20,
    top_k integer default 200,
    query_embedding halfvec default null,
    options jsonb default '{}'
)
returns table (
    facet text,
    value text,
    page_count bigint
)
language plpgsql
stable
parallel unsafe
rows 50
set search_path from current
set jit = off
as $$
#variable_conflict use_column
declare
    request _pgrag.search_request := _pgrag.make_request(
        query,
        '{"graph": false}' || _pgrag.search_document('facets', options, (
            select to_jsonb(a) from (select library, version, top_k, filters, value_count) as a
        )),
        query_embedding,
        needs_words => false
    );
    target constant _pgrag.search_target := request.target;
    document_ids bigint[] := target.allowed_documents;
    page_ids bigint[] := target.allowed_pages;
    denied_pages bigint[];
    tagged jsonb;
begin
    -- Without words to rank, all pages that pass the filters are counted.
    if request.words <> '' then
        -- Pages count, also those of which every text is elsewhere, too.
        request.collapse := false;
        document_ids := array(
            select h.document_id from unnest((_pgrag.unjudged_hits(request)).hits) as h
        );
    elsif document_ids is not null then
        document_ids := array(
            select unnest(document_ids) except select unnest(target.denied_documents)
        );
    end if;
    if document_ids is null then
        -- Without the pages whose passages are all denied.
        denied_pages := (
            select array_agg(p.page_id)
            from (
                select d.library_id, d.page_id, count(*) as document_count
                from unnest(target.denied_documents) as i (document_id)
                join pgrag.documents as d
                    on d.library_id = any (target.library_ids)
                    and d.document_id = i.document_id
                    and d.covers & target.covers <> 0
                group by d.library_id, d.page_id
            ) as p
            where p.document_count = (
                select count(*)
                from pgrag.documents as d
                where d.library_id = p.library_id
                    and d.page_id = p.page_id
                    and d.covers & target.covers <> 0
            )
        );
    else
        with counted_documents as materialized (
            select d.page_id, d.content_tags
            from pgrag.documents as d
            where d.library_id = any (target.library_ids) and d.document_id = any (document_ids)
        )
        select
            coalesce((select array_agg(distinct f.page_id) from counted_documents as f), '{}'),
            (
                select jsonb_object_agg(c.tag, c.page_count)
                from (
                    select u.tag, count(distinct f.page_id) as page_count
                    from counted_documents as f
                    cross join lateral unnest(f.content_tags) as u (tag)
                    group by u.tag
                ) as c
            )
        into page_ids, tagged;
    end if;
    -- All facets in one pass over the pages.
    return query execute format(
        $sql$
        with scoped as materialized (
            select
                p.library_id, p.page_id, p.version_id, p.topic, p.type, p.tags,
                p.language_code as language
            from pgrag.pages as p
            where p.library_id = any ($1) and p.version_id = any ($2) %s
        ),
        -- Pages of a version differ mostly in their tags, so few rows enter the grouping sets.
        alike as (
            select
                s.library_id, s.version_id, s.topic, s.type, s.language, count(*) as page_count
            from scoped as s
            group by s.library_id, s.version_id, s.topic, s.type, s.language
        ),
        counted as (
            select
                case grouping(s.library_id, s.version_id, s.topic, s.type, s.language)
                    when 15 then 1 when 23 then 2 when 27 then 3 when 29 then 4 else 6
                end as facet_number,
                s.library_id,
                s.version_id,
                coalesce(s.topic, s.type, s.language) as value,
                sum(s.page_count) as page_count
            from alike as s
            group by grouping sets (
                (s.library_id), (s.version_id), (s.topic), (s.type), (s.language)
            )
            union all
            select 5, null, null, u.tag, count(*)
            from (select unnest(s.tags) as tag from scoped as s) as u
            group by u.tag
            union all
            select 7, null, null, t.key, t.value::bigint
            from jsonb_each_text($4) as t
        ),
        named as (
            select
                c.facet_number,
                case c.facet_number when 1 then l.name when 2 then v.label else c.value end
                    as value,
                -- Versions of different libraries may have the same label.
                sum(c.page_count)::bigint as page_count
            from counted as c
            left join pgrag.libraries as l on l.library_id = c.library_id
            left join pgrag.versions as v
                on v.library_id = any ($1) and v.version_id = c.version_id
            group by 1, 2
        )
        select
            ('{library,version,topic,type,tags,language,content_tags}'::text[])[r.facet_number],
            r.value, r.page_count
        from (
            select
                n.*,
                row_number() over (partition by n.facet_number order by n.page_count desc, n.value)
                    as rank
            from named as n
            where n.value is not null
        ) as r
        where r.rank <= $6
        order by r.facet_number, r.page_count desc, r.value
        $sql$,
        concat(
            case when page_ids is not null then 'and p.page_id = any ($3)' end,
            case when denied_pages is not null then ' and p.page_id <> all ($5)' end
        )
    )
    using target.library_ids, target.version_ids, page_ids, tagged, denied_pages, value_count;
end;
$$;

comment on function pgrag.facets is
'Counts the pages that a search finds: (facet, value, page_count), at most value_count values of
each facet, the most frequent first. A facet has the name of its filter: library, version, topic,
type, tags, language, content_tags. The pages are those of the best top_k hits of pgrag.search with
the same query, library, version, filters, alpha, min_score, levels, query_embedding and model;
without a query, or with filters only, all matching pages. content_tags come from the passages
found, so they need a query or a filter on passages. The filters apply to every facet, including
their own: to offer alternatives to a chosen value, call the function again without its filter.
Errors: PGR01 value_count, and those of pgrag.search.';
