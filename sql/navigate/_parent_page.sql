-- The parent of a page is the page with the parent of its hierarchical path; else the section of
-- another page with that path; else the index page of its folder: guide/index.md (or _index.md,
-- README.md, guide.md next to the folder) is the parent of guide/install.md.
create or replace function _pgrag.parent_page(
    page pgrag.pages
)
returns bigint
language sql
stable
parallel safe
as $$
    select coalesce(
        _pgrag.page_of_path(parent_page.page),
        (
            select p.page_id
            from pgrag.pages as p
            where p.library_id = (parent_page.page).library_id
                and p.version_id = (parent_page.page).version_id
                and p.page_id <> (parent_page.page).page_id
                and p.key = any (_pgrag.index_keys((parent_page.page).key))
            order by p.key
            limit 1
        )
    );
$$;

-- The parent passage of a page.
create or replace function _pgrag.document_above(
    page pgrag.pages
)
returns bigint
language sql
stable
parallel safe
as $$
    select coalesce(
        case
            when _pgrag.page_of_path(document_above.page) is null
            then _pgrag.section_above(document_above.page)
        end,
        _pgrag.page_document(
            (document_above.page).library_id, _pgrag.parent_page(document_above.page)
        )
    );
$$;

-- The page with the parent of a page's path.
create or replace function _pgrag.page_of_path(
    page pgrag.pages
)
returns bigint
language sql
stable
parallel safe
as $$
    select p.page_id
    from pgrag.pages as p
    where p.library_id = (page_of_path.page).library_id
        and p.version_id = (page_of_path.page).version_id
        and p.page_id <> (page_of_path.page).page_id
        and p.path = _pgrag.path_above((page_of_path.page).path)
    order by p.key, p.page_id
    limit 1;
$$;

-- The section with the parent of a page's path, on a page whose own path is the beginning of it.
create or replace function _pgrag.section_above(
    page pgrag.pages
)
returns bigint
language sql
stable
parallel safe
as $$
    select d.document_id
    from generate_series(1, cardinality((section_above.page).path) - 2) as beginning (length)
    join pgrag.pages as p on p.path = ((section_above.page).path)[:beginning.length]
    join pgrag.documents as d on d.library_id = p.library_id and d.page_id = p.page_id
    where p.library_id = (section_above.page).library_id
        and p.version_id = (section_above.page).version_id
        and p.page_id <> (section_above.page).page_id
        and d.level = 1
        and d.path = _pgrag.path_above((section_above.page).path)
    order by beginning.length desc, p.key, d.sort_order
    limit 1;
$$;

-- The passages of a page's child pages.
create or replace function _pgrag.child_page_documents(
    page pgrag.pages
)
returns bigint[]
language sql
stable
parallel safe
as $$
    select array(
        select _pgrag.page_document(p.library_id, p.page_id)
        from pgrag.pages as p
        where p.library_id = (child_page_documents.page).library_id
            and p.version_id = (child_page_documents.page).version_id
            and p.page_id <> (child_page_documents.page).page_id
            and (
                _pgrag.path_above(p.path) = (child_page_documents.page).path
                -- A cheap prefix test before the exact test of index keys.
                or starts_with(
                    p.key,
                    regexp_replace(
                        (child_page_documents.page).key,
                        '((^|/)(index|_index|readme))?\.[a-z]+$', '', 'i'
                    )
                )
                and (child_page_documents.page).key = any (_pgrag.index_keys(p.key))
                and _pgrag.page_of_path(p) is null
                and _pgrag.section_above(p) is null
            )
        order by p.path, p.key, p.page_id
    );
$$;

-- Null for paths of up to one part: a page without a path must not be the parent of all pages.
create or replace function _pgrag.path_above(
    path text[]
)
returns text[]
language sql
immutable
parallel safe
as $$
    select case
        when pg_catalog.cardinality(path_above.path) > 1
        then path_above.path[:pg_catalog.cardinality(path_above.path) - 1]
    end;
$$;

-- The possible keys of the index page above a page: in the page's folder, or, for an index page, in
-- the parent folder; none for the index of the whole source.
create or replace function _pgrag.index_keys(
    key text
)
returns text[]
language sql
immutable
parallel safe
as $$
    select array_agg(ltrim(folder || ending, '/'))
    from (
        select case
            when index_keys.key !~* '(^|/)(index|_index|readme)\.[a-z]+$'
            then regexp_replace(index_keys.key, '(^|/)[^/]*$', '')
            when strpos(index_keys.key, '/') > 0
            then regexp_replace(index_keys.key, '(^|/)[^/]*/[^/]*$', '')
        end as folder
    ) as above
    cross join unnest(
        array['/index.md', '/_index.md', '/README.md', '/index.mdx', '/index.markdown', '.md']
    ) as ending;
$$;

-- The passage of the whole page, which is its first.
create or replace function _pgrag.page_document(
    library_id bigint,
    page_id bigint
)
returns bigint
language sql
stable
parallel safe
as $$
    select d.document_id
    from pgrag.documents as d
    where d.library_id = page_document.library_id and d.page_id = page_document.page_id
    order by d.sort_order
    limit 1;
$$;
