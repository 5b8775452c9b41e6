-- Everything that is kept beside the rows must be what the rows say; here is what is not.
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
#variable_conflict use_column
declare
    owner_id bigint := pgrag._library_id(check_library.library);
    wanted bigint[] := pgrag._checked_versions(owner_id, check_library.version);
    known constant text[] := '{documents, pages, vectors, links, statistics}';
    unknown text := (
        select c.name
        from unnest(check_library.checks) as c (name)
        where (c.name = any (known)) is not true
        limit 1
    );
    is_builtin boolean := exists (
        select
        from pgrag.libraries as l
        join pgrag.embedding_models as m on m.model_id = l.model_id
        where l.library_id = owner_id and m.provider = 'builtin'
    );
begin
    if unknown is not null or array_position(check_library.checks, null) is not null then
        raise exception 'There is no check %.', quote_nullable(left(unknown, 200))
            using errcode = 'PGR01', hint = 'Checks: ' || array_to_string(known, ', ') || '.';
    end if;
    if check_library.checks is null or 'documents' = any (check_library.checks) then
        return query
        select 'documents', f.problem, count(*), pgrag._first_examples(
            array_agg(format('%s (document %s)', f.key, f.document_id) order by f.document_id)
        ), true, null::text
        from pgrag._document_faults(owner_id, wanted) as f
        group by f.problem
        order by f.problem;
    end if;
    if check_library.checks is null or 'pages' = any (check_library.checks) then
        return query
        select 'pages', f.problem, count(*),
            pgrag._first_examples(array_agg(f.example order by f.example)), true, null::text
        from pgrag._page_faults(owner_id, wanted) as f
        group by f.problem
        order by f.problem;
    end if;
    if check_library.checks is null or 'vectors' = any (check_library.checks) then
        return query
        select 'vectors', f.problem, count(*), pgrag._first_examples(
            array_agg(format('document %s', f.document_id) order by f.document_id)
        ), f.is_repairable,
            case
                when not f.is_repairable
                then format('pgrag embed %s', lower(btrim(check_library.library)))
            end
        from (
            select
                f.*,
                not starts_with(f.problem, 'a vector pooled')
                    and (is_builtin or not starts_with(f.problem, 'a text')) as is_repairable
            from pgrag._vector_faults(owner_id, wanted) as f
        ) as f
        group by f.problem, f.is_repairable
        order by f.problem;
    end if;
    if check_library.checks is null or 'links' = any (check_library.checks) then
        return query
        select 'links', f.problem, count(*),
            pgrag._first_examples(array_agg(f.example order by f.example)), f.remedy is null,
            f.remedy
        from (
            select
                f.*,
                case
                    when f.problem in (
                        'indexing that was not finished',
                        'a page that was indexed before links were read'
                    )
                    then format(
                        'pgrag index %s SOURCE',
                        concat_ws(
                            '@', lower(btrim(check_library.library)), nullif(v.label, '')
                        )
                    )
                end as remedy
            from pgrag._link_faults(owner_id, wanted) as f
            join pgrag.versions as v
                on v.library_id = owner_id and v.version_id = f.version_id
        ) as f
        group by f.problem, f.remedy
        order by f.problem, f.remedy;
    end if;
    if check_library.checks is null or 'statistics' = any (check_library.checks) then
        return query
        select 'statistics', f.problem, count(*),
            pgrag._first_examples(array_agg(f.example order by f.example)), true, null::text
        from pgrag._statistic_faults(
            owner_id,
            (
                select pgrag.effective_settings(l.settings)
                from pgrag.libraries as l
                where l.library_id = owner_id
            )
        ) as f
        group by f.problem
        order by f.problem;
    end if;
end;
$$;

comment on function pgrag.check_library(text, text, text[]) is
'What is wrong with a library: one row a problem, with how often it was found and up to five
examples; no row where nothing is. checks: documents (ids, parents, order, full-text vectors,
hashes), pages (counts, weights), vectors, links (names, where edges lead, ranks, and whether pages
were read to the end and with their links), statistics (all that ranks, counted once more); null:
all. version: only this one; statistics are always of the whole library. repairable:
pgrag.repair_library mends it; else remedy is the command that does. It reads everything: seconds to
a minute. Errors: PGR01, PGR02, PGR03.';

create or replace function pgrag._checked_versions(
    library_id bigint,
    version text
)
returns bigint[]
language sql
stable
parallel safe
set search_path from current
as $$
    select case
        when _checked_versions.version is not null
        then array[pgrag._version_id(_checked_versions.library_id, _checked_versions.version)]
        else array(
            select v.version_id
            from pgrag.versions as v
            where v.library_id = _checked_versions.library_id
            order by v.version_id
        )
    end;
$$;

create or replace function pgrag._first_examples(
    examples text[]
)
returns text[]
language sql
immutable
parallel safe
as $$
    select _first_examples.examples[:5];
$$;
