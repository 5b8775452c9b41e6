-- Which lexemes occur in the versions of pgrag.narrowing_versions: those of pgrag.narrowing_lexemes
-- in any passage, those of pgrag.title_lexemes in a title or heading. A barrier with the rights of
-- its owner, like matching_impacts, for all callers: one statement covers all lexemes.
create or replace view _pgrag.version_lexemes with (security_barrier) as
select l.id as lexeme_id, l.in_titles
from (
    select
        asked.id, asked.in_titles, seen.library_ids,
        array(select v.id << 31 | asked.id from unnest(seen.version_ids) as v (id)) as keys,
        case
            when asked.in_titles then format('{%s:1}/1000000000', asked.id)::sparsevec
        end as title
    from (
        select array_agg(v.library_id) as library_ids, array_agg(v.version_id) as version_ids
        from pgrag.versions as v
        where v.version_id = any (
                nullif(current_setting('pgrag.narrowing_versions', true), '')::bigint[]
            )
            and (
                v.library_id = any ((
                    select case
                        when row_security_active('pgrag.impacts') then _pgrag.visible_libraries()
                    end
                )::bigint[])
            ) is not false
        offset 0
    ) as seen
    cross join (
        -- A caller may set any id: only the bits of a lexeme.
        select n.id & ((1 << 30) - 1) as id, false as in_titles
        from unnest(
            nullif(current_setting('pgrag.narrowing_lexemes', true), '')::bigint[]
        ) as n (id)
        union all
        select t.id & ((1 << 30) - 1), true
        from unnest(nullif(current_setting('pgrag.title_lexemes', true), '')::bigint[]) as t (id)
    ) as asked
    offset 0
) as l
where exists (
    select
    from pgrag.impacts as i
    where _pgrag.posting_keys(i.version_id, i.weights) && l.keys
        and array_position(l.library_ids, i.library_id) is not null
        and (l.title is null or i.title_weights <#> l.title < 0)
);

comment on view _pgrag.version_lexemes is
    'Which lexemes of two settings occur in the versions of pgrag.narrowing_versions.';
-- The lexemes among lexeme_ids that a passage of these versions contains, and those among title_ids
-- that a title or heading of them contains.
create or replace function _pgrag.occurring_lexemes(
    version_ids bigint[],
    lexeme_ids bigint[],
    title_ids bigint[] default '{}',
    out anywhere bigint[],
    out in_titles bigint[]
)
language plpgsql
stable
parallel unsafe
-- The planner cannot estimate a condition on the index of impacts.
set enable_seqscan = off
set jit = off
as $$
declare
    -- Assigned: perform would run a statement.
    narrowing constant text[] := array[
        set_config('pgrag.narrowing_versions', version_ids::text, true),
        set_config('pgrag.narrowing_lexemes', lexeme_ids::text, true),
        set_config('pgrag.title_lexemes', title_ids::text, true)
    ];
begin
    select
        coalesce(array_agg(o.lexeme_id) filter (where not o.in_titles), '{}'),
        coalesce(array_agg(o.lexeme_id) filter (where o.in_titles), '{}')
    into anywhere, in_titles
    from _pgrag.version_lexemes as o;
end;
$$;
