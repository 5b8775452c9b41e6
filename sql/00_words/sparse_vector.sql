-- pgvector has no aggregate that builds a sparse vector; its text form is quick enough to build.
-- It also has a limit: of a text with more words than that, the strongest stay.
create or replace function pgrag._sparse_vector(
    elements text
)
returns sparsevec
language sql
immutable
parallel safe
as $$
    select (
        '{'
        || case
            -- No element is shorter than "1:1,": nothing is counted that cannot be too many.
            when pg_catalog.octet_length(_sparse_vector.elements) < 4 * 16000
            then _sparse_vector.elements
            else pgrag._strongest_elements(_sparse_vector.elements, 16000)
        end
        || '}/1000000000'
    )::sparsevec;
$$;

create or replace function pgrag._strongest_elements(
    elements text,
    element_count integer
)
returns text
language sql
immutable
parallel safe
set search_path from current
as $$
    select string_agg(strongest.element, ',')
    from (
        select e.element
        from string_to_table(_strongest_elements.elements, ',') as e (element)
        order by split_part(e.element, ':', 2)::real desc, e.element
        limit _strongest_elements.element_count
    ) as strongest;
$$;
