-- The keys of posting lists by version in the index of impacts: see posting_keys.
create or replace function _pgrag.query_keys(
    version_ids bigint[],
    posting_ids bigint[]
)
returns bigint[]
language plpgsql
immutable
parallel safe
as $$
begin
    return array(
        select v.id << 31 | p.id
        from unnest(version_ids) as v (id)
        cross join unnest(posting_ids) as p (id)
    );
end;
$$;

-- The ids of the posting lists of lexemes: of the strong postings alone where is_strong says so and
-- the lexeme is not wanted whole as well. Null if there are no lexemes.
create or replace function _pgrag.posting_ids(
    terms pgrag.query_term[],
    lexemes text[],
    is_strong boolean[]
)
returns bigint[]
language plpgsql
immutable
strict
parallel safe
as $$
begin
    return array(
        select distinct
            _pgrag.lexeme_id(t.language, t.lexeme)::bigint
            | case when l.is_strong then 1 << 30 else 0 end
        from (
            select p.lexeme, bool_and(p.is_strong) as is_strong
            from unnest(lexemes, is_strong) as p (lexeme, is_strong)
            group by p.lexeme
        ) as l
        join unnest(terms) as t on t.lexeme = l.lexeme
        where t.document_count > 0
    );
end;
$$;

-- The index of impacts behind a barrier, because "&&" is not leakproof (see documents_with): for
-- callers whom row-level security restricts, and where speed does not matter. Settings name its
-- rows: passages of pgrag.narrowing_versions in a posting list of pgrag.narrowing_lexemes and in
-- one of pgrag.lexemes_beside. Keys name only versions that the caller may see, so no posting
-- of others is read; of an id, which a caller may set, only the bits of a posting list count.
create or replace view _pgrag.matching_impacts with (security_barrier) as
select i.*
from pgrag.versions as v
join pgrag.impacts as i
    -- A difference, so that no other index is used.
    on i.library_id - v.library_id = 0
    and _pgrag.posting_keys(i.version_id, i.weights) && array(
        select v.version_id << 31 | (l.id & ((1::bigint << 31) - 1))
        from unnest(
            nullif(current_setting('pgrag.narrowing_lexemes', true), '')::bigint[]
        ) as l (id)
    )
    and _pgrag.posting_keys(i.version_id, i.weights) && array(
        select v.version_id << 31 | (l.id & ((1::bigint << 31) - 1))
        from unnest(
            nullif(current_setting('pgrag.lexemes_beside', true), '')::bigint[]
        ) as l (id)
    )
where v.version_id = any (
        nullif(current_setting('pgrag.narrowing_versions', true), '')::bigint[]
    )
    and (
        v.library_id = any ((
            select case
                when row_security_active('pgrag.impacts') then _pgrag.visible_libraries()
            end
        )::bigint[])
    ) is not false;

comment on view _pgrag.matching_impacts is
    'Impacts of passages in the posting lists and versions that the settings of a search name.';
