-- The hits of a request, with the plans and timings, by the strategy that the request needs.
create or replace function _pgrag.list_hits(
    request _pgrag.search_request
)
returns _pgrag.listing
language plpgsql
stable
parallel safe
as $$
begin
    return case
        when request.words = '' then _pgrag.matching_hits(request)
        when _pgrag.is_rearranged(request) then _pgrag.rearranged_hits(request)
        else _pgrag.scored_hits(request)
    end;
end;
$$;

-- A whole search, from its arguments to its rows.
create or replace function _pgrag.search_hits(
    query text,
    options jsonb,
    query_embedding halfvec default null
)
returns setof pgrag.hit
language plpgsql
stable
parallel restricted
rows 10
as $$
declare
    request _pgrag.search_request := _pgrag.make_request(
        query, options, query_embedding
    );
begin
    return query select h.* from _pgrag.hits(request, _pgrag.list_hits(request)) as h;
end;
$$;

create or replace function _pgrag.version_reason(
    request _pgrag.search_request,
    version_id bigint
)
returns text
language sql
immutable
parallel safe
as $$
    select (request).version_reasons[
        pg_catalog.array_position(((request).target).version_ids, version_reason.version_id)
    ];
$$;

-- Turns ids into rows.
create or replace function _pgrag.hits(
    request _pgrag.search_request,
    listing _pgrag.listing,
    search_id uuid default null
)
returns setof pgrag.hit
language plpgsql
stable
parallel safe
rows 10
as $$
#variable_conflict use_column
begin
    return query
    select
        d.document_id,
        d.page_id,
        l.name,
        v.label,
        p.url,
        p.title,
        d.path,
        d.content,
        h.score,
        h.keyword_score,
        h.semantic_score,
        p.key,
        d.level,
        d.heading,
        d.anchor,
        d.types,
        d.sort_order,
        d.line_start,
        d.line_end,
        p.link,
        case when request.snippets then _pgrag.snippet(d.language, d.content, request) end,
        listing.cursors[nth],
        case
            when request.explain
            then _pgrag.explain_hit(request, listing.hits[nth], listing.plans)
        end,
        h.hybrid_score,
        hits.search_id,
        _pgrag.version_reason(request, d.version_id),
        y.since,
        y.changed_in
    from generate_subscripts(listing.hits, 1) as nth
    cross join lateral (select (listing.hits[nth]).*) as h
    join pgrag.documents as d on d.library_id = h.library_id and d.document_id = h.document_id
    join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
    join pgrag.versions as v on v.library_id = d.library_id and v.version_id = d.version_id
    join pgrag.libraries as l on l.library_id = d.library_id
    left join lateral _pgrag.passage_history(d) as y on request.history
    order by nth;
end;
$$;

-- Called for returned rows only, because ts_headline reads the whole text.
create or replace function _pgrag.snippet(
    language text,
    content text,
    request _pgrag.search_request
)
returns text
language sql
stable
parallel safe
as $$
    select case
        when words.query is null then left(pgrag.plain_text(snippet.content), 300)
        else ts_headline(
            snippet.language::regconfig,
            pgrag.plain_text(snippet.content),
            words.query,
            'StartSel=**, StopSel=**, MaxFragments=2, MaxWords=30, MinWords=12, '
            'FragmentDelimiter=" … "'
        )
    end
    from (
        select string_agg(distinct _pgrag.tsquery_lexeme(t.lexeme), ' | ')::tsquery as query
        from unnest((snippet.request).terms) as t
        where t.language = snippet.language
    ) as words;
$$;
