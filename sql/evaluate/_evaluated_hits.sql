-- Runs all queries of a run in one statement.
create or replace function _pgrag.evaluated_hits(
    run pgrag.evaluation_runs,
    query_id text default null
)
returns _pgrag.evaluated_hit[]
language plpgsql
volatile
set jit = off
as $$
declare
    configuration jsonb := (run).configuration;
    function_id oid := _pgrag.hit_function(configuration ->> 'function');
    names text[] := _pgrag.argument_names(function_id);
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
    || case when query_id is not null and names @> '{explain}' then '{"explain": true}' else '{}'
        end::jsonb;
    score text := case aggregate
        when 'mean' then 'avg(h.score)'
        when 'sum' then 'sum(h.score)'
        when 'rrf' then 'sum(1.0 / (60 + h.ordinality))::double precision'
        else 'max(h.score)'
    end;
    statement text;
    hits _pgrag.evaluated_hit[];
begin
    -- The function of an older run may be gone, or may no longer be allowed.
    if function_id is null then
        raise exception 'There is no search function %.', quote_nullable(
            left(configuration ->> 'function', 100)
        )
            using errcode = 'PGR01', hint = 'Run the set again with a function of pgrag.';
    end if;
    -- A hit is a passage; judgements may name its section or page. With max, a page has the rank of
    -- its best passage, so one hit per page is enough; else passages of a deeper list are merged.
    statement := format(
        $sql$
        select coalesce(array_agg(
            (r.query_id, r.rank, r.target, r.document_id, r.score, r.explanation)
                ::_pgrag.evaluated_hit
            order by r.query_id, r.rank
        ), '{}')
        from (
            select
                q.query_id,
                row_number() over (
                    partition by q.query_id order by %1$s min(h.ordinality)
                )::integer as rank,
                e.target,
                (array_agg(h.document_id order by h.ordinality))[1] as document_id,
                %2$s as score,
                (array_agg(h.explanation order by h.ordinality))[1] as explanation
            from pgrag.evaluation_run_queries as q
            cross join lateral %3$s(%4$s) with ordinality as h
            cross join lateral (
                select _pgrag.evaluation_target(%5$L, h.key, h.anchor, h.sort_order) as target
            ) as e
            where q.run_id = $1
                and ($2 is null or q.query_id = $2)
                and (
                    coalesce((q.judgements ->> e.target)::integer, 0) > 0
                    or not q.excluded && array[h.key, e.target]
                )
            group by q.query_id, e.target
        ) as r
        where r.rank <= %6$s
        $sql$,
        case when aggregate = 'max' then '' else score || ' desc,' end,
        score,
        function_id::regproc,
        concat_ws(
            ', ',
            'query => q.query',
            format(
                'top_k => least(1000, %s + cardinality(q.excluded))',
                configuration -> case
                    when by_page and aggregate = 'max' and arguments ? 'max_per_page' then 'depth'
                    else 'pool'
                end
            ),
            nullif(_pgrag.named_arguments(function_id::regproc, arguments), '')
        ),
        (run).unit,
        configuration ->> 'depth'
    );
    if configuration -> 'settings' = '{}' then
        execute statement into hits using (run).run_id, query_id;
        return hits;
    end if;
    -- The exception at the end rolls the settings back: they apply to this run only.
    begin
        perform pgrag.configure_library((run).library, configuration -> 'settings');
        execute statement into hits using (run).run_id, query_id;
        raise exception 'settings are taken back' using errcode = 'PGR99';
    exception
        when sqlstate 'PGR99' then
            return hits;
    end;
end;
$$;
