-- Finds the faults of passages in one pass. Faults between rows (a cycle of parents, a gap in the
-- order) are counted once per affected passage.
create or replace function _pgrag.document_faults(
    library_id bigint,
    version_ids bigint[]
)
returns table (
    document_id bigint,
    page_id bigint,
    key text,
    problem text
)
language sql
stable
parallel safe
set enable_nestloop = off
set jit = off
as $$
    with recursive rows_of as materialized (
        select
            d.document_id, d.page_id, d.parent_id, d.version_id, d.covers, d.sort_order,
            d.search is not null as has_search,
            d.situation <> '' and (d.level < 2 or d.covers = 0)
                or d.extract is not null and not d.is_summary as has_stray_text,
            p.key, p.version_id as page_version_id,
            d.text_hash = pgrag.text_hash(
                _pgrag.embedding_text(
                    p.title,
                    _pgrag.relative_url(p.url, coalesce(v.source ->> 'base_url', '')),
                    d.path, _pgrag.searched_text(d.situation, d.context, d.content)
                )
            ) as is_of_its_text,
            row_number() over (
                partition by d.page_id
                order by d.sort_order, d.document_id
            ) - 1 as nth
        from pgrag.documents as d
        left join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
        left join pgrag.versions as v on v.library_id = p.library_id and v.version_id = p.version_id
        where d.library_id = document_faults.library_id
            and coalesce(p.version_id, d.version_id) = any (document_faults.version_ids)
    ),
    linked as materialized (
        select r.*, above.document_id as stored_parent_id, above.page_id as parent_page_id
        from rows_of as r
        left join rows_of as above on above.document_id = r.parent_id
    ),
    reached as (
        select l.document_id from linked as l where l.stored_parent_id is null
        union all
        select l.document_id
        from reached as r
        join linked as l on l.stored_parent_id = r.document_id
    )
    select l.document_id, l.page_id, l.key, f.problem
    from linked as l
    left join reached as r on r.document_id = l.document_id
    cross join lateral (
        values
            ('a passage without its page', l.key is null),
            ('a passage of another version than its page', l.page_version_id <> l.version_id),
            ('a parent that is gone', l.parent_id is not null and l.stored_parent_id is null),
            ('a parent on another page', l.parent_page_id <> l.page_id),
            ('parents in a circle', r.document_id is null),
            ('a gap or a repetition in the order of a page', l.nth <> l.sort_order),
            ('words without a full-text vector, or the other way round',
                (l.covers > 0) <> l.has_search),
            ('a model''s text where none belongs', l.has_stray_text),
            ('the hash of another text', l.key is not null and not l.is_of_its_text)
    ) as f (problem, holds)
    where f.holds;
$$;
