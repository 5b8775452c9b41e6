create or replace function pgrag.related_pages(
    page_id anycompatible,
    top_k integer default 10
)
returns setof pgrag.related_page
language plpgsql
stable
parallel unsafe
rows 10
set search_path from current
set jit = off
as $$
declare
    here pgrag.pages := _pgrag.page(pgrag.page_id(related_pages.page_id::text));
    used_model bigint := (
        select l.model_id from pgrag.libraries as l where l.library_id = here.library_id
    );
    -- The mean of the vectors of the page's passages, scaled to length 1; null without vectors.
    page_vector halfvec := (
        select l2_normalize(avg(e.embedding))
        from pgrag.documents as d
        join pgrag.embeddings as e
            on e.library_id = d.library_id
            and e.document_id = d.document_id
            and e.model_id = used_model
        where d.library_id = here.library_id and d.page_id = here.page_id
    );
begin
    perform _pgrag.check_range('top_k', related_pages.top_k, 1, 100);
    return query
    with neighbours as materialized (
        select n.page_id, d.forward, n.weight, n.edge_count
        from (values (true), (false)) as d (forward)
        cross join lateral _pgrag.linked_pages(
            here.library_id, array[here.page_id], null,
            case when d.forward then 'out' else 'in' end, 100
        ) as n
    ),
    links as (
        select
            n.page_id, 1 - 1 / (1 + sum(n.weight * n.edge_count)) as part,
            case
                when count(*) = 2 then 'the two link to each other'
                when bool_and(n.forward) then 'is linked from here'
                else 'links here'
            end as reason
        from neighbours as n
        group by n.page_id
    ),
    -- Pages that a page linking here also links to, and pages that link to a page linked from here.
    common as materialized (
        select o.page_id, b.forward, sum(1 / log(2, 1 + o.degree)) as shared, count(*) as pages
        from neighbours as b
        cross join lateral (
            select n.page_id, count(*) over () as degree
            from _pgrag.linked_pages(
                here.library_id, array[b.page_id], null,
                case when b.forward then 'in' else 'out' end, 100
            ) as n
        ) as o
        where o.page_id <> here.page_id
        group by o.page_id, b.forward
        order by shared desc, o.page_id
        limit 100
    ),
    shared_links as (
        select
            c.page_id, c.forward, c.pages,
            c.shared / sqrt(
                (select count(*) from neighbours as n where n.forward = c.forward)
                * (
                    select count(*)
                    from _pgrag.linked_pages(
                        here.library_id, array[c.page_id], null,
                        case when c.forward then 'out' else 'in' end, 100
                    )
                )::double precision
            ) as part
        from common as c
    ),
    tags as (
        select
            p.page_id,
            cardinality(s.tags)::double precision
                / (cardinality(p.tags) + cardinality(here.tags) - cardinality(s.tags)) as part,
            s.tags
        from pgrag.pages as p
        cross join lateral (
            select array(
                select unnest(p.tags) intersect select unnest(here.tags) order by 1
            ) as tags
        ) as s
        where p.library_id = here.library_id
            and p.version_id = here.version_id
            and p.tags && here.tags
            and p.page_id <> here.page_id
        order by part desc, p.page_id
        limit 100
    ),
    candidates as (
        select l.page_id from links as l
        union
        select s.page_id from shared_links as s
        union
        select t.page_id from tags as t
        union
        select n.page_id
        from _pgrag.pages_alike(here, page_vector, used_model, related_pages.top_k) as n (page_id)
    ),
    parts as (
        select
            f.page_id, coalesce(l.part, 0) as linked, least(coalesce(cited.part, 0), 1) as cocited,
            least(coalesce(citing.part, 0), 1) as coupled, coalesce(t.part, 0) as tagged,
            m.similarity as meaning,
            concat_ws(
                '; ', l.reason,
                cited.pages || ' page' || case when cited.pages = 1 then ' links' else 's link' end
                    || ' to both',
                'both link to ' || citing.pages || ' page'
                    || case when citing.pages = 1 then '' else 's' end,
                'shares ' || (select string_agg('#' || tag, ', ') from unnest(t.tags) as tag),
                case
                    when m.similarity >= 0.5
                    then format('reads alike (%s)', round(m.similarity::numeric, 2))
                end
            ) as reason
        from candidates as f
        left join links as l on l.page_id = f.page_id
        left join shared_links as cited on cited.page_id = f.page_id and not cited.forward
        left join shared_links as citing on citing.page_id = f.page_id and citing.forward
        left join tags as t on t.page_id = f.page_id
        left join lateral (
            select case
                when page_vector is not null
                then greatest(coalesce(max(-(e.embedding <#> page_vector)), 0), 0)
            end as similarity
            from pgrag.documents as d
            join pgrag.embeddings as e
                on e.library_id = d.library_id
                and e.document_id = d.document_id
                and e.model_id = used_model
            where d.library_id = here.library_id and d.page_id = f.page_id
        ) as m on true
    )
    select
        s.page_id, p.key, p.title, p.url,
        0.3 * s.linked + 0.2 * s.cocited + 0.1 * s.coupled + 0.1 * s.tagged
            + 0.3 * coalesce(s.meaning, 0) as total,
        s.linked, s.cocited, s.coupled, s.tagged, s.meaning,
        coalesce(nullif(s.reason, ''), 'a little alike')
    from parts as s
    cross join lateral _pgrag.page_named(here.library_id, s.page_id) as p
    order by total desc, s.page_id
    limit related_pages.top_k;
end;
$$;

comment on function pgrag.related_pages is
'The pages most closely related to a page, at most top_k (1 to 100). score = 0.3 linked + 0.2
cocited + 0.1 coupled + 0.1 tagged + 0.3 meaning, each between 0 and 1. linked: 1 - 1 / (1 + w); w
is, summed over the two directions, the number of edges times the largest product of confidence and
weight of kind among them. cocited: the pages that link to both, each counting 1 / log2(1 + number
of its targets) (Adamic, Adar 2003), divided by the square root of the product of both pages''
numbers of linking pages; coupled: the same for pages that both link to. tagged: the share of common
tags in all tags of both (Jaccard). meaning: the cosine between the mean vector of the page and the
nearest passage of the other, by the library''s model; null without vectors. At most the strongest
100 neighbours of a page are read. reason states in words how the two pages are related. Errors:
PGR01, PGR04.';

-- The pages with the passages nearest to a vector, without the page itself, whose own passages are
-- the first candidates: hence more candidates than wanted pages.
create or replace function _pgrag.pages_alike(
    here pgrag.pages,
    page_vector halfvec,
    model_id bigint,
    top_k integer
)
returns setof bigint
language sql
stable
parallel unsafe
as $$
    select d.page_id
    from (
        select
            _pgrag.vector_candidates(
                pages_alike.page_vector, pages_alike.model_id,
                _pgrag.make_target(
                    array[v.library_id], array[v.version_id], v.document_count, false, 7, '{}',
                    '{}', '{}', case when l.own_vector_index then array[l.library_id] end
                ),
                10 * pages_alike.top_k + (pages_alike.here).document_count,
                (_pgrag.effective_settings(l.settings) ->> 'exact_limit')::integer,
                is_alone => true
            ) as candidates
        from pgrag.versions as v
        join pgrag.libraries as l on l.library_id = v.library_id
        where pages_alike.page_vector is not null
            and v.library_id = (pages_alike.here).library_id
            and v.version_id = (pages_alike.here).version_id
        offset 0
    ) as n
    cross join unnest((n.candidates).document_ids, (n.candidates).scores)
        as near (document_id, score)
    join pgrag.documents as d
        on d.library_id = (pages_alike.here).library_id and d.document_id = near.document_id
    where d.page_id <> (pages_alike.here).page_id
    group by d.page_id
    order by max(near.score) desc, d.page_id
    limit 2 * pages_alike.top_k;
$$;
