-- Many searches in one round trip. Each is a search of its own: one that fails says so in its row,
-- and the others have their hits.
create or replace function pgrag.search_many(
    queries text[],
    library text default null,
    version text default null,
    match_count integer default 10,
    filters jsonb default null,
    arguments jsonb default null
)
returns setof pgrag.batch_hit
language plpgsql
stable
-- A failing query is undone by itself, which a parallel worker cannot do.
parallel unsafe
rows 100
set search_path from current
as $$
declare
    shared jsonb;
    own jsonb;
    outcome pgrag.batch_hit;
begin
    if cardinality(queries) > 1000 then
        raise exception 'At most 1000 queries can be searched at once, got %.', cardinality(queries)
            using errcode = 'PGR01', hint = 'Send them in parts.';
    end if;
    if jsonb_typeof(arguments) = 'array'
        and jsonb_array_length(arguments) <> coalesce(cardinality(queries), 0)
    then
        raise exception 'There are % queries and arguments for %.',
            coalesce(cardinality(queries), 0), jsonb_array_length(arguments)
            using errcode = 'PGR01',
                hint = 'Pass one object for all, or a list of one object (or null) for each.';
    elsif jsonb_typeof(arguments) not in ('array', 'object', 'null') then
        raise exception 'arguments must be an object or a list of objects, got %.', arguments
            using errcode = 'PGR01', hint = 'For example {"alpha": 0.4, "snippets": true}.';
    end if;
    shared := jsonb_strip_nulls(
        jsonb_build_object(
            'library', library, 'version', version, 'match_count', match_count
        )
    ) || case when filters is null then '{}' else jsonb_build_object('filters', filters) end;

    for number in 1..coalesce(cardinality(queries), 0) loop
        own := case jsonb_typeof(arguments)
            when 'array' then nullif(arguments -> (number - 1), 'null')
            when 'object' then arguments
        end;
        begin
            return query execute format(
                'select $1, $2, null::text, null::text, null::text, s.* from pgrag.search(%s) as s',
                pgrag._named_arguments(
                    'pgrag.search', pgrag._search_arguments(queries[number], shared, own)
                )
            )
            using number, queries[number];
        exception when others then
            -- What is wrong with the query is its own affair; all else is wrong with everything.
            if sqlstate !~ '^(PGR|22)' then
                raise;
            end if;
            outcome := null;
            outcome.query_number := number;
            outcome.query := queries[number];
            get stacked diagnostics
                outcome.error_code = returned_sqlstate,
                outcome.error = message_text,
                outcome.error_hint = pg_exception_hint;
            outcome.error_hint := nullif(outcome.error_hint, '');
            return next outcome;
        end;
    end loop;
end;
$$;

comment on function pgrag.search_many(text[], text, text, integer, jsonb, jsonb) is
'The hits of up to 1000 queries, in one call. query_number counts the queries from 1; the other
columns are those of pgrag.search, in its order for each query. A query that finds nothing has no
row; one that fails has a single row with error_code (SQLSTATE), error and error_hint in place of a
hit. library, version, match_count and filters hold for all queries. arguments: any other arguments
of pgrag.search by name, as an object for all queries, or as a list of one object (or null) for each
query, which may also set a library, version, match_count or filters of its own. Errors: PGR01 for
too many queries and for arguments of another shape.';

-- What holds for all queries, overridden by what is the query's own.
create or replace function pgrag._search_arguments(
    query text,
    shared jsonb,
    own jsonb
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $$
begin
    if jsonb_typeof(own) <> 'object' then
        raise exception 'The arguments of a query must be an object, got %.', own
            using errcode = 'PGR01', hint = 'For example {"alpha": 0.4, "snippets": true}.';
    end if;
    if own ? 'query' then
        raise exception 'The arguments of a query hold another query, %.', own -> 'query'
            using errcode = 'PGR01', hint = 'Pass every query in queries.';
    end if;
    return shared || coalesce(own, '{}') || jsonb_build_object('query', coalesce(query, ''));
end;
$$;
