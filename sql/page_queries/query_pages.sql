-- A subset of the query language of Obsidian's Dataview, which users of linked notes know.
create or replace function pgrag.query_pages(
    query text,
    library text,
    top_k integer default null,
    version text default null
)
returns table (
    page_id bigint,
    key text,
    title text,
    line integer,
    document_id bigint,
    fields json,
    columns text[],
    "values" jsonb
)
language plpgsql
stable
parallel unsafe
set search_path from current
set jit = off
as $$
#variable_conflict use_column
declare
    owner_id bigint := _pgrag.library_id(library);
    wanted_version bigint := (pgrag.resolve_version(library, version)).version_id;
begin
    perform _pgrag.check_count('top_k', query_pages.top_k);
    return query execute _pgrag.page_query_statement(
        _pgrag.page_query_syntax(coalesce(query_pages.query, '')),
        owner_id, wanted_version, query_pages.top_k
    );
end;
$$;

comment on function pgrag.query_pages is
'A table, a list or the tasks of one version of a library (see resolve_version), by a query in a
subset of Dataview''s language: TABLE status, due AS "Due on" FROM #project or "folder" WHERE
priority > 3 and contains(tags, "x") SORT due DESC LIMIT 20; LIST …; TASK …, only open tasks unless
the query mentions completed, checked or status. A row has the page, for a task its line and the
smallest passage there, the names and values of its columns in order, and both as one object
(fields). Names in a query are properties of the front matter, or file.name, file.link …; a property
that a page lacks is null. top_k: maximum number of rows. Errors: PGR01, PGR02, PGR03; PGR16 for a
syntax error, naming the column (in characters, from 1) and what was expected.';
