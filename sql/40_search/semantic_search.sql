-- The vector arm alone: nearest by cosine, however few rows the filters leave.
create or replace function pgrag.semantic_search(
    query text,
    library text default null,
    version text default null,
    match_count integer default 10,
    filters jsonb default null,
    min_score double precision default 0,
    levels integer[] default null,
    max_per_page integer default null,
    after text default null,
    query_embedding halfvec default null,
    model text default null,
    snippets boolean default false,
    explain boolean default false,
    unit text default null,
    aggregate text default null,
    hierarchy text default null,
    mmr_lambda double precision default null,
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
        query => semantic_search.query,
        library => semantic_search.library,
        version => semantic_search.version,
        match_count => semantic_search.match_count,
        filters => semantic_search.filters,
        alpha => 1,
        min_score => semantic_search.min_score,
        levels => semantic_search.levels,
        max_per_page => semantic_search.max_per_page,
        after => semantic_search.after,
        query_embedding => semantic_search.query_embedding,
        model => semantic_search.model,
        snippets => semantic_search.snippets,
        explain => semantic_search.explain,
        unit => semantic_search.unit,
        aggregate => semantic_search.aggregate,
        hierarchy => semantic_search.hierarchy,
        mmr_lambda => semantic_search.mmr_lambda,
        graph => semantic_search.graph
    ) as s;
end;
$$;

comment on function pgrag.semantic_search(text, text, text, integer, jsonb, double precision, integer[], integer, text, halfvec, text, boolean, boolean, text, text, text, double precision, boolean) is
'Search by meaning: the documents whose vectors are nearest to the query''s by cosine, the vector
arm of pgrag.search alone, with the same arguments, columns and errors. score is semantic_score.
Exact where the filters leave few vectors, by the HNSW index where many; always as many rows as
exist.';
