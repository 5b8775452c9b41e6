-- Tables, lists and tasks from the properties of pages, asked for in a part of the query language
-- of Obsidian's Dataview, which people with linked notes know.
create or replace function pgrag.query_pages(
    query text,
    library text,
    version text default null,
    match_count integer default null
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
    owner_id bigint := pgrag._library_id(query_pages.library);
    wanted_version bigint := (
        select r.version_id
        from pgrag.resolve_version(query_pages.library, query_pages.version) as r
    );
    parsed jsonb;
begin
    if query_pages.match_count < 0 then
        raise exception 'match_count must be at least 0, got %.', query_pages.match_count
            using errcode = 'PGR01', hint = 'Leave it out for all rows.';
    end if;
    parsed := pgrag._page_query_syntax(coalesce(query_pages.query, ''));
    return query execute format(
        'select s.page_id, s.key, s.title, s.line, s.document_id,'
        ' (select json_object_agg(n.name, s."values" -> (n.place - 1)::integer order by n.place)'
        ' from unnest(s.columns) with ordinality as n (name, place)), s.columns, s."values"'
        ' from (%s) as s order by s.place',
        pgrag._page_query_statement(
            parsed, owner_id, wanted_version, query_pages.match_count
        )
    );
end;
$$;

comment on function pgrag.query_pages(text, text, text, integer) is
'A table, a list or the tasks of one version of a library (see resolve_version), as a query in a
part of Dataview''s language says: TABLE status, due AS "Due on" FROM #project or "folder" WHERE
priority > 3 and contains(tags, "x") SORT due DESC LIMIT 20; LIST …; TASK …, open ones unless WHERE
speaks of completed, checked or status. A row has the page, for a task its line and the smallest
document there, the names and the values of its columns in order, and both as one object (fields).
The names in a query are properties of the front matter, or file.name, file.link …; a property that
a page lacks is null. match_count: rows at most. Errors: PGR01, PGR02, PGR03; PGR16 where the query
does not follow the grammar, naming the column (characters, from 1) and what was expected.';
