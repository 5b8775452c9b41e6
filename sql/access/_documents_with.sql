-- The full-text index, for callers whom row-level security restricts. They could not use it: @@ is
-- not leakproof, so PostgreSQL evaluates it only after the policy, on every passage that they may
-- see. Therefore it is part of a barrier: a view that contains the passages with the query of
-- pgrag.narrowing and with the lexeme of a visible library, which indexing adds to each passage.
-- Whoever sets pgrag.narrowing sees fewer passages, never more.
create or replace function _pgrag.documents_with(
    query tsquery,
    language text,
    most integer default null
)
returns bigint[]
language plpgsql
stable
parallel unsafe
as $$
declare
    document_ids bigint[];
begin
    if not row_security_active('pgrag.documents') then
        return array(
            select d.document_id
            from pgrag.documents as d
            where d.search @@ query and d.language = documents_with.language
            limit most
        );
    end if;
    perform set_config('pgrag.narrowing', query::text, true);
    document_ids := array(
        select d.document_id
        from _pgrag.matching_documents as d
        where d.language = documents_with.language
        limit most
    );
    perform set_config('pgrag.narrowing', '', true);
    return document_ids;
end;
$$;

-- The same of pages, by their language or that of passages on them.
create or replace function _pgrag.pages_with(
    query tsquery,
    language text
)
returns bigint[]
language plpgsql
stable
parallel unsafe
as $$
declare
    page_ids bigint[];
begin
    if not row_security_active('pgrag.pages') then
        return array(
            select p.page_id
            from pgrag.pages as p
            where p.search @@ query
                and (
                    p.language = pages_with.language
                    or exists (
                        select
                        from pgrag.documents as d
                        where d.library_id = p.library_id
                            and d.page_id = p.page_id
                            and d.language = pages_with.language
                    )
                )
        );
    end if;
    perform set_config('pgrag.narrowing', query::text, true);
    page_ids := array(
        select p.page_id
        from _pgrag.matching_pages as p
        where p.language = pages_with.language
            or exists (
                select
                from pgrag.documents as d
                where d.library_id = p.library_id
                    and d.page_id = p.page_id
                    and d.language = pages_with.language
            )
    );
    perform set_config('pgrag.narrowing', '', true);
    return page_ids;
end;
$$;

-- Every name is qualified, as in visible_libraries.
create or replace function _pgrag.narrowed_scope()
returns tsquery
language plpgsql
stable
parallel safe
as $$
declare
    narrowing pg_catalog.text := pg_catalog.current_setting('pgrag.narrowing', true);
begin
    if narrowing operator(pg_catalog.=) '' then
        narrowing := null;
    end if;
    if _pgrag.sees_every_library() then
        return narrowing::pg_catalog.tsquery;
    end if;
    return (
        select pg_catalog.string_agg(
            pg_catalog.format('''@l%s''', v.id), ' | '
        )::pg_catalog.tsquery
        from pg_catalog.unnest(_pgrag.visible_libraries()) as v (id)
    ) operator(pg_catalog.&&) narrowing::pg_catalog.tsquery;
end;
$$;

create or replace view _pgrag.matching_documents with (security_barrier) as
select
    d.document_id,
    d.language
from pgrag.documents as d
where d.search @@ (select _pgrag.narrowed_scope());

comment on view _pgrag.matching_documents is
    'Passages that match pgrag.narrowing, of libraries that the caller may see.';

create or replace view _pgrag.matching_pages with (security_barrier) as
select
    p.library_id,
    p.page_id,
    p.language
from pgrag.pages as p
where p.search @@ (select _pgrag.narrowed_scope());

comment on view _pgrag.matching_pages is
    'Pages that match pgrag.narrowing, of libraries that the caller may see.';
