-- "42" and "guide.md#c3" are passages, "page:7", "page:guide.md" and "guide.md" all passages of a
-- page. An id without a passage excludes nothing, and a notice says so.
create or replace function _pgrag.excluded_documents(
    items text[],
    version_ids bigint[]
)
returns bigint[]
language plpgsql
stable
parallel safe
as $$
declare
    excluded record;
begin
    with named as materialized (
        select
            i.item,
            case when i.item ~ '^[0-9]{1,18}$' then i.item::bigint end as document_id,
            case when i.item ~ '^page:[0-9]{1,18}$' then substr(i.item, 6)::bigint end as page_id,
            regexp_replace(coalesce(k.parts[1], i.item), '^page:', '') as page,
            k.parts[2]::integer as sort_order
        from unnest(items) as i (item)
        cross join lateral (select regexp_match(i.item, '^(.+)#c(\d{1,9})$')) as k (parts)
    ),
    meant as materialized (
        select n.item, n.page_id, n.sort_order
        from named as n
        where n.page_id is not null
        union all
        select n.item, m.page_id, n.sort_order
        from named as n
        cross join unnest(excluded_documents.version_ids) as v (id)
        cross join lateral _pgrag.pages_called(v.id >> 12, v.id, n.page) as m (page_id)
        where n.document_id is null and n.page_id is null and n.page <> ''
    ),
    found as materialized (
        select n.item, d.document_id
        from named as n
        join pgrag.documents as d
            on d.library_id = n.document_id >> 33 and d.document_id = n.document_id
        union all
        select m.item, d.document_id
        from meant as m
        join pgrag.documents as d on d.library_id = m.page_id >> 33 and d.page_id = m.page_id
        where m.sort_order is null or d.sort_order = m.sort_order
    )
    select
        array(select f.document_id from found as f) as ids,
        array(
            select n.item from named as n where n.item not in (select f.item from found as f)
        ) as lacking,
        array(
            select n.item
            from named as n
            where n.document_id is null
                and n.page_id is null
                and not exists (select from meant as m where m.item = n.item)
        ) as unnamed
    into excluded;
    if excluded.unnamed <> '{}' then
        raise exception 'exclude cannot hold %.', quote_nullable(left(excluded.unnamed[1], 100))
            using errcode = 'PGR01',
                hint = 'No page searched has this name. An item is a passage (its id or its key, '
                    'such as 42 or guide.md#c3) or a page (page:7 or page:guide.md).';
    elsif excluded.lacking <> '{}' then
        raise notice 'exclude leaves out nothing for %: there is no such passage or page.',
            array_to_string(excluded.lacking[:10], ', ');
    end if;
    return excluded.ids;
end;
$$;
