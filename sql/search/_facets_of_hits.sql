-- Counts over the hits of a request, for facets: the pages and passages of each value, as a search
-- with this value as a filter lists them. The value of the total is empty.
create or replace function _pgrag.facets_of_hits(
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
    hits _pgrag.ranked_hit[];
    library_ids bigint[];
    document_ids bigint[];
    has_all boolean;
    page_decay constant double precision := request.page_decay;
begin
    -- What gives way and what is repeated is known for each value only.
    request.keeps_repeats := true;
    request.page_decay := 1;
    hits := (_pgrag.scored_hits(request)).hits;
    library_ids := array(select distinct h.library_id from unnest(hits) as h);
    document_ids := array(select h.document_id from unnest(hits) as h);
    has_all := cardinality(hits) < request.top_k
        -- Confident passages beyond the first candidates are not listed.
        and (
            coalesce(request.min_confidence, 0) = 0
            or (request.target).document_count <= request.candidate_count
        );
    return query
    with found as materialized (
        select
            h.ordinality as nth, coalesce(h.steps[1], h.score) as score,
            coalesce(h.steps[2], h.score) as matched_score, h.hybrid_score as own_score,
            h.library_id,
            i.version_id, h.page_id, i.content_hash, i.level, i.sort_order, i.section_end,
            d.content_tags
        from unnest(hits) with ordinality as h
        -- By array, one descent into the index serves many.
        join pgrag.impacts as i
            on i.library_id = any (library_ids)
            and i.document_id = any (document_ids)
            and i.document_id = h.document_id
        join pgrag.documents as d
            on d.library_id = any (library_ids)
            and d.document_id = any (document_ids)
            and d.document_id = i.document_id
    ),
    -- As fuse has it: a summary gives way to what is below it.
    settled as materialized (
        select
            f.*,
            request.collapse and f.level < 2 and exists (
                select
                from found as b
                where b.page_id = f.page_id
                    and b.level = 2
                    and b.sort_order > f.sort_order
                    and b.sort_order <= f.section_end
            ) as gives_way
        from found as f
    ),
    labelled as (
        select s.*, v.facet, v.name, lower(v.name) as folded
        from settled as s
        cross join (values ('total', '')) as v (facet, name)
        where not s.gives_way
        union all
        select s.*, v.facet, v.value, v.folded
        from settled as s
        join _pgrag.facet_values(
            library_ids,
            array(select distinct f.page_id from found as f),
            chosen
        ) as v on v.page_id = s.page_id
        where not s.gives_way
        union all
        select s.*, 'content_tags', t.tag, lower(t.tag)
        from settled as s
        cross join lateral unnest(s.content_tags) as t (tag)
        -- A passage with the tag has no score of a summary that perhaps lacks it, and a summary
        -- gives way to passages with it.
        where s.own_score >= request.min_score
            and not (s.gives_way and exists (
                select
                from found as b
                where b.page_id = s.page_id
                    and b.level = 2
                    and b.sort_order > s.sort_order
                    and b.sort_order <= s.section_end
                    and b.content_tags @> array[t.tag]
            ))
    ),
    -- The same text of several pages is one result.
    different as (
        select
            l.*,
            row_number() over (
                partition by l.facet, l.folded, l.version_id, l.content_hash order by l.nth
            ) as nth_of_text
        from labelled as l
    ),
    decayed as (
        select p.*, _pgrag.page_share(page_decay, p.better_on_page) as share
        from (
            select
                d.*,
                row_number() over (partition by d.facet, d.folded, d.page_id order by d.nth) - 1
                    as better_on_page
            from different as d
            where d.nth_of_text = 1 or d.content_hash is null or not request.collapse
        ) as p
    ),
    passing as materialized (
        select p.*
        from (
            select
                d.*,
                row_number() over (
                    partition by d.facet, d.folded order by d.score * d.share desc, d.nth
                ) as place
            from decayed as d
        ) as p
        where p.share * case
                when p.place <= _pgrag.compared_count() then p.matched_score else p.score
            end >= request.min_score
    )
    select p.facet, min(p.name), count(distinct p.page_id), count(*), has_all
    from passing as p
    group by p.facet, p.folded
    union all
    select 'total', '', 0, 0, has_all
    where not exists (select from passing);
end;
$$;

-- Each page with the values by which it can be filtered, the chosen ones among them; a value
-- includes the pages of what is below it, as its filter does. folded: values that one filter does
-- not distinguish.
create or replace function _pgrag.facet_values(
    library_ids bigint[],
    page_ids bigint[],
    chosen jsonb
)
returns table (
    page_id bigint,
    facet text,
    value text,
    folded text
)
language sql
stable
parallel safe
rows 1000
as $$
    with here as materialized (
        select
            p.page_id, p.library_id, p.version_id, p.topic, p.type, p.tags, p.language_code,
            string_to_array(p.key, '/') as places
        from pgrag.pages as p
        where p.library_id = any (facet_values.library_ids)
            and p.page_id = any (facet_values.page_ids)
    ),
    -- Read once, not once a page.
    releases as materialized (
        select l.library_id, r.version_id, l.name, r.label
        from pgrag.libraries as l
        join pgrag.versions as r on r.library_id = l.library_id
        where l.library_id = any (facet_values.library_ids)
    ),
    codes as materialized (
        select h.language_code as code from here as h
        union
        select l.code from jsonb_array_elements_text(facet_values.chosen -> 'language') as l (code)
    ),
    -- The depth at which the folders of a library's pages part.
    parting as (
        select l.library_id, min(l.nth) as depth
        from (
            select h.library_id, n as nth
            from here as h
            cross join lateral generate_series(1, cardinality(h.places) - 1) as n
            group by h.library_id, n
            having count(distinct lower(array_to_string(h.places[:n], '/'))) > 1
                or count(*) < (select count(*) from here as o where o.library_id = h.library_id)
        ) as l
        group by l.library_id
    )
    select h.page_id, v.facet, v.value, lower(v.value)
    from here as h
    join releases as r on r.library_id = h.library_id and r.version_id = h.version_id
    left join parting as d on d.library_id = h.library_id
    cross join lateral (
        values
            ('library', r.name), ('version', r.label), ('topic', h.topic), ('type', h.type),
            (
                'path',
                case
                    when d.depth < cardinality(h.places)
                    then '/' || array_to_string(h.places[:d.depth], '/')
                end
            )
    ) as v (facet, value)
    where v.value is not null
    union all
    select distinct h.page_id, 'path', f.folder, lower(f.folder)
    from here as h
    left join parting as d on d.library_id = h.library_id
    join jsonb_array_elements_text(facet_values.chosen -> 'path') as f (folder)
        on starts_with(lower('/' || array_to_string(h.places, '/')), lower(f.folder) || '/')
        and (cardinality(string_to_array(f.folder, '/')) - 1 = d.depth) is not true
    union all
    select h.page_id, 'tags', min(t.tag), lower(t.tag)
    from here as h
    cross join lateral unnest(h.tags) as u (tag)
    cross join lateral (
        select array_to_string((string_to_array(u.tag, '/'))[:n], '/')
        from generate_series(1, cardinality(string_to_array(u.tag, '/'))) as n
    ) as t (tag)
    group by h.page_id, lower(t.tag)
    union all
    -- pt finds pt-BR, and pt-BR finds pages that are pt.
    select h.page_id, 'language', c.code, c.code
    from here as h
    join codes as c
        on h.language_code in (c.code, split_part(c.code, '-', 1))
        or starts_with(h.language_code, c.code || '-');
$$;
