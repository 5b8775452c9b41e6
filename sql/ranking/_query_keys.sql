-- The keys of the index of impacts for each lexeme in each of these versions; see posting_keys.
create or replace function _pgrag.query_keys(
    version_ids bigint[],
    lexeme_ids bigint[]
)
returns bigint[]
language plpgsql
immutable
parallel safe
as $$
begin
    return array(
        select v.id << 30 | l.id
        from unnest(version_ids) as v (id)
        cross join unnest(lexeme_ids) as l (id)
    );
end;
$$;

-- The ids of the lexemes among the terms, without those that no document has.
create or replace function _pgrag.lexeme_ids(
    terms pgrag.query_term[],
    lexemes text[]
)
returns bigint[]
language plpgsql
immutable
parallel safe
as $$
begin
    return array(
        select distinct pgrag.lexeme_id(t.language, t.lexeme)::bigint
        from unnest(terms) as t
        where t.document_count > 0 and t.lexeme = any (lexemes)
    );
end;
$$;

-- Each lexeme with weight 1.
create or replace function _pgrag.lexeme_vector(
    lexeme_ids bigint[]
)
returns sparsevec
language plpgsql
immutable
parallel safe
as $$
begin
    return _pgrag.sparse_vector(string_agg(l.id || ':1', ',')) from unnest(lexeme_ids) as l (id);
end;
$$;

-- The index of impacts behind a barrier, because "&&" is not leakproof (see documents_with): for
-- callers whom row-level security restricts, and where speed does not matter for all. It has the
-- documents of the versions in pgrag.narrowing_versions with one of the lexemes whose ids are in
-- pgrag.narrowing_lexemes and with one of those in pgrag.lexemes_beside. The keys are made of
-- versions that the caller may see, so that no posting of others is read; of an id, which a caller
-- may set, the bits of a lexeme.
create or replace view _pgrag.matching_impacts with (security_barrier) as
select
    i.library_id,
    i.document_id,
    i.version_id,
    i.page_id,
    i.sort_order,
    i.covers,
    i.text_hash,
    i.weights,
    i.title_weights
from pgrag.versions as v
join pgrag.impacts as i
    -- A difference, so that no other index is used.
    on i.library_id - v.library_id = 0
    and _pgrag.posting_keys(i.version_id, i.weights) && array(
        select v.version_id << 30 | (l.id & ((1 << 30) - 1))
        from unnest(
            nullif(current_setting('pgrag.narrowing_lexemes', true), '')::bigint[]
        ) as l (id)
    )
    and _pgrag.posting_keys(i.version_id, i.weights) && array(
        select v.version_id << 30 | (l.id & ((1 << 30) - 1))
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
