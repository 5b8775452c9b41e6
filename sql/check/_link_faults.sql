-- Compares the stored names and edges of a version with recomputed ones.
create or replace function _pgrag.link_faults(
    version pgrag.versions
)
returns table (
    problem text,
    example text
)
language plpgsql
stable
parallel safe
set work_mem = '128MB'
set jit = off
as $$
declare
    owner_id bigint := version.library_id;
    checked bigint := version.version_id;
    -- During indexing links are pending; that is not a fault.
    is_ready boolean := version.status = 'ready';
    base_url text := _pgrag.base_url(owner_id, checked);
    page_ids bigint[] := array(
        select p.page_id
        from pgrag.pages as p
        where p.library_id = owner_id and p.version_id = checked
    );
    edge_ids bigint[] := array(
        select e.edge_id
        from pgrag.edges as e
        where e.library_id = owner_id and e.version_id = checked and e.state <> 'tag' and is_ready
    );
begin
    return query
    select 'an unfinished version', format('version %s', version.label)
    where not is_ready
    union all
    select
        'a page name that is missing or wrong',
        format('%s (page %s, by its %s)', coalesce(w.full_name, n.full_name),
            coalesce(w.page_id, n.page_id), coalesce(w.how, n.how))
    from _pgrag.names_of_pages(owner_id, base_url, page_ids) as w
    full join (
        select n.*
        from pgrag.page_names as n
        where n.library_id = owner_id and (n.version_id = checked or n.page_id = any (page_ids))
    ) as n on n.page_id = w.page_id and n.full_name = w.full_name and n.how = w.how
    where (n.version_id, n.name) is distinct from (checked, w.name)
    union all
    select f.problem, format('edge %s to %s', e.edge_id, e.target)
    from pgrag.edges as e
    left join pgrag.pages as p on p.library_id = e.library_id and p.page_id = e.source_page_id
    left join pgrag.documents as d
        on d.library_id = e.library_id and d.document_id = e.source_document_id
    cross join lateral (
        values
            ('an edge from a page of another version, or from none',
                p.version_id is distinct from e.version_id),
            ('an edge without the passage that it stands in',
                e.source_document_id is not null and d.page_id is distinct from e.source_page_id)
    ) as f (problem, holds)
    where e.library_id = owner_id
        and coalesce(p.version_id, e.version_id) = checked
        and f.holds
    union all
    select 'links that wait to be resolved', format('those of page %s', p.page_id)
    from pgrag.pending_pages as p
    where is_ready and p.library_id = owner_id and p.version_id = checked
    union all
    select 'links that wait to be resolved', format('those to %s', n.name)
    from pgrag.pending_names as n
    where is_ready and n.library_id = owner_id and n.version_id = checked
    union all
    select 'page ranks from before the last change', format('version %s', checked)
    where is_ready and _pgrag.ranks_are_outdated(owner_id, checked)
    union all
    select
        'an edge with another target than stored',
        format('%s on page %s, line %s: %s, not %s', e.target, e.source_page_id, e.line,
            concat_ws(' ', c.state, c.target_page_id), concat_ws(' ', e.state, e.target_page_id))
    from _pgrag.stored_connections(owner_id, checked, base_url, edge_ids) as c
    join pgrag.edges as e on e.library_id = owner_id and e.edge_id = c.edge_id;
end;
$$;
