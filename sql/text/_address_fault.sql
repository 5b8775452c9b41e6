-- Why a reader must not be given an address; null for http, https, mailto and relative addresses.
-- Whoever shows a page makes links of them, and a browser runs what javascript: begins. The tables
-- have a shorter rule for rows that are written without the functions.
create or replace function _pgrag.address_fault(
    address text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when address_fault.address !~ ('[:\\&\u0001-\u001F\u007F-\u009F\u061C\u200B\u200E\u200F'
            || '\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\U000E0000-\U000E0FFF]|^\s*//')
        then null
        when _pgrag.without_hidden(address_fault.address) <> address_fault.address
        then 'it has control characters, or others that nobody sees'
        when a.address ~* '^[^/?]*&(#x?[0-9a-f]|(colon|tab|newline);)'
        then 'it has entities of HTML'
        when a.address ~ '^(https?:)?([/\\]*\\[/\\]|[/\\]+\\)' or a.address ~ '^//[/\\]'
        then 'browsers read its backslashes and slashes as the beginning of a host'
        when a.address ~* '^(https?:)?//[^/?#]*@'
        then 'it has a name or a password before its host'
        when a.address ~* '^https?:' and a.address !~* '^https?://[^/?#\\\s]+([/?#]|$)'
        then 'it names no host'
        when a.address ~* '^(https?|mailto):'
        then null
        -- The name of a page of a wiki: Help:Contents.md. Schemes that start programs mostly have
        -- a hyphen, and their arguments a slash: ms-msdt:/id.
        when a.address ~* '^[a-z][a-z0-9]*:[ ]?[[:alnum:]_][[:alnum:]_./ -]*\.(md|mdx|markdown)$'
            and a.address !~* '^(javascript|vbscript|data|blob|file|tel|sms|jar):'
        then null
        when a.address ~* '^[a-z][a-z0-9+.-]*:'
        then pg_catalog.format(
            'it begins with %s:, and neither with http:, https: or mailto: nor without a scheme',
            pg_catalog.split_part(a.address, ':', 1)
        )
    end
    from (
        select pg_catalog.regexp_replace(
            address_fault.address, '^[\s\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000]+', ''
        ) as address
    ) as a;
$$;

-- Why an edge must not be stored. Wikilinks and relations of front matter are names, in which a
-- colon is usual (JavaScript: The Good Parts), unless they are written like an address.
create or replace function _pgrag.target_fault(
    target text,
    rule text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        -- Most links.
        when target_fault.target ~ (
            '^(https?://[A-Za-z0-9.-]+(:[0-9]+)?([/?#]|$)|(?!//))[A-Za-z0-9_./?#=%~+,;()@!-]*$'
        )
        then null
        when coalesce(nullif(btrim(target_fault.rule), ''), 'explicit:link') = 'explicit:link'
            or target_fault.target ~* (
                '^[\s\u0001-\u0020\u00A0]*([a-z][a-z0-9+.-]*://'
                || '|(javascript|vbscript|data|blob|file|tel|mailto):[^\s])'
            )
        then _pgrag.address_fault(btrim(target_fault.target))
    end;
$$;

-- The address of a page: a wrong one gives way to its key, which is a name, whatever is in it.
create or replace function _pgrag.page_address(
    url text,
    key text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when page_address.url is not null and _pgrag.address_fault(page_address.url) is null
        then page_address.url
        when _pgrag.address_fault(page_address.key) is null then page_address.key
        else './' || _pgrag.without_hidden(page_address.key)
    end;
$$;

-- A part of an address without the characters that no address may have.
create or replace function _pgrag.without_hidden(
    part text
)
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.regexp_replace(
        without_hidden.part,
        '[\u0001-\u001F\u007F-\u009F\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF'
            || '\uFFF9-\uFFFB\U000E0000-\U000E0FFF]',
        '', 'g'
    );
$$;

-- What a page stated that readers are not given: its own addresses, and those of its links.
create or replace function _pgrag.address_warnings(
    page jsonb
)
returns text[]
language sql
immutable
parallel safe
as $$
    select array(
        select format(
            '%s: the %s %s is left out: %s', address_warnings.page ->> 'key', f.what,
            quote_literal(left(f.address, 200)), f.fault
        )
        from (
            select 0::bigint as nth, u.what, u.address, _pgrag.address_fault(u.address) as fault
            from (
                values
                    ('address', address_warnings.page ->> 'url'),
                    ('link', address_warnings.page ->> 'link')
            ) as u (what, address)
            union all
            select
                min(e.nth), 'link to', e.edge ->> 'target',
                _pgrag.target_fault(e.edge ->> 'target', e.edge ->> 'rule')
            from jsonb_array_elements(nullif(address_warnings.page -> 'edges', 'null'))
                with ordinality as e (edge, nth)
            group by 3, 4
        ) as f
        where f.fault is not null
        order by f.nth
        limit 20
    );
$$;
