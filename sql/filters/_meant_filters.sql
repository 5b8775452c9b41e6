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
            '^([+-]?)([[:alpha:]_][[:alnum:]_-]*):([<>=!]*)'
                '([^:/,;{}()<>"][^,;{}()<>"]*(?:,[^,;{}()<>"]+)*|"[^"]+"|)$'
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
            -- A name with a blank behind its colon is none of a property: "TypeError: x is …".
            if properties is null and (size = 1 or lower(cut[2]) = 'has') then
                properties := (
                    select coalesce(jsonb_object_agg(lower(k.key), k.key), '{}')
                    from (
                        select distinct jsonb_object_keys(p.front_matter) as key
                        from pgrag.pages as p
                        where p.library_id = any (library_ids) and p.version_id = any (version_ids)
                    ) as k
                );
            end if;
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
        if filter is not null and 'OR' in (kept[cardinality(kept)], tokens[nth + size]) then
            notes := notes || format(
                '“%s” was searched as words: OR joins only filters with their full names%s.',
                array_to_string(tokens[nth:nth + size - 1], ' '),
                ', such as front_matter.' || property || ':' || value
            );
            filter := null;
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
        if kept[cardinality(kept)] = 'NOT' then
            kept := trim_array(kept, 1);
            filter := jsonb_build_object('not', filter);
        end if;
        if kept[cardinality(kept)] = 'AND' then
            kept := trim_array(kept, 1);
        end if;
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
    if field.kind = 'time' then
        perform pgrag.filter_predicate(filter);
        return filter;  -- a date can mean nothing else
    end if;
    return case when _pgrag.leaves_pages(library_ids, version_ids, filter) then filter end;
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
