-- All derived data must agree with the rows that it derives from; this function lists differences.
create or replace function pgrag.check_library(
    library text,
    version text default null,
    checks text[] default null
)
returns table (
    "check" text,
    problem text,
    count bigint,
    examples text[],
    repairable boolean,
    remedy text
)
language plpgsql
stable
rows 5
set search_path from current
as $$
declare
    owner_id bigint := _pgrag.library_id(check_library.library);
    version_ids bigint[] := _pgrag.version_ids(owner_id, check_library.version);
    known constant text[] := '{documents, pages, vectors, links, statistics}';
    chosen constant text[] := array(select unnest(coalesce(check_library.checks, known)));
    unknown text := (
        select c.name from unnest(chosen) as c (name) where c.name <> all (known) limit 1
    );
    settings jsonb;
    is_builtin boolean;
begin
    if unknown is not null or array_position(chosen, null) is not null then
        raise exception 'There is no check %.', quote_nullable(left(unknown, 200))
            using errcode = 'PGR01', hint = 'Checks: ' || array_to_string(known, ', ') || '.';
    end if;
    select _pgrag.effective_settings(l.settings), coalesce(m.provider = 'builtin', false)
    into settings, is_builtin
    from pgrag.libraries as l
    left join pgrag.embedding_models as m on m.model_id = l.model_id
    where l.library_id = owner_id;
    return query
    with faults as (
        select
            'documents' as "check", f.problem, f.document_id,
            format('%s (passage %s)', f.key, f.document_id) as example, null as command
        from _pgrag.document_faults(owner_id, version_ids) as f
        where 'documents' = any (chosen)
        union all
        select 'pages', f.problem, null, f.example, null
        from _pgrag.page_faults(owner_id, version_ids) as f
        where 'pages' = any (chosen)
        union all
        select
            'vectors', f.problem, f.document_id, format('passage %s', f.document_id),
            case
                when starts_with(f.problem, 'a vector pooled')
                    or (starts_with(f.problem, 'a text') and not is_builtin)
                then format('pgrag embed %s', lower(btrim(check_library.library)))
            end
        from _pgrag.vector_faults(owner_id, version_ids) as f
        where 'vectors' = any (chosen)
        union all
        select
            'links', f.problem, null, f.example,
            case
                when f.problem = 'an unfinished version'
                then format(
                    'pgrag index %s SOURCE',
                    concat_ws('@', lower(btrim(check_library.library)), nullif(v.label, ''))
                )
            end
        from pgrag.versions as v
        cross join lateral _pgrag.link_faults(v) as f
        where 'links' = any (chosen)
            and v.library_id = owner_id
            and v.version_id = any (version_ids)
        union all
        select 'statistics', f.problem, null, f.example, null
        from _pgrag.statistic_faults(owner_id, settings) as f
        where 'statistics' = any (chosen)
    )
    select
        f."check", f.problem, count(*),
        (array_agg(f.example order by f.document_id, f.example))[:5],
        f.command is null, f.command
    from faults as f
    group by f."check", f.problem, f.command
    order by array_position(known, f."check"), f.problem, f.command;
end;
$$;

comment on function pgrag.check_library is
'The faults of a library: one row a problem, with the number of occurrences and up to five examples;
no rows without faults. checks: documents (ids, parents, order, full-text vectors, hashes), pages
(counts, weights), vectors, links (names, targets of edges, ranks, and whether indexing finished),
statistics (all ranking statistics, recounted); null: all. version: only this one; statistics always
cover the whole library. repairable: pgrag.repair_library repairs the fault; otherwise remedy is the
command that does. Reads the whole library: seconds to a minute. Errors: PGR01, PGR02, PGR03.';
