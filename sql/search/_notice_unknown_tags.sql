-- A word after tags:a that no page has as its tag was probably meant as a word.
create or replace function _pgrag.notice_unknown_tags(
    filters jsonb,
    library_ids bigint[]
)
returns void
language plpgsql
stable
parallel safe
as $$
declare
    unknown text;
begin
    select string_agg(t.tag, ', ' order by t.nth)
    into unknown
    from (
        select e.tag #>> '{}' as tag, e.nth
        from jsonb_path_query(filters, '$.**.tags.all[*]') with ordinality as e (tag, nth)
    ) as t
    where not exists (
        select from pgrag.pages as p
        where p.tags @> array[t.tag] and p.library_id = any (notice_unknown_tags.library_ids)
    );
    if unknown is not null then
        raise notice 'No page has these tags: %. Words after tags: are tags, after tag: they are'
            ' searched.', unknown;
    end if;
end;
$$;
