create or replace function pgrag.remove_pages(
    library text,
    keys text[],
    version text default ''
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    owner pgrag.libraries := _pgrag.lock_library(remove_pages.library);
    target_id bigint := _pgrag.version_id(owner.library_id, remove_pages.version);
    removed bigint;
begin
    removed := _pgrag.remove_pages(
        owner,
        array(
            select p.page_id
            from pgrag.pages as p
            where p.library_id = owner.library_id
                and p.version_id = target_id
                and p.key = any (remove_pages.keys)
        )
    );
    perform _pgrag.count_version(owner.library_id, target_id);
    perform _pgrag.resolve_links(owner.library_id, target_id);
    perform _pgrag.refresh_impacts(owner.library_id, owner.settings);
    return removed;
end;
$$;

comment on function pgrag.remove_pages is
'Removes the pages with these keys from one version of a library, with their passages and vectors;
returns the number of removed pages. Links to them get another target or become unresolved. Errors:
PGR02, PGR03.';
