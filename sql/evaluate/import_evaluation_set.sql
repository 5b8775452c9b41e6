-- All or nothing: a half-imported set would give figures that cannot be reproduced.
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
    set_name constant text := _pgrag.evaluation_set_name(import_evaluation_set.name);
    library_name text := lower(btrim(import_evaluation_set.library));
    owner_id bigint := _pgrag.library_id(import_evaluation_set.library);
    -- Queries without a relevant target would always count as failed, so they are left out.
    has_relevant constant jsonpath := '$.judgements.* ? (@ > 0)';
    new_id bigint;
    fault text;
    missing record;
begin
    perform _pgrag.check_choice('unit', unit, '{page, section, document}');
    if jsonb_typeof(queries) is distinct from 'array' then
        raise exception 'The queries must be a list, got %.', left(queries::text, 100)
            using errcode = 'PGR01',
                hint = 'For example [{"id": "q1", "text": "…", "judgements": {"a.md": 1}}].';
    end if;
    select case
        when jsonb_typeof(q.query) <> 'object' or coalesce(q.query ->> 'id', '') = ''
        then format('Query number %s has no id.', q.nth)
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
    into fault
    from (
        select
            e.*, row_number() over (partition by e.query ->> 'id' order by e.nth) > 1 as is_repeated
        from jsonb_array_elements(queries) with ordinality as e (query, nth)
    ) as q
    order by 1 nulls last
    limit 1;
    if fault is not null then
        raise exception '%', fault using errcode = 'PGR01';
    end if;
    if not jsonb_path_exists(queries, '$[*].judgements.* ? (@ > 0)') then
        raise exception 'No query has a judgement above 0.'
            using errcode = 'PGR01', hint = 'At least one target must be relevant.';
    end if;

    -- A set can move to another library. A name is unique within its library only, because other
    -- libraries may be hidden from the caller.
    update pgrag.evaluation_sets as s
    set library = library_name
    where s.set_id = (
            select min(o.set_id) from pgrag.evaluation_sets as o where o.name = set_name
        )
        and not exists (
            select
            from pgrag.evaluation_sets as o
            where o.name = set_name and o.library = library_name
        );
    -- The lock on the row serialises imports of one set.
    insert into pgrag.evaluation_sets (name, library, unit, digest, source)
    values (
        set_name, library_name, import_evaluation_set.unit, '',
        coalesce(import_evaluation_set.source, '{}')
    )
    on conflict on constraint evaluation_sets_name_key do update
    set unit = excluded.unit, source = excluded.source, created_at = excluded.created_at
    returning set_id into new_id;
    delete from pgrag.evaluation_queries as q where q.set_id = new_id;
    insert into pgrag.evaluation_queries (set_id, query_id, query, excluded)
    select
        new_id, q ->> 'id', q ->> 'text',
        array(
            select e
            from jsonb_array_elements_text(coalesce(q -> 'excluded', '[]')) as e
            where coalesce((q #>> array['judgements', e])::integer, 0) = 0
        )
    from jsonb_array_elements(queries) as q
    where jsonb_path_exists(q, has_relevant);
    get diagnostics imported_queries = row_count;
    insert into pgrag.evaluation_judgements (set_id, query_id, target, grade)
    select new_id, q ->> 'id', j.key, j.value::integer
    from jsonb_array_elements(queries) as q
    cross join lateral jsonb_each(q -> 'judgements') as j
    where jsonb_path_exists(q, has_relevant);
    get diagnostics imported_judgements = row_count;

    -- A target in no version of the library: a typo, or a page that was never indexed.
    select j.query_id, j.target
    into missing
    from pgrag.evaluation_judgements as j
    left join (
        select _pgrag.evaluation_target(
            import_evaluation_set.unit, p.key, d.anchor, d.sort_order
        ) as target
        from pgrag.pages as p
        left join pgrag.documents as d
            on import_evaluation_set.unit <> 'page'
            and d.library_id = p.library_id
            and d.page_id = p.page_id
        where p.library_id = owner_id
    ) as known on known.target = j.target
    where j.set_id = new_id and j.grade > 0 and known.target is null
    order by j.query_id, j.target
    limit 1;
    if found then
        raise exception 'Library % has no % %, which query % expects.',
            quote_literal(library_name), import_evaluation_set.unit,
            quote_literal(missing.target), quote_literal(missing.query_id)
            using errcode = 'PGR01',
                hint = case import_evaluation_set.unit
                    when 'page' then 'Targets are keys of pages.'
                    when 'section' then 'Targets are KEY#ANCHOR.'
                    else 'Targets are KEY#cN, where N is sort_order.'
                end;
    end if;

    perform _pgrag.digest_set(new_id);
    unjudged := array(
        select q ->> 'id'
        from jsonb_array_elements(queries) as q
        where not jsonb_path_exists(q, has_relevant)
        order by q ->> 'id'
    );
    return next;
end;
$$;

comment on function pgrag.import_evaluation_set is
'Creates or replaces a labelled set about a library; earlier runs keep their own copy. queries:
[{"id", "text", "judgements": {target: grade, …}, "excluded": [page key, …]}, …], where grades are
integers from 0 and excluded names pages that do not count for the query (because they quote it,
say). unit: what targets name: page, section or document (see evaluation_target). Queries without a
relevant target are left out and returned in unjudged. source: the origin of the set; tuning never
learns from a set with {"held_out": true}, nor, if it also names a "corpus", from any judgements and
feedback of its library. Errors: PGR01, naming the query; PGR02.';

-- The name as it is stored; raises an exception for what cannot be one.
create or replace function _pgrag.evaluation_set_name(
    name text
)
returns text
language plpgsql
immutable
parallel safe
as $$
declare
    stored constant text := lower(btrim(evaluation_set_name.name));
begin
    if (stored ~ '^[a-z0-9][a-z0-9._-]{0,79}$') is not true then
        raise exception 'An evaluation set cannot be called %.', quote_nullable(left(stored, 100))
            using errcode = 'PGR01',
                hint = 'Use a-z, 0-9, ".", "_" and "-", 80 characters at most.';
    end if;
    return stored;
end;
$$;

-- Sets of the same unit, queries and judgements have the same digest.
create or replace function _pgrag.digest_set(
    set_id bigint
)
returns void
language sql
volatile
as $$
    update pgrag.evaluation_sets as s
    set digest = md5(concat(
        s.unit,
        (
            select jsonb_agg(to_jsonb(q) - 'set_id' order by q.query_id)
            from pgrag.evaluation_queries as q
            where q.set_id = s.set_id
        ),
        (
            select jsonb_agg(to_jsonb(j) - 'set_id' order by j.query_id, j.target)
            from pgrag.evaluation_judgements as j
            where j.set_id = s.set_id
        )
    ))
    where s.set_id = digest_set.set_id;
$$;
