-- \df prints one line of a thousand characters for a search: this is what fits a terminal.
create or replace function pgrag.help(
    about text default null
)
returns table (
    name text,
    arguments text,
    purpose text
)
language plpgsql
stable
set search_path from current
as $$
#variable_conflict use_column
declare
    -- PGRAG.Search( and search mean search.
    wish constant text := regexp_replace(lower(btrim(about, ' ();')), '^pgrag\.', '');
begin
    return query
    with listed as (
        select
            p.oid, p.proname::text as name, d.description,
            p.proargnames[:p.pronargs] as names,
            p.proname = wish as is_meant
        from pg_proc as p
        join pg_description as d on d.classoid = 'pg_proc'::regclass and d.objoid = p.oid
        where p.pronamespace = 'pgrag'::regnamespace
    )
    select
        l.name,
        case
            when l.is_meant
            then regexp_replace(pg_get_function_arguments(l.oid), ', (?=\w+ \w)', E',\n', 'g')
            else coalesce(array_to_string(l.names[:5], ', '), '')
                || case when cardinality(l.names) > 5 then ', …' else '' end
        end,
        case
            when l.is_meant then l.description
            else translate(
                regexp_substr(l.description || '.', '.*?(?=[.:](\s|$)|\n\n)'), E'\n', ' '
            )
        end
    from listed as l
    where wish is null
        or l.is_meant
        or (
            not exists (select from listed as m where m.is_meant)
            and strpos(lower(l.name || ' ' || l.description), wish) > 0
        )
    order by l.name;
    if not found then
        raise exception 'No function of pgrag is about %.', quote_literal(left(about, 100))
            using errcode = 'PGR01',
                hint = _pgrag.near_hint(wish, array(
                    select p.proname::text
                    from pg_proc as p
                    where p.pronamespace = 'pgrag'::regnamespace
                )) || 'select * from pgrag.help() lists all.';
    end if;
end;
$$;

comment on function pgrag.help is
'The functions of pgrag, each with its first arguments and the sentence that says what it does; for
the name of a function its arguments with types and defaults, and all that its comment says; for any
other word the functions whose names or comments have it. Errors: PGR01 with near names.';
