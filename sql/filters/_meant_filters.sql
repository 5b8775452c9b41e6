-- Filters that only the libraries can tell from words: other names of fields (TAGS:python), a blank
-- after the colon (tags: python), properties without "front_matter." (status:active), a page by its
-- name (page:guide), folder:, file:, has:. Such a part is a filter if it leaves pages; if its name
-- is that of a property, or it compares (priority:>2), a note says what it lacks.
create or replace function _pgrag.meant_filters(
    library_ids bigint[],
    version_ids bigint[],
    inout words text,
    out filters jsonb,
    out notes text[]
)
language plpgsql
stable
parallel safe
as $$
declare
    tokens text[];
    kept text[] := '{}';
    cut text[];
    value text;
    -- The names of all properties, by their lower case.
    properties jsonb;
    property text;
    filter jsonb;
    size integer;
    nth integer := 1;
    -- Each looks at the pages: a pasted log may have hundreds of colons.
    tries_left integer := 20;
    in_quotes boolean := false;
begin
    notes := '{}';
    if strpos(words, ':') = 0 then
        return;
    end if;
    tokens := regexp_split_to_array(left(words, 10000), '\s+');
    while nth <= cardinality(tokens) loop
        cut := regexp_match(
            tokens[nth],
            '^([+-]?)([[:alpha:]_][[:alnum:]_-]*):([<>=!]*)([^:/,;{}()<>"][^,;{}()<>"]*|)$'
        );
        size := 1;
        if cut[4] = '' and cut[3] = '' and tokens[nth - 1] ~ ':$' is not true then
            cut := cut[:2] || regexp_match(
                tokens[nth + 1], '^([<>=!]*)([[:alnum:]#][^,;:{}()<>"?]*)$'
            );
            size := 2;
        end if;
        filter := null;
        if cut[4] <> '' and not in_quotes and tries_left > 0 then
            tries_left := tries_left - 1;
            value := cut[4];
            properties := coalesce(properties, (
                select coalesce(jsonb_object_agg(lower(k.key), k.key), '{}')
                from (
                    select distinct jsonb_object_keys(p.front_matter) as key
                    from pgrag.pages as p
                    where p.library_id = any (library_ids) and p.version_id = any (version_ids)
                ) as k
            ));
            property := case when size = 1 then properties ->> lower(cut[2]) end;
            filter := _pgrag.meant_filter(
                library_ids, version_ids, properties, lower(cut[2]), property, cut[3], value
            );
            if filter is null and property is not null then
                notes := notes || format(
                    'No page has %s in its property %s: “%s” was searched as words.%s',
                    quote_literal(value), property, tokens[nth],
                    _pgrag.near_values(
                        library_ids, version_ids, 'front_matter.' || property, value
                    )
                );
            elsif filter is null and lower(cut[2]) in ('tag', 'tags', 'type', 'topic')
                and (size = 1 or lower(cut[2]) like 'tag%')
            then
                notes := notes || format(
                    'No page has the %s %s: “%s” was searched as words.%s',
                    rtrim(lower(cut[2]), 's'), quote_literal(value),
                    array_to_string(tokens[nth:nth + size - 1], ' '),
                    _pgrag.near_values(
                        library_ids, version_ids,
                        case lower(cut[2]) when 'tag' then 'tags' else lower(cut[2]) end, value
                    )
                );
            elsif filter is null and cut[3] ~ '[<>]' and size = 1 then
                notes := notes || format(
                    'No page has a property %s: “%s” was searched as words. A property is written '
                    'front_matter.%s:%s%s.',
                    cut[2], tokens[nth], cut[2], cut[3], value
                );
            end if;
        end if;
        if filter is null then
            kept := kept || tokens[nth];
            -- After a letter or digit, a mark closes a phrase or means inches.
            in_quotes := in_quotes <> (
                regexp_count(tokens[nth], case when in_quotes then '"' else '(?<!\w)"' end) % 2 = 1
            );
            nth := nth + 1;
            continue;
        end if;
        notes := notes || format(
            'Read as a filter: %s.', array_to_string(tokens[nth:nth + size - 1], ' ')
        );
        if cut[1] = '-' then
            filter := jsonb_build_object('not', filter);
        end if;
        filters := _pgrag.conjunction(filters, filter);
        nth := nth + size;
    end loop;
    if filters is not null then
        words := array_to_string(kept, ' ');
    end if;
end;
$$;

-- The filter that a name and a value stand for, if pages of the libraries pass it.
create or replace function _pgrag.meant_filter(
    library_ids bigint[],
    version_ids bigint[],
    properties jsonb,
    name text,
    property text,
    operator text,
    value text
)
returns jsonb
language plpgsql
stable
parallel safe
as $$
declare
    field record;
    filter jsonb;
begin
    select f.field, f.kind
    into field
    from _pgrag.query_fields() as f
    where f.name = case meant_filter.name
            when 'folder' then 'path' when 'file' then 'page' else meant_filter.name
        end
        and f.field in (
            'page', 'title', 'topic', 'type', 'language', 'uuid', 'tags', 'path', 'created',
            'modified'
        );
    if name = 'has' and operator = '' then
        property := properties ->> lower(value);
        select jsonb_build_object(f.field, '{"exists": true}'::jsonb)
        into filter
        from _pgrag.query_fields() as f
        where f.name in (lower(value), rtrim(lower(value), 's'))
            and f.expression like 'p.%'
        limit 1;
        if filter is null and property is not null then
            filter := jsonb_build_object('front_matter.' || property, '{"exists": true}'::jsonb);
        end if;
    elsif field.field is not null then
        filter := _pgrag.query_condition(field.field, field.kind, operator, value, 1);
    elsif property is not null then
        filter := _pgrag.query_condition('front_matter.' || property, 'json', operator, value, 1);
    end if;
    if operator = '!=' then
        filter := jsonb_build_object('not', filter);
    end if;
    -- A date can mean nothing else.
    return case
        when _pgrag.leaves_pages(library_ids, version_ids, filter) or field.kind = 'time' then filter
    end;
exception
    -- What has no meaning as a filter is words.
    when sqlstate 'PGR06' then
        return null;
end;
$$;

-- Whether any page of the libraries passes a filter of fields of pages.
create or replace function _pgrag.leaves_pages(
    library_ids bigint[],
    version_ids bigint[],
    filter jsonb
)
returns boolean
language plpgsql
stable
parallel safe
set timezone = 'UTC'
as $$
declare
    is_left boolean;
begin
    if filter is null then
        return false;
    end if;
    execute format(
        $sql$
        select exists (
            select
            from pgrag.pages as p
            where p.library_id = any ($1) and p.version_id = any ($2) and %s
        )
        $sql$,
        pgrag.filter_predicate(filter)
    )
    into is_left
    using library_ids, version_ids;
    return is_left;
end;
$$;

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
