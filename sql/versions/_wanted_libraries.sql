-- The argument, the top level of the filters and the text of the query may all name libraries and a
-- version, if they agree. The argument may be NAME@VERSION, as on the command line.
create or replace function _pgrag.wanted_libraries(
    library text,
    filters jsonb,
    query_filters jsonb
)
returns text[]
language plpgsql
immutable
parallel safe
as $$
declare
    named constant text := case
        when strpos(library, '@') > 0
        then regexp_replace(library, '^([^@,]+)@[^@,]+$', '\1')
        else library
    end;
    wishes jsonb := jsonb_build_array(
        to_jsonb(named), filters -> 'library', query_filters -> 'library'
    );
begin
    -- Most searches name their libraries nowhere else.
    if wishes -> 1 = 'null' and wishes -> 2 = 'null' then
        return string_to_array(lower(btrim(named)), ', ');
    end if;
    return string_to_array(
        _pgrag.one_wish('library', array(
            select (
                select string_agg(distinct lower(btrim(n.name)), ', ' order by lower(btrim(n.name)))
                from jsonb_array_elements_text(
                    case
                        when jsonb_typeof(w.wish) = 'array' then w.wish
                        else jsonb_build_array(w.wish)
                    end
                ) as n (name)
            )
            from jsonb_array_elements(wishes) as w (wish)
            where w.wish <> 'null'
        )),
        ', '
    );
end;
$$;

create or replace function _pgrag.wanted_version(
    library text,
    version text,
    filters jsonb,
    query_filters jsonb
)
returns text
language sql
immutable
parallel safe
as $$
    select _pgrag.one_wish('version', pg_catalog.array_remove(
        array[
            wanted_version.version,
            case
                when strpos(wanted_version.library, '@') > 0
                then pg_catalog.btrim(substring(wanted_version.library from '^[^@,]+@([^@,]+)$'))
            end,
            wanted_version.filters ->> 'version',
            wanted_version.query_filters ->> 'version'
        ],
        null
    ));
$$;

create or replace function _pgrag.one_wish(
    field text,
    wishes text[]
)
returns text
language plpgsql
immutable
parallel safe
as $$
begin
    if wishes[1] <> any (wishes) then
        raise exception 'The % is asked for as % and as %.',
            field, wishes[1], (select w from unnest(wishes) as w where w <> wishes[1] limit 1)
            using errcode = 'PGR06',
                hint = 'Name it once: as an argument, in the filters, or in the query.';
    end if;
    return wishes[1];
end;
$$;

-- The filters of the argument and of the query's text, without library and version.
create or replace function _pgrag.conjunction(
    filters jsonb,
    query_filters jsonb
)
returns jsonb
language plpgsql
immutable
parallel safe
as $$
declare
    given constant jsonb := case
        when jsonb_typeof(filters) = 'object' then filters - '{library, version}'::text[]
        else filters
    end;
    written constant jsonb := coalesce(query_filters, '{}') - '{library, version}'::text[];
begin
    return case
        when written = '{}' then given
        when coalesce(given, '{}') = '{}' then written
        else jsonb_build_object('and', jsonb_build_array(given, written))
    end;
end;
$$;
