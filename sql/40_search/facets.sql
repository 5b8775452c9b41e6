-- What the pages found are, counted: every value is a filter that would narrow the search to it.
create or replace function pgrag.facets(
    query text default null,
    library text default null,
    version text default null,
    filters jsonb default null,
    value_count integer default 20,
    match_count integer default 200,
    alpha double precision default null,
    min_score double precision default 0,
    levels integer[] default null,
    query_embedding halfvec default null,
    model text default null
)
returns table (
    facet text,
    value text,
    page_count bigint
)
language plpgsql
stable
parallel restricted
rows 50
set search_path from current
as $$
#variable_conflict use_column
declare
    request pgrag.search_request;
    target pgrag.search_target;
    document_ids bigint[];
begin
    if (facets.value_count between 1 and 10000) is not true then
        raise exception 'value_count must be 1 to 10000, got %.',
            coalesce(facets.value_count::text, 'null')
            using errcode = 'PGR01';
    end if;
    if coalesce(facets.query, '') ~ '\S' then
        request := pgrag._search_request(
            query => facets.query, library => facets.library, version => facets.version,
            match_count => facets.match_count, filters => facets.filters, alpha => facets.alpha,
            min_score => facets.min_score, levels => facets.levels,
            query_embedding => facets.query_embedding, model => facets.model,
            unit => 'document', hierarchy => 'none', graph => false
        );
        target := request.target;
    else
        target := pgrag._filtered_target(
            facets.library, facets.version, facets.filters, facets.levels
        );
    end if;

    -- Where there is nothing to rank, all that fits is counted.
    document_ids := case
        when coalesce(request.words, '') <> ''
        then array(
            select h.document_id from unnest((pgrag._list_hits(request)).hits) as h
        )
        else target.allowed_documents
    end;
    return query
    select c.facet, c.value, c.page_count
    from pgrag._count_facets(
        target.library_ids, target.version_ids, target.allowed_pages, document_ids
    ) as c
    where c.place <= facets.value_count
    order by c.facet_place, c.page_count desc, c.value;
end;
$$;

comment on function pgrag.facets(text, text, text, jsonb, integer, integer, double precision, double precision, integer[], halfvec, text) is
'Counts what a search finds: (facet, value, page_count), the most frequent values of each facet
first, at most value_count of each. Facets are named like the filters that they lead to: library,
version, topic, type, tags, language, content_tags. Counted are the pages of the best match_count
hits of pgrag.search with the same query, library, version, filters, alpha, min_score, levels,
query_embedding and model; without a query, or with one of filters alone, all pages that fit.
content_tags are those of the documents found, so they come with a query or with a filter on
documents. The filters given hold for every facet, their own included: to offer alternatives to a
value that was chosen, ask once more without its filter. Errors: PGR01 value_count, and those of
pgrag.search.';

-- The scope and the filters of a search that has no query.
create or replace function pgrag._filtered_target(
    library text,
    version text,
    filters jsonb,
    levels integer[]
)
returns pgrag.search_target
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    wanted_version text := pgrag._wanted_version(version, filters, null);
    scope record;
begin
    if not levels <@ '{0, 1, 2}' or cardinality(levels) = 0 then
        raise exception 'levels must be of 0, 1 and 2, got %.', levels using errcode = 'PGR01';
    end if;
    select
        coalesce(array_agg(distinct s.library_id), '{}') as library_ids,
        coalesce(array_agg(s.version_id), '{}') as version_ids,
        coalesce(sum(s.document_count), 0)::bigint as document_count
    into scope
    from pgrag.search_scope(pgrag._wanted_libraries(library, filters, null), wanted_version) as s;
    return pgrag._search_target(
        scope.library_ids,
        scope.version_ids,
        scope.document_count,
        wanted_version is not distinct from '*',
        (select bit_or(1 << l) from unnest(coalesce(levels, '{1, 2}')) as l),
        pgrag._conjunction(filters, null),
        '{}',
        '{}'
    );
end;
$$;

-- All facets in one pass over the pages: those of the documents (null: not limited by documents)
-- that are among the pages allowed (null: all of these versions).
create or replace function pgrag._count_facets(
    library_ids bigint[],
    version_ids bigint[],
    page_ids bigint[],
    document_ids bigint[]
)
returns table (
    facet text,
    facet_place integer,
    value text,
    page_count bigint,
    place bigint
)
language plpgsql
stable
parallel safe
set search_path from current
set jit = off
as $$
#variable_conflict use_column
declare
    tagged jsonb;
begin
    if document_ids is not null then
        with found_documents as materialized (
            select d.page_id, d.content_tags
            from pgrag.documents as d
            where d.library_id = any (_count_facets.library_ids)
                and d.document_id = any (_count_facets.document_ids)
        )
        select
            (select array_agg(distinct f.page_id) from found_documents as f),
            (
                select jsonb_object_agg(c.tag, c.page_count)
                from (
                    select u.tag, count(distinct f.page_id) as page_count
                    from found_documents as f
                    cross join lateral unnest(f.content_tags) as u (tag)
                    group by u.tag
                ) as c
            )
        into page_ids, tagged;
        page_ids := coalesce(page_ids, '{}');
    end if;
    return query execute format(
        $sql$
        with scoped as materialized (
            select p.library_id, p.page_id, p.version_id, p.topic, p.type, p.language, p.tags
            from pgrag.pages as p
            where p.library_id = any ($1) and p.version_id = any ($2) %s
        ),
        -- The pages of a version differ in little but their tags: few rows are grouped five ways.
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
                end as facet_place,
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
                c.facet_place,
                case c.facet_place when 1 then l.name when 2 then v.label else c.value end
                    as value,
                -- Libraries may have versions of the same name.
                sum(c.page_count)::bigint as page_count
            from counted as c
            left join pgrag.libraries as l on l.library_id = c.library_id
            left join pgrag.versions as v
                on v.library_id = any ($1) and v.version_id = c.version_id
            group by 1, 2
        )
        select
            ('{library,version,topic,type,tags,language,content_tags}'::text[])[n.facet_place],
            n.facet_place,
            n.value,
            n.page_count,
            row_number() over (
                partition by n.facet_place order by n.page_count desc, n.value
            )
        from named as n
        where n.value is not null
        $sql$,
        case when page_ids is not null then 'and p.page_id = any ($3)' end
    )
    using library_ids, version_ids, page_ids, tagged;
end;
$$;
