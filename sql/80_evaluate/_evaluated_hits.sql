-- All queries of a run in one statement: a search for each, and nothing between them.
create or replace function pgrag._evaluated_hits(
    run pgrag.evaluation_runs,
    query_id text default null
)
returns pgrag.evaluated_hit[]
language plpgsql
volatile
set search_path from current
set jit = off
as $$
declare
    settings jsonb := coalesce(nullif((run).configuration -> 'settings', 'null'), '{}');
    statement text := pgrag._evaluation_statement(run, query_id is not null);
    found_hits pgrag.evaluated_hit[];
begin
    if settings = '{}' then
        execute statement into found_hits using (run).run_id, query_id;
        return found_hits;
    end if;
    -- Other settings of the library hold for this run only: they are rolled back with the block,
    -- whatever happens in it.
    begin
        perform pgrag.configure_library((run).library, settings);
        execute statement into found_hits using (run).run_id, query_id;
        raise exception 'settings are taken back' using errcode = 'PGR99';
    exception
        when sqlstate 'PGR99' then
            return found_hits;
    end;
end;
$$;

-- A hit is a chunk; what is judged may be its section or page. With "max" a page stands where its
-- best chunk does, so no more is asked for than that; otherwise the chunks of a deeper list are
-- brought together here.
create or replace function pgrag._evaluation_statement(
    run pgrag.evaluation_runs,
    with_explanation boolean
)
returns text
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    configuration jsonb := (run).configuration;
    function_id oid := pgrag._hit_function(configuration ->> 'function');
    names text[] := (
        select p.proargnames[:p.pronargs] from pg_proc as p where p.oid = function_id
    );
    aggregate text := configuration ->> 'aggregate';
    by_page boolean := (run).unit = 'page';
    arguments jsonb := case
        when by_page and aggregate = 'max' and names @> '{max_per_page}'
        then '{"max_per_page": 1}'
        else '{}'
    end::jsonb
    || case when names @> '{version}' then jsonb_build_object('version', (run).version)
        else '{}' end
    || jsonb_build_object('library', (run).library)
    || (configuration -> 'arguments')
    || case when with_explanation and names @> '{explain}' then '{"explain": true}' else '{}'
        end::jsonb;
    asked text := format(
        'least(1000, %s + cardinality(q.excluded))',
        case
            when by_page and aggregate = 'max' and arguments ? 'max_per_page'
            then configuration ->> 'depth'
            else configuration ->> 'pool'
        end
    );
begin
    return format(
        $sql$
        select coalesce(array_agg(
            (r.query_id, r.rank, r.target, r.document_id, r.score, r.explanation)
                ::pgrag.evaluated_hit
            order by r.query_id, r.rank
        ), '{}')
        from (
            select
                t.query_id,
                row_number() over (
                    partition by t.query_id order by %1$s t.place
                )::integer as rank,
                t.target, t.document_id, t.score, t.explanation
            from (
                select
                    q.query_id,
                    e.target,
                    min(h.ordinality) as place,
                    (array_agg(h.document_id order by h.ordinality))[1] as document_id,
                    (array_agg(h.explanation order by h.ordinality))[1] as explanation,
                    %2$s as score
                from pgrag.evaluation_run_queries as q
                cross join lateral %3$s(%4$s) with ordinality as h
                cross join lateral (
                    select pgrag.evaluation_target(%5$L, h.key, h.anchor, h.sort_order) as target
                ) as e
                where q.run_id = $1
                    and ($2 is null or q.query_id = $2)
                    and (
                        coalesce((q.judgements ->> e.target)::integer, 0) > 0
                        or not q.excluded && array[h.key, e.target]
                    )
                group by q.query_id, e.target
            ) as t
        ) as r
        where r.rank <= %6$s
        $sql$,
        case when aggregate = 'max' then '' else 't.score desc,' end,
        case aggregate
            when 'mean' then 'avg(h.score)'
            when 'sum' then 'sum(h.score)'
            when 'rrf' then 'sum(1.0 / (60 + h.ordinality))::double precision'
            else 'max(h.score)'
        end,
        function_id::regproc,
        concat_ws(
            ', ',
            'query => q.query',
            'match_count => ' || asked,
            nullif(pgrag._named_arguments(function_id::regproc, arguments), '')
        ),
        (run).unit,
        configuration ->> 'depth'
    );
end;
$$;
