-- The targets of stored edges that differ; some thousand at a time, because all edges of a version
-- may be too large for an array.
create or replace function _pgrag.stored_connections(
    library_id bigint,
    version_id bigint,
    base_url text,
    edge_ids bigint[]
)
returns table (
    edge_id bigint,
    state text,
    how text,
    target_page_id bigint,
    target_document_id bigint,
    fragment_found boolean,
    candidates bigint[]
)
language sql
stable
parallel safe
set jit = off
as $$
    select c.*
    from generate_series(1, cardinality(stored_connections.edge_ids), 20000) as b (first)
    cross join lateral _pgrag.connections(
        stored_connections.library_id, stored_connections.version_id,
        stored_connections.base_url,
        array(
            select e
            from pgrag.edges as e
            where e.library_id = stored_connections.library_id
                and e.edge_id = any (stored_connections.edge_ids[b.first : b.first + 19999])
        )
    ) as c;
$$;
