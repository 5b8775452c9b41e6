-- pgvector has no aggregate that builds a sparse vector; its text form is quick enough to build.
create or replace function pgrag._sparse_vector(
    elements text
)
returns sparsevec
language sql
immutable
parallel safe
as $$
    select ('{' || _sparse_vector.elements || '}/1000000000')::sparsevec;
$$;
