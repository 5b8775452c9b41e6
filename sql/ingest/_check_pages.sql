-- Rejects pages, passages and edges with a wrong field before anything is written, naming the page,
-- the passage or edge, and the field.
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
    -- What says a date; see pgrag.pages.created_from.
    says constant text[] := '{front matter, name, git, file, server}';
    what constant text := 'one of ' || array_to_string(says, ', ');
    members constant text[] := '{
        key, title, url, path, body, head, front_matter, uuid, link, topic, type, tags, language,
        created, created_from, modified, modified_from, source_hash, warnings, aliases, reading,
        documents, edges, words_shown, words_kept
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
                'edges', 'a list of objects, for example [{"target": "guide/install.md"}]',
                jsonb_typeof(p.page -> 'edges') in ('array', 'null')
            ),
            (
                'created', 'a time such as 2026-01-31',
                pg_input_is_valid(p.page ->> 'created', 'timestamptz')
            ),
            (
                'modified', 'a time such as 2026-01-31',
                pg_input_is_valid(p.page ->> 'modified', 'timestamptz')
            ),
            ('created_from', what, p.page ->> 'created_from' = any (says)),
            ('modified_from', what, p.page ->> 'modified_from' = any (says)),
            (
                'words_shown', 'a number',
                coalesce(p.page ->> 'words_shown', '0') ~ '^\d{1,9}$'
            ),
            ('words_kept', 'a number', coalesce(p.page ->> 'words_kept', '0') ~ '^\d{1,9}$'),
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
    select p.page ->> 'key' as key, d.number, f.field, v.value, f.form
    into fault
    from jsonb_array_elements(check_pages.pages) as p (page)
    cross join lateral jsonb_array_elements(nullif(p.page -> 'documents', 'null'))
        with ordinality as d (document, number)
    cross join (
        values
            ('parent', 'the index of another passage', '^\d{1,9}$'),
            ('level', '0, 1 or 2', '^[0-2]$'),
            ('covers', '0 to 7', '^[0-7]$'),
            ('heading_level', 'a number', '^\d{1,4}$'),
            ('depth', 'a number', '^\d{1,4}$'),
            ('path', 'a list of texts', null),
            ('types', 'a list of texts', null),
            ('content_tags', 'a list of texts', null),
            ('is_summary', 'true or false', '^(true|false)$'),
            ('line_start', 'a number', '^\d{1,9}$'),
            ('line_end', 'a number', '^\d{1,9}$')
    ) as f (field, form, pattern)
    cross join lateral (select d.document -> f.field as value) as v
    where v.value <> 'null' and not coalesce(v.value::text ~ f.pattern, _pgrag.is_list(v.value))
    limit 1;
    if found then
        raise exception '% of passage % of page % must be %, got %.',
            fault.field, fault.number, quote_nullable(left(fault.key, 200)), fault.form,
            left(fault.value::text, 200)
            using errcode = 'PGR01', hint = 'See the comment of pgrag.ingest_page.';
    end if;
    select i.page ->> 'key' as key, e.edge, e.number, e.complaint
    into fault
    from jsonb_array_elements(check_pages.pages) as i (page)
    cross join lateral (
        select
            e.edge, e.number,
            case
                when jsonb_typeof(e.edge) <> 'object' then 'is not an object'
                when jsonb_typeof(e.edge -> 'target') is distinct from 'string'
                then 'has no target'
                when btrim(e.edge ->> 'target') = ''
                    and coalesce(e.edge ->> 'fragment', '') = ''
                    and coalesce(e.edge ->> 'rule', 'explicit:') not like 'explicit:%'
                then 'has no target'
                when jsonb_typeof(e.edge -> 'confidence') not in ('number', 'null')
                    or (e.edge ->> 'confidence')::numeric not between 0.000001 and 1
                then 'needs a confidence above 0 and up to 1'
                when coalesce(e.edge ->> 'line', '0') !~ '^\d{1,9}$'
                then 'needs a line that counts from 1'
                when coalesce(e.edge ->> 'document', '0') !~ '^\d{1,9}$'
                then 'needs the index of one of the page''s passages'
                when length(e.edge ->> 'kind') > 100
                then 'has a kind of more than 100 characters'
                when length(e.edge ->> 'rule') > 200
                then 'has a rule of more than 200 characters'
            end as complaint
        from jsonb_array_elements(nullif(i.page -> 'edges', 'null')) with ordinality
            as e (edge, number)
    ) as e
    where e.complaint is not null
    limit 1;
    if found then
        raise exception 'Edge % of page % %: %.',
            fault.number, quote_literal(fault.key), fault.complaint, left(fault.edge::text, 200)
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
