-- pgvector has no aggregate for sparse vectors; building the text form is fast enough. A vector is
-- limited to 16000 elements; of a longer text, the elements with the largest weights stay.
create or replace function _pgrag.sparse_vector(
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
            -- No element is shorter than "1:1,", so a short text needs no count.
            when pg_catalog.octet_length(sparse_vector.elements) < 4 * 16000
            then sparse_vector.elements
            else _pgrag.strongest_elements(sparse_vector.elements, 16000)
        end
        || '}/1000000000'
    )::sparsevec;
$$;

create or replace function _pgrag.strongest_elements(
    elements text,
    element_count integer
)
returns text
language sql
immutable
parallel safe
as $$
    select string_agg(strongest.element, ',')
    from (
        select e.element
        from string_to_table(strongest_elements.elements, ',') as e (element)
        order by split_part(e.element, ':', 2)::real desc, e.element
        limit strongest_elements.element_count
    ) as strongest;
$$;
