create or replace function pgrag.missing_query_models(
    query text,
    library text default null,
    model text default null,
    filters jsonb default null
)
returns table (
    model_name text,
    words text
)
language plpgsql
stable
parallel unsafe
set search_path from current
as $$
declare
    library_names text[] := _pgrag.wanted_libraries(
        library, filters, (pgrag.parse_query(query)).filters
    );
    searched text := _pgrag.searched_words(query);
begin
    return query
    select m.name, searched
    from pgrag.embedding_models as m
    where m.provider <> 'builtin'
        and searched <> ''
        and (
            case
                when missing_query_models.model is not null
                then m.name = missing_query_models.model
                else m.model_id in (
                    select l.model_id
                    from pgrag.libraries as l
                    where library_names is null or l.name = any (library_names)
                )
            end
        )
        and not exists (
            select from pgrag.query_vectors as q
            where q.model_id = m.model_id and q.query_hash = _pgrag.query_hash(m, searched)
        )
    order by m.name;
end;
$$;

comment on function pgrag.missing_query_models is
'The models outside the database that a search with these arguments would use and whose vector of
the query is not cached, with the words to embed: compute the vector and call
pgrag.remember_query_vector, or pass query_embedding.';
