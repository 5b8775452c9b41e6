-- Pages stand below each other by their hierarchical path; a page without one of its own, by its
-- folder: guide/index.md (or _index.md, README.md, or guide.md beside the folder) is the parent of
-- guide/install.md.
create or replace function pgrag._parent_page(
    page pgrag.pages
)
returns bigint
language sql
stable
parallel safe
set search_path from current
as $$
    select p.page_id
    from pgrag.pages as p
    where p.library_id = (_parent_page.page).library_id
        and p.version_id = (_parent_page.page).version_id
        and p.page_id <> (_parent_page.page).page_id
        and (
            p.path = pgrag._path_above((_parent_page.page).path)
            or p.key = any (pgrag._index_keys(pgrag._parent_folder((_parent_page.page).key)))
        )
    order by p.path = pgrag._path_above((_parent_page.page).path) desc nulls last, p.key, p.page_id
    limit 1;
$$;

create or replace function pgrag._child_pages(
    page pgrag.pages
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
        where p.library_id = (_child_pages.page).library_id
            and p.version_id = (_child_pages.page).version_id
            and p.page_id <> (_child_pages.page).page_id
            and (
                (
                    cardinality(p.path) = cardinality((_child_pages.page).path) + 1
                    and pgrag._path_above(p.path) = (_child_pages.page).path
                )
                or (
                    (_child_pages.page).key = any (
                        pgrag._index_keys(pgrag._parent_folder(p.key))
                    )
                    and not exists (
                        select
                        from pgrag.pages as above
                        where above.library_id = p.library_id
                            and above.version_id = p.version_id
                            and above.page_id <> p.page_id
                            and above.path = pgrag._path_above(p.path)
                    )
                )
            )
        order by p.path, p.key, p.page_id
    );
$$;

-- Null where nothing can be above: no page without a path is the parent of all.
create or replace function pgrag._path_above(
    path text[]
)
returns text[]
language sql
immutable
parallel safe
as $$
    select case
        when pg_catalog.cardinality(_path_above.path) > 1
        then _path_above.path[:pg_catalog.cardinality(_path_above.path) - 1]
    end;
$$;

-- The folder whose index page is above this page: its own, or for an index page the one above;
-- null for the index of the whole source.
create or replace function pgrag._parent_folder(
    key text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when _parent_folder.key !~* '(^|/)(index|_index|readme)\.[a-z]+$'
        then pg_catalog.regexp_replace(_parent_folder.key, '(^|/)[^/]*$', '')
        when pg_catalog.strpos(_parent_folder.key, '/') > 0
        then pg_catalog.regexp_replace(_parent_folder.key, '(^|/)[^/]*/[^/]*$', '')
    end;
$$;

create or replace function pgrag._index_keys(
    folder text
)
returns text[]
language sql
immutable
parallel safe
as $$
    select array_agg(ltrim(_index_keys.folder || ending, '/'))
    from unnest(
        array['/index.md', '/_index.md', '/README.md', '/index.mdx', '/index.markdown', '.md']
    ) as ending;
$$;

-- The row that stands for a whole page.
create or replace function pgrag._page_document(
    library_id bigint,
    page_id bigint
)
returns bigint
language sql
stable
parallel safe
set search_path from current
as $$
    select d.document_id
    from pgrag.documents as d
    where d.library_id = _page_document.library_id and d.page_id = _page_document.page_id
    order by d.sort_order
    limit 1;
$$;
