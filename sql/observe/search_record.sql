create or replace function pgrag.search_record(
    search_id uuid
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    recorded jsonb;
begin
    select _pgrag.search_record(s)
    into recorded
    from pgrag.searches as s
    where s.search_id = search_record.search_id;
    if recorded is null then
        raise exception 'There is no recorded search %.',
            coalesce(search_record.search_id::text, 'null')
            using errcode = 'PGR14',
                hint = 'Pass the search_id of a search that was recorded and not yet forgotten.';
    end if;
    return recorded;
end;
$$;

comment on function pgrag.search_record is
'One recorded search in the form of export_searches: with its hits, their scores with all parts
(graph: those of a search with links, as in explain_search: semantic, edge, centrality, type,
type_weight and so on, with the ids of the edges that counted), and its feedback. Errors: PGR14.';
