-- Rejects pages and documents with a field of a wrong type before anything is written, naming the
-- page, the document and the field.
create or replace function _pgrag.check_pages(
    pages jsonb
)
returns void
language plpgsql
stable
parallel safe
as $$
declare
    fault record;
    members constant text[] := '{
        key, title, url, path, body, head, front_matter, uuid, link, topic, type, tags, language,
        created, modified, source_hash, warnings, aliases, reading, documents, edges
    }';
begin
    select p.page ->> 'key' as key, m.name
    into fault
    from jsonb_array_elements(check_pages.pages) as p (page)
    cross join lateral jsonb_object_keys(p.page) as m (name)
    where jsonb_typeof(p.page) = 'object' and m.name <> all (members)
    limit 1;
    if found then
        raise exception 'Page % has an unknown member %.',
            quote_nullable(left(fault.key, 200)), quote_literal(left(fault.name, 200))
            using errcode = 'PGR01',
                hint = format(
                    'Members: %s. The text of a page is its body.', array_to_string(members, ', ')
                );
    end if;
    select p.page ->> 'key' as key, f.field, v.value, f.form
    into fault
    from jsonb_array_elements(check_pages.pages) as p (page)
    cross join lateral (
        values
            ('path', 'a list of texts', _pgrag.is_list(p.page -> 'path')),
            ('tags', 'a list of texts', _pgrag.is_list(p.page -> 'tags')),
            ('warnings', 'a list of texts', _pgrag.is_list(p.page -> 'warnings')),
            ('aliases', 'a list of texts', _pgrag.is_list(p.page -> 'aliases')),
            (
                'created', 'a time such as 2026-01-31',
                pg_input_is_valid(p.page ->> 'created', 'timestamptz')
            ),
            (
                'modified', 'a time such as 2026-01-31',
                pg_input_is_valid(p.page ->> 'modified', 'timestamptz')
            ),
            (
                'documents', 'a list of objects',
                jsonb_typeof(p.page -> 'documents') in ('array', 'null')
                and not jsonb_path_exists(
                    p.page, 'strict $.documents[*] ? (@.type() != "object")', silent => true
                )
            )
    ) as f (field, form, is_valid)
    cross join lateral (select p.page -> f.field as value) as v
    where not f.is_valid
    limit 1;
    if found then
        raise exception '% of page % must be %, got %.',
            fault.field, quote_nullable(left(fault.key, 200)), fault.form,
            left(fault.value::text, 200)
            using errcode = 'PGR01', hint = 'See the comment of pgrag.ingest_page.';
    end if;
    select p.page ->> 'key' as key, d.place, f.field, f.value, f.form
    into fault
    from jsonb_array_elements(check_pages.pages) as p (page)
    cross join lateral rows from (
        jsonb_to_recordset(p.page -> 'documents') as (
            parent jsonb, level jsonb, covers jsonb, heading_level jsonb, depth jsonb, path jsonb,
            types jsonb, is_summary jsonb, line_start jsonb, line_end jsonb, content_tags jsonb
        )
    ) with ordinality as d (
        parent, level, covers, heading_level, depth, path, types, is_summary, line_start, line_end,
        content_tags, place
    )
    -- "offset 0": only a document with a fault is looked at field by field.
    cross join lateral (
        select array[
            d.parent::text ~ '^\d{1,9}$',
            d.level::text ~ '^[0-2]$',
            d.covers::text ~ '^[0-7]$',
            d.heading_level::text ~ '^\d{1,4}$',
            d.depth::text ~ '^\d{1,4}$',
            _pgrag.is_list(d.path),
            _pgrag.is_list(d.types),
            jsonb_typeof(d.is_summary) = 'boolean',
            d.line_start::text ~ '^\d{1,9}$',
            d.line_end::text ~ '^\d{1,9}$',
            _pgrag.is_list(d.content_tags)
        ] as are_valid
        offset 0
    ) as c
    cross join lateral unnest(
        array[
            'parent', 'level', 'covers', 'heading_level', 'depth', 'path', 'types', 'is_summary',
            'line_start', 'line_end', 'content_tags'
        ],
        array[
            'the index of another document', '0, 1 or 2', '0 to 7', 'a number', 'a number',
            'a list of texts', 'a list of texts', 'true or false', 'a number', 'a number',
            'a list of texts'
        ],
        array[
            d.parent, d.level, d.covers, d.heading_level, d.depth, d.path, d.types, d.is_summary,
            d.line_start, d.line_end, d.content_tags
        ],
        c.are_valid
    ) as f (field, form, value, is_valid)
    where false = any (c.are_valid) and not f.is_valid and f.value <> 'null'
    limit 1;
    if found then
        raise exception '% of document % of page % must be %, got %.',
            fault.field, fault.place, quote_nullable(left(fault.key, 200)), fault.form,
            left(fault.value::text, 200)
            using errcode = 'PGR01', hint = 'See the comment of pgrag.ingest_page.';
    end if;
end;
$$;

-- Whether a value is a list without lists or objects in it, or null.
create or replace function _pgrag.is_list(
    value jsonb
)
returns boolean
language sql
immutable
parallel safe
as $$
    select pg_catalog.jsonb_typeof(is_list.value) in ('array', 'null')
        and not pg_catalog.jsonb_path_exists(
            is_list.value, 'strict $[*] ? (@.type() == "array" || @.type() == "object")',
            silent => true
        );
$$;
