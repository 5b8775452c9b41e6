create or replace function pgrag.search_pages(
    query text,
    library text default null,
    top_k integer default 10,
    version text default null,
    filters jsonb default null,
    whole boolean default false,
    snippets boolean default true,
    query_embedding halfvec default null,
    options jsonb default '{}'
)
returns setof pgrag.page_hit
language plpgsql
stable
parallel unsafe
rows 10
set search_path from current
-- Planning each query takes longer than most steps of its execution.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    request _pgrag.search_request := _pgrag.make_request(
        search_pages.query,
        _pgrag.search_document('search_pages', options, (
            select to_jsonb(a)
            from (select library, version, top_k, filters, whole, snippets) as a
        )) || '{"unit": "page"}',
        search_pages.query_embedding
    );
    listing _pgrag.listing := _pgrag.list_hits(request);
begin
    perform _pgrag.note_no_match(listing.hits, request);
    return query
    select
        p.page_id, l.name, v.label, p.key, p.url, p.title, p.path, p.link,
        case when search_pages.whole then p.body else d.content end,
        h.score, h.keyword_score, h.semantic_score, h.hybrid_score, request.aggregate,
        (
            -- By content (D) alone: all passages of a page share its title and path.
            select count(*)::integer
            from pgrag.documents as o
            join (
                select
                    t.language,
                    string_agg(distinct _pgrag.tsquery_lexeme(t.lexeme) || ':D', ' | ')::tsquery
                        as words
                from unnest(request.terms) as t
                group by t.language
            ) as w on w.language = o.language and o.search @@ w.words
            where o.library_id = h.library_id
                and o.page_id = h.page_id
                and o.covers & (request.target).covers <> 0
        ),
        d.document_id, d.heading, d.anchor,
        case when request.snippets then _pgrag.snippet(d.language, d.content, request) end,
        listing.cursors[h.nth],
        _pgrag.version_reason(request, d.version_id),
        h.confidence
    from (
        -- A query of filters only may list several passages of a page.
        select
            u.*,
            u.ordinality as nth,
            row_number() over (partition by u.page_id order by u.ordinality) as rank_on_page
        from unnest(listing.hits) with ordinality as u
    ) as h
    join pgrag.documents as d on d.library_id = h.library_id and d.document_id = h.document_id
    join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
    join pgrag.versions as v on v.library_id = d.library_id and v.version_id = d.version_id
    join pgrag.libraries as l on l.library_id = d.library_id
    where h.rank_on_page = 1
    order by h.nth;
end;
$$;

comment on function pgrag.search_pages is
'Searches like pgrag.search with unit "page", and returns pages: +word must be on the page, in any
passage, title, path or url; a phrase and a word with signs in one passage. aggregate: how the
scores of its hits become the score of a page: "max" the best, "mean" the mean of the best three,
"rrf" the sum of 1 / (rrf_k + rank) over the page''s hits, divided by the same sum over all hits
(default: that of the intent, else of the library''s settings). document_id, heading, anchor,
snippet, keyword_score, semantic_score, hybrid_score (the fused score) and confidence are those of
the page''s best passage; passage_count counts the passages of the page whose text has a word of the
query.
content: the best passage or, with whole, the whole page as indexed. snippets: an excerpt of the
best passage with the matches marked by **. Other arguments and errors as in pgrag.search.';
