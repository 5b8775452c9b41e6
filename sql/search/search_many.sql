create or replace function pgrag.search_many(
    queries text[],
    library text default null,
    top_k integer default 10,
    version text default null,
    filters jsonb default null,
    options jsonb default null
)
returns setof pgrag.batch_hit
language plpgsql
stable
-- A failing query rolls back its own subtransaction, which a parallel worker cannot do.
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
    if jsonb_typeof(options) = 'array'
        and jsonb_array_length(options) <> coalesce(cardinality(queries), 0)
    then
        raise exception 'There are % queries and options for %.',
            coalesce(cardinality(queries), 0), jsonb_array_length(options)
            using errcode = 'PGR01',
                hint = 'Pass one object for all, or a list of one object (or null) for each.';
    elsif jsonb_typeof(options) not in ('array', 'object', 'null') then
        raise exception 'options must be an object or a list of objects, got %.', options
            using errcode = 'PGR01', hint = 'For example {"alpha": 0.4, "snippets": true}.';
    end if;
    shared := jsonb_build_object(
        'library', library, 'version', version, 'top_k', top_k, 'filters', filters
    );

    for number in 1..coalesce(cardinality(queries), 0) loop
        own := case jsonb_typeof(options)
            when 'array' then nullif(options -> (number - 1), 'null')
            when 'object' then options
        end;
        begin
            if jsonb_typeof(own) <> 'object' then
                raise exception 'The options of a query must be an object, got %.', own
                    using errcode = 'PGR01', hint = 'For example {"alpha": 0.4, "snippets": true}.';
            end if;
            perform _pgrag.check_arguments('search', jsonb_strip_nulls(own) - 'query_embedding');
            return query
            select number, queries[number], null::text, null::text, null::text, h.*
            from _pgrag.search_hits(
                coalesce(queries[number], ''),
                shared || coalesce(own, '{}') - 'query_embedding',
                nullif(own -> 'query_embedding', 'null')::text::halfvec
            ) as h;
        exception when others then
            -- Any other error concerns the whole call.
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

comment on function pgrag.search_many is
'The hits of up to 1000 queries, in one call. query_number counts the queries from 1; the other
columns and the order of the hits are those of pgrag.search. A query without hits has no row; a
query that fails has a single row with error_code (SQLSTATE), error and error_hint instead of a hit.
library, version, top_k and filters apply to all queries. options: other arguments of pgrag.search
by name, as one object for all queries, or as a list with one object (or null) per query, which may
override library, version, top_k and filters. Errors: PGR01 for too many queries and for options of
the wrong shape.';
