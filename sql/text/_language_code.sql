-- The code of a language in any usual spelling: de, deu, de_AT.UTF-8, German, Deutsch, немецкий.
-- Region and script stay (pt-BR, zh-Hans); of a list the first counts. Null: no language.
create or replace function _pgrag.language_code(
    name text
)
returns text
language plpgsql
immutable
strict
parallel safe
as $$
declare
    -- Without accents on Latin letters, "(Schweiz)", encodings, and quotes.
    wanted constant text := btrim(
        regexp_replace(
            normalize(
                regexp_replace(
                    normalize(lower(left(name, 200)), nfd), '([a-z])[\u0300-\u036f]+', '\1', 'g'
                ),
                nfc
            ),
            '\s*[(,;/|.@].*$', ''
        ),
        E' \t\n\r"''[]'
    );
    parts constant text[] := regexp_split_to_array(wanted, '[-_]');
    found text;
begin
    select
        case
            when strpos('|' || l.names || '|', '|' || wanted || '|') > 0 then l.code
            else array_to_string(
                l.code || array(
                    select case length(p.part)
                        when 2 then upper(p.part) when 4 then initcap(p.part) else p.part
                    end
                    from unnest(parts[2:]) with ordinality as p (part, nth)
                    order by p.nth
                ),
                '-'
            )
        end
    into found
    from _pgrag.languages() as l
    where strpos('|' || l.names || '|', '|' || wanted || '|') > 0
        or wanted ~ '^[a-z]{2,3}([-_][a-z0-9]{2,8})*$'
            and (l.code = parts[1] or strpos('|' || l.names || '|', '|' || parts[1] || '|') > 0)
    order by l.code = parts[1] desc, strpos('|' || l.names || '|', '|' || wanted || '|') > 0 desc
    limit 1;
    return found;
end;
$$;

-- The text search configuration of a language: "simple" if PostgreSQL has none.
create or replace function _pgrag.text_search_configuration(
    language text
)
returns text
language plpgsql
immutable
parallel safe
as $$
declare
    wanted text := split_part(language, '-', 1);
    found text;
begin
    -- Nearly all are codes already: reading any spelling takes ten times as long.
    if language ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$' then
        select l.configuration into found from _pgrag.languages() as l where l.code = wanted;
    end if;
    if found is null then
        wanted := split_part(_pgrag.language_code(language), '-', 1);
        select l.configuration into found from _pgrag.languages() as l where l.code = wanted;
    end if;
    return coalesce(found, 'simple');
end;
$$;
