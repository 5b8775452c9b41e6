-- Statistics are reduced with the rows; locks the library row, so writers are serialised.
create or replace function pgrag.remove_version(
    library text,
    version text default ''
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    owner pgrag.libraries;
    target_id bigint;
    removed bigint;
begin
    -- A library that the caller cannot see is unknown, whatever happens to it.
    perform _pgrag.library_id(remove_version.library);
    perform _pgrag.lock_out_indexing(remove_version.library, coalesce(remove_version.version, ''));
    owner := _pgrag.lock_library(remove_version.library);
    target_id := _pgrag.version_id(owner.library_id, remove_version.version);
    removed := _pgrag.remove_pages(
        owner,
        array(
            select p.page_id
            from pgrag.pages as p
            where p.library_id = owner.library_id and p.version_id = target_id
        )
    );
    perform _pgrag.refresh_impacts(owner.library_id, owner.settings);
    perform _pgrag.cancel_jobs(array_agg(j.job_id))
    from pgrag.versions as v
    join pgrag.jobs as j on j.library = owner.name and j.version = v.label
    where v.library_id = owner.library_id and v.version_id = target_id;
    delete from pgrag.crawls as c
    using pgrag.versions as v
    where v.library_id = owner.library_id
        and v.version_id = target_id
        and c.library = owner.name
        and c.version = v.label;
    delete from pgrag.versions as v
    where v.library_id = owner.library_id and v.version_id = target_id;
    return removed;
end;
$$;

comment on function pgrag.remove_version is
'Removes one version of a library with its pages, passages and vectors, and cancels its jobs;
returns the number of pages. Errors: PGR02, PGR03; 55006 while a run of pgrag index writes it or
another session removes it.';

create or replace function _pgrag.remove_pages(
    owner pgrag.libraries,
    page_ids bigint[]
)
returns bigint
language plpgsql
volatile
as $$
declare
    removed bigint;
begin
    perform _pgrag.forget_documents(
        owner.library_id,
        array(
            select d.document_id
            from pgrag.documents as d
            where d.library_id = owner.library_id and d.page_id = any (remove_pages.page_ids)
        ),
        owner.settings
    );
    perform _pgrag.forget_pages(owner.library_id, remove_pages.page_ids);
    insert into pgrag.pending_names (library_id, version_id, name)
    select distinct n.library_id, n.version_id, n.name
    from pgrag.page_names as n
    where n.library_id = owner.library_id and n.page_id = any (remove_pages.page_ids)
    on conflict do nothing;
    delete from pgrag.pages as p
    where p.library_id = owner.library_id and p.page_id = any (remove_pages.page_ids);
    get diagnostics removed = row_count;
    return removed;
end;
$$;
