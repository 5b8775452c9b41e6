-- Names and edges as they would be, were they all made anew, beside those that are stored.
create or replace function pgrag._link_faults(
    library_id bigint,
    version_ids bigint[]
)
returns table (
    version_id bigint,
    problem text,
    example text
)
language plpgsql
stable
parallel safe
set search_path from current
set work_mem = '128MB'
set jit = off
as $$
#variable_conflict use_column
declare
    checked bigint;
    page_ids bigint[];
    unread bigint[];
    edge_ids bigint[];
    base_url text;
begin
    foreach checked in array _link_faults.version_ids loop
        base_url := pgrag._base_url(_link_faults.library_id, checked);
        unread := pgrag._unread_pages(_link_faults.library_id, checked);
        page_ids := array(
            select p.page_id
            from pgrag.pages as p
            where p.library_id = _link_faults.library_id
                and p.version_id = checked
                and p.page_id <> all (unread)
        );
        edge_ids := array(
            select e.edge_id
            from pgrag.edges as e
            where e.library_id = _link_faults.library_id
                and e.version_id = checked
                and e.state <> 'tag'
        );
        return query
        select checked, 'indexing that was not finished', format('version %s', v.label)
        from pgrag.versions as v
        where v.library_id = _link_faults.library_id
            and v.version_id = checked
            and v.status <> 'ready';
        return query
        select checked, 'a page that was indexed before links were read', p.key
        from pgrag.pages as p
        where p.library_id = _link_faults.library_id and p.page_id = any (unread);
        return query
        select
            checked,
            'a name of a page that is missing, or that it has not',
            format('%s (page %s, by its %s)', coalesce(w.full_name, n.full_name),
                coalesce(w.page_id, n.page_id), coalesce(w.how, n.how))
        from pgrag._names_of_pages(_link_faults.library_id, base_url, page_ids) as w
        full join (
            select n.*
            from pgrag.page_names as n
            where n.library_id = _link_faults.library_id
                and (n.version_id = checked or n.page_id = any (page_ids))
        ) as n
            on n.page_id = w.page_id and n.full_name = w.full_name and n.how = w.how
        where (n.version_id, n.name) is distinct from (checked, w.name);

        return query select f.* from pgrag._edge_faults(_link_faults.library_id, checked) as f;

        if exists (
            select
            from pgrag.versions as v
            where v.library_id = _link_faults.library_id
                and v.version_id = checked
                -- While it is indexed, its links wait; that is no fault.
                and v.status = 'ready'
        ) then
            return query
            select checked, 'links that wait to be connected', pending.example
            from (
                select format('those of page %s', p.page_id) as example
                from pgrag.pending_pages as p
                where p.library_id = _link_faults.library_id and p.version_id = checked
                union all
                select format('those to %s', n.name)
                from pgrag.pending_names as n
                where n.library_id = _link_faults.library_id and n.version_id = checked
            ) as pending;
            return query
            select checked, 'page ranks from before the last change', format('version %s', checked)
            where pgrag._ranks_are_outdated(_link_faults.library_id, checked);
            return query
            select
                checked,
                'an edge that leads elsewhere',
                format('%s on page %s, line %s: %s, not %s', e.target, e.source_page_id, e.line,
                    concat_ws(' ', c.state, c.target_page_id),
                    concat_ws(' ', e.state, e.target_page_id))
            from pgrag._connections(
                _link_faults.library_id, checked, base_url, edge_ids
            ) as c
            join pgrag.edges as e
                on e.library_id = _link_faults.library_id and e.edge_id = c.edge_id
            where (
                e.state, e.how, e.target_page_id, e.target_document_id, e.fragment_found,
                e.candidates
            ) is distinct from (
                c.state, c.how, c.target_page_id, c.target_document_id, c.fragment_found,
                c.candidates
            );
        end if;
    end loop;
end;
$$;

-- Whatever reads the links of a page also writes its names: pages without any were never read so.
create or replace function pgrag._unread_pages(
    library_id bigint,
    version_id bigint
)
returns bigint[]
language sql
stable
parallel safe
set search_path from current
as $$
    select array(
        select p.page_id
        from pgrag.pages as p
        where p.library_id = _unread_pages.library_id
            and p.version_id = _unread_pages.version_id
            and not exists (
                select
                from pgrag.page_names as n
                where n.library_id = p.library_id and n.page_id = p.page_id
            )
    );
$$;

create or replace function pgrag._edge_faults(
    library_id bigint,
    version_id bigint
)
returns table (
    version_id bigint,
    problem text,
    example text
)
language sql
stable
parallel safe
set search_path from current
set enable_nestloop = off
set jit = off
as $$
    select _edge_faults.version_id, f.problem, format('edge %s to %s', e.edge_id, e.target)
    from pgrag.edges as e
    left join pgrag.pages as p on p.library_id = e.library_id and p.page_id = e.source_page_id
    left join pgrag.documents as d
        on d.library_id = e.library_id and d.document_id = e.source_document_id
    cross join lateral (
        values
            ('an edge from a page of another version, or from none',
                p.version_id is distinct from e.version_id),
            ('an edge without the document that it stands in',
                e.source_document_id is not null and d.page_id is distinct from e.source_page_id)
    ) as f (problem, is_found)
    where e.library_id = _edge_faults.library_id
        and coalesce(p.version_id, e.version_id) = _edge_faults.version_id
        and f.is_found;
$$;
