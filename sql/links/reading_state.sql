create or replace function pgrag.reading_state(
    library text,
    wanted text default null
)
returns table (
    version text,
    pages bigint,
    warned_pages bigint,
    warnings bigint,
    words_shown bigint,
    words_kept bigint,
    broken_links bigint
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    owner_id bigint := _pgrag.library_id(reading_state.library);
    wanted_version bigint;
begin
    if reading_state.wanted is not null then
        wanted_version := (
            pgrag.resolve_version(reading_state.library, reading_state.wanted)
        ).version_id;
    end if;
    return query
    select
        v.label, read.pages, read.warned_pages, read.warnings, read.words_shown, read.words_kept,
        (
            select count(*)
            from pgrag.edges as e
            where e.library_id = owner_id
                and e.version_id = v.version_id
                and (e.state in ('unresolved', 'ambiguous') or not e.fragment_found)
        )
    from pgrag.versions as v
    cross join lateral (
        select
            count(*) as pages,
            count(*) filter (where cardinality(p.warnings) > 0) as warned_pages,
            coalesce(sum(cardinality(p.warnings)), 0)::bigint as warnings,
            coalesce(sum(p.words_shown), 0)::bigint as words_shown,
            coalesce(sum(p.words_kept), 0)::bigint as words_kept
        from pgrag.pages as p
        where p.library_id = owner_id and p.version_id = v.version_id
    ) as read
    where v.library_id = owner_id and (wanted_version is null or v.version_id = wanted_version)
    order by v.release_key desc nulls last, v.label;
end;
$$;

comment on function pgrag.reading_state is
'What reading lost in each version of a library, or in one of them, the newest on top: its pages,
those with warnings, the number of warnings, the words that readers see and those that are indexed
(of the pages whose words are counted), and the broken links (see pgrag.links). Errors: PGR02,
PGR03.';
