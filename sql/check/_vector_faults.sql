-- Embeddings copy columns of their passages, and every searched text must have a vector.
create or replace function _pgrag.vector_faults(
    library_id bigint,
    version_ids bigint[]
)
returns table (
    document_id bigint,
    model_id bigint,
    problem text
)
language sql
stable
parallel safe
set enable_nestloop = off
set jit = off
as $$
    select
        e.document_id, e.model_id,
        case
            when vector_dims(e.embedding) <> m.dimensions
            then 'a vector of another length than its model has'
            when d.document_id is null or d.covers = 0 then 'a vector without a searched passage'
            when (d.version_id, d.page_id, d.covers) = (e.version_id, e.page_id, e.covers)
            then 'a vector in the index of other libraries, or the other way round'
            else 'a vector of another page, version or level than its passage'
        end
    from pgrag.embeddings as e
    join pgrag.libraries as l on l.library_id = e.library_id
    join pgrag.embedding_models as m on m.model_id = e.model_id
    left join pgrag.documents as d on d.library_id = e.library_id and d.document_id = e.document_id
    where e.library_id = vector_faults.library_id
        and coalesce(d.version_id, e.version_id) = any (vector_faults.version_ids)
        and (
            d.covers = 0
            or vector_dims(e.embedding) <> m.dimensions
            or (d.version_id, d.page_id, d.covers, l.own_vector_index)
                is distinct from (e.version_id, e.page_id, e.covers, e.own_index)
        )
    union all
    select d.document_id, l.model_id, 'a text without a vector of the library''s model'
    from pgrag.documents as d
    join pgrag.libraries as l on l.library_id = d.library_id
    left join pgrag.embeddings as e
        on e.library_id = d.library_id
        and e.document_id = d.document_id
        and e.model_id = l.model_id
    where d.library_id = vector_faults.library_id
        and d.version_id = any (vector_faults.version_ids)
        and d.covers > 0
        and l.model_id is not null
        and e.document_id is null
    union all
    select e.document_id, e.model_id, 'a vector pooled from its page as it was before'
    from pgrag.libraries as l
    join pgrag.embeddings as e on e.library_id = l.library_id and e.model_id = l.model_id
    join _pgrag.page_texts(vector_faults.library_id, null) as t on t.page_id = e.page_id
    where l.library_id = vector_faults.library_id
        and e.version_id = any (vector_faults.version_ids)
        and e.page_hash <> t.page_hash;
$$;
