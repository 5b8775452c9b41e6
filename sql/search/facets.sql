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
    page_count bigint,
    passage_count bigint,
    is_chosen boolean,
    is_exact boolean
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
    asked constant jsonb := '{"graph": false}' || _pgrag.search_document('facets', options, (
        select to_jsonb(a) from (select library, version, top_k, filters, value_count) as a
    ));
    written jsonb;
    words text;
    every constant text[] := '{library, version, topic, type, path, tags, language, content_tags}';
    -- What each of these facets has chosen by filters.
    chosen jsonb;
begin
    select p.words, p.filters into words, written from pgrag.parse_query(query) as p;
    chosen := _pgrag.chosen_values(
        jsonb_build_array(facets.filters, written),
        '{topic, type, path, tags, language, content_tags}'
    );
    return query
    with counted as materialized (
        select c.*
        from _pgrag.facet_counts(
            _pgrag.make_request(query, asked, query_embedding, needs_words => false), chosen
        ) as c
        where chosen -> c.facet is null
        union all
        -- A facet is counted without its own filter, so that the alternatives are there.
        select c.*
        from jsonb_object_keys(chosen) as own (facet)
        cross join lateral _pgrag.facet_counts(
            _pgrag.quiet_request(
                words,
                asked || jsonb_build_object(
                    'filters',
                    jsonb_strip_nulls(jsonb_build_object(
                        'library', coalesce(facets.filters -> 'library', written -> 'library'),
                        'version', coalesce(facets.filters -> 'version', written -> 'version')
                    )) || coalesce(
                        _pgrag.conjunction(
                            _pgrag.without_filter(facets.filters, own.facet),
                            _pgrag.without_filter(written, own.facet)
                        ),
                        '{}'
                    )
                ),
                query_embedding
            ),
            chosen
        ) as c
        where c.facet = own.facet
    ),
    offered as (
        select
            coalesce(c.facet, w.facet) as facet,
            coalesce(c.value, w.value) as value,
            coalesce(c.page_count, 0) as page_count,
            coalesce(c.passage_count, 0) as passage_count,
            w.facet is not null as is_chosen,
            coalesce(c.is_exact, true) as is_exact
        from counted as c
        full join (
            select distinct on (v.facet, v.folded) v.facet, v.value, v.folded
            from (
                select k.facet, e.value, lower(e.value) as folded
                from jsonb_each(chosen) as k (facet, members)
                cross join lateral jsonb_array_elements_text(k.members) as e (value)
            ) as v
        ) as w on w.facet = c.facet and w.folded = lower(c.value)
    ),
    ranked as (
        select
            o.*,
            row_number() over (
                partition by o.facet order by o.page_count desc, o.value
            ) as nth
        from offered as o
    )
    select
        r.facet, nullif(r.value, case r.facet when 'total' then '' end), r.page_count,
        r.passage_count, r.is_chosen, r.is_exact
    from ranked as r
    where r.nth <= value_count or r.is_chosen
    order by
        coalesce(array_position(every, r.facet), 0), r.page_count desc, r.value;
end;
$$;

comment on function pgrag.facets is
'Counts what a search finds. The first row, of the facet total, has the numbers of pages and
passages; is_exact says whether all are counted, or only those of the best top_k hits. Then, of each
facet, at most value_count values, the most frequent first. A facet has the name of its filter:
library, version, topic, type, path (the first folder, from the root, in which the pages differ),
tags, language, content_tags. page_count is the number of pages that the search lists with this
value as a filter, passage_count that of passages. A facet is counted without the filter on it, so
the alternatives to a chosen value stay; is_chosen: a filter names the value, which is then listed
even with a count of 0 (not for filters within or, and not). The hits are those of pgrag.search
with the same query, library, version, filters, alpha, min_score, min_confidence, levels,
changed_since, prefix, query_embedding and model, without links; without a query, or with filters
only, all matching pages (or passages, if a filter names these). content_tags come from the passages
found, so they need a query or a filter on passages. Errors: PGR01 value_count, and those of
pgrag.search.';

create or replace function _pgrag.facet_counts(
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
declare
    -- A filter that names a type or a language lifts its weight, which may lift a page above
    -- min_score: these facets are counted with the weights that their filters leave.
    lifted text[] := '{}';
    own text;
    unweighted _pgrag.search_request;
begin
    if request.words = '' then
        return query select c.* from _pgrag.facets_of_pages(request, chosen) as c;
        return;
    end if;
    if request.min_score > 0 then
        lifted := array(
            select distinct w.facet
            from unnest(request.queries) as q
            cross join lateral (
                values ('type', q.type_weights::text), ('language', q.language)
            ) as w (facet, weights)
            where w.weights is not null
        );
    end if;
    return query
    select c.*
    from _pgrag.facets_of_hits(request, chosen) as c
    where c.facet <> all (lifted);
    foreach own in array lifted loop
        unweighted := request;
        for n in 1..cardinality(request.queries) loop
            if own = 'language' then
                unweighted.queries[n].language := null;
            else
                unweighted.queries[n].type_weights := (
                    select jsonb_object_agg(
                        w.key,
                        case w.key
                            when 'default' then w.value
                            else to_jsonb(greatest(w.value::double precision, 1))
                        end
                    )
                    from jsonb_each(request.queries[n].type_weights) as w
                );
            end if;
        end loop;
        return query
        select c.*
        from _pgrag.facets_of_hits(unweighted, chosen) as c
        where c.facet = own;
    end loop;
end;
$$;

-- The request without the notices, which are told once.
create or replace function _pgrag.quiet_request(
    query text,
    options jsonb,
    query_embedding halfvec
)
returns _pgrag.search_request
language plpgsql
stable
parallel safe
set client_min_messages = warning
as $$
begin
    return _pgrag.make_request(query, options, query_embedding, needs_words => false);
end;
$$;
