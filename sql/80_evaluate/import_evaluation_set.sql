-- All of it or nothing: a set that is half there would give figures that nobody can repeat.
create or replace function pgrag.import_evaluation_set(
    name text,
    library text,
    queries jsonb,
    unit text default 'page',
    source jsonb default '{}'
)
returns table (
    imported_queries integer,
    imported_judgements integer,
    unjudged text[]
)
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    set_name text := lower(btrim(import_evaluation_set.name));
    library_name text := lower(btrim(import_evaluation_set.library));
    new_id bigint;
    complaint record;
begin
    perform pgrag._library_id(import_evaluation_set.library);
    if set_name is null or set_name !~ '^[a-z0-9][a-z0-9._-]{0,79}$' then
        raise exception 'An evaluation set cannot be called %.', quote_nullable(left(set_name, 100))
            using errcode = 'PGR01',
                hint = 'Use a-z, 0-9, ".", "_" and "-", 80 characters at most.';
    end if;
    if import_evaluation_set.unit is null
        or import_evaluation_set.unit not in ('page', 'section', 'document')
    then
        raise exception 'What is judged must be page, section or document, got %.',
            quote_nullable(import_evaluation_set.unit)
            using errcode = 'PGR01';
    end if;
    perform pgrag._check_labelled_queries(import_evaluation_set.queries);

    delete from pgrag.evaluation_sets as s where s.name = set_name;
    insert into pgrag.evaluation_sets (name, library, unit, digest, source)
    values (
        set_name, library_name, import_evaluation_set.unit, md5(queries::text),
        coalesce(import_evaluation_set.source, '{}')
    )
    returning set_id into new_id;
    -- The queries that nobody judged would count as failed, whatever is returned.
    insert into pgrag.evaluation_queries (set_id, query_id, query, excluded)
    select
        new_id, q ->> 'id', q ->> 'text',
        array(
            select e
            from jsonb_array_elements_text(coalesce(q -> 'excluded', '[]')) as e
            where coalesce((q #>> array['judgements', e])::integer, 0) = 0
        )
    from jsonb_array_elements(queries) as q
    where jsonb_path_exists(q, '$.judgements.* ? (@ > 0)');
    insert into pgrag.evaluation_judgements (set_id, query_id, target, grade)
    select new_id, q ->> 'id', j.key, j.value::integer
    from jsonb_array_elements(queries) as q
    cross join lateral jsonb_each(q -> 'judgements') as j
    where jsonb_path_exists(q, '$.judgements.* ? (@ > 0)');

    select m.query_id, m.target
    into complaint
    from pgrag._missing_targets(new_id, library_name, import_evaluation_set.unit) as m
    limit 1;
    if found then
        raise exception 'Library % has no % %, which query % expects.',
            quote_literal(library_name), import_evaluation_set.unit,
            quote_literal(complaint.target), quote_literal(complaint.query_id)
            using errcode = 'PGR01',
                hint = case import_evaluation_set.unit
                    when 'page' then 'Targets are keys of pages.'
                    when 'section' then 'Targets are KEY#ANCHOR.'
                    else 'Targets are KEY#cPLACE, where PLACE is sort_order.'
                end;
    end if;

    return query
    select
        (select count(*)::integer from pgrag.evaluation_queries as q where q.set_id = new_id),
        (select count(*)::integer from pgrag.evaluation_judgements as j where j.set_id = new_id),
        array(
            select q ->> 'id'
            from jsonb_array_elements(queries) as q
            where not jsonb_path_exists(q, '$.judgements.* ? (@ > 0)')
            order by q ->> 'id'
        );
end;
$$;

comment on function pgrag.import_evaluation_set(text, text, jsonb, text, jsonb) is
'Makes a labelled set about a library, or replaces it; runs keep their own copy and stay. queries:
[{"id", "text", "judgements": {target: grade, …}, "excluded": [page key, …]}, …], where grades are
whole numbers from 0 and excluded names pages that do not count for the query (they quote it, say).
unit: what targets name: page, section or document (see evaluation_target). Queries with nothing
relevant are left out and come back in unjudged. Errors: PGR01, naming the query; PGR02.';

create or replace function pgrag._check_labelled_queries(
    queries jsonb
)
returns void
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    complaint text;
begin
    if jsonb_typeof(queries) is distinct from 'array' then
        raise exception 'The queries must be a list, got %.', left(queries::text, 100)
            using errcode = 'PGR01',
                hint = 'For example [{"id": "q1", "text": "…", "judgements": {"a.md": 1}}].';
    end if;
    select case
        when jsonb_typeof(q.query) <> 'object' or coalesce(q.query ->> 'id', '') = ''
        then format('Query number %s has no id.', q.place)
        when btrim(coalesce(q.query ->> 'text', '')) = ''
        then format('Query %L has no text.', q.query ->> 'id')
        when jsonb_typeof(coalesce(q.query -> 'judgements', '{}')) <> 'object'
        then format('The judgements of query %L must be an object.', q.query ->> 'id')
        when jsonb_typeof(coalesce(q.query -> 'excluded', '[]')) <> 'array'
        then format('The excluded pages of query %L must be a list.', q.query ->> 'id')
        when q.is_repeated
        then format('Query %L is there twice.', q.query ->> 'id')
        else (
            select format('Query %L: the grade of %L is %s, not a whole number from 0.',
                q.query ->> 'id', j.key, j.value)
            from jsonb_each(q.query -> 'judgements') as j
            where j.value::text !~ '^[0-9]{1,6}$'
            order by j.key
            limit 1
        )
    end
    into complaint
    from (
        select
            e.query,
            e.place,
            row_number() over (partition by e.query ->> 'id' order by e.place) > 1 as is_repeated
        from jsonb_array_elements(queries) with ordinality as e (query, place)
    ) as q
    order by 1 nulls last
    limit 1;
    if complaint is not null then
        raise exception '%', complaint using errcode = 'PGR01';
    end if;
    if not jsonb_path_exists(queries, '$[*].judgements.* ? (@ > 0)') then
        raise exception 'No query has a judgement above 0.'
            using errcode = 'PGR01', hint = 'Without one there is nothing to be found.';
    end if;
end;
$$;

-- What no version of the library has: a typo, or a page that was never indexed.
create or replace function pgrag._missing_targets(
    set_id bigint,
    library text,
    unit text
)
returns table (
    query_id text,
    target text
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    owner_id bigint := pgrag._library_id(_missing_targets.library);
begin
    return query
    with missing as (
        select j.target
        from pgrag.evaluation_judgements as j
        where j.set_id = _missing_targets.set_id and j.grade > 0
        except
        (
            select p.key
            from pgrag.pages as p
            where p.library_id = owner_id and _missing_targets.unit = 'page'
            union all
            select pgrag.evaluation_target(_missing_targets.unit, p.key, d.anchor, d.sort_order)
            from pgrag.pages as p
            join pgrag.documents as d on d.library_id = p.library_id and d.page_id = p.page_id
            where p.library_id = owner_id and _missing_targets.unit <> 'page'
        )
    )
    select j.query_id, j.target
    from missing as m
    join pgrag.evaluation_judgements as j on j.target = m.target
    where j.set_id = _missing_targets.set_id and j.grade > 0
    order by j.query_id, j.target;
end;
$$;
