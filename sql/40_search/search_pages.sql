-- Pages instead of passages: one row a page, with the passage that speaks for it.
create or replace function pgrag.search_pages(
    query text,
    library text default null,
    version text default null,
    match_count integer default 10,
    filters jsonb default null,
    alpha double precision default null,
    fusion text default 'absolute',
    min_score double precision default 0,
    levels integer[] default null,
    after text default null,
    query_embedding halfvec default null,
    model text default null,
    aggregate text default null,
    hierarchy text default null,
    mmr_lambda double precision default null,
    intent text default null,
    whole boolean default false,
    snippets boolean default true,
    graph boolean default null
)
returns setof pgrag.page_hit
language plpgsql
stable
parallel restricted
rows 10
set search_path from current
-- Planning anew for each query takes longer than most of the steps.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    request pgrag.search_request := pgrag._search_request(
        query => search_pages.query, library => search_pages.library,
        version => search_pages.version, match_count => search_pages.match_count,
        filters => search_pages.filters, alpha => search_pages.alpha,
        fusion => search_pages.fusion, min_score => search_pages.min_score,
        levels => search_pages.levels, after => search_pages.after,
        query_embedding => search_pages.query_embedding, model => search_pages.model,
        intent => search_pages.intent, unit => 'page', aggregate => search_pages.aggregate,
        hierarchy => search_pages.hierarchy, mmr_lambda => search_pages.mmr_lambda,
        graph => search_pages.graph
    );
    listing pgrag.listing := pgrag._list_hits(request);
begin
    return query
    select
        p.page_id,
        l.name,
        v.label,
        p.key,
        p.url,
        p.title,
        p.path,
        p.link,
        case when search_pages.whole then p.body else d.content end,
        h.score,
        h.keyword_score,
        h.semantic_score,
        h.hybrid_score,
        request.aggregate,
        pgrag._passage_count(h.library_id, h.page_id, request),
        d.document_id,
        d.heading,
        d.anchor,
        case when search_pages.snippets then pgrag._snippet(d.language, d.content, request) end,
        listing.cursors[h.place]
    from (
        -- Filters alone list documents: there, a page may come more than once.
        select
            u.*,
            u.ordinality as place,
            row_number() over (partition by u.page_id order by u.ordinality) as place_on_page
        from unnest(listing.hits) with ordinality as u
    ) as h
    join pgrag.documents as d on d.library_id = h.library_id and d.document_id = h.document_id
    join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
    join pgrag.versions as v on v.library_id = d.library_id and v.version_id = d.version_id
    join pgrag.libraries as l on l.library_id = d.library_id
    where h.place_on_page = 1
    order by h.place;
end;
$$;

comment on function pgrag.search_pages(text, text, text, integer, jsonb, double precision, text, double precision, integer[], text, halfvec, text, text, text, double precision, text, boolean, boolean, boolean) is
'Searches like pgrag.search with unit "page", and returns pages. aggregate says how the scores of a
page''s hits become its own: "max" (default) the best one, "mean" the mean of the best three, "rrf"
the sum of 1 / (60 + rank) over them, divided by the same sum over all hits. document_id, heading,
anchor, snippet, keyword_score, semantic_score and hybrid_score (the fused score) are those of the
page''s best passage; passage_count is the number of passages of the page whose text has a word of
the query. content: the best passage, or, with whole, the whole text of the page as it was indexed.
snippets: an excerpt of the best passage with the words marked by **. Other arguments and errors as
in pgrag.search.';

-- Passages that the request looks into and whose text (its title and path are every passage's) has
-- one of its words.
create or replace function pgrag._passage_count(
    library_id bigint,
    page_id bigint,
    request pgrag.search_request
)
returns integer
language sql
stable
parallel safe
set search_path from current
as $$
    select count(*)::integer
    from pgrag.documents as d
    join (
        select
            t.language,
            string_agg(distinct pgrag._tsquery_lexeme(t.lexeme) || ':D', ' | ')::tsquery as words
        from unnest((_passage_count.request).terms) as t
        group by t.language
    ) as w on w.language = d.language and d.search @@ w.words
    where d.library_id = _passage_count.library_id
        and d.page_id = _passage_count.page_id
        and d.covers & ((_passage_count.request).target).covers <> 0;
$$;
