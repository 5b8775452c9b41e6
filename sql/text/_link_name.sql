-- The normal form of names in which links and pages are matched: decoded, lower case, NFC, single
-- spaces, without suffix and outer slashes; the last 300 characters, because of the index.
create or replace function _pgrag.link_name(
    target text
)
returns text
language sql
immutable
parallel safe
as $$
    select right(
        btrim(
            regexp_replace(
                regexp_replace(
                    normalize(
                        lower(
                            _pgrag.percent_decoded(link_name.target)
                        ),
                        NFC
                    ),
                    '\s+', ' ', 'g'
                ),
                '\.(md|mdx|markdown|html?)[/ ]*$', ''
            ),
            '/ '
        ),
        300
    );
$$;

-- How much a link is written like a page of this name: 3 for the whole address, with suffix, query
-- and case, or the whole title; 2 without the suffix or for a page without a query; 1 for a page
-- with another query; 0 if the case differs.
create or replace function _pgrag.link_likeness(
    target text,
    is_address boolean,
    how text,
    key text,
    url text,
    title text,
    aliases text[]
)
returns integer
language sql
immutable
parallel safe
as $$
    select case
        when link_likeness.how in ('title', 'alias')
        then 3 * (
            link_likeness.target = any (link_likeness.title || link_likeness.aliases)
        )::integer
        when right('/' || link_likeness.key, length(t.written) + 1) = '/' || t.written
            or right('/' || n.url, length(t.written) + 1) = '/' || t.written
        then 3
        when right('/' || n.bare_key, length(n.bare) + 1) = '/' || n.bare
            or right('/' || n.bare_url, length(n.bare) + 1) = '/' || n.bare
        then case when strpos(n.url, '?') = 0 then 2 else 1 end
        else 0
    end
    from (
        select regexp_replace(
            _pgrag.percent_decoded(link_likeness.target),
            '^\s*(([A-Za-z][A-Za-z0-9+.-]*:)?//[^/]*)?/?(\.\.?/)*', ''
        ) as written
    ) as t
    cross join lateral (
        select
            u.url, _pgrag.bare_address(link_likeness.key, false) as bare_key,
            _pgrag.bare_address(u.url, true) as bare_url,
            _pgrag.bare_address(t.written, link_likeness.is_address) as bare
        from (
            select coalesce(_pgrag.percent_decoded(link_likeness.url), '') as url
        ) as u
    ) as n;
$$;

create or replace function _pgrag.bare_address(
    address text,
    has_query boolean
)
returns text
language sql
immutable
parallel safe
as $$
    select regexp_replace(
        regexp_replace(
            bare_address.address,
            case when bare_address.has_query then '\?.*$' else '^$' end, ''
        ),
        '(\.(md|mdx|markdown|html?))?/*$', '', 'i'
    );
$$;

-- Text that does not decode to UTF-8 was not encoded.
create or replace function _pgrag.percent_decoded(
    input text
)
returns text
language plpgsql
immutable
parallel safe
as $$
begin
    if strpos(percent_decoded.input, '%') = 0 then
        return percent_decoded.input;
    end if;
    return (
        select convert_from(
            string_agg(
                case
                    when length(p.part[1]) = 3 and p.part[1] like '\%%'
                    then decode(substr(p.part[1], 2), 'hex')
                    else convert_to(p.part[1], 'UTF8')
                end,
                ''::bytea
                order by p.nth
            ),
            'UTF8'
        )
        from regexp_matches(percent_decoded.input, '%[0-9A-Fa-f]{2}|[^%]+|%', 'g')
            with ordinality as p (part, nth)
    );
exception
    when character_not_in_repertoire or untranslatable_character then
        return percent_decoded.input;
end;
$$;

-- The last part of a name, the lookup key of links; an index page has the name of its folder.
create or replace function _pgrag.last_name(
    name text
)
returns text
language sql
immutable
parallel safe
as $$
    select regexp_replace(
        regexp_replace(last_name.name, '(^|/)(index|_index|readme)$', ''), '^.*/', ''
    );
$$;

-- The folder of a name; '' at the root.
create or replace function _pgrag.folder_name(
    name text
)
returns text
language sql
immutable
parallel safe
as $$
    select regexp_replace(folder_name.name, '/?[^/]*$', '');
$$;

