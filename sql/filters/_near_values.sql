-- " Did you mean …? There are …." for a value that no page has; of many values only the near ones.
create or replace function _pgrag.near_values(
    library_ids bigint[],
    version_ids bigint[],
    field text,
    value text
)
returns text
language plpgsql
stable
parallel safe
as $$
declare
    known text[];
begin
    if field like 'front\_matter.%' then
        select array_agg(distinct v.value #>> '{}')
        into known
        from pgrag.pages as p
        cross join lateral jsonb_path_query(
            p.front_matter #> string_to_array(substr(field, length('front_matter.') + 1), '.'),
            'lax $[*] ? (@.type() != "object" && @.type() != "null")'
        ) as v (value)
        -- The same letters may be a number or a date.
        where p.library_id = any (library_ids)
            and p.version_id = any (version_ids)
            and v.value #>> '{}' <> near_values.value;
    else
        select array_agg(distinct v.value)
        into known
        from pgrag.pages as p
        cross join lateral unnest(
            case field
                when 'type' then array[p.type]
                when 'topic' then array[p.topic]
                when 'tags' then p.tags
                when 'path' then p.path
                else array[p.title]
            end
        ) as v (value)
        where p.library_id = any (library_ids)
            and p.version_id = any (version_ids)
            and v.value <> '';
    end if;
    if cardinality(known) > 100 then
        -- Titles, numbers: the first ten of many help nobody.
        return coalesce(' Did you mean ' || (
            select string_agg(n.name, ', ' order by n.likeness desc, n.name)
            from (
                select k.name, _pgrag.similarity(w.trigrams, _pgrag.trigrams(k.name)) as likeness
                from (select _pgrag.trigrams(left(value, 200)) as trigrams offset 0) as w
                cross join unnest(known) as k (name)
                order by 2 desc, 1
                limit 3
            ) as n
            where n.likeness >= 0.3
        ) || '?', '');
    end if;
    return ' ' || _pgrag.name_hint(value, coalesce(known, '{}'), 'There are', 'There are none.');
end;
$$;

-- A word after tags:a that no page has as its tag was probably meant as a word.
create or replace function _pgrag.unknown_tags(
    library_ids bigint[],
    version_ids bigint[],
    filters jsonb
)
returns setof text
language sql
stable
parallel safe
as $$
    select format(
        'No page has these tags: %s. Words after tags: are tags, after tag: they are searched.',
        string_agg(t.tag #>> '{}', ', ' order by t.nth)
    )
    from jsonb_path_query(
        unknown_tags.filters, 'strict $.** ? (exists (@.tags.all)).tags.all[*]'
    ) with ordinality as t (tag, nth)
    where not _pgrag.leaves_pages(
        unknown_tags.library_ids, unknown_tags.version_ids, jsonb_build_object('tags', t.tag)
    )
    having count(*) > 0;
$$;

-- Of filters that leave nothing: a note for each tag, type, name and value of a property that no
-- page of the libraries has, with the near ones.
create or replace function _pgrag.unknown_values(
    target _pgrag.search_target,
    filters jsonb
)
returns setof text
language sql
stable
parallel safe
as $$
    select format(
        'No page has the %s %s.%s',
        case
            when v.field like 'front\_matter.%'
            then 'property ' || substr(v.field, length('front_matter.') + 1) || ' with the value'
            else rtrim(v.field, 's')
        end,
        quote_literal(v.value),
        _pgrag.near_values(
            (unknown_values.target).library_ids, (unknown_values.target).version_ids, v.field,
            v.value
        )
    )
    from (
        select distinct c.key as field, w.value #>> '{}' as value
        from jsonb_path_query(unknown_values.filters, 'strict $.** ? (@.type() == "object")') as o
        cross join lateral jsonb_each(o) as c
        cross join lateral jsonb_path_query(
            case
                when jsonb_typeof(c.value) <> 'object' then c.value
                else jsonb_build_array(c.value -> '=', c.value -> 'in')
            end,
            'lax $.** ? (@.type() == "string")'
        ) as w (value)
        where c.key in ('type', 'topic', 'tags', 'path', 'page', 'title')
            or c.key like 'front\_matter.%'
        limit 10
    ) as v
    where (
            (unknown_values.target).document_count = 0
            or (unknown_values.target).allowed_documents = '{}'
        )
        and not _pgrag.leaves_pages(
            (unknown_values.target).library_ids, (unknown_values.target).version_ids,
            jsonb_build_object(v.field, v.value)
        );
$$;
