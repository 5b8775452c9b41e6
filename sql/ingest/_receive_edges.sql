-- Keeps the edges of written pages until links are resolved, so that each edge is written once,
-- with its target. Pages that have edges get the new ones at once, because the passages of the old
-- ones may be gone.
create or replace function _pgrag.receive_edges(
    library_id bigint,
    version_id bigint,
    base_url text,
    pages jsonb,
    page_ids bigint[]
)
returns void
language plpgsql
volatile
as $$
declare
    connected constant bigint[] := array(
        select distinct e.source_page_id
        from pgrag.edges as e
        where e.library_id = receive_edges.library_id
            and e.source_page_id = any (receive_edges.page_ids)
    );
begin
    insert into pgrag.pending_pages as w (library_id, version_id, page_id, edges)
    select
        p.library_id, p.version_id, p.page_id, coalesce(nullif(i.page -> 'edges', 'null'), '[]')
    from jsonb_array_elements(receive_edges.pages) as i (page)
    join pgrag.pages as p on p.key = i.page ->> 'key'
    where p.library_id = receive_edges.library_id and p.page_id = any (receive_edges.page_ids)
    on conflict on constraint pending_pages_pkey do update
    set edges = excluded.edges;
    if connected <> '{}' then
        perform _pgrag.write_edges(library_id, version_id, base_url, connected);
        update pgrag.pending_pages as w
        set edges = null
        where w.library_id = receive_edges.library_id and w.page_id = any (connected);
    end if;
end;
$$;