-- The number of leading folders that both have in common, and how many more the target has.
create or replace function _pgrag.folder_distance(
    source text,
    target text,
    out shared bigint,
    out extra bigint
)
language sql
immutable
parallel safe
as $$
    select
        count(*) filter (where parts.equals),
        cardinality(string_to_array(folder_distance.target, '/'))
            - count(*) filter (where parts.equals)
    from (
        select bool_and(t.name = s.name) over (order by t.nth) as equals
        from string_to_table(folder_distance.target, '/') with ordinality as t (name, nth)
        join string_to_table(folder_distance.source, '/') with ordinality as s (name, nth)
            on s.nth = t.nth
    ) as parts;
$$;

-- a/./b/../c becomes a/c; a name that leads out of the root keeps its dots, so it finds no page.
create or replace function _pgrag.without_dots(
    name text
)
returns text
language plpgsql
immutable
strict
parallel safe
as $$
declare
    kept text[] := '{}';
    part text;
begin
    if (name ~ '(^|/)\.{0,2}(/|$)') is not true then
        return name;
    end if;
    foreach part in array string_to_array(name, '/') loop
        if part = '..' and cardinality(kept) > 0 and kept[cardinality(kept)] <> '..' then
            kept := kept[:cardinality(kept) - 1];
        elsif part not in ('', '.') then
            kept := kept || part;
        end if;
    end loop;
    return array_to_string(kept, '/');
end;
$$;

-- The target of a link without its query string; below the library's base address, from its root.
create or replace function _pgrag.link_address(
    target text,
    is_address boolean,
    base_url text
)
returns text
language sql
immutable
parallel safe
as $$
    select regexp_replace(
        case
            when link_address.base_url <> '' and link_address.target ~ '^\s*[A-Za-z0-9+.-]*:?//'
            then _pgrag.below_site(link_address.target, link_address.base_url)
            else link_address.target
        end,
        case when link_address.is_address then '\?.*$' else '^$' end,
        ''
    );
$$;

create or replace function _pgrag.below_site(
    target text,
    base_url text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when s.base <> ''
            and starts_with(lower(s.address), lower(s.base))
            and substr(s.address, length(s.base) + 1, 1) in ('', '/', '?', '#')
        then '/' || ltrim(substr(s.address, length(s.base) + 1), '/')
        else below_site.target
    end
    from (
        select
            regexp_replace(below_site.target, '^\s*([A-Za-z][A-Za-z0-9+.-]*:)?//', '') as address,
            rtrim(regexp_replace(below_site.base_url, '^([A-Za-z][A-Za-z0-9+.-]*:)?//', ''), '/')
                as base
    ) as s;
$$;

-- Whether an address leads to another site, or to no page at all (mailto:). In a wikilink a colon
-- is usually part of a title.
create or replace function _pgrag.leads_away(
    address text,
    is_address boolean
)
returns boolean
language sql
immutable
parallel safe
as $$
    select leads_away.address ~ '^\s*(([A-Za-z][A-Za-z0-9+.-]*:)?//|(mailto|tel):)'
        or leads_away.is_address
            and leads_away.address ~ '^\s*[A-Za-z][A-Za-z0-9+.-]+:\S'
            and leads_away.address !~* '\.(md|mdx|markdown)$';
$$;

-- Whether a name without a page looks like that of another file, for example an image.
create or replace function _pgrag.names_asset(
    name text
)
returns boolean
language sql
immutable
parallel safe
as $$
    select names_asset.name ~ (
        '\.(png|jpe?g|jfif|gif|svgz?|webp|avif|bmp|ico|tiff?|heic|psd|ai|drawio|excalidraw'
        '|pdf|docx?|xlsx?|pptx?|od[tspg]|rtf|txt|log|epub|canvas|base'
        '|mp[34]|m4[av]|wav|ogg|ogv|opus|flac|3gp|webm|mov|mkv|avi'
        '|zip|gz|tgz|tar|bz2|xz|zst|7z|rar|exe|dmg|deb|rpm|apk|msi|jar|iso|bin|wasm'
        '|woff2?|ttf|otf|eot|css|scss|less|m?js|cjs|jsx|tsx?|json5?|jsonl|ya?ml|toml|xml|xsl|rss'
        '|atom|csv|tsv|sql|db|sqlite|ini|conf|cfg|env|lock|diff|patch|proto|graphql|ipynb'
        '|sh|bash|bat|ps1|py|rb|pl|php|go|rs|java|kt|swift|cs?|cc|cpp|h|hpp|lua|r|tf|map|asc|sig'
        '|pem|crt|key|tpl|tmpl|template|mustache|ics)$'
    );
$$;
