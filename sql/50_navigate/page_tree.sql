-- Pages stand below each other by their hierarchical path; where no page has the path above, below
-- the section of another page that has it; a page that finds neither, by its folder:
-- guide/index.md (or _index.md, README.md, guide.md beside the folder) is above guide/install.md.
create or replace function pgrag._parent_page(
    page pgrag.pages
)
returns bigint
language sql
stable
parallel safe
set search_path from current
as $$
    select coalesce(
        pgrag._page_of_path(_parent_page.page),
        (
            select p.page_id
            from pgrag.pages as p
            where p.library_id = (_parent_page.page).library_id
                and p.version_id = (_parent_page.page).version_id
                and p.page_id <> (_parent_page.page).page_id
                and p.key = any (
                    pgrag._index_keys(pgrag._parent_folder((_parent_page.page).key))
                )
            order by p.key
            limit 1
        )
    );
$$;

-- The document above a page.
create or replace function pgrag._document_above(
    page pgrag.pages
)
returns bigint
language sql
stable
parallel safe
set search_path from current
as $$
    select coalesce(
        case
            when pgrag._page_of_path(_document_above.page) is null
            then pgrag._section_above(_document_above.page)
        end,
        pgrag._page_document(
            (_document_above.page).library_id, pgrag._parent_page(_document_above.page)
        )
    );
$$;

-- The page with the path above a page's.
create or replace function pgrag._page_of_path(
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
    where p.library_id = (_page_of_path.page).library_id
        and p.version_id = (_page_of_path.page).version_id
        and p.page_id <> (_page_of_path.page).page_id
        and p.path = pgrag._path_above((_page_of_path.page).path)
    order by p.key, p.page_id
    limit 1;
$$;

-- The section with the path above a page's: on a page whose own path is a part of it.
create or replace function pgrag._section_above(
    page pgrag.pages
)
returns bigint
language sql
stable
parallel safe
set search_path from current
as $$
    select d.document_id
    from generate_series(1, cardinality((_section_above.page).path) - 2) as beginning (length)
    join pgrag.pages as p
        on p.path = ((_section_above.page).path)[:beginning.length]
    join pgrag.documents as d
        on d.library_id = p.library_id and d.page_id = p.page_id
    where p.library_id = (_section_above.page).library_id
        and p.version_id = (_section_above.page).version_id
        and p.page_id <> (_section_above.page).page_id
        and d.level = 1
        and d.path = pgrag._path_above((_section_above.page).path)
    order by beginning.length desc, p.key, d.sort_order
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
        from (
            select p.*
            from pgrag.pages as p
            where p.library_id = (_child_pages.page).library_id
                and p.version_id = (_child_pages.page).version_id
                and p.page_id <> (_child_pages.page).page_id
                and cardinality(p.path) > 1
                and p.path[:cardinality(p.path) - 1] = (_child_pages.page).path
            union
            select p.*
            from pgrag.pages as p
            where p.library_id = (_child_pages.page).library_id
                and p.version_id = (_child_pages.page).version_id
                and p.page_id <> (_child_pages.page).page_id
                and starts_with(p.key, pgrag._folder_of((_child_pages.page).key))
                and (_child_pages.page).key = any (pgrag._index_keys(pgrag._parent_folder(p.key)))
                and pgrag._page_of_path(p) is null
                and pgrag._section_above(p) is null
        ) as p
        order by p.path, p.key, p.page_id
    );
$$;

-- The pages that stand below a section of another page.
create or replace function pgrag._pages_below_section(
    section pgrag.documents
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
        where p.library_id = (_pages_below_section.section).library_id
            and p.version_id = (_pages_below_section.section).version_id
            and p.page_id <> (_pages_below_section.section).page_id
            and cardinality(p.path) > 1
            and p.path[:cardinality(p.path) - 1] = (_pages_below_section.section).path
            and pgrag._document_above(p) = (_pages_below_section.section).document_id
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

-- The folder that an index page stands for, with "/"; "" is the whole source.
create or replace function pgrag._folder_of(
    key text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when _folder_of.key ~* '(^|/)(index|_index|readme)\.[a-z]+$'
        then pg_catalog.regexp_replace(_folder_of.key, '[^/]*$', '')
        else pg_catalog.regexp_replace(_folder_of.key, '\.[^./]*$', '') || '/'
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
