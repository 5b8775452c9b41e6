-- Finds the faults of pages and of the counts over pages.
create or replace function _pgrag.page_faults(
    library_id bigint,
    version_ids bigint[]
)
returns table (
    problem text,
    example text
)
language sql
stable
parallel safe
set enable_nestloop = off
set jit = off
as $$
    with counted as materialized (
        select
            d.page_id,
            count(*) filter (where d.covers > 0) as documents,
            bool_or(d.level = 2 and i.weights is not null) as has_words
        from pgrag.documents as d
        left join pgrag.impacts as i
            on i.library_id = d.library_id and i.document_id = d.document_id
        where d.library_id = page_faults.library_id
        group by d.page_id
    ),
    pages as materialized (
        select
            p.version_id, p.key, p.document_count, coalesce(c.documents, 0) as documents,
            coalesce(c.has_words, false) as has_words,
            p.weights is not null as has_weights,
            p.search is not null as has_search,
            p.title_weights is distinct from _pgrag.title_vector(array[p.language], p.title)
                as has_other_title
        from pgrag.pages as p
        left join counted as c on c.page_id = p.page_id
        where p.library_id = page_faults.library_id and p.version_id = any (page_faults.version_ids)
    )
    select f.problem, p.key
    from pages as p
    cross join lateral (
        values
            ('a page with another number of passages', p.document_count <> p.documents),
            ('a page without weights of its words', p.has_words and not p.has_weights),
            ('a page without a full-text vector', p.has_words and not p.has_search),
            ('a page without the weights of its title', p.has_words and p.has_other_title)
    ) as f (problem, holds)
    where f.holds
    union all
    select
        'a version with other numbers of pages or passages',
        format(
            '%s: %s pages, %s passages, not %s and %s',
            coalesce(nullif(v.label, ''), '(unversioned)'),
            coalesce(p.pages, 0), coalesce(p.documents, 0), v.page_count, v.document_count
        )
    from pgrag.versions as v
    left join (
        select p.version_id, count(*) as pages, sum(p.documents) as documents
        from pages as p
        group by p.version_id
    ) as p on p.version_id = v.version_id
    where v.library_id = page_faults.library_id
        and v.version_id = any (page_faults.version_ids)
        and (v.page_count, v.document_count)
            is distinct from (coalesce(p.pages, 0), coalesce(p.documents, 0));
$$;
