-- Links and the pages they lead to meet in one form of a name: decoded, lower-case, NFC, with
-- single spaces, without suffix and outer slashes. The last 300 characters: more no index holds.
create or replace function pgrag._link_name(
    target text
)
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.right(
        pg_catalog.btrim(
            pg_catalog.regexp_replace(
                pg_catalog.regexp_replace(
                    pg_catalog.normalize(
                        pg_catalog.lower(
                            case
                                when pg_catalog.strpos(_link_name.target, '%') > 0
                                then pgrag._percent_decoded(_link_name.target)
                                else _link_name.target
                            end
                        ),
                        'NFC'
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

-- What is no UTF-8 when it is decoded, was not encoded.
create or replace function pgrag._percent_decoded(
    input text
)
returns text
language plpgsql
immutable
parallel safe
set search_path from current
as $$
begin
    return (
        select convert_from(
            string_agg(
                case
                    when length(p.part[1]) = 3 and p.part[1] like '\%%'
                    then decode(substr(p.part[1], 2), 'hex')
                    else convert_to(p.part[1], 'UTF8')
                end,
                ''::bytea
                order by p.place
            ),
            'UTF8'
        )
        from regexp_matches(_percent_decoded.input, '%[0-9A-Fa-f]{2}|[^%]+|%', 'g')
            with ordinality as p (part, place)
    );
exception
    when character_not_in_repertoire or untranslatable_character then
        return _percent_decoded.input;
end;
$$;

-- The last part of a name, by which links are looked up; an index page has its folder's.
create or replace function pgrag._last_name(
    name text
)
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.regexp_replace(
        pg_catalog.regexp_replace(_last_name.name, '(^|/)(index|_index|readme)$', ''), '^.*/', ''
    );
$$;

-- The folder of a name, '' at the root.
create or replace function pgrag._folder_name(
    name text
)
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.regexp_replace(_folder_name.name, '/?[^/]*$', '');
$$;

-- How many folders two have in common, and how many more the second has.
create or replace function pgrag._folder_distance(
    source text,
    target text,
    out shared bigint,
    out extra bigint
)
returns record
language sql
immutable
parallel safe
as $$
    select
        pg_catalog.count(*) filter (where parts.equals),
        pg_catalog.cardinality(
            pg_catalog.string_to_array(_folder_distance.target, '/')
        ) - pg_catalog.count(*) filter (where parts.equals)
    from (
        select
            pg_catalog.bool_and(t.name = s.name) over (
                order by t.place rows between unbounded preceding and current row
            ) as equals
        from pg_catalog.unnest(
            pg_catalog.string_to_array(_folder_distance.target, '/')
        ) with ordinality as t (name, place)
        join pg_catalog.unnest(
            pg_catalog.string_to_array(_folder_distance.source, '/')
        ) with ordinality as s (name, place) on s.place = t.place
    ) as parts;
$$;

-- a/./b/../c is a/c; what leads out of the root keeps its dots, and so finds nothing.
create or replace function pgrag._without_dots(
    name text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when _without_dots.name !~ '(^|/)\.{0,2}(/|$)' then _without_dots.name
        else pgrag._climbed(_without_dots.name)
    end;
$$;

create or replace function pgrag._climbed(
    name text
)
returns text
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    kept text[] := '{}';
    part text;
begin
    foreach part in array string_to_array(_climbed.name, '/') loop
        if part = '..' and cardinality(kept) > 0 and kept[cardinality(kept)] <> '..' then
            kept := kept[:cardinality(kept) - 1];
        elsif part not in ('', '.') then
            kept := kept || part;
        end if;
    end loop;
    return array_to_string(kept, '/');
end;
$$;

-- What is written as target, without query and, below the library's own address, from its root.
create or replace function pgrag._link_address(
    target text,
    is_address boolean,
    base_url text
)
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.regexp_replace(
        case
            when _link_address.base_url <> '' and _link_address.target ~ '^\s*[A-Za-z0-9+.-]*:?//'
            then pgrag._below_site(_link_address.target, _link_address.base_url)
            else _link_address.target
        end,
        case when _link_address.is_address then '\?.*$' else '^$' end,
        ''
    );
$$;

create or replace function pgrag._below_site(
    target text,
    base_url text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when b.base <> ''
            and pg_catalog.starts_with(pg_catalog.lower(t.address), pg_catalog.lower(b.base))
            and pg_catalog.substr(t.address, pg_catalog.length(b.base) + 1, 1)
                in ('', '/', '?', '#')
        then '/' || pg_catalog.ltrim(
            pg_catalog.substr(t.address, pg_catalog.length(b.base) + 1), '/'
        )
        else _below_site.target
    end
    from (
        select
            pg_catalog.regexp_replace(
                _below_site.target, '^\s*([A-Za-z][A-Za-z0-9+.-]*:)?//', ''
            ) as address
    ) as t
    cross join (
        select
            pg_catalog.rtrim(
                pg_catalog.regexp_replace(
                    _below_site.base_url, '^([A-Za-z][A-Za-z0-9+.-]*:)?//', ''
                ),
                '/'
            ) as base
    ) as b;
$$;

-- Whether an address leads to another site, or to no page at all (mailto:). In a wikilink a colon
-- is most often part of a title.
create or replace function pgrag._leads_away(
    address text,
    is_address boolean
)
returns boolean
language sql
immutable
parallel safe
as $$
    select _leads_away.address ~ '^\s*(([A-Za-z][A-Za-z0-9+.-]*:)?//|(mailto|tel):)'
        or _leads_away.is_address
            and _leads_away.address ~ '^\s*[A-Za-z][A-Za-z0-9+.-]+:\S'
            and _leads_away.address !~* '\.(md|mdx|markdown)$';
$$;

-- Whether a name is that of a file that is no page, if no page has it.
create or replace function pgrag._names_asset(
    name text
)
returns boolean
language sql
immutable
parallel safe
as $$
    select _names_asset.name ~ (
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
