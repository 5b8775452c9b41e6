-- The lexical arm alone, as it enters the fusion.
create or replace function pgrag.keyword_search(
    query text,
    library text default null,
    version text default null,
    match_count integer default 10,
    filters jsonb default null,
    min_score double precision default 0,
    levels integer[] default null,
    max_per_page integer default null,
    after text default null,
    page_evidence double precision default null,
    snippets boolean default false,
    explain boolean default false,
    unit text default null,
    aggregate text default null,
    hierarchy text default null,
    mmr_lambda double precision default null,
    query_expansion text default null,
    graph boolean default false
)
returns setof pgrag.hit
language plpgsql
stable
parallel restricted
rows 10
set search_path from current
as $$
begin
    return query
    select s.*
    from pgrag.search(
        query => keyword_search.query,
        library => keyword_search.library,
        version => keyword_search.version,
        match_count => keyword_search.match_count,
        filters => keyword_search.filters,
        alpha => 0,
        min_score => keyword_search.min_score,
        levels => keyword_search.levels,
        max_per_page => keyword_search.max_per_page,
        after => keyword_search.after,
        page_evidence => keyword_search.page_evidence,
        snippets => keyword_search.snippets,
        explain => keyword_search.explain,
        unit => keyword_search.unit,
        aggregate => keyword_search.aggregate,
        hierarchy => keyword_search.hierarchy,
        mmr_lambda => keyword_search.mmr_lambda,
        query_expansion => keyword_search.query_expansion,
        graph => keyword_search.graph
    ) as s;
end;
$$;

comment on function pgrag.keyword_search(text, text, text, integer, jsonb, double precision, integer[], integer, text, double precision, boolean, boolean, text, text, text, double precision, text, boolean) is
'Full-text search: the lexical arm of pgrag.search alone, with the same arguments, columns and
errors. score is keyword_score: BM25F over title, path, url and content of the passage, and with the
share page_evidence (default: the library''s) what its page adds, the page''s own BM25F and its
titles. With page_evidence 0 it is the exact BM25F of the passages and nothing else.';
